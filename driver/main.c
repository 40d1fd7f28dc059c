// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/pagerun: get_user_pages_fast() and its kin, called as they are on the
 * memory of the calling process. pagerun_test.h is the interface. Mappings of
 * physical memory are in phys.c, entry.c and uio.c.
 *
 * Pages are taken from current->mm, always by the process that the memory
 * belongs to, in its own ioctl; no mm is kept. Releasing pages needs none, so
 * what is held when a process dies is released with its last open file.
 *
 * Locks: test_file.lock, then whatever the mm takes. mmap() runs under the mmap
 * lock and so must not take test_file.lock, nor does it need it.
 */
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/hugetlb.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/page-flags.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "internal.h"
#include "pagerun_test.h"

/* First allocation of a held set, in entries. */
#define TEST_MIN_ENTRIES	64

/* test_file.state[]: what a held entry is; 0 once it is released. */
#define ENTRY_HELD	BIT(0)
#define ENTRY_PINNED	BIT(1)	/* else taken by get */
#define ENTRY_WRITE	BIT(2)	/* taken with FOLL_WRITE */
#define ENTRY_NAMED	BIT(3)	/* seen in the order being checked */

/**
 * struct test_file - one open file: a set of held pages
 * @lock:	held over each ioctl, and so guards all below
 * @pages:	the entries, NULL where released; @nr used of @space
 * @state:	ENTRY_* of each entry
 * @nr:		entries in the set, released ones included
 * @held:	entries not released yet; @nr is 0 when this is
 * @space:	length of both arrays
 * @memory:	blocks of system memory to be mapped
 * @uio:	its UIO device, or NULL
 *
 * Entries of both kinds stand in one array that unpin_user_pages() can be given
 * parts of, so that releasing at the end needs no memory and cannot fail.
 */
struct test_file {
	struct mutex lock;	/* all below */
	struct page **pages;
	u8 *state;
	u32 nr;
	u32 held;
	u32 space;
	struct test_memory memory;
	struct test_uio *uio;
};

/**
 * check_nr() - check a number of pages or entries
 * @nr: number from user space
 *
 * Return: 0, -EINVAL for none, -E2BIG for too many.
 */
static int check_nr(u32 nr)
{
	if (!nr)
		return -EINVAL;
	return nr > PAGERUN_TEST_MAX_PAGES ? -E2BIG : 0;
}

/**
 * check_range() - check a range of user addresses
 * @addr: first address
 * @nr_pages: length in pages
 *
 * Whether anything is mapped there is for the taking call to find out.
 *
 * Return: 0, or what check_nr() says, -EINVAL when @addr is not the start of a
 * page, -EFAULT when a part of the range cannot be user memory.
 */
static int check_range(u64 addr, u32 nr_pages)
{
	int err = check_nr(nr_pages);

	if (err)
		return err;
	if (addr & (PAGE_SIZE - 1))
		return -EINVAL;
	if (addr >= TASK_SIZE_MAX ||
	    ((u64)nr_pages << PAGE_SHIFT) > TASK_SIZE_MAX - addr)
		return -EFAULT;
	return 0;
}

/**
 * check_take() - check how pages are to be taken
 * @op: enum pagerun_test_op from user space
 * @flags: PAGERUN_TEST_WRITE, PAGERUN_TEST_LONGTERM from user space
 * @gup_flags: where the FOLL_* flags go
 *
 * Return: 0, or -EINVAL for what is not known or does not go together.
 */
static int check_take(u32 op, u32 flags, unsigned int *gup_flags)
{
	if (op > PAGERUN_TEST_GET_FAST ||
	    (flags & ~(PAGERUN_TEST_WRITE | PAGERUN_TEST_LONGTERM)))
		return -EINVAL;
	if ((flags & PAGERUN_TEST_LONGTERM) && op != PAGERUN_TEST_PIN)
		return -EINVAL;

	*gup_flags = 0;
	if (flags & PAGERUN_TEST_WRITE)
		*gup_flags |= FOLL_WRITE;
	if (flags & PAGERUN_TEST_LONGTERM)
		*gup_flags |= FOLL_LONGTERM;
	return 0;
}

/**
 * take_pages() - take pages by one call
 * @op: a checked enum pagerun_test_op, constant where time matters
 * @addr: first address
 * @nr: pages to ask for
 * @gup_flags: FOLL_*
 * @pages: array for @nr pages
 *
 * Context: process with a user mm; may sleep.
 * Return: what the kernel function returned: pages taken or a negative errno.
 */
static __always_inline int take_pages(const u32 op, unsigned long addr, u32 nr,
				      unsigned int gup_flags,
				      struct page **pages)
{
	switch (op) {
	case PAGERUN_TEST_PIN:
		return pin_user_pages_fast(addr, nr, gup_flags, pages);
	case PAGERUN_TEST_GET_FAST:
		return get_user_pages_fast_only(addr, nr, gup_flags, pages);
	default:
		return get_user_pages_fast(addr, nr, gup_flags, pages);
	}
}

/**
 * put_pages() - release pages taken by get, where time does not matter
 * @pages: array of pages
 * @nr: its length
 *
 * Context: may sleep.
 */
static void put_pages(struct page **pages, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		put_page(pages[i]);
		if (i % TEST_REST_PAGES == TEST_REST_PAGES - 1)
			cond_resched();
	}
}

/**
 * unpin_pages() - release pages taken by pin, where time does not matter
 * @pages: array of pages
 * @nr: its length
 *
 * Context: may sleep.
 */
static void unpin_pages(struct page **pages, u32 nr)
{
	u32 i, n;

	for (i = 0; i < nr; i += n) {
		n = min_t(u32, nr - i, TEST_REST_PAGES);
		unpin_user_pages(pages + i, n);
		cond_resched();
	}
}

/* ------------------------------------------------------------------------- */
/* PAGERUN_TEST_TIME                                                         */

/**
 * struct test_round - all that the timed loops use
 * @pages:	array for the whole range
 * @got:	what each taking call of the round took
 * @addr:	first address
 * @nr_pages:	length of the range
 * @per_call:	pages a call
 * @gup_flags:	FOLL_*
 * @nr_calls:	taking calls made in this round
 * @taken:	pages that they took
 * @err:	0, or the errno of the taking call that ended the round; what
 *		the calls before it took is to be released all the same
 * @ns:		time of the last timed loop
 * @cycles:	the same by get_cycles()
 */
struct test_round {
	struct page **pages;
	u32 *got;
	unsigned long addr;
	u32 nr_pages;
	u32 per_call;
	unsigned int gup_flags;
	u32 nr_calls;
	u64 taken;
	int err;
	u64 ns;
	u64 cycles;
};

/**
 * time_take() - the taking calls of a round
 * @r: the round
 * @op: how to take; constant in each caller, so that none of the choice is left
 *	in the loop
 *
 * Both clocks are read in one order, get_cycles() next to the calls, so that
 * its figure has the calls and this loop in it and nothing else.
 *
 * Context: process with a user mm; may sleep. Rests nowhere: that would be
 * measured.
 */
static __always_inline void time_take(struct test_round *r, const u32 op)
{
	unsigned long addr = r->addr;
	struct page **pages = r->pages;
	u32 *got = r->got;
	u32 left = r->nr_pages;
	u64 taken = 0, ns;
	cycles_t cycles;
	int ret = 0;

	ns = ktime_get_ns();
	cycles = get_cycles();
	do {
		u32 n = min(left, r->per_call);

		ret = take_pages(op, addr, n, r->gup_flags, pages);
		if (unlikely(ret < 0))
			break;
		*got++ = ret;
		taken += ret;
		pages += n;
		addr += (unsigned long)n << PAGE_SHIFT;
		left -= n;
	} while (left);
	cycles = get_cycles() - cycles;
	ns = ktime_get_ns() - ns;

	r->nr_calls = got - r->got;
	r->taken = taken;
	r->err = min(ret, 0);
	r->ns = ns;
	r->cycles = cycles;
}

/* One function an op, each with the loop compiled for it. */
static noinline void time_take_get(struct test_round *r)
{
	time_take(r, PAGERUN_TEST_GET);
}

static noinline void time_take_pin(struct test_round *r)
{
	time_take(r, PAGERUN_TEST_PIN);
}

static noinline void time_take_get_fast(struct test_round *r)
{
	time_take(r, PAGERUN_TEST_GET_FAST);
}

/**
 * time_unpin() - the releasing calls of a round of PIN
 * @r: the round after time_take()
 *
 * Context: may sleep. Rests nowhere.
 */
static noinline void time_unpin(struct test_round *r)
{
	struct page **pages = r->pages;
	u32 i, nr_calls = r->nr_calls;
	cycles_t cycles;
	u64 ns;

	ns = ktime_get_ns();
	cycles = get_cycles();
	for (i = 0; i < nr_calls; i++) {
		unpin_user_pages(pages, r->got[i]);
		pages += r->per_call;
	}
	cycles = get_cycles() - cycles;
	ns = ktime_get_ns() - ns;

	r->ns = ns;
	r->cycles = cycles;
}

/**
 * time_put() - the releasing calls of a round of GET or GET_FAST
 * @r: the round after time_take()
 *
 * Context: may sleep. Rests nowhere.
 */
static noinline void time_put(struct test_round *r)
{
	struct page **pages = r->pages;
	u32 i, j, nr_calls = r->nr_calls;
	cycles_t cycles;
	u64 ns;

	ns = ktime_get_ns();
	cycles = get_cycles();
	for (i = 0; i < nr_calls; i++) {
		for (j = 0; j < r->got[i]; j++)
			put_page(pages[j]);
		pages += r->per_call;
	}
	cycles = get_cycles() - cycles;
	ns = ktime_get_ns() - ns;

	r->ns = ns;
	r->cycles = cycles;
}

/**
 * test_time() - PAGERUN_TEST_TIME
 * @uarg: struct pagerun_test_time of the caller
 *
 * Context: process with a user mm; may sleep.
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
static long test_time(void __user *uarg)
{
	struct test_round r = {};
	struct pagerun_test_time arg;
	u32 nr_calls, i;
	long err;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.reserved)
		return -EINVAL;
	err = check_range(arg.addr, arg.nr_pages);
	if (err)
		return err;
	err = check_take(arg.op, arg.flags, &r.gup_flags);
	if (err)
		return err;
	if (!arg.pages_per_call || arg.pages_per_call > arg.nr_pages ||
	    !arg.rounds || arg.rounds > PAGERUN_TEST_MAX_ROUNDS)
		return -EINVAL;

	/*
	 * Zeroed not for what is in it, but so that each cache line and page of
	 * both arrays has been written to before the clock runs.
	 */
	nr_calls = DIV_ROUND_UP(arg.nr_pages, arg.pages_per_call);
	r.pages = kvcalloc(arg.nr_pages, sizeof(*r.pages), GFP_KERNEL_ACCOUNT);
	r.got = kvcalloc(nr_calls, sizeof(*r.got), GFP_KERNEL_ACCOUNT);
	if (!r.pages || !r.got) {
		err = -ENOMEM;
		goto out;
	}
	r.addr = arg.addr;
	r.nr_pages = arg.nr_pages;
	r.per_call = arg.pages_per_call;

	arg.taken = 0;
	arg.calls = 0;
	arg.take_ns = 0;
	arg.take_cycles = 0;
	arg.release_ns = 0;
	arg.release_cycles = 0;
	for (i = 0; i < arg.rounds; i++) {
		if (arg.op == PAGERUN_TEST_PIN)
			time_take_pin(&r);
		else if (arg.op == PAGERUN_TEST_GET)
			time_take_get(&r);
		else
			time_take_get_fast(&r);
		arg.taken += r.taken;
		arg.calls += r.nr_calls;
		arg.take_ns += r.ns;
		arg.take_cycles += r.cycles;
		cond_resched();

		if (arg.op == PAGERUN_TEST_PIN)
			time_unpin(&r);
		else
			time_put(&r);
		arg.release_ns += r.ns;
		arg.release_cycles += r.cycles;

		err = r.err;
		if (err)
			goto out;
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			goto out;
		}
		cond_resched();
	}
	if (copy_to_user(uarg, &arg, sizeof(arg)))
		err = -EFAULT;
out:
	kvfree(r.got);
	kvfree(r.pages);
	return err;
}

/* ------------------------------------------------------------------------- */
/* PAGERUN_TEST_COUNT                                                        */

/**
 * test_count() - PAGERUN_TEST_COUNT
 * @uarg: struct pagerun_test_count of the caller
 *
 * Each call but the first begins behind the page at which the last one stopped,
 * so that the walk passes each page once however many calls it takes.
 *
 * Context: process with a user mm; may sleep.
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
static long test_count(void __user *uarg)
{
	struct pagerun_test_count arg;
	unsigned int gup_flags = 0;
	struct page **pages;
	u32 pos, taken = 0;
	long err;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.reserved || (arg.flags & ~PAGERUN_TEST_WRITE))
		return -EINVAL;
	err = check_range(arg.addr, arg.nr_pages);
	if (err)
		return err;
	err = check_take(PAGERUN_TEST_GET_FAST, arg.flags, &gup_flags);
	if (err)
		return err;

	pages = kvcalloc(arg.nr_pages, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	for (pos = 0; pos < arg.nr_pages; pos++) {
		int ret = take_pages(PAGERUN_TEST_GET_FAST,
				     arg.addr + ((u64)pos << PAGE_SHIFT),
				     arg.nr_pages - pos, gup_flags, pages);

		if (ret < 0) {
			err = ret;
			break;
		}
		put_pages(pages, ret);
		taken += ret;
		pos += ret;
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
		cond_resched();
	}
	kvfree(pages);

	arg.taken = taken;
	if (!err && copy_to_user(uarg, &arg, sizeof(arg)))
		err = -EFAULT;
	return err;
}

/* ------------------------------------------------------------------------- */
/* The held set                                                              */

/**
 * make_room() - have room for more entries
 * @tf: the set; its lock is held
 * @more: entries to add
 *
 * Return: 0, -ENOSPC when the set would be too large, -ENOMEM.
 */
static int make_room(struct test_file *tf, u32 more)
{
	struct page **pages;
	u32 space;
	u8 *state;

	if (more > PAGERUN_TEST_MAX_PAGES - tf->nr)
		return -ENOSPC;
	if (more <= tf->space - tf->nr)
		return 0;

	/* By doubling, so that many small calls do not copy the set each time. */
	space = max3(tf->nr + more, 2 * tf->space, (u32)TEST_MIN_ENTRIES);
	space = min(space, PAGERUN_TEST_MAX_PAGES);
	pages = kvcalloc(space, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	state = kvcalloc(space, sizeof(*state), GFP_KERNEL_ACCOUNT);
	if (!pages || !state) {
		kvfree(state);
		kvfree(pages);
		return -ENOMEM;
	}
	if (tf->nr) {
		memcpy(pages, tf->pages, tf->nr * sizeof(*pages));
		memcpy(state, tf->state, tf->nr * sizeof(*state));
	}
	kvfree(tf->pages);
	kvfree(tf->state);
	tf->pages = pages;
	tf->state = state;
	tf->space = space;
	return 0;
}

/**
 * drop_entries() - release the last entries of the set, whatever they are
 * @tf: the set; its lock is held, or nobody else can reach it
 * @first: first entry to release; all from there on go
 *
 * Context: may sleep.
 */
static void drop_entries(struct test_file *tf, u32 first)
{
	u32 i, n;

	/* Neighbours that are released alike go together. */
	for (i = first; i < tf->nr; i += n) {
		u8 state = tf->state[i];

		for (n = 1; i + n < tf->nr && tf->state[i + n] == state; n++)
			;
		if (!(state & ENTRY_HELD))
			continue;
		if (state & ENTRY_PINNED)
			unpin_pages(tf->pages + i, n);
		else
			put_pages(tf->pages + i, n);
		tf->held -= n;
	}
	tf->nr = first;
}

/**
 * test_hold() - PAGERUN_TEST_HOLD
 * @tf: the set; its lock is held
 * @uarg: struct pagerun_test_hold of the caller
 *
 * Context: process with a user mm; may sleep.
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
static long test_hold(struct test_file *tf, void __user *uarg)
{
	struct pagerun_test_hold arg;
	unsigned int gup_flags;
	u8 state = ENTRY_HELD;
	long err;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.reserved)
		return -EINVAL;
	err = check_range(arg.addr, arg.nr_pages);
	if (err)
		return err;
	err = check_take(arg.op, arg.flags, &gup_flags);
	if (err)
		return err;
	err = make_room(tf, arg.nr_pages);
	if (err)
		return err;

	arg.first = tf->nr;
	arg.ret = take_pages(arg.op, arg.addr, arg.nr_pages, gup_flags,
			     tf->pages + tf->nr);
	if (arg.ret > 0) {
		if (arg.op == PAGERUN_TEST_PIN)
			state |= ENTRY_PINNED;
		if (arg.flags & PAGERUN_TEST_WRITE)
			state |= ENTRY_WRITE;
		memset(tf->state + tf->nr, state, arg.ret);
		tf->nr += arg.ret;
		tf->held += arg.ret;
	}
	if (copy_to_user(uarg, &arg, sizeof(arg))) {
		/* Nobody will know of these entries. */
		drop_entries(tf, arg.first);
		return -EFAULT;
	}
	return 0;
}

/**
 * describe_entry() - fill in what PAGERUN_TEST_REPORT says of one entry
 * @page: the page, NULL for a released entry
 * @state: ENTRY_* of the entry
 * @out: where to
 *
 * The reference that the entry is keeps the folio from being split or freed, so
 * its order and the page's place in it hold still. Counts and flags may change
 * at any time and are what they were at one moment each.
 */
static void describe_entry(struct page *page, u8 state,
			   struct pagerun_test_page *out)
{
	struct folio *folio;

	memset(out, 0, sizeof(*out));
	if (!(state & ENTRY_HELD)) {
		out->flags = PAGERUN_TEST_PAGE_RELEASED;
		return;
	}

	folio = page_folio(page);
	out->pfn = page_to_pfn(page);
	out->order = folio_order(folio);
	out->index = folio_page_idx(folio, page);
	out->refcount = folio_ref_count(folio);
	out->pincount = compat_folio_pincount(folio);
	if (state & ENTRY_PINNED)
		out->flags |= PAGERUN_TEST_PAGE_PINNED;
	if (folio_test_referenced(folio))
		out->flags |= PAGERUN_TEST_PAGE_REFERENCED;
	if (folio_test_anon(folio)) {
		out->flags |= PAGERUN_TEST_PAGE_ANON;
		/* hugetlb keeps this bit in the head page alone. */
		if (PageAnonExclusive(PageHuge(page) ? &folio->page : page))
			out->flags |= PAGERUN_TEST_PAGE_EXCLUSIVE;
	}
}

/**
 * test_report() - PAGERUN_TEST_REPORT
 * @tf: the set; its lock is held
 * @uarg: struct pagerun_test_report of the caller
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
static long test_report(struct test_file *tf, void __user *uarg)
{
	struct pagerun_test_page __user *upages;
	struct pagerun_test_page page;
	struct pagerun_test_report arg;
	u32 i;
	int err;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	err = check_nr(arg.nr);
	if (err)
		return err;
	if (arg.first > tf->nr || arg.nr > tf->nr - arg.first)
		return -ERANGE;

	upages = u64_to_user_ptr(arg.pages);
	for (i = 0; i < arg.nr; i++) {
		describe_entry(tf->pages[arg.first + i],
			       tf->state[arg.first + i], &page);
		if (copy_to_user(upages + i, &page, sizeof(page)))
			return -EFAULT;
		if (i % TEST_REST_PAGES == TEST_REST_PAGES - 1) {
			if (fatal_signal_pending(current))
				return -EINTR;
			cond_resched();
		}
	}
	return 0;
}

/**
 * name_entries() - check an order and build the array to release
 * @tf: the set; its lock is held
 * @order: indices of entries, and PAGERUN_TEST_NULL
 * @nr: length of @order and @pages
 * @how: a checked enum pagerun_test_how
 * @pages: where the array is built
 *
 * Marks each entry that is named with ENTRY_NAMED, also when it fails half-way:
 * the caller removes the marks.
 *
 * Return: what the entries are (ENTRY_PINNED, or 0 for get or NULLs alone), or
 * -EINVAL, -EOPNOTSUPP.
 */
static int name_entries(struct test_file *tf, const u32 *order, u32 nr, u32 how,
			struct page **pages)
{
	bool nulls = false;
	int kind = -1;
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 idx = order[i];
		u8 state;

		if (idx == PAGERUN_TEST_NULL) {
			/* After a page it would be read; see pagerun_test.h. */
			if (kind >= 0 || how != PAGERUN_TEST_RELEASE)
				return -EINVAL;
			if (!compat_unpin_takes_null())
				return -EOPNOTSUPP;
			nulls = true;
			pages[i] = NULL;
			continue;
		}

		if (idx >= tf->nr)
			return -EINVAL;
		state = tf->state[idx];
		if (!(state & ENTRY_HELD) || (state & ENTRY_NAMED))
			return -EINVAL;
		if (kind < 0)
			kind = state & ENTRY_PINNED;
		else if (kind != (state & ENTRY_PINNED))
			return -EINVAL;
		if (how == PAGERUN_TEST_RELEASE_DIRTY &&
		    !((state & ENTRY_PINNED) && (state & ENTRY_WRITE)))
			return -EINVAL;
		tf->state[idx] |= ENTRY_NAMED;
		pages[i] = tf->pages[idx];
	}
	if (nulls) {
		/* Without an entry there is no other function to hand them to. */
		if (kind < 0)
			kind = ENTRY_PINNED;
		else if (!(kind & ENTRY_PINNED))
			return -EINVAL;
	}
	return max(kind, 0);
}

/**
 * read_order() - fetch the order in which to release
 * @tf: the set; its lock is held
 * @uorder: user's array, or 0 with @nr 0 for all entries
 * @nr: in: the user's length; out: the length of the result
 *
 * Return: the array, for kvfree(); NULL when there is nothing to release; or an
 * errno.
 */
static u32 *read_order(struct test_file *tf, u64 uorder, u32 *nr)
{
	u32 *order;
	u32 i, n;
	int err;

	if (!uorder && !*nr) {
		if (!tf->held)
			return NULL;
		order = kvmalloc_array(tf->held, sizeof(*order),
				       GFP_KERNEL_ACCOUNT);
		if (!order)
			return ERR_PTR(-ENOMEM);
		for (i = 0, n = 0; i < tf->nr; i++)
			if (tf->state[i] & ENTRY_HELD)
				order[n++] = i;
		*nr = n;
		return order;
	}

	err = check_nr(*nr);
	if (err)
		return ERR_PTR(err);
	order = kvmalloc_array(*nr, sizeof(*order), GFP_KERNEL_ACCOUNT);
	if (!order)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(order, u64_to_user_ptr(uorder),
			   *nr * sizeof(*order))) {
		kvfree(order);
		return ERR_PTR(-EFAULT);
	}
	return order;
}

/**
 * test_release() - PAGERUN_TEST_RELEASE_HELD
 * @tf: the set; its lock is held
 * @uarg: struct pagerun_test_release of the caller
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
static long test_release(struct test_file *tf, void __user *uarg)
{
	struct pagerun_test_release arg;
	struct page **pages = NULL;
	u32 *order;
	int kind;
	u32 i;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.how > PAGERUN_TEST_RELEASE_DIRTY)
		return -EINVAL;
	order = read_order(tf, arg.order, &arg.nr);
	if (IS_ERR_OR_NULL(order))
		return PTR_ERR_OR_ZERO(order);

	pages = kvmalloc_array(arg.nr, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (pages)
		kind = name_entries(tf, order, arg.nr, arg.how, pages);
	else
		kind = -ENOMEM;
	if (kind < 0) {
		for (i = 0; i < tf->nr; i++)
			tf->state[i] &= ~ENTRY_NAMED;
		goto out;
	}

	/* By one call, whatever the length: that call is what is tested. */
	if (arg.how == PAGERUN_TEST_RELEASE_DIRTY)
		unpin_user_pages_dirty_lock(pages, arg.nr, true);
	else if (kind & ENTRY_PINNED)
		unpin_user_pages(pages, arg.nr);
	else
		put_pages(pages, arg.nr);

	for (i = 0; i < arg.nr; i++) {
		if (order[i] == PAGERUN_TEST_NULL)
			continue;
		tf->pages[order[i]] = NULL;
		tf->state[order[i]] = 0;
		tf->held--;
	}
	if (!tf->held)
		tf->nr = 0;
out:
	kvfree(pages);
	kvfree(order);
	return min(kind, 0);
}

/**
 * test_info() - PAGERUN_TEST_INFO
 * @tf: the set; its lock is held
 * @uarg: struct pagerun_test_info of the caller
 *
 * Return: 0 or -EFAULT.
 */
static long test_info(struct test_file *tf, void __user *uarg)
{
	struct pagerun_test_info info = {
		.version = PAGERUN_TEST_VERSION,
		.page_shift = PAGE_SHIFT,
		.held = tf->held,
		.mkwrites = test_mkwrites(),
	};

	return copy_to_user(uarg, &info, sizeof(info)) ? -EFAULT : 0;
}

/* ------------------------------------------------------------------------- */
/* The device                                                                */

static struct miscdevice pagerun_test_device;

/* Of the open file, and so one at a time. */
static long file_ioctl(struct test_file *tf, unsigned int cmd, void __user *uarg)
{
	switch (cmd) {
	case PAGERUN_TEST_INFO:
		return test_info(tf, uarg);
	case PAGERUN_TEST_TIME:
		return test_time(uarg);
	case PAGERUN_TEST_COUNT:
		return test_count(uarg);
	case PAGERUN_TEST_HOLD:
		return test_hold(tf, uarg);
	case PAGERUN_TEST_REPORT:
		return test_report(tf, uarg);
	case PAGERUN_TEST_RELEASE_HELD:
		return test_release(tf, uarg);
	case PAGERUN_TEST_MEMORY:
		return test_memory(&tf->memory, uarg);
	case PAGERUN_TEST_UIO:
		return test_uio(&tf->uio, pagerun_test_device.this_device, uarg);
	}
	return -ENOTTY;
}

static long pagerun_test_ioctl(struct file *file, unsigned int cmd,
			       unsigned long arg)
{
	struct test_file *tf = file->private_data;
	void __user *uarg = (void __user *)arg;
	long ret;

	/* Of the address space: many at a time. */
	switch (cmd) {
	case PAGERUN_TEST_REMAP:
		return test_remap(file, uarg);
	case PAGERUN_TEST_ZAP:
		return test_zap(file, uarg);
	case PAGERUN_TEST_UNMAP:
		return test_unmap(file, uarg);
	case PAGERUN_TEST_ENTRY:
		return test_entry(uarg);
	}

	if (mutex_lock_interruptible(&tf->lock))
		return -EINTR;
	ret = file_ioctl(tf, cmd, uarg);
	mutex_unlock(&tf->lock);
	return ret;
}

/**
 * pagerun_test_mmap() - map pages whose ->mapping is NULL
 * @file: the device
 * @vma: where to
 *
 * Everything is put in place here, so no fault handler is needed; on failure
 * the caller zaps what is there already, which frees it.
 *
 * Context: mmap lock held for writing; may sleep.
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
static int pagerun_test_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long addr;
	u32 n = 0;

	if (vma->vm_pgoff >= PAGERUN_TEST_PHYS_OFFSET >> PAGE_SHIFT)
		return test_phys_mmap(vma);
	/* Not VM_SHARED: that is off for a file opened for reading alone. */
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff)
		return -EINVAL;
	if (vma_pages(vma) > PAGERUN_TEST_MAX_PAGES)
		return -E2BIG;

	compat_vm_flags_set(vma, VM_DONTEXPAND);
	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE) {
		struct page *page;
		int err;

		page = alloc_page(GFP_USER | __GFP_ZERO | __GFP_ACCOUNT);
		if (!page)
			return -ENOMEM;
		err = vm_insert_page(vma, addr, page);
		/* From here on the mapping alone keeps the page. */
		put_page(page);
		if (err)
			return err;
		if (++n % TEST_REST_PAGES == 0) {
			if (fatal_signal_pending(current))
				return -EINTR;
			cond_resched();
		}
	}
	return 0;
}

static int pagerun_test_open(struct inode *inode, struct file *file)
{
	struct test_file *tf;

	/*
	 * The device tells page frame numbers and pins as much as it is asked
	 * to, whatever RLIMIT_MEMLOCK says: the file mode alone is not enough.
	 */
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	tf = kzalloc(sizeof(*tf), GFP_KERNEL_ACCOUNT);
	if (!tf)
		return -ENOMEM;
	mutex_init(&tf->lock);
	file->private_data = tf;
	return nonseekable_open(inode, file);
}

static int pagerun_test_release(struct inode *inode, struct file *file)
{
	struct test_file *tf = file->private_data;

	test_uio_free(tf->uio);
	test_memory_free(&tf->memory);
	drop_entries(tf, 0);
	kvfree(tf->state);
	kvfree(tf->pages);
	mutex_destroy(&tf->lock);
	kfree(tf);
	return 0;
}

static const struct file_operations pagerun_test_fops = {
	.owner		= THIS_MODULE,
	.open		= pagerun_test_open,
	.release	= pagerun_test_release,
	.unlocked_ioctl	= pagerun_test_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= pagerun_test_mmap,
};

static struct miscdevice pagerun_test_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "pagerun",
	.fops	= &pagerun_test_fops,
	.mode	= 0600,
};
module_misc_device(pagerun_test_device);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Calls kernel functions on the caller's memory that no system call reaches");
