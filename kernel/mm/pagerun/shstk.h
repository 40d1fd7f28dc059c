/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shstk: shadow stacks never get large folios.
 *
 * x86 tells a writable shadow-stack entry from a write-protected one by the dirty
 * bit alone. Whoever works on several entries of a folio at once and ignores the
 * dirty bit takes one for the other. So a shadow stack gets no large folios: neither
 * by default (THP=always) nor by MADV_HUGEPAGE, which keeps returning 0, nor by
 * MADV_COLLAPSE, which returns EINVAL then.
 */
#ifndef _MM_PAGERUN_SHSTK_H
#define _MM_PAGERUN_SHSTK_H

#include <linux/mm.h>

/**
 * pagerun_shstk() - must a mapping have no large folios, as a shadow stack?
 * @vm_flags: the mapping's flags
 *
 * Asked where all ways to a large anonymous folio go by: faults, khugepaged and
 * MADV_COLLAPSE.
 *
 * Context: any.
 * Return: true for a shadow stack.
 */
static inline bool pagerun_shstk(unsigned long vm_flags)
{
	return IS_ENABLED(CONFIG_PAGERUN_SHSTK) && (vm_flags & VM_SHADOW_STACK);
}

#endif /* _MM_PAGERUN_SHSTK_H */
