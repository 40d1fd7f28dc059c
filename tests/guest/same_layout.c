// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that lay out memory, and the scene that a list of them makes.
 *
 * What an operation cannot do is passed over: a random layout asks for many
 * things that the memory under it does not allow. Where windows are made alike,
 * it is passed over in each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "same.h"

static const char *const op_names[NR_OPS] = {
	[OP_ANON] = "anon", [OP_SHMEM] = "shmem", [OP_MEMFD] = "memfd",
	[OP_TMPFS] = "tmpfs", [OP_RAMFS] = "ramfs", [OP_HUGETLB] = "hugetlb",
	[OP_DEVICE] = "device", [OP_SECRET] = "secretmem", [OP_ZERO] = "zero",
	[OP_DONTNEED] = "dontneed", [OP_FREE] = "free", [OP_MUNMAP] = "munmap",
	[OP_PROT] = "prot", [OP_PKEY] = "pkey", [OP_DONTFORK] = "dontfork",
	[OP_FORK] = "fork", [OP_REAP] = "reap", [OP_WRITE] = "write",
	[OP_READ] = "read", [OP_MOVE] = "move", [OP_REVERSE] = "reverse",
	[OP_SWAP] = "swap", [OP_KSM] = "ksm",
	[OP_INTERLEAVE] = "interleave", [OP_UFFD_WP] = "uffd-wp",
	[OP_SOFT_DIRTY] = "soft-dirty", [OP_MLOCK] = "mlock",
	[OP_PTEMAP] = "ptemap", [OP_THP] = "thp", [OP_FILL] = "fill",
	[OP_MERGEABLE] = "mergeable", [OP_UFFD] = "uffd", [OP_PIN] = "pin",
};

void layout_init(struct layout *lay, uint32_t nr)
{
	memset(lay, 0, sizeof(*lay));
	lay->nr = nr;
}

static void layout_edge(struct layout *lay, uint32_t page)
{
	if (page <= lay->nr && lay->nr_edges < LAYOUT_EDGES)
		lay->edges[lay->nr_edges++] = page;
}

void layout_add(struct layout *lay, enum op_kind kind, uint32_t page,
		uint32_t nr, uint32_t a, uint32_t b, uint32_t c)
{
	if (lay->nr_ops == LAYOUT_OPS)
		die("a layout has too many operations");
	lay->ops[lay->nr_ops++] = (struct op){
		.kind = kind, .page = page, .nr = nr, .a = a, .b = b, .c = c,
	};
	layout_edge(lay, page);
	layout_edge(lay, page + nr);
	if (kind == OP_MOVE) {
		layout_edge(lay, a);
		layout_edge(lay, a + nr);
	}
}

void layout_show(const struct layout *lay)
{
	ktap_diag("layout of %u pages: operation [first, end) a b c", lay->nr);
	for (uint32_t i = 0; i < lay->nr_ops; i++) {
		const struct op *op = &lay->ops[i];

		ktap_diag("  %s [%u, %u) %u %u %u", op_names[op->kind],
			  op->page, op->page + op->nr, op->a, op->b, op->c);
	}
}

/* ------------------------------------------------------------------------- */
/* New memory                                                                */

static void *map_over(void *addr, uint32_t nr, int prot, int flags, int fd,
		      uint32_t first)
{
	void *got = mmap(addr, (size_t)nr << PAGE_SHIFT, prot, flags | MAP_FIXED,
			 fd, (off_t)first << PAGE_SHIFT);

	return got == MAP_FAILED ? NULL : got;
}

/* The number in each page tells the page and the operation that wrote it. */
static uint32_t stamp_of(const struct op *op, uint32_t page)
{
	const uint32_t stamp = (page * 7 + op->kind * 3 + op->c) & 0xffff;

	/* 0 would make it a page full of zeroes. */
	return stamp ? stamp : 1;
}

static void fill(const struct window *win, const struct op *op)
{
	for (uint32_t i = 0; i < op->nr; i++)
		poke(page_at(win, op->page + i), stamp_of(op, op->page + i));
}

/*
 * Folios of the largest size are made of small ones. Enabling that size for the
 * faults would start khugepaged, which would collapse whatever else it finds.
 */
static void collapse(const struct window *win, const struct op *op)
{
	uint32_t page = (op->page + PMD_PAGES - 1) & -PMD_PAGES;

	for (; page + PMD_PAGES <= op->page + op->nr; page += PMD_PAGES)
		if (madvise(page_at(win, page), PMD_PAGES << PAGE_SHIFT,
			    MADV_COLLAPSE))
			die("MADV_COLLAPSE failed");
}

static void put_anon(const struct window *win, const struct op *op)
{
	void *addr = page_at(win, op->page);

	if (!map_over(addr, op->nr, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
		return;
	madvise(addr, (size_t)op->nr << PAGE_SHIFT,
		op->a ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (op->b & LAY_EMPTY)
		return;
	fill(win, op);
	if (op->a == PMD_ORDER)
		collapse(win, op);
}

/*
 * The folios at both ends may reach further. Their other pages are written to as well:
 * the kernel puts the zero page in the place of one that is full of zeroes when it
 * splits its folio, and whether it does is not the same for all that is compared.
 */
static void fill_whole(const struct window *win, const struct op *op)
{
	const uint32_t size = 1U << op->a;
	const uint32_t first = op->page & -size;
	const uint32_t end = min_u32((op->page + op->nr + size - 1) & -size, win->nr);
	static uint64_t map[WINDOW_MAX];

	fill(win, op);
	pagemap_read(page_at(win, first), end - first, map);
	for (uint32_t i = first; i < end; i++)
		if (map[i - first] & PM_PRESENT)
			poke(page_at(win, i), stamp_of(op, i));
}

static void fill_in(const struct window *win, const struct op *op)
{
	if (!op->b)
		fill_whole(win, op);
	for (uint32_t i = 0; op->b && i < op->nr; i++)
		peek(page_at(win, op->page + i));
	if (op->a == PMD_ORDER && !op->b)
		collapse(win, op);
}

static void put_shmem(const struct window *win, const struct op *op)
{
	if (map_over(page_at(win, op->page), op->nr, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0) &&
	    !(op->b & LAY_EMPTY))
		fill(win, op);
}

/* A file is filled first, in large folios if it may have them, then mapped. */
static void put_file(const struct window *win, const struct op *op, int fd)
{
	const size_t size = (size_t)(op->c + op->nr) << PAGE_SHIFT;
	int prot = PROT_READ | (op->b & LAY_READONLY ? 0 : PROT_WRITE);
	void *addr;
	uint32_t i;

	if (fd < 0)
		return;
	/* A whole number of huge pages, or the last one is not huge. */
	if (!ftruncate(fd, (size + (PMD_PAGES << PAGE_SHIFT) - 1) &
			   -((off_t)PMD_PAGES << PAGE_SHIFT))) {
		for (i = 0; i < op->nr && !(op->b & LAY_EMPTY); i++) {
			uint32_t stamp = stamp_of(op, op->page + i);

			if (pwrite(fd, &stamp, sizeof(stamp),
				   (off_t)(op->c + i) << PAGE_SHIFT) < 0)
				break;
		}
		addr = map_over(page_at(win, op->page), op->nr, prot,
				op->b & LAY_PRIVATE ? MAP_PRIVATE : MAP_SHARED,
				fd, op->c);
		/*
		 * A long-term pin for reading must copy the pages of a private
		 * mapping, and where a PMD entry maps them Linux 6.12 never gets
		 * that done: it splits the entry, then faults the same one in
		 * again, for ever. So there are none.
		 */
		if (addr && op->b & LAY_PRIVATE)
			madvise(addr, (size_t)op->nr << PAGE_SHIFT,
				MADV_NOHUGEPAGE);
		/* Writable entries, where a write does not make a copy. */
		for (i = 0; addr && i < op->nr && !(op->b & LAY_EMPTY); i++) {
			if (op->b & (LAY_PRIVATE | LAY_READONLY))
				peek(page_at(win, op->page + i));
			else
				poke(page_at(win, op->page + i),
				     stamp_of(op, op->page + i));
		}
	}
	close(fd);
}

static void put_tmpfile(const struct window *win, const struct op *op, int dir)
{
	if (dir >= 0)
		put_file(win, op, openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC,
					 0600));
}

static void put_hugetlb(const struct window *win, const struct op *op)
{
	if (!sys.hugetlb)
		return;
	if (map_over(page_at(win, op->page), op->nr, PROT_READ | PROT_WRITE,
		     MAP_ANONYMOUS | MAP_HUGETLB |
		     (op->b & LAY_PRIVATE ? MAP_PRIVATE : MAP_SHARED), -1, 0) &&
	    !(op->b & LAY_EMPTY))
		fill(win, op);
}

static void put_device(struct window *win, const struct op *op)
{
	if (!map_over(page_at(win, op->page), op->nr, PROT_READ | PROT_WRITE,
		      MAP_SHARED, sys.dev, 0))
		return;
	win->device = true;
	fill(win, op);
}

static void put_secret(const struct window *win, const struct op *op)
{
	int fd;

	if (!sys.secretmem)
		return;
	fd = syscall(SYS_memfd_secret, O_CLOEXEC);
	if (fd < 0)
		return;
	if (!ftruncate(fd, (off_t)op->nr << PAGE_SHIFT) &&
	    map_over(page_at(win, op->page), op->nr, PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0))
		fill(win, op);
	close(fd);
}

static void put_zero(const struct window *win, const struct op *op)
{
	void *addr = page_at(win, op->page);

	if (!map_over(addr, op->nr, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
		return;
	madvise(addr, (size_t)op->nr << PAGE_SHIFT,
		op->a ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < op->nr; i++)
		peek(page_at(win, op->page + i));
}

/* ------------------------------------------------------------------------- */
/* Changes                                                                   */

static void move(void *from, void *to, uint32_t nr)
{
	const size_t size = (size_t)nr << PAGE_SHIFT;

	if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
	    MAP_FAILED)
		return;
	/* Not one mapping, perhaps: by the page. */
	if (errno == EFAULT && nr > 1)
		for (uint32_t i = 0; i < nr; i++)
			move((char *)from + (size_t)i * PAGE_SIZE,
			     (char *)to + (size_t)i * PAGE_SIZE, 1);
}

static void swap(const struct window *win, uint32_t a, uint32_t b, uint32_t nr)
{
	void *scratch = page_at(win, win->nr);

	if (nr > SCRATCH_PAGES)
		return;
	move(page_at(win, a), scratch, nr);
	move(page_at(win, b), page_at(win, a), nr);
	move(scratch, page_at(win, b), nr);
}

static void touch(const struct window *win, const struct op *op)
{
	struct rng rng = { .state = op->c };

	for (uint32_t i = 0; i < op->nr; i++) {
		void *addr = page_at(win, op->page + i);

		if (!rng_chance(&rng, op->a))
			continue;
		if (op->kind == OP_WRITE)
			poke(addr, stamp_of(op, op->page + i));
		else
			peek(addr);
	}
}

/* Refused, and passed over, where part of the range is not anonymous memory. */
static bool uffd_register(struct scene *scene, void *addr, uint32_t nr,
			  uint64_t mode)
{
	struct uffdio_register reg = {
		.range = { (uintptr_t)addr, (uint64_t)nr << PAGE_SHIFT },
		.mode = mode,
	};

	if (scene->uffd < 0) {
		/* With SIGBUS, who writes gets an error and waits for nobody. */
		struct uffdio_api api = {
			.api = UFFD_API,
			.features = sys.uffd_features,
		};

		scene->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
		if (scene->uffd < 0 || ioctl(scene->uffd, UFFDIO_API, &api))
			die("cannot open a userfaultfd");
	}
	return !ioctl(scene->uffd, UFFDIO_REGISTER, &reg);
}

static void uffd_wp(struct scene *scene, void *addr, uint32_t nr)
{
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)addr, (uint64_t)nr << PAGE_SHIFT },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (sys.uffd_wp &&
	    uffd_register(scene, addr, nr, UFFDIO_REGISTER_MODE_WP))
		ioctl(scene->uffd, UFFDIO_WRITEPROTECT, &wp);
}

static void uffd_plain(struct scene *scene, void *addr, const struct op *op)
{
	uint64_t mode = 0;

	if (op->a & UFFD_MISSING)
		mode |= UFFDIO_REGISTER_MODE_MISSING;
	if (op->a & UFFD_WP && sys.uffd_wp)
		mode |= UFFDIO_REGISTER_MODE_WP;
	if (sys.uffd_features && mode)
		uffd_register(scene, addr, op->nr, mode);
}

/*
 * Pages that are to be merged, @a different ones. Each window has a mark of its
 * own in them: pages that both shared would have counts of both. A page that
 * cannot be marked is left out.
 */
static void mergeable(const struct scene *scene, const struct window *win,
		      const struct op *op)
{
	const uint32_t mark = 1 + (win - scene->win);

	if (!sys.ksm || scene->merged)
		return;
	for (uint32_t i = 0; i < op->nr; i++) {
		char *addr = page_at(win, op->page + i);

		if (poke(addr, op->c + i % max_u32(op->a, 1)) &&
		    poke(addr + 2 * sizeof(mark), mark))
			madvise(addr, PAGE_SIZE, MADV_MERGEABLE);
	}
}

static void merge(struct scene *scene)
{
	/*
	 * Once: what is written to such memory later has no mark, and the next
	 * scan would find it.
	 */
	if (!sys.ksm || scene->merged)
		return;
	scene->merged = true;
	ksm_merge();
	/* Which of the pages that were alike has become the one is open. */
	clear_refs(1);
}

static void reap(struct scene *scene)
{
	while (scene->nr_children > 0) {
		pid_t pid = scene->children[--scene->nr_children];

		kill(pid, SIGKILL);
		/* It is waited for until its memory is gone. */
		if (waitpid(pid, NULL, 0) != pid)
			die("cannot wait for a child");
	}
}

static void do_fork(struct scene *scene, bool stay)
{
	pid_t pid;

	if (stay && scene->nr_children == MAX_CHILDREN)
		return;
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		if (!stay)
			_exit(0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (stay)
		scene->children[scene->nr_children++] = pid;
	else if (waitpid(pid, NULL, 0) != pid)
		die("cannot wait for a child");
}

/*
 * mprotect() of one page and back splits a PMD mapping. Pages that were writable
 * may be write-protected afterwards; the first one of each table alone.
 */
static void ptemap(void *addr, uint32_t nr)
{
	const uintptr_t pmd_size = PMD_PAGES * PAGE_SIZE;
	uintptr_t at = (uintptr_t)addr, end = at + (uintptr_t)nr * PAGE_SIZE;

	for (; at < end; at = (at | (pmd_size - 1)) + 1) {
		mprotect((void *)at, PAGE_SIZE, PROT_READ);
		mprotect((void *)at, PAGE_SIZE, PROT_READ | PROT_WRITE);
	}
}

static void apply(struct scene *scene, struct window *win, const struct op *op)
{
	void *addr = page_at(win, op->page);
	const size_t size = (size_t)op->nr << PAGE_SHIFT;
	uint32_t i;

	switch (op->kind) {
	case OP_ANON:
		put_anon(win, op);
		break;
	case OP_SHMEM:
		put_shmem(win, op);
		break;
	case OP_MEMFD:
		put_file(win, op, memfd_create("same_answers", MFD_CLOEXEC));
		break;
	case OP_TMPFS:
		put_tmpfile(win, op, sys.tmpfs);
		break;
	case OP_RAMFS:
		put_tmpfile(win, op, sys.ramfs);
		break;
	case OP_HUGETLB:
		put_hugetlb(win, op);
		break;
	case OP_DEVICE:
		put_device(win, op);
		break;
	case OP_SECRET:
		put_secret(win, op);
		break;
	case OP_ZERO:
		put_zero(win, op);
		break;
	case OP_DONTNEED:
		madvise(addr, size, MADV_DONTNEED);
		break;
	case OP_FREE:
		scene->lazy = true;
		madvise(addr, size, MADV_FREE);
		break;
	case OP_MUNMAP:
		munmap(addr, size);
		break;
	case OP_PROT:
		mprotect(addr, size, op->a);
		break;
	case OP_PKEY:
		if (sys.pkeys)
			pkey_mprotect(addr, size, PROT_READ | PROT_WRITE,
				      op->a ? sys.key_noaccess : sys.key_nowrite);
		break;
	case OP_DONTFORK:
		madvise(addr, size, MADV_DONTFORK);
		break;
	case OP_WRITE:
	case OP_READ:
		touch(win, op);
		break;
	case OP_MOVE:
		move(addr, page_at(win, op->a), op->nr);
		break;
	case OP_REVERSE:
		swap(win, op->page, op->page + op->nr - op->nr / 2, op->nr / 2);
		break;
	case OP_INTERLEAVE:
		for (i = 1; i < op->nr; i += 2)
			swap(win, op->page + i, op->page + op->a + i, 1);
		break;
	case OP_UFFD_WP:
		uffd_wp(scene, addr, op->nr);
		break;
	case OP_MLOCK:
		mlock(addr, size);
		break;
	case OP_SWAP:
		swap_out(addr, op->nr, op->a);
		break;
	case OP_KSM:
		mergeable(scene, win, op);
		break;
	case OP_PTEMAP:
		ptemap(addr, op->nr);
		break;
	case OP_FILL:
		fill_in(win, op);
		break;
	case OP_MERGEABLE:
		if (sys.ksm)
			madvise(addr, size, MADV_MERGEABLE);
		break;
	case OP_UFFD:
		uffd_plain(scene, addr, op);
		break;
	case OP_PIN:
		scene->pinned = true;
		dev_hold(sys.dev, addr, op->nr, PAGERUN_TEST_PIN,
			 PAGERUN_TEST_WRITE, NULL);
		break;
	default:
		die("operation %d is not one of a window", op->kind);
	}
}

/* Operations on the process, not on a window. */
static bool apply_once(struct scene *scene, const struct op *op)
{
	switch (op->kind) {
	case OP_FORK:
		do_fork(scene, op->a);
		return true;
	case OP_REAP:
		reap(scene);
		return true;
	case OP_SOFT_DIRTY:
		clear_refs(4);
		return true;
	case OP_THP:
		/* The last operation, or without effect. */
		if (op->a)
			thp_anon(op->a);
		return true;
	default:
		return false;
	}
}

/* Let the faults of an operation get folios of its size. */
static void thp_for(const struct op *op)
{
	switch (op->kind) {
	case OP_ANON:
		if (op->a && op->a < PMD_ORDER)
			thp_anon(op->a);
		break;
	case OP_FILL:
		if (op->a && (op->a < PMD_ORDER || op->b))
			thp_anon(op->a);
		break;
	case OP_ZERO:
		if (op->a)
			thp_anon(op->a);
		break;
	case OP_SHMEM:
		if (op->a)
			thp_shmem(op->a);
		break;
	case OP_MEMFD:
		thp_memfd(op->a);
		break;
	default:
		break;
	}
}

void scene_apply(struct scene *scene, const struct op *op)
{
	if (apply_once(scene, op))
		return;
	thp_for(op);
	for (int i = 0; i < scene->nr_windows; i++)
		apply(scene, &scene->win[i], op);
	if (op->kind == OP_KSM)
		merge(scene);
	thp_none();
}

void scene_make(struct scene *scene, const struct layout *lay, int nr_windows)
{
	const size_t pmd_size = PMD_PAGES * PAGE_SIZE;
	const size_t size = ((size_t)lay->nr * PAGE_SIZE + pmd_size - 1) & -pmd_size;
	/* A PMD in front, the scratch behind: no neighbours from elsewhere. */
	const size_t each = size + 2 * pmd_size;
	uintptr_t at;

	memset(scene, 0, sizeof(*scene));
	scene->uffd = -1;
	scene->nr_windows = nr_windows;
	scene->reserved_size = nr_windows * each + 2 * pmd_size;
	scene->reserved = mmap(NULL, scene->reserved_size, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (scene->reserved == MAP_FAILED)
		die("cannot reserve %zu bytes", scene->reserved_size);
	at = ((uintptr_t)scene->reserved + pmd_size - 1) & -pmd_size;
	for (int i = 0; i < nr_windows; i++) {
		scene->win[i].base = (char *)at + pmd_size;
		scene->win[i].nr = lay->nr;
		at += each;
	}

	thp_none();
	for (uint32_t n = 0; n < lay->nr_ops; n++) {
		thp_none();
		scene_apply(scene, &lay->ops[n]);
	}
	settle();
}

void scene_end(struct scene *scene)
{
	reap(scene);
	if (scene->pinned)
		dev_release(sys.dev);
	if (munmap(scene->reserved, scene->reserved_size))
		die("cannot unmap the windows");
	if (scene->uffd >= 0)
		close(scene->uffd);
	scene->uffd = -1;
	thp_none();
}
