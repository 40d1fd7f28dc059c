// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses at which large entries can be: those that are congruent with the physical
 * address that will be mapped there. Only asked for where the caller names none.
 *
 * Called by get_unmapped_area() of a file, so with mmap_lock for writing, and before
 * the file's ->mmap.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/pagerun_map.h>
#include <linux/sched.h>
#include <linux/uio_driver.h>

#include "compat.h"
#include "switch.h"

/* @pfn: what the mapping will start with; its place in a large entry counts. */
static unsigned long area_at(struct file *file, unsigned long len,
			     unsigned long pfn, unsigned long flags)
{
	return thp_get_unmapped_area(file, 0, len, pfn, flags);
}

/**
 * pagerun_map_area_kernfs() - ->get_unmapped_area of files of kernfs
 * @file: the file
 * @addr: the address that the caller would like, 0: any
 * @len: length in bytes, page aligned
 * @pgoff: offset in the file, in pages
 * @flags: MAP_*
 *
 * The files of PCI resources are told from others by their f_mapping, which is that of
 * all I/O memory. A BAR lies at a multiple of its size, so what is congruent with an
 * offset in it is so with the physical address; were it not, it would be mapped by
 * PTEs. The device itself is not looked at: it may be gone by now.
 *
 * Context: mmap_lock for writing.
 * Return: an address, or a negative errno. For other files, with a wish of the caller,
 * and while the switch is off: as without this function.
 */
unsigned long pagerun_map_area_kernfs(struct file *file, unsigned long addr,
				      unsigned long len, unsigned long pgoff,
				      unsigned long flags)
{
	if (!addr && pagerun_on(PAGERUN_MAP) &&
	    file->f_mapping == iomem_get_mapping())
		return area_at(file, len, pgoff, flags);
	return pagerun_default_area(file, addr, len, pgoff, flags);
}

#if IS_ENABLED(CONFIG_UIO)
/* Is @pgoff, the number of a map, one of physical memory? */
static bool uio_map_pfn(struct uio_device *idev, unsigned long pgoff,
			unsigned long *pfn)
{
	const struct uio_mem *mem;
	bool phys = false;

	/* The driver may be gone by now, and its info with it. */
	mutex_lock(&idev->info_lock);
	if (idev->info && !idev->info->mmap && pgoff < MAX_UIO_MAPS) {
		mem = &idev->info->mem[pgoff];
		phys = mem->size && (mem->memtype == UIO_MEM_PHYS ||
				     mem->memtype == UIO_MEM_IOVA);
		*pfn = PHYS_PFN(mem->addr);
	}
	mutex_unlock(&idev->info_lock);
	return phys;
}

/**
 * pagerun_map_area_uio() - ->get_unmapped_area of UIO devices
 * @idev: the device; the open file holds it
 * @file: the file
 * @addr: the address that the caller would like, 0: any
 * @len: length in bytes, page aligned
 * @pgoff: the number of the map
 * @flags: MAP_*
 *
 * Context: mmap_lock for writing; takes the device's info_lock, as its ->mmap does.
 * Return: as pagerun_map_area_kernfs().
 */
unsigned long pagerun_map_area_uio(struct uio_device *idev, struct file *file,
				   unsigned long addr, unsigned long len,
				   unsigned long pgoff, unsigned long flags)
{
	unsigned long pfn;

	if (!addr && pagerun_on(PAGERUN_MAP) && uio_map_pfn(idev, pgoff, &pfn))
		return area_at(file, len, pfn, flags);
	return pagerun_default_area(file, addr, len, pgoff, flags);
}
EXPORT_SYMBOL_GPL(pagerun_map_area_uio);
#endif
