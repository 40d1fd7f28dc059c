// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large entries against what the base makes of the same call: a twin that is mapped
 * with the switch off, page by page. Nothing is accessed through the mappings, so the
 * PFNs need not be there: they lie where no memory is, and no type of memory is
 * reserved for them.
 */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pagewalk.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>

#include "../map.h"
#include "tests.h"

#define NR_ENTRIES	4
#define NR_PAGES	(NR_ENTRIES * PTRS_PER_PTE)
#define MAX_ENTRIES	32	/* of a twin; most tests use NR_ENTRIES of them */
#define BASE_PFN	BIT(27)	/* 512 GiB: more than a guest has */

/* A VMA at a multiple of PMD_SIZE, of a file that does nothing. */
struct twin {
	unsigned long addr;
	struct vm_area_struct *vma;
};

struct map_context {
	struct twin on, off;
};

static const struct vm_operations_struct map_vm_ops = { };

static vm_fault_t agree(struct vm_fault *vmf)
{
	return 0;
}

static const struct vm_operations_struct map_mkwrite_ops = { .pfn_mkwrite = agree };

static int map_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &map_vm_ops;
	return 0;
}

static const struct file_operations map_fops = { .mmap = map_file_mmap };

static pmd_t *pmd_of(unsigned long addr)
{
	pgd_t *pgd = pgd_offset(current->mm, addr);
	p4d_t *p4d = p4d_offset(pgd, addr);
	pud_t *pud;

	if (pgd_none(*pgd) || p4d_none(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	return pud_none(*pud) ? NULL : pmd_offset(pud, addr);
}

static bool is_large(unsigned long addr)
{
	pmd_t *pmd = pmd_of(addr);

	return pmd && pmd_leaf(pmdp_get(pmd));
}

/* What a page is mapped by, as a PTE: a large entry is taken apart by its parts. */
static pte_t entry_of(unsigned long addr)
{
	pmd_t *pmdp = pmd_of(addr);
	pmd_t pmd = pmdp ? pmdp_get(pmdp) : __pmd(0);
	pte_t *ptep, pte;

	if (pmd_none(pmd))
		return __pte(0);
	if (pmd_leaf(pmd))
		return pte_mkspecial(pfn_pte(pmd_pfn(pmd) + ((addr & ~PMD_MASK) >> PAGE_SHIFT),
					     pagerun_pgprot_to_pte(pmd_pgprot(pmd))));
	ptep = pte_offset_kernel(pmdp, addr);
	pte = ptep_get(ptep);
	return pte;
}

/* Maps pages of a twin with the switch as it is meant for it. */
static int map(struct twin *twin, bool on, unsigned long first,
	       unsigned long nr, unsigned long pfn, pgprot_t prot)
{
	int err;

	set_switch(PAGERUN_MAP, on);
	mmap_write_lock(current->mm);
	err = remap_pfn_range_notrack(twin->vma, twin->addr + first * PAGE_SIZE,
				      pfn, nr * PAGE_SIZE, prot);
	mmap_write_unlock(current->mm);
	return err;
}

static void map_twins(struct kunit *test, unsigned long first, unsigned long nr,
		      unsigned long pfn, pgprot_t prot)
{
	struct map_context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, map(&ctx->off, false, first, nr, pfn, prot), 0);
	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, first, nr, pfn, prot), 0);
}

static void zap(struct twin *twin, unsigned long first, unsigned long nr)
{
	mmap_read_lock(current->mm);
	zap_vma_ptes(twin->vma, twin->addr + first * PAGE_SIZE, nr * PAGE_SIZE);
	mmap_read_unlock(current->mm);
}

static void expect_twin_pages(struct kunit *test, unsigned long first,
			      unsigned long nr, const char *when)
{
	struct map_context *ctx = test->priv;
	unsigned long i, offset, differ = 0;

	for (i = first; i < first + nr; i++) {
		offset = i * PAGE_SIZE;
		if (pte_same(entry_of(ctx->on.addr + offset), entry_of(ctx->off.addr + offset)))
			continue;
		if (!differ++)
			kunit_err(test, "%s: page %lu: %#lx, the base has %#lx", when, i,
				  (unsigned long)pte_val(entry_of(ctx->on.addr + offset)),
				  (unsigned long)pte_val(entry_of(ctx->off.addr + offset)));
	}
	KUNIT_EXPECT_EQ_MSG(test, differ, 0, "%s", when);
}

static void expect_twins(struct kunit *test, const char *when)
{
	expect_twin_pages(test, 0, NR_PAGES, when);
}

/* The rule of which pieces are mapped large, spelt out page by page. */
static bool should_be_large(unsigned long page, unsigned long first,
			    unsigned long nr, unsigned long pfn)
{
	unsigned long head = round_down(page, PTRS_PER_PTE);

	if (head < first || head + PTRS_PER_PTE > first + nr)
		return false;
	return (pfn + head - first) % PTRS_PER_PTE == 0;
}

static void place(struct kunit *test, unsigned long first, unsigned long nr,
		  unsigned long pfn)
{
	struct map_context *ctx = test->priv;
	unsigned long i;
	char when[64];

	snprintf(when, sizeof(when), "pages %lu to %lu of pfn %#lx", first, first + nr, pfn);
	map_twins(test, first, nr, pfn, PAGE_SHARED);
	expect_twins(test, when);
	for (i = 0; i < NR_PAGES; i += PTRS_PER_PTE) {
		/* A table left by the case before keeps the piece small. */
		if (!pmd_none(*pmd_of(ctx->on.addr + i * PAGE_SIZE)) &&
		    !is_large(ctx->on.addr + i * PAGE_SIZE))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, is_large(ctx->on.addr + i * PAGE_SIZE),
				    should_be_large(i, first, nr, pfn), "%s, page %lu", when, i);
		KUNIT_EXPECT_FALSE(test, is_large(ctx->off.addr + i * PAGE_SIZE));
	}
	zap(&ctx->on, first, nr);
	zap(&ctx->off, first, nr);
	expect_twins(test, "zapped");
}

static void map_place_test(struct kunit *test)
{
	static const struct {
		unsigned long first, nr, pfn;
	} edges[] = {
		{ 0, NR_PAGES, 0 },
		{ PTRS_PER_PTE, PTRS_PER_PTE, 0 },
		{ 0, PTRS_PER_PTE, 1 },
		{ 1, PTRS_PER_PTE - 1, 1 },
		{ PTRS_PER_PTE - 1, PTRS_PER_PTE + 1, PTRS_PER_PTE - 1 },
		{ PTRS_PER_PTE - 1, PTRS_PER_PTE + 2, PTRS_PER_PTE - 1 },
		{ 1, PTRS_PER_PTE + 3, 0 },
		{ 0, 1, 0 },
	};
	struct rnd_state rnd;
	unsigned long first, nr;
	int i;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		place(test, edges[i].first, edges[i].nr, BASE_PFN + edges[i].pfn);

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 100; i++) {
		first = prandom_u32_state(&rnd) % NR_PAGES;
		nr = 1 + prandom_u32_state(&rnd) % (NR_PAGES - first);
		place(test, first, nr, BASE_PFN + (i & 1 ? first : prandom_u32_state(&rnd) % 1024));
	}
}

/* Which pieces are large where nothing was mapped before. */
static void map_large_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	unsigned long bytes = mm_pgtables_bytes(current->mm), i;

	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 1, NR_PAGES - 1, BASE_PFN + 1, PAGE_SHARED), 0);
	KUNIT_EXPECT_FALSE(test, is_large(ctx->on.addr));
	for (i = PTRS_PER_PTE; i < NR_PAGES; i += PTRS_PER_PTE)
		KUNIT_EXPECT_TRUE(test, is_large(ctx->on.addr + i * PAGE_SIZE));
	/* One table for the first piece; those above it may have been there. */
	KUNIT_EXPECT_LE(test, mm_pgtables_bytes(current->mm) - bytes, 3 * PAGE_SIZE);
}

static pgprot_t with_cache(pgprot_t prot, int index)
{
#ifdef CONFIG_X86
	static const pgprotval_t bits[] = { _PAGE_PWT, _PAGE_PCD, _PAGE_PAT };
	int i;

	for (i = 0; i < ARRAY_SIZE(bits); i++)
		if (index & BIT(i))
			prot = __pgprot(pgprot_val(prot) | bits[i]);
	return prot;
#else
	return index ? pgprot_writecombine(prot) : prot;
#endif
}

/* All kinds of memory with all protections, each in a piece of its own. */
static void map_split_test(struct kunit *test)
{
	const pgprot_t prots[] = { PAGE_SHARED, PAGE_READONLY, PAGE_NONE, PAGE_SHARED_EXEC };
	struct map_context *ctx = test->priv;
	unsigned long i, first, addr, bytes;
	char when[32];
	pgprot_t prot;
	pmd_t *pmd;

	for (i = 0; i < ARRAY_SIZE(prots) * 8; i++) {
		snprintf(when, sizeof(when), "protection %lu, cache %lu", i / 8, i % 8);
		first = i * PTRS_PER_PTE;
		addr = ctx->on.addr + first * PAGE_SIZE;
		prot = with_cache(prots[i / 8], i % 8);
		map_twins(test, first, PTRS_PER_PTE, BASE_PFN, prot);
		KUNIT_ASSERT_TRUE_MSG(test, is_large(addr), "%s", when);
		expect_twin_pages(test, first, PTRS_PER_PTE, when);

		pmd = pmd_of(addr);
		bytes = mm_pgtables_bytes(current->mm);
		KUNIT_EXPECT_TRUE(test, pagerun_map_split(ctx->on.vma, pmd, addr));
		KUNIT_EXPECT_FALSE(test, is_large(addr));
		KUNIT_EXPECT_EQ(test, mm_pgtables_bytes(current->mm), bytes + PAGE_SIZE);
		expect_twin_pages(test, first, PTRS_PER_PTE, when);

		/* Once more: there is nothing to split, and nothing is. */
		KUNIT_EXPECT_FALSE(test, pagerun_map_split(ctx->on.vma, pmd, addr));
		KUNIT_EXPECT_EQ(test, pagerun_map_split_early(ctx->on.vma, addr), 0);
		KUNIT_EXPECT_EQ(test, mm_pgtables_bytes(current->mm), bytes + PAGE_SIZE);
	}
}

/* Bits that are not of the protection, set in the entry, are in every PTE. */
static void map_split_bits_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	unsigned long addr = ctx->on.addr;
	pmd_t *pmd, entry;
	pte_t pte;
	int i, j;

	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 0, NR_PAGES, BASE_PFN, PAGE_SHARED), 0);
	for (i = 0; i < NR_ENTRIES; i++) {
		pmd = pmd_of(addr + i * PMD_SIZE);
		entry = pmdp_get(pmd);
		entry = i & 1 ? pmd_mkdirty(entry) : pmd_mkclean(entry);
		entry = i & 2 ? pmd_mkyoung(entry) : pmd_mkold(entry);
		set_pmd_at(current->mm, addr + i * PMD_SIZE, pmd, entry);
		KUNIT_EXPECT_TRUE(test, pagerun_map_split(ctx->on.vma, pmd, addr + i * PMD_SIZE));
		for (j = 0; j < PTRS_PER_PTE; j += 73) {
			pte = entry_of(addr + i * PMD_SIZE + j * PAGE_SIZE);
			KUNIT_EXPECT_EQ(test, !!pte_dirty(pte), !!(i & 1));
			KUNIT_EXPECT_EQ(test, !!pte_young(pte), !!(i & 2));
			KUNIT_EXPECT_EQ(test, !!pte_soft_dirty(pte), !!pmd_soft_dirty(entry));
			KUNIT_EXPECT_TRUE(test, pte_special(pte));
		}
	}
}

/* The owner takes out parts: the first, the last, one across two entries, all. */
static void map_zap_test(struct kunit *test)
{
	static const unsigned long parts[][2] = {
		{ 0, 1 }, { NR_PAGES - 1, 1 }, { PTRS_PER_PTE - 3, 6 },
		{ PTRS_PER_PTE * 2, PTRS_PER_PTE }, { 7, NR_PAGES - 20 }, { 0, NR_PAGES },
	};
	struct map_context *ctx = test->priv;
	int i;

	map_twins(test, 0, NR_PAGES, BASE_PFN, PAGE_SHARED);
	KUNIT_ASSERT_TRUE(test, is_large(ctx->on.addr));
	/* What stands is split right while the switch is off. */
	set_switch(PAGERUN_MAP, false);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		zap(&ctx->on, parts[i][0], parts[i][1]);
		zap(&ctx->off, parts[i][0], parts[i][1]);
		expect_twins(test, "zapped in part");
	}
}

/*
 * A file that wants to know of writes: it is asked about each page, whatever was
 * written elsewhere in the entry.
 */
static void map_notify_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	pmd_t *pmd, entry;

	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 0, NR_PAGES, BASE_PFN, PAGE_SHARED), 0);
	pmd = pmd_of(ctx->on.addr);
	entry = pmd_mkdirty(pmdp_get(pmd));
	set_pmd_at(current->mm, ctx->on.addr, pmd, entry);
	KUNIT_EXPECT_FALSE(test, pagerun_map_notifies(ctx->on.vma, entry));
	ctx->on.vma->vm_ops = &map_mkwrite_ops;
	KUNIT_EXPECT_TRUE(test, pagerun_map_notifies(ctx->on.vma, entry));
	KUNIT_EXPECT_TRUE(test, pagerun_map_split(ctx->on.vma, pmd, ctx->on.addr));
	ctx->on.vma->vm_ops = &map_vm_ops;
	KUNIT_EXPECT_FALSE(test, pte_dirty(entry_of(ctx->on.addr + PAGE_SIZE)));
	KUNIT_EXPECT_TRUE(test, pte_write(entry_of(ctx->on.addr + PAGE_SIZE)));
}

/*
 * A ->mmap that fails when something is mapped already: the VMA has no file when that
 * is taken out again.
 */
static int failing_mmap(struct file *file, struct vm_area_struct *vma)
{
	int err = remap_pfn_range_notrack(vma, vma->vm_start, BASE_PFN, PMD_SIZE,
					  PAGE_SHARED);

	vma->vm_ops = &map_vm_ops;
	return err ? err : -EXDEV;
}

static const struct file_operations failing_fops = { .mmap = failing_mmap };

static void map_mmap_fails_test(struct kunit *test)
{
	unsigned long addr = ((struct map_context *)test->priv)->on.addr;
	struct file *file;

	file = anon_inode_getfile("pagerun_map", &failing_fops, NULL, O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	set_switch(PAGERUN_MAP, true);
	/* No VMA there: one of the twins goes. */
	KUNIT_ASSERT_EQ(test, vm_munmap(addr, MAX_ENTRIES * PMD_SIZE), 0);
	KUNIT_EXPECT_EQ(test, vm_mmap(file, addr, 2 * PMD_SIZE, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_FIXED, 0), (unsigned long)-EXDEV);
	KUNIT_EXPECT_TRUE(test, !pmd_of(addr) || pmd_none(pmdp_get(pmd_of(addr))));
	fput(file);
}

/* A stale table is filled, not replaced; an entry that stands is an error, not a BUG. */
static void map_occupied_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 0, 1, BASE_PFN, PAGE_SHARED), 0);
	zap(&ctx->on, 0, 1);
	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 0, NR_PAGES, BASE_PFN, PAGE_SHARED), 0);
	KUNIT_EXPECT_FALSE(test, is_large(ctx->on.addr));
	KUNIT_EXPECT_TRUE(test, is_large(ctx->on.addr + PMD_SIZE));
	KUNIT_ASSERT_EQ(test, map(&ctx->off, false, 0, NR_PAGES, BASE_PFN, PAGE_SHARED), 0);
	expect_twins(test, "a table was there");

	/* As for PTEs that stand, what was mapped before is gone afterwards. */
	KUNIT_EXPECT_EQ(test, map(&ctx->on, true, PTRS_PER_PTE, PTRS_PER_PTE, BASE_PFN,
				  PAGE_SHARED), -ENOMEM);
}

/* Never in a copy-on-write mapping, nor without a file. */
static void map_refused_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	struct vm_area_struct vma = *ctx->on.vma;
	unsigned long addr = ctx->on.addr, end = addr + NR_PAGES * PAGE_SIZE;

	set_switch(PAGERUN_MAP, true);
	KUNIT_EXPECT_TRUE(test, pagerun_map_wanted(&vma, addr, end, BASE_PFN));
	KUNIT_EXPECT_FALSE(test, pagerun_map_wanted(&vma, addr, end, BASE_PFN + 1));
	KUNIT_EXPECT_FALSE(test, pagerun_map_wanted(&vma, addr + PAGE_SIZE, addr + PMD_SIZE,
						    BASE_PFN + 1));
	KUNIT_EXPECT_FALSE(test, pagerun_map_wanted(&vma, 0UL - PAGE_SIZE, 0UL, BASE_PFN - 1));
	set_switch(PAGERUN_MAP, false);
	KUNIT_EXPECT_FALSE(test, pagerun_map_wanted(&vma, addr, end, BASE_PFN));
	set_switch(PAGERUN_MAP, true);
	vma.vm_file = NULL;
	KUNIT_EXPECT_FALSE(test, pagerun_map_wanted(&vma, addr, end, BASE_PFN));
	vma.vm_file = ctx->on.vma->vm_file;
	vma.vm_ops = NULL;
	KUNIT_EXPECT_FALSE(test, pagerun_map_wanted(&vma, addr, end, BASE_PFN));
	vma.vm_ops = &map_vm_ops;
	vm_flags_init(&vma, VM_READ | VM_MAYREAD | VM_MAYWRITE);
	KUNIT_EXPECT_FALSE(test, pagerun_map_wanted(&vma, addr, end, BASE_PFN));
}

/* Return: what pagerun_map_upgrade() says of a write to @addr. */
static bool upgrade(struct twin *twin, unsigned long addr, pmd_t seen)
{
	struct vm_fault vmf = {
		.vma = twin->vma, .address = addr, .flags = FAULT_FLAG_WRITE,
		.pmd = pmd_of(addr), .orig_pmd = seen,
	};
	bool done;

	mmap_read_lock(current->mm);
	done = pagerun_map_upgrade(&vmf);
	mmap_read_unlock(current->mm);
	return done;
}

/* A write to a read-only entry, by whether its file wants to know. */
static void map_upgrade_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	unsigned long addr = ctx->on.addr + 5 * PAGE_SIZE;
	pmd_t *pmd, seen;

	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 0, NR_PAGES, BASE_PFN, PAGE_READONLY), 0);
	pmd = pmd_of(addr);
	seen = pmdp_get(pmd);
	KUNIT_EXPECT_TRUE(test, upgrade(&ctx->on, addr, seen));
	KUNIT_EXPECT_TRUE(test, is_large(addr));
	KUNIT_EXPECT_TRUE(test, pte_write(entry_of(addr)));
	KUNIT_EXPECT_TRUE(test, pte_dirty(entry_of(addr)));
	KUNIT_EXPECT_TRUE(test, pte_young(entry_of(addr)));

	/* An entry that is another one by now is not touched. */
	set_pmd_at(current->mm, ctx->on.addr, pmd, pmd_mkold(pmdp_get(pmd)));
	KUNIT_EXPECT_TRUE(test, upgrade(&ctx->on, addr, seen));
	KUNIT_EXPECT_FALSE(test, pte_young(entry_of(addr)));

	addr += PMD_SIZE;
	ctx->on.vma->vm_ops = &map_mkwrite_ops;
	KUNIT_EXPECT_FALSE(test, upgrade(&ctx->on, addr, pmdp_get(pmd_of(addr))));
	ctx->on.vma->vm_ops = &map_vm_ops;
	KUNIT_EXPECT_FALSE(test, is_large(addr));
	KUNIT_EXPECT_FALSE(test, pte_write(entry_of(addr)));
	KUNIT_EXPECT_EQ(test, pte_pfn(entry_of(addr)), BASE_PFN + PTRS_PER_PTE + 5);
}

/* What fork finds under the lock, when it had seen a large entry before it. */
static void map_copy_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	pmd_t *pmdp, pmd;

	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 0, NR_PAGES, BASE_PFN, PAGE_SHARED), 0);
	pmdp = pmd_of(ctx->on.addr);
	pmd = pmdp_get(pmdp);
	KUNIT_EXPECT_FALSE(test, pagerun_map_copy_raced(pmdp, &pmd));
	/* Marked meanwhile: copied as it is now. */
	set_pmd_at(current->mm, ctx->on.addr, pmdp, pmd_mkdirty(pmd));
	KUNIT_EXPECT_FALSE(test, pagerun_map_copy_raced(pmdp, &pmd));
	KUNIT_EXPECT_TRUE(test, pmd_dirty(pmd));
	zap(&ctx->on, 1, 1);
	KUNIT_EXPECT_TRUE(test, pagerun_map_copy_raced(pmdp, &pmd));

	pmdp = pmd_of(ctx->on.addr + PMD_SIZE);
	pmd = pmdp_get(pmdp);
	zap(&ctx->on, PTRS_PER_PTE, PTRS_PER_PTE);
	KUNIT_EXPECT_TRUE(test, pagerun_map_copy_raced(pmdp, &pmd));
}

/* follow_pfnmap_start() says the same of a large entry as of a PTE. */
static void map_follow_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	struct follow_pfnmap_args on, off;
	unsigned long i;

	for (i = 0; i < 8; i++) {
		unsigned long first = i * PTRS_PER_PTE, page = first + 13;
		pgprot_t prot = with_cache(PAGE_SHARED, i);

		map_twins(test, first, PTRS_PER_PTE, BASE_PFN, prot);
		on = (struct follow_pfnmap_args){
			.vma = ctx->on.vma, .address = ctx->on.addr + page * PAGE_SIZE };
		off = (struct follow_pfnmap_args){
			.vma = ctx->off.vma, .address = ctx->off.addr + page * PAGE_SIZE };
		mmap_read_lock(current->mm);
		KUNIT_ASSERT_EQ(test, follow_pfnmap_start(&off), 0);
		follow_pfnmap_end(&off);
		KUNIT_ASSERT_EQ(test, follow_pfnmap_start(&on), 0);
		follow_pfnmap_end(&on);
		mmap_read_unlock(current->mm);
		KUNIT_EXPECT_EQ(test, on.pfn, off.pfn);
		KUNIT_EXPECT_EQ_MSG(test, pgprot_val(on.pgprot), pgprot_val(off.pgprot),
				    "cache %lu", i);
		KUNIT_EXPECT_EQ(test, on.writable, off.writable);
		KUNIT_EXPECT_EQ(test, on.special, off.special);
	}
}

static int walk_entry(unsigned long addr, struct mm_walk *walk)
{
	return pagerun_map_prot_none(pmd_of(addr), addr, addr + PMD_SIZE, walk);
}

/* The walk of mprotect(PROT_NONE) passes over an entry, and goes into a table. */
static void map_prot_none_test(struct kunit *test)
{
	struct map_context *ctx = test->priv;
	pgprot_t prot = PAGE_NONE;
	struct mm_walk walk = { .private = &prot };
	unsigned long addr = ctx->on.addr;

	KUNIT_ASSERT_EQ(test, map(&ctx->on, true, 0, NR_PAGES, BASE_PFN, PAGE_SHARED), 0);
	zap(&ctx->on, 0, 1);
	walk.action = ACTION_SUBTREE;
	KUNIT_EXPECT_EQ(test, walk_entry(addr, &walk), 0);
	KUNIT_EXPECT_EQ(test, walk.action, ACTION_SUBTREE);
	addr += PMD_SIZE;
	/* Without CAP_SYS_ADMIN, L1TF and a high PFN it may be -EACCES; this thread has it. */
	KUNIT_EXPECT_EQ(test, walk_entry(addr, &walk), 0);
	KUNIT_EXPECT_EQ(test, walk.action, ACTION_CONTINUE);
}

static int make_twin(struct kunit *test, struct file *file, struct twin *twin)
{
	unsigned long addr;

	addr = kunit_vm_mmap(test, file, 0, (MAX_ENTRIES + 1) * PMD_SIZE,
			     PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	if (!addr || IS_ERR_VALUE(addr))
		return -ENOMEM;
	twin->addr = ALIGN(addr, PMD_SIZE);
	mmap_read_lock(current->mm);
	twin->vma = find_vma(current->mm, twin->addr);
	mmap_read_unlock(current->mm);
	return twin->vma ? 0 : -EFAULT;
}

static bool map_was_on;

static int map_init(struct kunit *test)
{
	struct map_context *ctx;
	struct file *file;
	int err;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;
	file = anon_inode_getfile("pagerun_map", &map_fops, NULL, O_RDWR);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = make_twin(test, file, &ctx->on);
	if (!err)
		err = make_twin(test, file, &ctx->off);
	/* The mappings hold it. */
	fput(file);
	test->priv = ctx;
	return err;
}

static int map_suite_init(struct kunit_suite *suite)
{
	map_was_on = switch_is_on(PAGERUN_MAP);
	return 0;
}

static void map_suite_exit(struct kunit_suite *suite)
{
	set_switch(PAGERUN_MAP, map_was_on);
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(map_large_test),
	KUNIT_CASE(map_place_test),
	KUNIT_CASE(map_split_test),
	KUNIT_CASE(map_split_bits_test),
	KUNIT_CASE(map_zap_test),
	KUNIT_CASE(map_notify_test),
	KUNIT_CASE(map_mmap_fails_test),
	KUNIT_CASE(map_occupied_test),
	KUNIT_CASE(map_refused_test),
	KUNIT_CASE(map_upgrade_test),
	KUNIT_CASE(map_copy_test),
	KUNIT_CASE(map_follow_test),
	KUNIT_CASE(map_prot_none_test),
	{ }
};

static struct kunit_suite map_suite = {
	.name = "pagerun_map",
	.suite_init = map_suite_init,
	.suite_exit = map_suite_exit,
	.init = map_init,
	.test_cases = map_cases,
};

kunit_test_suite(map_suite);
