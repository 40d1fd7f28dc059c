// SPDX-License-Identifier: GPL-2.0-only
/*
 * register: a set of large folios, each with how often it is held.
 *
 * A hash table of open addressing: the head page's address is the key, and is never
 * followed. A folio that is held no more keeps its place, with a count of 0, until the
 * table is made anew; so nothing has to be moved when one goes. At most half of the
 * places are taken, which keeps the way to a folio, or to the free place that says that
 * it is not there, at about two steps.
 */
#include <kunit/static_stub.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mmdebug.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "register_set.h"

/* A folio, and how often it is held. Free: no @head. */
struct pagerun_folio {
	const struct page *head;
	unsigned long held;
};

/**
 * struct pagerun_folios - the set
 * @bits: log2 of the number of places
 * @used: places that are not free
 * @places: the places
 */
struct pagerun_folios {
	unsigned int bits;
	unsigned long used;
	struct pagerun_folio *places;
};

/* The smallest table: 1 KiB. */
#define PAGERUN_FOLIOS_MIN	64UL

/**
 * pagerun_folios_alloc() - memory for the set
 * @size: bytes
 *
 * The set can be done without: one round of reclaim, in the system or in the caller's
 * memory cgroup, is all that is tried for it.
 *
 * Return: zeroed memory, or NULL.
 */
void *pagerun_folios_alloc(size_t size)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN | __GFP_ZERO;
	void *mem;

	KUNIT_STATIC_STUB_REDIRECT(pagerun_folios_alloc, size);

	/* As kvmalloc(), which tries harder than this. */
	mem = kmalloc(size, gfp);
	return mem || size <= PAGE_SIZE ? mem : __vmalloc(size, gfp);
}

/* The place of a folio, or the free one where it would be. */
static struct pagerun_folio *find(const struct pagerun_folios *set, const struct page *head)
{
	const unsigned long mask = BIT(set->bits) - 1;
	unsigned long at = hash_ptr(head, set->bits);

	while (set->places[at].head && set->places[at].head != head)
		at = (at + 1) & mask;
	return set->places + at;
}

static unsigned long nr_places(const struct pagerun_folios *set)
{
	return set->places ? BIT(set->bits) : 0;
}

/* Folios that are held. */
static unsigned long nr_held(const struct pagerun_folios *set)
{
	unsigned long nr = 0, at;

	for (at = 0; at < nr_places(set); at++)
		nr += set->places[at].held != 0;
	return nr;
}

/*
 * Make a table with room for as many folios as are held, and as many again or @more,
 * whichever is more.
 *
 * Return: 0; or -ENOMEM, and the table is as it was.
 */
static int make_room(struct pagerun_folios *set, unsigned long more)
{
	const unsigned long held = nr_held(set);
	struct pagerun_folios larger = { };
	unsigned long places, at;

	places = 2 * (held + max(held, more));
	places = roundup_pow_of_two(places);
	places = max(places, PAGERUN_FOLIOS_MIN);
	larger.bits = ilog2(places);
	larger.places = pagerun_folios_alloc(array_size(places, sizeof(*larger.places)));
	if (!larger.places)
		return -ENOMEM;

	for (at = 0; at < nr_places(set); at++) {
		if (!set->places[at].held)
			continue;
		*find(&larger, set->places[at].head) = set->places[at];
		larger.used++;
	}
	kvfree(set->places);
	*set = larger;
	return 0;
}

/**
 * pagerun_folios_add() - a folio is held more often
 * @setp: the set; a pointer to NULL is an empty one, and is set to one that is not
 * @head: the folio's head
 * @nr: how many times more, at least 1
 * @more: how many other folios will follow; a guess that saves growing by steps
 *
 * Context: process context, may sleep. The caller keeps others away.
 * Return: how often it was held before; -ENOMEM if the set cannot grow, and is as it was.
 */
long pagerun_folios_add(struct pagerun_folios **setp, const struct page *head,
			unsigned long nr, unsigned long more)
{
	struct pagerun_folio *folio;
	struct pagerun_folios *set;
	unsigned long before;

	VM_WARN_ON_ONCE(!head || !nr);

	if (!*setp)
		*setp = pagerun_folios_alloc(sizeof(**setp));
	set = *setp;
	if (!set || (!set->places && make_room(set, more + 1)))
		return -ENOMEM;

	folio = find(set, head);
	if (!folio->head) {
		if (set->used == nr_places(set) / 2) {
			if (make_room(set, more + 1))
				return -ENOMEM;
			folio = find(set, head);
		}
		folio->head = head;
		set->used++;
	}
	before = folio->held;
	folio->held += nr;
	return before;
}

/**
 * pagerun_folios_remove() - a folio is held less often
 * @set: the set
 * @head: the folio's head, which is in the set
 * @nr: how many times less, no more than it is held
 *
 * Context: any. The caller keeps others away.
 */
void pagerun_folios_remove(struct pagerun_folios *set, const struct page *head,
			   unsigned long nr)
{
	struct pagerun_folio *folio = find(set, head);

	/* One that is not there must not be made by this. */
	if (WARN_ON_ONCE(folio->head != head || folio->held < nr))
		return;
	folio->held -= nr;
}

/**
 * pagerun_folios_free() - free a set
 * @set: the set, or NULL
 */
void pagerun_folios_free(struct pagerun_folios *set)
{
	if (!set)
		return;
	kvfree(set->places);
	kvfree(set);
}
