/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface of /dev/pagerun, the character device of pagerun_test.ko.
 *
 * The driver calls the kernel functions that no system call reaches as they
 * are, on the memory of the process that calls it: get_user_pages_fast(),
 * get_user_pages_fast_only(), pin_user_pages_fast() and unpin_user_pages(), and
 * remap_pfn_range(), zap_vma_ptes() and unmap_mapping_range(). Opening the
 * device needs CAP_SYS_ADMIN (EPERM; its file mode is 0600, so most others see
 * EACCES first).
 *
 * One open file is one set of held pages and may be used by one thread at a
 * time; others wait (and a signal ends the wait with EINTR). Threads that are
 * to run side by side open the device once each. A child has the open files of
 * its parent, and with them the same held set; the pages that it takes are
 * those of its own memory.
 *
 * Addresses are user virtual addresses and must be multiples of the page size
 * (EINVAL otherwise). A range that is not in the user's part of the address
 * space, or wraps around, is EFAULT. Sizes are in pages unless a name says
 * otherwise. Fields named reserved must be zero, bits and values that are not
 * named here must not be used: EINVAL otherwise, so that they can get a meaning
 * later. A user pointer that cannot be read or written gives EFAULT. No memory
 * for the driver's own arrays is ENOMEM, an unknown command ENOTTY.
 *
 * Numbers of pages or entries are at most PAGERUN_TEST_MAX_PAGES (E2BIG), 0 is
 * EINVAL. Where several things are wrong at once, any of their errnos may be
 * returned. Output is written only when the ioctl returns 0, but for the array
 * of PAGERUN_TEST_REPORT, of which a part may have been.
 */
#ifndef PAGERUN_TEST_H
#define PAGERUN_TEST_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* 4 GiB of 4 KiB pages; a page array of this size takes 8 MiB. */
#define PAGERUN_TEST_MAX_PAGES	(1U << 20)

/* Raised when a field changes its place or meaning; see PAGERUN_TEST_INFO. */
#define PAGERUN_TEST_VERSION	2

/* Most rounds that one PAGERUN_TEST_TIME makes. */
#define PAGERUN_TEST_MAX_ROUNDS	(1U << 20)

/* How pages are taken. */
enum pagerun_test_op {
	PAGERUN_TEST_GET	= 0,	/* get_user_pages_fast() */
	PAGERUN_TEST_PIN	= 1,	/* pin_user_pages_fast() */
	PAGERUN_TEST_GET_FAST	= 2,	/* get_user_pages_fast_only() */
};

/* Flags for the take. */
#define PAGERUN_TEST_WRITE	(1U << 0)	/* FOLL_WRITE */
/* FOLL_LONGTERM: PIN only (EINVAL otherwise), as the kernel itself asks. */
#define PAGERUN_TEST_LONGTERM	(1U << 1)

/* How held pages are released. */
enum pagerun_test_how {
	/* unpin_user_pages() for pinned pages, put_page() for others */
	PAGERUN_TEST_RELEASE		= 0,
	/*
	 * unpin_user_pages_dirty_lock(); for entries that were all taken by PIN
	 * with WRITE (EINVAL otherwise: who did not ask to write must not dirty)
	 */
	PAGERUN_TEST_RELEASE_DIRTY	= 1,
};

/**
 * struct pagerun_test_info - what the driver is (PAGERUN_TEST_INFO)
 * @version:	out: PAGERUN_TEST_VERSION of the driver
 * @page_shift:	out: log2 of the page size in bytes
 * @held:	out: entries that this open file holds now
 * @mkwrites:	out: calls of ->pfn_mkwrite since the driver was loaded
 */
struct pagerun_test_info {
	__u32 version;
	__u32 page_shift;
	__u32 held;
	__u32 mkwrites;
};

/**
 * struct pagerun_test_time - time taking and releasing a range
 *			      (PAGERUN_TEST_TIME)
 * @addr:	in: first address of the range
 * @nr_pages:	in: length of the range
 * @pages_per_call: in: pages a call, 1 to @nr_pages (EINVAL); the last call of
 *		a round takes what is left
 * @op:		in: enum pagerun_test_op
 * @flags:	in: PAGERUN_TEST_WRITE, PAGERUN_TEST_LONGTERM
 * @rounds:	in: how often the whole range is taken and released, 1 to
 *		PAGERUN_TEST_MAX_ROUNDS (EINVAL)
 * @reserved:	in: zero
 * @taken:	out: pages taken, all rounds together
 * @calls:	out: taking calls made, all rounds together
 * @take_ns:	out: time in the taking calls, ktime_get_ns() around each round
 * @take_cycles: out: the same by get_cycles(); under QEMU's -icount shift=0 on
 *		x86 these are guest instructions
 * @release_ns:	out: time in the releasing calls (one unpin_user_pages() a
 *		taking call for PIN, put_page() for each page otherwise),
 *		measured like @take_ns
 * @release_cycles: out: the same by get_cycles()
 *
 * A round makes all its taking calls, then all the releasing calls, one for
 * each taking call and of its length. A call that takes fewer pages than asked
 * (0 is possible for GET_FAST) is counted with what it took, and the round goes
 * on with the next call's part of the range, not with the page at which the
 * short call stopped; the caller compares @taken with @nr_pages * @rounds.
 * Fails with the errno of the taking call if that returned one, having released
 * everything. A fatal signal ends it between rounds with EINTR.
 */
struct pagerun_test_time {
	__u64 addr;
	__u32 nr_pages;
	__u32 pages_per_call;
	__u32 op;
	__u32 flags;
	__u32 rounds;
	__u32 reserved;
	__u64 taken;
	__u64 calls;
	__u64 take_ns;
	__u64 take_cycles;
	__u64 release_ns;
	__u64 release_cycles;
};

/**
 * struct pagerun_test_count - count what GUP-fast takes
 *			       (PAGERUN_TEST_COUNT)
 * @addr:	in: first address of the range
 * @nr_pages:	in: length of the range
 * @flags:	in: PAGERUN_TEST_WRITE
 * @taken:	out: how many of the pages get_user_pages_fast_only() took
 * @reserved:	in: zero
 *
 * One call is made for the range; where it stops, the page at which it stopped
 * is passed over and the rest asked for again, to the end of the range. All is
 * released before the return. A fatal signal ends it between calls with EINTR.
 */
struct pagerun_test_count {
	__u64 addr;
	__u32 nr_pages;
	__u32 flags;
	__u32 taken;
	__u32 reserved;
};

/**
 * struct pagerun_test_hold - take pages by one call and keep them
 *			      (PAGERUN_TEST_HOLD)
 * @addr:	in: first address
 * @nr_pages:	in: pages to ask for
 * @op:		in: enum pagerun_test_op
 * @flags:	in: PAGERUN_TEST_WRITE, PAGERUN_TEST_LONGTERM
 * @ret:	out: what the call returned: pages taken or a negative errno; the
 *		ioctl itself returns 0 in both cases
 * @first:	out: index of the first new entry
 * @reserved:	in: zero
 *
 * The pages taken become entries @first to @first + @ret - 1 of the held set,
 * in the order of their addresses. Holding again appends, so a page can be
 * held more than once. A set has at most PAGERUN_TEST_MAX_PAGES entries,
 * released ones included, and @nr_pages must fit in what is left (ENOSPC). What
 * is held when the file is closed, by whatever cause, is released then. EFAULT
 * for the struct itself leaves the set as it was.
 */
struct pagerun_test_hold {
	__u64 addr;
	__u32 nr_pages;
	__u32 op;
	__u32 flags;
	__s32 ret;
	__u32 first;
	__u32 reserved;
};

/* pagerun_test_page.flags */
#define PAGERUN_TEST_PAGE_ANON		(1U << 0)
#define PAGERUN_TEST_PAGE_EXCLUSIVE	(1U << 1)	/* PageAnonExclusive() */
#define PAGERUN_TEST_PAGE_PINNED	(1U << 2)	/* taken by PIN */
#define PAGERUN_TEST_PAGE_REFERENCED	(1U << 3)	/* of the folio */
#define PAGERUN_TEST_PAGE_RELEASED	(1U << 4)	/* entry is empty now */

/**
 * struct pagerun_test_page - one held entry (PAGERUN_TEST_REPORT)
 * @pfn:	page frame number
 * @order:	log2 of the folio's size in pages
 * @index:	index of the page in its folio
 * @refcount:	folio_ref_count(), the driver's own references included
 * @pincount:	exact pincount of a large folio, -1 for a folio that has none
 *		(a small one; on 32 bit and Linux 6.15 or later also one of order
 *		1), whose pins are GUP_PIN_COUNTING_BIAS (1024) references each
 * @flags:	PAGERUN_TEST_PAGE_*
 * @reserved:	zero
 */
struct pagerun_test_page {
	__u64 pfn;
	__u32 order;
	__u32 index;
	__s32 refcount;
	__s32 pincount;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct pagerun_test_report - describe held entries (PAGERUN_TEST_REPORT)
 * @pages:	in: user pointer to @nr structs pagerun_test_page
 * @first:	in: index of the first entry
 * @nr:		in: entries wanted; @first + @nr beyond the set is ERANGE
 *
 * A fatal signal ends a long report with EINTR.
 *
 * A released entry has PAGERUN_TEST_PAGE_RELEASED alone in its flags, all else
 * zero.
 */
struct pagerun_test_report {
	__u64 pages;
	__u32 first;
	__u32 nr;
};

/*
 * In pagerun_test_release.order: hand the releasing function a NULL page. Only
 * before the first page: unpin_user_pages() looks behind each page for others
 * of its folio, and no kernel so far asks there whether the entry is NULL; it
 * reads address 8 and dies.
 */
#define PAGERUN_TEST_NULL	0xffffffffU

/**
 * struct pagerun_test_release - release held entries by one call
 *				 (PAGERUN_TEST_RELEASE_HELD)
 * @order:	in: user pointer to @nr __u32 indices: the array to release, in
 *		this order. PAGERUN_TEST_NULL puts a NULL there. An entry that is
 *		named twice, released already or out of the set is EINVAL, and
 *		nothing is released then; a page repeats in the array when it is
 *		held more than once. Zero with @nr 0: all entries that are not
 *		released yet, in order; 0 of them is no error.
 * @nr:		in: length of the array
 * @how:	in: enum pagerun_test_how
 *
 * Entries taken by PIN and by GET may not be mixed in one call (EINVAL). NULLs
 * are for pinned entries with PAGERUN_TEST_RELEASE alone, since only
 * unpin_user_pages() takes them (EINVAL); a NULL after a page is EINVAL, see
 * PAGERUN_TEST_NULL; an array of NULLs alone is fine. On a kernel whose
 * unpin_user_pages() takes no NULL at all (before 6.12.5) they are EOPNOTSUPP.
 * The set is emptied and its indices start at 0 again once its last entry is
 * released.
 */
struct pagerun_test_release {
	__u64 order;
	__u32 nr;
	__u32 how;
};

/*
 * Mappings of physical memory
 *
 * mmap() of the device, MAP_SHARED or MAP_PRIVATE, with an offset of
 * PAGERUN_TEST_PHYS_OFFSET and more gives a mapping in which nothing is mapped:
 * PAGERUN_TEST_REMAP fills it, PAGERUN_TEST_ZAP and PAGERUN_TEST_UNMAP take out
 * of it again, and an access where nothing is mapped is a SIGBUS. The bits
 * PAGERUN_TEST_PHYS_* of the offset choose what the mapping's file has to say;
 * others below PAGERUN_TEST_PHYS_OFFSET count the place in the file, for
 * PAGERUN_TEST_UNMAP. All can be read and written by ptrace() and
 * /proc/PID/mem (generic_access_phys()). There is no limit to its size. MAP_PRIVATE
 * is EOPNOTSUPP where the architecture's entries have no bit that says special.
 */
#define PAGERUN_TEST_PHYS_OFFSET	(1ULL << 44)
/* A ->fault that answers SIGBUS; without it the kernel gives that answer. */
#define PAGERUN_TEST_PHYS_FAULT		(1ULL << 43)
/* A ->pfn_mkwrite that agrees and is counted, see PAGERUN_TEST_INFO. */
#define PAGERUN_TEST_PHYS_MKWRITE	(1ULL << 42)
/*
 * A ->page_mkwrite: the kernel maps read-only, until the first write, what mprotect() makes
 * writable, but for PTEs that were written to before. So it does for a ->pfn_mkwrite.
 */
#define PAGERUN_TEST_PHYS_NOTIFY	(1ULL << 41)

/* How the processor caches a mapping; arch names it knows not are EOPNOTSUPP. */
enum pagerun_test_cache {
	PAGERUN_TEST_CACHED		= 0,	/* vm_page_prot as it is */
	PAGERUN_TEST_UNCACHED		= 1,	/* pgprot_noncached() */
	PAGERUN_TEST_WRITE_COMBINE	= 2,	/* pgprot_writecombine() */
	PAGERUN_TEST_WRITE_THROUGH	= 3,	/* pgprot_writethrough(), x86 */
};

/**
 * struct pagerun_test_remap - map physical memory by one remap_pfn_range()
 *			       (PAGERUN_TEST_REMAP)
 * @addr:	in: first address; [@addr, @addr + @size) must be in one mapping of
 *		this open file made at PAGERUN_TEST_PHYS_OFFSET (EINVAL)
 * @size:	in: bytes, a multiple of the page size (EINVAL)
 * @phys:	in: physical address, a multiple of the page size (EINVAL). Any
 *		address that fits an entry is taken (EINVAL otherwise): whoever
 *		may open the device could read and write all memory by it, as by
 *		/dev/mem. More bits than the processor has make it fault
 * @cache:	in: enum pagerun_test_cache
 * @ret:	out: what remap_pfn_range() returned; the ioctl returns 0 in any case
 *
 * EBUSY where any page of the range is mapped already, or swapped out:
 * remap_pfn_range() stops the kernel there. A private mapping can be filled as a whole
 * alone, which is for remap_pfn_range() to say. EINTR, for a fatal signal, leaves nothing
 * mapped; EFAULT for the struct itself may come with all of it mapped.
 */
struct pagerun_test_remap {
	__u64 addr;
	__u64 size;
	__u64 phys;
	__u32 cache;
	__s32 ret;
};

/**
 * struct pagerun_test_range - a part of a mapping or of the file
 * @start:	in: PAGERUN_TEST_ZAP: address; [@start, @start + @size) must be in one
 *		mapping of this open file made at PAGERUN_TEST_PHYS_OFFSET (EINVAL);
 *		taken out by zap_vma_ptes().
 *		PAGERUN_TEST_UNMAP: offset in the file, PAGERUN_TEST_PHYS_OFFSET and
 *		its bits included; taken out of all mappings of all processes, by
 *		unmap_mapping_range()
 * @size:	in: bytes; both multiples of the page size (EINVAL), 0 is EINVAL
 */
struct pagerun_test_range {
	__u64 start;
	__u64 size;
};

/* pagerun_test_entry.level */
enum pagerun_test_level {
	PAGERUN_TEST_NO_TABLE	= 0,	/* no table, or none above it */
	PAGERUN_TEST_PTE	= 1,	/* @value is the PTE, maybe none */
	PAGERUN_TEST_PMD	= 2,	/* @value maps 2 MiB, on x86 */
	PAGERUN_TEST_PUD	= 3,
};

/* pagerun_test_entry.flags */
#define PAGERUN_TEST_ENTRY_PRESENT	(1U << 0)	/* PROT_NONE included */
#define PAGERUN_TEST_ENTRY_WRITE	(1U << 1)
#define PAGERUN_TEST_ENTRY_DIRTY	(1U << 2)
#define PAGERUN_TEST_ENTRY_YOUNG	(1U << 3)
#define PAGERUN_TEST_ENTRY_SOFT_DIRTY	(1U << 4)
#define PAGERUN_TEST_ENTRY_SPECIAL	(1U << 5)

/**
 * struct pagerun_test_entry - read the page-table entry of an address
 *			       (PAGERUN_TEST_ENTRY)
 * @addr:	in: an address of this process (EFAULT); need not be mapped
 * @value:	out: the entry as the processor sees it, 0 for none
 * @pfn:	out: the page frame that @addr is mapped to, its place in a larger
 *		entry counted in; 0 where nothing is present
 * @level:	out: enum pagerun_test_level
 * @flags:	out: PAGERUN_TEST_ENTRY_*, 0 where nothing is present
 * @cache:	out: on x86 the index into the PAT that the entry has, its bits taken
 *		from where they stand at that level; elsewhere 0
 * @reserved:	in: zero
 *
 * EOPNOTSUPP where page tables may be in high memory.
 */
struct pagerun_test_entry {
	__u64 addr;
	__u64 value;
	__u64 pfn;
	__u32 level;
	__u32 flags;
	__u32 cache;
	__u32 reserved;
};

#define PAGERUN_TEST_MAX_MEMORY	(4U << 20)

/**
 * struct pagerun_test_memory - a block of system memory to be mapped
 *				(PAGERUN_TEST_MEMORY)
 * @size:	in: bytes, a power of two from the page size to PAGERUN_TEST_MAX_MEMORY
 *		(EINVAL)
 * @phys:	out: its physical address, a multiple of @size
 *
 * It is zeroed, and lives as long as the open file; a mapping of that holds it.
 * ENOMEM where there is no such block, ENOSPC after 16. A UIO device over it, or another
 * file's mapping, must be gone when the file is closed.
 */
struct pagerun_test_memory {
	__u64 size;
	__u64 phys;
};

/**
 * struct pagerun_test_uio - make a UIO device (PAGERUN_TEST_UIO)
 * @phys:	in: physical address of map 0, a multiple of the page size (EINVAL),
 *		and one that fits an entry (EINVAL)
 * @size:	in: bytes of map 0, a multiple of the page size (EINVAL), more than
 *		one page (EINVAL)
 * @minor:	out: its name is /dev/uio@minor
 * @reserved:	in: zero
 *
 * Map 1 is map 0 without its first page. The device lives until the open file
 * is closed; one a file (EBUSY). EOPNOTSUPP where the kernel has no UIO.
 */
struct pagerun_test_uio {
	__u64 phys;
	__u64 size;
	__u32 minor;
	__u32 reserved;
};

#define PAGERUN_TEST_MAGIC	0xb7

#define PAGERUN_TEST_INFO	_IOR(PAGERUN_TEST_MAGIC, 0, struct pagerun_test_info)
#define PAGERUN_TEST_TIME	_IOWR(PAGERUN_TEST_MAGIC, 1, struct pagerun_test_time)
#define PAGERUN_TEST_COUNT	_IOWR(PAGERUN_TEST_MAGIC, 2, struct pagerun_test_count)
#define PAGERUN_TEST_HOLD	_IOWR(PAGERUN_TEST_MAGIC, 3, struct pagerun_test_hold)
#define PAGERUN_TEST_REPORT	_IOW(PAGERUN_TEST_MAGIC, 4, struct pagerun_test_report)
#define PAGERUN_TEST_RELEASE_HELD \
	_IOW(PAGERUN_TEST_MAGIC, 5, struct pagerun_test_release)
#define PAGERUN_TEST_REMAP	_IOWR(PAGERUN_TEST_MAGIC, 6, struct pagerun_test_remap)
#define PAGERUN_TEST_ZAP	_IOW(PAGERUN_TEST_MAGIC, 7, struct pagerun_test_range)
#define PAGERUN_TEST_UNMAP	_IOW(PAGERUN_TEST_MAGIC, 8, struct pagerun_test_range)
#define PAGERUN_TEST_ENTRY	_IOWR(PAGERUN_TEST_MAGIC, 9, struct pagerun_test_entry)
#define PAGERUN_TEST_MEMORY	_IOWR(PAGERUN_TEST_MAGIC, 10, struct pagerun_test_memory)
#define PAGERUN_TEST_UIO	_IOWR(PAGERUN_TEST_MAGIC, 11, struct pagerun_test_uio)

/*
 * mmap() of the device, MAP_SHARED, offset 0 (EINVAL otherwise, but see above for
 * PAGERUN_TEST_PHYS_OFFSET), at most PAGERUN_TEST_MAX_PAGES (E2BIG): zeroed
 * order-0 pages from alloc_page(), each put in place by vm_insert_page(), so that
 * their ->mapping is NULL. They live until the last mapping and the last reference
 * are gone. The mapping cannot grow. A fatal signal ends a long one with EINTR.
 */

#endif /* PAGERUN_TEST_H */
