/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What map must know of an architecture: how the attributes of a PTE are written
 * in a PMD entry and back, and which physical ranges may not be in one entry.
 */
#ifndef _MM_PAGERUN_MAP_ARCH_H
#define _MM_PAGERUN_MAP_ARCH_H

#include <linux/mm.h>
#include <linux/pgtable.h>

#ifdef CONFIG_X86
#include <asm/mtrr.h>

/*
 * The third bit of the index into the PAT is bit 7 in a PTE, which in a PMD entry
 * says that it is a leaf; there the bit is the 12th.
 */
static inline pgprot_t pagerun_pgprot_to_pmd(pgprot_t prot)
{
	return pgprot_4k_2_large(prot);
}

static inline pgprot_t pagerun_pgprot_to_pte(pgprot_t prot)
{
	return pgprot_large_2_4k(prot);
}

/*
 * A processor need not do anything sensible with an entry over memory that its
 * MTRRs give two types.
 */
static inline bool pagerun_phys_uniform(phys_addr_t start, phys_addr_t end)
{
	u8 uniform;

	mtrr_type_lookup(start, end, &uniform);
	return uniform;
}

/* L1TF is about entries that are not present. */
static inline bool pagerun_prot_modify_allowed(pgprot_t prot)
{
	return pgprot_val(prot) & _PAGE_PRESENT;
}

#else /* CONFIG_X86 */

/**
 * pagerun_pgprot_to_pmd() - attributes of a PTE as a PMD entry has them
 * @prot: of a PTE
 *
 * Return: for pfn_pmd(), which pmd_mkhuge() is to follow.
 */
static inline pgprot_t pagerun_pgprot_to_pmd(pgprot_t prot)
{
	return prot;
}

/**
 * pagerun_pgprot_to_pte() - attributes of a PMD entry as a PTE has them
 * @prot: what pmd_pgprot() says of a leaf, present or PROT_NONE
 *
 * Return: for pfn_pte().
 */
static inline pgprot_t pagerun_pgprot_to_pte(pgprot_t prot)
{
#ifdef CONFIG_ARM64
	/* That bit tells a block from a table, and a page from nothing. */
	return __pgprot(pgprot_val(prot) | PMD_TABLE_BIT);
#else
	return prot;
#endif
}

/**
 * pagerun_phys_uniform() - may one entry map all of a physical range?
 * @start: where it starts
 * @end: where it ends
 *
 * Return: false if the range has more than one type of memory.
 */
static inline bool pagerun_phys_uniform(phys_addr_t start, phys_addr_t end)
{
	return true;
}

/**
 * pagerun_prot_modify_allowed() - does pfn_modify_allowed() take every PFN?
 * @prot: attributes of a PTE
 *
 * Return: false if it has to be asked about each PFN.
 */
static inline bool pagerun_prot_modify_allowed(pgprot_t prot)
{
	return !arch_has_pfn_modify_check();
}

#endif /* CONFIG_X86 */
#endif /* _MM_PAGERUN_MAP_ARCH_H */
