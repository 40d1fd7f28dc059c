/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map: what files outside of mm/ call for an address that large entries can be at.
 */
#ifndef _LINUX_PAGERUN_MAP_H
#define _LINUX_PAGERUN_MAP_H

struct file;
struct uio_device;

#ifdef CONFIG_PAGERUN_MAP

unsigned long pagerun_map_area_kernfs(struct file *file, unsigned long addr,
				      unsigned long len, unsigned long pgoff,
				      unsigned long flags);
unsigned long pagerun_map_area_uio(struct uio_device *idev, struct file *file,
				   unsigned long addr, unsigned long len,
				   unsigned long pgoff, unsigned long flags);

#else

/* As ->get_unmapped_area: there is none. */
#define pagerun_map_area_kernfs	NULL

#endif /* CONFIG_PAGERUN_MAP */
#endif /* _LINUX_PAGERUN_MAP_H */
