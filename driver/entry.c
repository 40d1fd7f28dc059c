// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-table entries as they are.
 *
 * The mmap lock held for reading keeps no tables: munmap() frees those of what it has
 * taken out when it has given up writing (mmap_write_downgrade()), and the last level goes
 * when a file's pages are made one large page. But GUP-fast walks without any lock, with
 * interrupts off, and so whoever frees a table waits for who does that, by an IPI or a
 * grace period of RCU. Here it is done the same way: each entry is read once, with
 * interrupts off, and the next table is the one that the copy has.
 */
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "internal.h"
#include "pagerun_test.h"

/**
 * struct found - the entry of an address
 * @level: enum pagerun_test_level
 * @size: bytes that an entry of that level is for; for NO_TABLE, that have no table
 * @value: of the entry
 * @pfn: what @addr is mapped to, if it is present
 * @none: there is nothing, not even what was swapped out
 * @present: to software, so PROT_NONE is
 * @as_pte: the entry, for the helpers of PTEs; only what compat_flags_known() says
 */
struct found {
	unsigned int level;
	unsigned long size;
	u64 value;
	unsigned long pfn;
	bool none;
	bool present;
	pte_t as_pte;
};

static unsigned long pages_in(unsigned long addr, unsigned long size)
{
	return (addr & (size - 1)) >> PAGE_SHIFT;
}

static void found_pte(pmd_t pmd, unsigned long addr, struct found *found)
{
	pte_t pte = ptep_get(pte_offset_kernel(&pmd, addr));

	found->level = PAGERUN_TEST_PTE;
	found->size = PAGE_SIZE;
	found->value = pte_val(pte);
	found->as_pte = pte;
	found->none = pte_none(pte);
	found->present = pte_present(pte);
	if (found->present)
		found->pfn = pte_pfn(pte);
}

static void found_pmd(pud_t *pudp, pud_t pud, unsigned long addr, struct found *found)
{
	pmd_t pmd = compat_pmdp_get(pmd_offset_lockless(pudp, pud, addr));

	found->size = PMD_SIZE;
	if (pmd_none(pmd))
		return;
	if (pmd_present(pmd) && !pmd_leaf(pmd)) {
		found_pte(pmd, addr, found);
		return;
	}
	found->level = PAGERUN_TEST_PMD;
	found->value = pmd_val(pmd);
	found->as_pte = __pte(pmd_val(pmd));
	found->none = false;
	found->present = pmd_present(pmd);
	if (found->present)
		found->pfn = pmd_pfn(pmd) + pages_in(addr, PMD_SIZE);
}

static void found_pud(p4d_t *p4dp, p4d_t p4d, unsigned long addr, struct found *found)
{
	pud_t *pudp = pud_offset_lockless(p4dp, p4d, addr), pud = READ_ONCE(*pudp);

	found->size = PUD_SIZE;
	if (pud_none(pud))
		return;
	/* One that is not present is that of a page of hugetlb on its way elsewhere. */
	if (pud_present(pud) && !pud_leaf(pud)) {
		found_pmd(pudp, pud, addr, found);
		return;
	}
	found->level = PAGERUN_TEST_PUD;
	found->value = pud_val(pud);
	found->as_pte = __pte(pud_val(pud));
	found->none = false;
	found->present = pud_present(pud);
	if (found->present)
		found->pfn = pud_pfn(pud) + pages_in(addr, PUD_SIZE);
}

/* Context: mmap lock held. */
static void find(struct mm_struct *mm, unsigned long addr, struct found *found)
{
	pgd_t *pgdp = pgd_offset(mm, addr), pgd;
	p4d_t *p4dp, p4d;
	unsigned long irqs;

	*found = (struct found){
		.level = PAGERUN_TEST_NO_TABLE, .size = PGDIR_SIZE, .none = true,
	};
	local_irq_save(irqs);
	pgd = READ_ONCE(*pgdp);
	if (!pgd_none(pgd)) {
		p4dp = p4d_offset_lockless(pgdp, pgd, addr);
		p4d = READ_ONCE(*p4dp);
		found->size = P4D_SIZE;
		if (!p4d_none(p4d))
			found_pud(p4dp, p4d, addr, found);
	}
	local_irq_restore(irqs);
}

/**
 * test_entry_next() - look at an address, and say where the next entry is
 * @mm: whose
 * @addr: the address
 * @none: whether nothing at all is there
 *
 * Context: mmap lock held.
 * Return: the first address behind what the entry, or the lack of a table, is for.
 */
unsigned long test_entry_next(struct mm_struct *mm, unsigned long addr,
			      bool *none)
{
	struct found found;

	find(mm, addr, &found);
	*none = found.none;
	return (addr & ~(found.size - 1)) + found.size;
}

static u32 flags_of(pte_t pte)
{
	u32 flags = PAGERUN_TEST_ENTRY_PRESENT;

	if (!compat_flags_known())
		return flags;
	if (pte_write(pte))
		flags |= PAGERUN_TEST_ENTRY_WRITE;
	if (pte_dirty(pte))
		flags |= PAGERUN_TEST_ENTRY_DIRTY;
	if (pte_young(pte))
		flags |= PAGERUN_TEST_ENTRY_YOUNG;
	if (pte_soft_dirty(pte))
		flags |= PAGERUN_TEST_ENTRY_SOFT_DIRTY;
	if (pte_special(pte))
		flags |= PAGERUN_TEST_ENTRY_SPECIAL;
	return flags;
}

/**
 * test_entry() - PAGERUN_TEST_ENTRY
 * @uarg: struct pagerun_test_entry of the caller
 *
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
long test_entry(void __user *uarg)
{
	struct pagerun_test_entry entry;
	struct found found;

	if (copy_from_user(&entry, uarg, sizeof(entry)))
		return -EFAULT;
	if (entry.reserved)
		return -EINVAL;
	if (entry.addr >= TASK_SIZE_MAX)
		return -EFAULT;
	if (!compat_tables_mapped())
		return -EOPNOTSUPP;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	find(current->mm, entry.addr, &found);
	mmap_read_unlock(current->mm);

	entry.value = found.value;
	entry.pfn = found.pfn;
	entry.level = found.level;
	entry.flags = found.present ? flags_of(found.as_pte) : 0;
	entry.cache = found.present ?
		compat_cache_index(found.value, found.level > PAGERUN_TEST_PTE) : 0;
	return copy_to_user(uarg, &entry, sizeof(entry)) ? -EFAULT : 0;
}
