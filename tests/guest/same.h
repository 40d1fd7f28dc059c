/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the same-answers test share. See same_answers.c for what it
 * does; these are its parts. Those marked * are of move_answers as well, which
 * asks the same of UFFDIO_MOVE; see move.h.
 *
 *	same_program.c	* options and named cases
 *	same_sys.c	* the guest: settings, counters, page map, the driver
 *	same_swap.c	* swapped-out and merged memory
 *	same_layout.c	* operations that lay out memory, and the scene they make
 *	same_random.c	random layouts and calls from a seed
 *	same_compare.c	* one call with the switch off and on, compared
 *	same_named.c	the named cases, table and code
 *	same_race.c	named cases with a second thread
 *	same_crowd.c	named cases with several threads that take pages
 *	same_dio.c	named cases of direct reads and writes
 *
 * A length is in pages, a range half open. Page numbers count from the start of
 * a window. Whatever goes wrong with the test itself ends it through die();
 * what is found wrong with the kernel is said in a struct why.
 */
#ifndef SAME_H
#define SAME_H

#include <stdbool.h>
#include <linux/userfaultfd.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "../../driver/pagerun_test.h"

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PMD_ORDER	9
#define PMD_PAGES	(1U << PMD_ORDER)
#define WINDOW_MAX	(8 * PMD_PAGES)

/* Linux 6.1; older C libraries do not know it. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

/* Linux 6.8; the same. */
#ifndef UFFDIO_MOVE
struct uffdio_move {
	uint64_t dst, src, len, mode;
	int64_t move;
};
#define UFFDIO_MOVE_MODE_DONTWAKE		(1ULL << 0)
#define UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES	(1ULL << 1)
#define UFFDIO_MOVE		_IOWR(UFFDIO, 0x05, struct uffdio_move)
#define UFFD_FEATURE_MOVE	(1 << 16)
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* ------------------------------------------------------------------------- */
/* What was found wrong first                                                */

struct why {
	bool bad;
	char text[400];
};

/* Note what is wrong; only the first is kept. Always false, for returning. */
bool wrong(struct why *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The test itself cannot go on: say why on stderr, put settings back, exit. */
void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* ------------------------------------------------------------------------- */
/* Random numbers: splitmix64, so that a seed means the same everywhere      */

struct rng {
	uint64_t state;
};

static inline uint64_t rng_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ULL;
	return rng_mix(rng->state);
}

/* 0 to @n - 1; @n is not 0. */
static inline uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return (rng_next(rng) >> 32) * n >> 32;
}

static inline bool rng_chance(struct rng *rng, uint32_t percent)
{
	return rng_below(rng, 100) < percent;
}

/* ------------------------------------------------------------------------- */
/* same_program.c                                                            */

/* What the command line says; the program sets what it says if it is empty. */
struct options {
	uint64_t seed;
	unsigned int cases, calls;
	unsigned int seconds;	/* 0: there is no such option */
	const char *only;
};

extern struct options options;

#define ONLY_RANDOM	"random"

/* Ends the program where it is no command line of it. */
void options_parse(int argc, char **argv, const char *usage);
bool options_only_random(void);

struct named {
	const char *name;
	/* Why it cannot be done here, or NULL. */
	const char *(*missing)(void);
	void (*run)(struct why *why);
};

/* Those that the options ask for. */
unsigned int named_count(const struct named *named, unsigned int nr);
void named_run(const struct named *named, unsigned int nr);
/* From here on, a signal that ends the program puts settings back first. */
void signals_restore(void);

/* ------------------------------------------------------------------------- */
/* same_sys.c                                                                */

/* What this guest offers; filled in by sys_open(). */
struct sys {
	int dev;		/* the device: the calls under test */
	int observer;		/* the device again: looks at counts */
	unsigned int orders;	/* bits: anonymous folios of this order */
	unsigned int shmem_orders;
	bool shmem_huge;	/* memfd with large folios */
	bool movable;		/* there is a ZONE_MOVABLE */
	bool hugetlb;
	bool secretmem;
	bool uffd_wp;
	uint64_t uffd_features;	/* what a scene's userfaultfd is opened with */
	bool swap;		/* an area of our own */
	bool ksm;
	bool pkeys;
	int key_nowrite, key_noaccess;
	bool nullmap;		/* the kernel has a switch of that name */
	uint64_t zero_pfn;
	int tmpfs;		/* directories for O_TMPFILE, or -1 */
	int ramfs;
};

extern struct sys sys;

/*
 * Why nothing can be tested here, or NULL; opens the device. @feature: its switch
 * must be there, and is the only one that is switched later; NULL: pin's, and all.
 */
const char *sys_open(const char *feature);
/* Why a case cannot be done here, or NULL. */
const char *no_64k(void);
const char *no_2m(void);
#define SPLIT	"/sys/kernel/debug/split_huge_pages"
const char *no_split(void);
/* Say as diagnostics what is missing; the kinds that need it are left out. */
void sys_probe_kinds(void);

bool setting_set(const char *path, const char *value);
bool setting_exists(const char *path);
void settings_restore(void);

/* Which orders of folio the next faults get; see thp_none(). */
bool thp_anon(unsigned int order);
bool thp_shmem(unsigned int order);
/* Scan without a rest, and collapse what has holes too. */
void khugepaged_hurry(bool on);
void thp_memfd(bool on);
void thp_none(void);

/* The switches under test; what they held is put back in the end. */
void switch_set(bool on);
/* A child has set them: they may be any way. */
void switch_forget(void);
/* One of them, any way; callable from a second thread. */
void switch_flip(struct rng *rng);

struct stats {
	unsigned long runs, pages, fallbacks;
};

/* Those of the feature under test. */
void stats_read(struct stats *stats);

struct pins {
	uint64_t acquired, released;
};

/*
 * Exact values of nr_foll_pin_*; remembered as long as nothing is done through
 * the device. The observer that pins tells by pins_forget().
 */
void pins_read(struct pins *pins);
void pins_forget(void);

/* A field of /proc/vmstat; events are exact, states need not be. */
uint64_t vmstat(const char *name);

#define PM_PFN		((1ULL << 55) - 1)
#define PM_SOFT_DIRTY	(1ULL << 55)
#define PM_EXCLUSIVE	(1ULL << 56)
#define PM_UFFD_WP	(1ULL << 57)
#define PM_FILE		(1ULL << 61)
#define PM_SWAP		(1ULL << 62)
#define PM_PRESENT	(1ULL << 63)

void pagemap_read(const void *addr, uint32_t nr, uint64_t *entries);
uint64_t kpagecount(uint64_t pfn);
/* Is the folio that begins at @pfn in the swap cache, which has references? */
bool in_swap_cache(uint64_t pfn);
bool under_writeback(uint64_t pfn);

/*
 * Which of the pages are the driver's own: those, and no others here, have no
 * ->mapping.
 */
void device_pages(const void *addr, uint32_t nr, bool *device);

/*
 * What /proc/self/smaps says of the pages, in kB: how much is dirty, shared,
 * swapped, locked ...; the sums of all mappings there.
 */
#define SMAPS_FIELDS	32

struct smaps {
	uint32_t nr;
	char names[SMAPS_FIELDS][24];
	unsigned long kb[SMAPS_FIELDS];
};

void smaps_read(const void *addr, uint32_t nr, struct smaps *smaps);

/* A field of /proc/self/status, in kB. */
unsigned long status_kb(const char *name);
/* A file of sysfs or procfs that holds a number. */
unsigned long number_read(const char *path);

/* 1: forget accesses; 4: forget soft-dirty and write-protect. */
void clear_refs(int what);

/*
 * Bring what this CPU keeps in batches to an end (pages on their way to an LRU
 * list are referenced from there).
 */
void settle(void);
/* What any CPU keeps; to be called on CPU 0. */
void settle_all(void);

/* Run on this CPU alone; -1: on all. False if there is no such CPU. */
bool run_on_cpu(int cpu);

/* Access a page as a program would, but with an error instead of a signal. */
bool poke(void *addr, uint32_t stamp);
bool peek(const void *addr);
#define NO_STAMP	0xffffffffU
/* First word of each page that is present in @entries, NO_STAMP otherwise. */
void stamps_read(const void *addr, uint32_t nr, const uint64_t *entries,
		 uint32_t *stamps);

/* The driver: what the call returned; ioctl errors are the test's own. */
int dev_hold(int fd, const void *addr, uint32_t nr, uint32_t op,
	     uint32_t flags, uint32_t *first);
void dev_report(int fd, uint32_t first, uint32_t nr,
		struct pagerun_test_page *pages);
void dev_release(int fd);
/* Entries of the held set as one array to release; PAGERUN_TEST_NULL stands for NULL. */
void dev_release_array(int fd, const uint32_t *order, uint32_t nr, uint32_t how);
uint32_t dev_count(int fd, const void *addr, uint32_t nr, uint32_t flags);

/* ------------------------------------------------------------------------- */
/* same_swap.c                                                               */

/* Make an area to swap to and KSM fast; false if there is none. */
bool swap_begin(void);
bool ksm_begin(void);
/* settings_restore() does it. */
void swap_end(void);

/* Page out. @keep: the folios stay in the swap cache, whole. */
void swap_out(void *addr, uint32_t nr, bool keep);

void ksm_run(bool on);
/* Run KSM until what can be merged is, then stop it. */
void ksm_merge(void);

/* ------------------------------------------------------------------------- */
/* same_layout.c                                                             */

enum op_kind {
	/* new memory, all over what was there; order 0 is no large folio */
	OP_ANON,	/* @a order, @b LAY_*; the largest by MADV_COLLAPSE */
	OP_SHMEM,	/* shared anonymous; @a order */
	OP_MEMFD,	/* @a huge, @b LAY_*, starts at page @c of the file */
	OP_TMPFS,	/* huge=always; @b, @c as above */
	OP_RAMFS,	/* @b, @c as above */
	OP_HUGETLB,	/* @b LAY_* */
	OP_DEVICE,	/* pages of the driver, without ->mapping */
	OP_SECRET,	/* memfd_secret() */
	OP_ZERO,	/* read faults only; @a order: 9 for the huge zero page */
	/* changes; what is impossible is passed over */
	OP_DONTNEED,
	OP_FREE,	/* MADV_FREE: clean entries, still writable */
	OP_MUNMAP,
	OP_PROT,	/* @a PROT_* */
	OP_PKEY,	/* @a: 0 may not write, 1 may not access */
	OP_DONTFORK,
	OP_FORK,	/* @a: 1 the child stays, 0 it is gone */
	OP_REAP,	/* all children are gone */
	OP_WRITE,	/* every page with probability @a %, drawn from @c */
	OP_READ,	/* the same, reading */
	OP_MOVE,	/* mremap() to page @a */
	OP_REVERSE,	/* swap both halves of the range */
	OP_INTERLEAVE,	/* swap every second page with that @a further on */
	OP_UFFD_WP,
	OP_SOFT_DIRTY,	/* clear_refs 4 */
	OP_MLOCK,
	OP_SWAP,	/* out; @a: 1 into the swap cache, 0 freed */
	OP_KSM,		/* write, every @a-th page alike, and merge; once */
	OP_PTEMAP,	/* split PMD mappings, not folios */
	OP_FILL,	/* fault in, in what is there; @a order, @b 1: by reading */
	OP_MERGEABLE,	/* all of it, so that OP_KSM splits no mapping in there */
	OP_UFFD,	/* register; @a UFFD_* */
	OP_PIN,		/* until the end, through the device */
	OP_THP,		/* folios of order @a for the faults to come */
	NR_OPS
};

#define UFFD_MISSING	1U
#define UFFD_WP		2U

#define LAY_EMPTY	1U	/* nothing is faulted in */
#define LAY_PRIVATE	2U	/* MAP_PRIVATE of a file */
#define LAY_READONLY	4U	/* not PROT_WRITE */

struct op {
	enum op_kind kind;
	uint32_t page, nr;
	uint32_t a, b, c;
};

#define LAYOUT_OPS	192
#define LAYOUT_EDGES	256

struct layout {
	uint32_t nr;		/* pages of the window */
	uint32_t nr_ops;
	uint32_t nr_edges;
	struct op ops[LAYOUT_OPS];
	/* Where calls like to begin and end; for same_random.c. */
	uint32_t edges[LAYOUT_EDGES];
};

void layout_init(struct layout *lay, uint32_t nr);
void layout_add(struct layout *lay, enum op_kind kind, uint32_t page,
		uint32_t nr, uint32_t a, uint32_t b, uint32_t c);
/* Print as diagnostics. */
void layout_show(const struct layout *lay);

/* What lies behind a window, is never called on, and is used for moving. */
#define SCRATCH_PAGES	PMD_PAGES
#define MAX_WINDOWS	2
#define MAX_CHILDREN	4

struct window {
	char *base;
	uint32_t nr;
	bool device;		/* it may have pages of the driver */
};

struct scene {
	struct window win[MAX_WINDOWS];
	int nr_windows;
	void *reserved;
	size_t reserved_size;
	int uffd;
	pid_t children[MAX_CHILDREN];
	int nr_children;
	bool merged;		/* by KSM */
	bool pinned;		/* the device holds pages */
	bool lazy;		/* there is memory after MADV_FREE */
};

/*
 * Lay out the memory @nr_windows times. The windows are made operation by
 * operation beside each other, with one fork for all of them, so that they have
 * the same history.
 */
void scene_make(struct scene *scene, const struct layout *lay, int nr_windows);
void scene_end(struct scene *scene);
/* One more operation, on all windows. */
void scene_apply(struct scene *scene, const struct op *op);

static inline void *page_at(const struct window *win, uint32_t page)
{
	return win->base + ((size_t)page << PAGE_SHIFT);
}

/* ------------------------------------------------------------------------- */
/* same_random.c                                                             */

struct call {
	uint32_t page, nr;
	uint32_t op, flags;
	bool on_first;		/* first with the switch on, then off */
	bool off_early;		/* off again while the pages are held */
	/* Look at nr_foll_pin_* while they are held, too, and at smaps. */
	bool count_held;
	uint64_t young;		/* draws the pages read before; 0: none */
	bool again;		/* taken twice: each page is held two times */
	bool dirty;		/* released by unpin_user_pages_dirty_lock() */
	uint64_t order;		/* draws the arrays to release; 0: one, as held */
};

void random_layout(struct rng *rng, struct layout *lay);
/* One that is there and writable all over. */
void whole_layout(struct rng *rng, struct layout *lay);
void random_call(struct rng *rng, const struct layout *lay, struct call *call);
const char *call_text(const struct call *call, char *buf, size_t size);

/* ------------------------------------------------------------------------- */
/* same_compare.c                                                            */

/*
 * How two answers are to be compared: on one piece of memory, or on two that
 * were made alike, where page frame numbers and addresses differ.
 */
enum same_how {
	SAME_MEMORY,
	SAME_TWINS,
};

struct answer {
	struct call call;
	int ret;
	uint32_t count;		/* GUP-fast count, before the call */
	uint32_t count_device;	/* of these, pages without ->mapping */
	bool device;		/* the window may have such pages: */
	bool *is_device;	/* these; WINDOW_MAX */
	/* How far nr_foll_pin_* went; all in @release without count_held. */
	struct pins hold, release;
	struct stats stats;	/* how far the statistics went */
	uint32_t lo, hi;	/* what @held_obs and @after_obs describe */
	struct pagerun_test_page *held;	/* what the call took; WINDOW_MAX */
	int again;		/* what the second call returned */
	/*
	 * what can be seen of the window's pages, while held, when a part was released,
	 * and afterwards
	 */
	struct pagerun_test_page *held_obs, *part_obs, *after_obs;
	uint64_t *held_map, *after_map;
	struct smaps smaps;	/* afterwards, with count_held */
};

void answer_init(struct answer *answer);

/* Say in @why how the answers differ; true if they do not. */
bool same_answer(const struct answer *off, const struct answer *on,
		 uint32_t nr, enum same_how how, struct why *why);

/* Make one call and note all there is to see. */
void ask(const struct window *win, const struct call *call, bool on,
	 struct answer *answer);

/*
 * The call with the switch off and on, on one window. Calls that change the
 * memory are made before, until they do not. The answers of the last call stay
 * in @answers[2]: off, on.
 */
bool ask_same_memory(const struct window *win, const struct call *call,
		     struct why *why);
/* Off on the first window, on on the second, both made alike before. */
bool ask_twins(const struct scene *scene, const struct call *call,
	       struct why *why);
extern struct answer answers[2];

/* Say in @why what differs, of @what; true if nothing does. */
bool same_maps(const uint64_t *off, const uint64_t *on, uint32_t nr,
	       const char *what, enum same_how how, struct why *why);
bool same_smaps(const struct smaps *off, const struct smaps *on,
		const char *what, struct why *why);

/* Are the windows of a new scene alike? */
bool twins_alike(const struct scene *scene, struct why *why);
/* Have the pages that both windows map the same content? */
bool twins_content(const struct scene *scene, struct why *why);

/* What can be seen of pages [@lo, @hi); what cannot stays zero. */
void observe(const struct window *win, uint32_t lo, uint32_t hi,
	     const uint64_t *map, struct pagerun_test_page *obs);

/*
 * Are the counts of small-mapped anonymous folios what the mappings of this
 * process alone explain, and is no page pinned?
 */
bool no_leaks(const struct window *win, struct why *why);

/* ------------------------------------------------------------------------- */
/* same_trace.c                                                              */

/* Why events cannot be seen here, or NULL. */
const char *no_tracefs(void);
/* Record one event of pagerun from here on, by its name, and no more. */
void trace_begin(const char *event);
void trace_end(const char *event);
/* Forget what was recorded. */
void trace_clear(void);
/* The first that was; false if there is none. */
bool trace_read(const char *event, char *line, size_t size);

/* ------------------------------------------------------------------------- */
/* same_named.c, same_race.c, same_crowd.c, same_dio.c                       */

extern const struct named named_cases[];
extern const unsigned int nr_named_cases;
extern const struct named race_cases[];
extern const unsigned int nr_race_cases;
extern const struct named crowd_cases[];
extern const struct named dio_cases[];
extern const unsigned int nr_dio_cases;
extern const unsigned int nr_crowd_cases;

#endif /* SAME_H */
