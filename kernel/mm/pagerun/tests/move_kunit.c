// SPDX-License-Identifier: GPL-2.0-only
/*
 * UFFDIO_MOVE with the switch off and on, over generated mappings: the base is the
 * reference. Two windows are laid out alike and get the same calls, one with the switch
 * off and one with it on. Then entries and contents must be alike.
 *
 * A window is one mapping, source and destination both, so ranges overlap, leave page
 * tables and are misaligned as it comes.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/prandom.h>
#include <linux/rmap.h>
#include <linux/swap.h>
#include <linux/uaccess.h>
#include <linux/userfaultfd_k.h>

#include <asm/tlbflush.h>

#include "../../internal.h"
#include "../move.h"
#include "tests.h"

#define WINDOW_PAGES	(3 * PTRS_PER_PTE)
#define WINDOW_SIZE	(WINDOW_PAGES * PAGE_SIZE)
#define LAYOUTS		24
#define CALLS		24
#define SIZE_64K	(16 * PAGE_SIZE)

struct move_context {
	struct rnd_state rnd;
	struct userfaultfd_ctx uffd;
	unsigned long window[2];	/* multiples of PMD_SIZE; off, on */
	struct page *pinned[2];
	unsigned long orders[2];	/* settings before the test */
};

static u32 rnd_below(struct move_context *ctx, u32 bound)
{
	return prandom_u32_state(&ctx->rnd) % bound;
}

/* A new mapping at the place of a window, ready to be a destination. */
static int make_window(struct move_context *ctx, unsigned long window)
{
	struct vm_area_struct *vma;
	unsigned long addr;

	addr = vm_mmap(NULL, window, WINDOW_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	if (addr != window)
		return -ENOMEM;

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, window);
	if (vma)
		vma->vm_userfaultfd_ctx.ctx = &ctx->uffd;
	mmap_write_unlock(current->mm);
	return vma ? 0 : -EFAULT;
}

/* No longer a destination; this runs in a thread without the mm. */
static void leave_window(struct move_context *ctx, unsigned long window)
{
	struct mm_struct *mm = ctx->uffd.mm;
	struct vm_area_struct *vma;

	mmap_write_lock(mm);
	vma = vma_lookup(mm, window);
	if (vma)
		vma->vm_userfaultfd_ctx.ctx = NULL;
	mmap_write_unlock(mm);
}

/* Write @stamp to a page, or read it if that is 0; it gets a folio of @order. */
static void touch(unsigned long addr, unsigned int order, u32 stamp)
{
	WRITE_ONCE(huge_anon_orders_always, order ? BIT(order) : 0);
	if (stamp)
		put_user(stamp, (u32 __user *)addr);
	else
		get_user(stamp, (u32 __user *)addr);
	WRITE_ONCE(huge_anon_orders_always, 0);
}

static u32 content(unsigned long addr)
{
	u32 stamp = ~0U;

	get_user(stamp, (u32 __user *)addr);
	return stamp;
}

/* Nobody else uses this mm, so entries are read and set without a lock. */
static pte_t read_pte(unsigned long addr)
{
	pmd_t *pmd = mm_find_pmd(current->mm, addr);
	pte_t *ptep, pte;

	ptep = pmd ? pte_offset_map(pmd, addr) : NULL;
	if (!ptep)
		return __pte(0);
	/* Mapping does not tell sparse what unmapping undoes. */
	__acquire(RCU);
	pte = ptep_get(ptep);
	pte_unmap(ptep);
	return pte;
}

/* As if it had not been written to since somebody cleaned it. */
static void clean_pte(unsigned long addr)
{
	pmd_t *pmd = mm_find_pmd(current->mm, addr);
	pte_t *ptep, pte;

	ptep = pmd ? pte_offset_map(pmd, addr) : NULL;
	if (!ptep)
		return;
	__acquire(RCU);
	pte = ptep_get(ptep);
	if (pte_present(pte) && !is_zero_pfn(pte_pfn(pte)))
		set_pte_at(current->mm, addr, ptep,
			   pte_clear_soft_dirty(pte_mkclean(pte)));
	pte_unmap(ptep);
	flush_tlb_mm(current->mm);
}

static void zap(unsigned long addr, unsigned int nr)
{
	struct vm_area_struct *vma;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, addr);
	if (vma)
		zap_page_range_single(vma, addr, nr * PAGE_SIZE, NULL);
	mmap_read_unlock(current->mm);
}

static void split_pmd(unsigned long addr)
{
	struct vm_area_struct *vma;
	pmd_t *pmd;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, addr);
	pmd = mm_find_pmd(current->mm, addr);
	if (vma && pmd)
		split_huge_pmd(vma, pmd, addr);
	mmap_read_unlock(current->mm);
}

/* What a layout puts at pages [@page, @page + @nr) of both windows. */
struct piece {
	unsigned int page, nr, kind;
	unsigned int order;
	unsigned int hole;	/* in a large folio: pages in front of it */
	unsigned int clean;	/* every so many pages */
};

enum { SMALL, HOLE, ZERO, LARGE, TORN, NR_KINDS };

static void choose_piece(struct move_context *ctx, struct piece *piece,
			 unsigned int page)
{
	unsigned int nr = min(1 + rnd_below(ctx, 70), WINDOW_PAGES - page);
	unsigned int order = 2 + rnd_below(ctx, HPAGE_PMD_ORDER - 1);

	*piece = (struct piece){ .page = page, .nr = nr };
	piece->kind = rnd_below(ctx, NR_KINDS);
	piece->hole = rnd_below(ctx, 1U << order);
	piece->clean = 1 + rnd_below(ctx, 5);
	if (piece->kind < LARGE)
		return;
	/* Folios lie where their size divides the address. */
	if (page & ((1U << order) - 1) || page + (1U << order) > WINDOW_PAGES) {
		piece->kind = SMALL;
		return;
	}
	piece->order = order;
	piece->nr = 1U << order;
}

static void lay_piece(unsigned long window, const struct piece *piece)
{
	unsigned long addr = window + piece->page * PAGE_SIZE;
	unsigned int i;

	if (piece->kind == HOLE)
		return;
	for (i = 0; i < piece->nr; i++)
		touch(addr + i * PAGE_SIZE, piece->order,
		      piece->kind == ZERO ? 0 : piece->page + i + 1);
	if (piece->order == HPAGE_PMD_ORDER && piece->hole % 3)
		split_pmd(addr);
	for (i = 0; i < piece->nr; i += piece->clean)
		clean_pte(addr + i * PAGE_SIZE);
	if (piece->kind == TORN)
		zap(addr + piece->hole * PAGE_SIZE, 1);
}

static void pin(struct move_context *ctx, unsigned int page)
{
	int i;

	for (i = 0; i < 2; i++) {
		unsigned long addr = ctx->window[i] + page * PAGE_SIZE;

		ctx->pinned[i] = NULL;
		if (!pte_present(read_pte(addr)) ||
		    pin_user_pages_fast(addr, 1, FOLL_WRITE, &ctx->pinned[i]) != 1)
			ctx->pinned[i] = NULL;
		/* The base waits for ever until a large folio is free of pins. */
		if (ctx->pinned[i] && folio_test_large(page_folio(ctx->pinned[i]))) {
			unpin_user_page(ctx->pinned[i]);
			ctx->pinned[i] = NULL;
		}
	}
}

static void unpin(struct move_context *ctx)
{
	int i;

	for (i = 0; i < 2; i++)
		if (ctx->pinned[i])
			unpin_user_page(ctx->pinned[i]);
}

static void lay_out(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	struct piece piece;
	unsigned int page;

	KUNIT_ASSERT_EQ(test, make_window(ctx, ctx->window[0]), 0);
	KUNIT_ASSERT_EQ(test, make_window(ctx, ctx->window[1]), 0);
	for (page = 0; page < WINDOW_PAGES; page += piece.nr) {
		choose_piece(ctx, &piece, page);
		/* Half of the window is free, to be moved to. */
		if (page / 200 % 2)
			continue;
		lay_piece(ctx->window[0], &piece);
		lay_piece(ctx->window[1], &piece);
	}
	pin(ctx, rnd_below(ctx, WINDOW_PAGES));
}

static void compare_call(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	unsigned int src = rnd_below(ctx, WINDOW_PAGES);
	unsigned int dst = rnd_below(ctx, WINDOW_PAGES);
	unsigned int nr;
	u64 mode = rnd_below(ctx, 2) ? UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES : 0;
	ssize_t moved[2];
	int i;

	/* Half of the calls agree modulo 64 pages; some reach far. */
	if (rnd_below(ctx, 2))
		dst = round_down(dst, 64) | (src & 63);
	nr = 1 + rnd_below(ctx, rnd_below(ctx, 2) ? 600 : 40);
	nr = min3(nr, WINDOW_PAGES - src, WINDOW_PAGES - dst);

	for (i = 0; i < 2; i++) {
		set_switch(PAGERUN_MOVE, i);
		moved[i] = move_pages(&ctx->uffd, ctx->window[i] + dst * PAGE_SIZE,
				      ctx->window[i] + src * PAGE_SIZE,
				      nr * PAGE_SIZE, mode);
	}
	KUNIT_EXPECT_EQ_MSG(test, moved[0], moved[1],
			    "%u pages from %u to %u, mode %llu", nr, src, dst, mode);
}

/* Alike but for the page, and for accesses. */
static bool same_kind(pte_t a, pte_t b)
{
	if (pte_none(a) || pte_none(b))
		return pte_none(a) && pte_none(b);
	if (!pte_present(a) || !pte_present(b))
		return !pte_present(a) && !pte_present(b);

	return pte_write(a) == pte_write(b) && pte_dirty(a) == pte_dirty(b) &&
	       pte_soft_dirty(a) == pte_soft_dirty(b) &&
	       pte_uffd_wp(a) == pte_uffd_wp(b) &&
	       pte_special(a) == pte_special(b) &&
	       pte_protnone(a) == pte_protnone(b);
}

/* Would the reverse mapping find the page at this address? */
static bool rmap_fits(unsigned long addr, pte_t pte)
{
	struct vm_area_struct *vma;
	struct folio *folio;
	bool fits;

	if (!pte_present(pte) || is_zero_pfn(pte_pfn(pte)))
		return true;
	folio = page_folio(pte_page(pte));
	mmap_read_lock(current->mm);
	vma = vma_lookup(current->mm, addr);
	fits = vma && folio_test_anon(folio) &&
	       folio_anon_vma(folio)->root == vma->anon_vma->root &&
	       folio->index + folio_page_idx(folio, pte_page(pte)) ==
	       linear_page_index(vma, addr);
	mmap_read_unlock(current->mm);
	return fits;
}

static void compare_windows(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	unsigned int i;

	for (i = 0; i < WINDOW_PAGES; i++) {
		unsigned long off = ctx->window[0] + i * PAGE_SIZE;
		unsigned long on = ctx->window[1] + i * PAGE_SIZE;
		pte_t a = read_pte(off), b = read_pte(on);

		if (!same_kind(a, b)) {
			KUNIT_FAIL(test, "page %u: entry %#lx with the switch off, %#lx on", i,
				   (unsigned long)pte_val(a), (unsigned long)pte_val(b));
			return;
		}
		if (!rmap_fits(off, a) || !rmap_fits(on, b)) {
			KUNIT_FAIL(test, "page %u: index or anon_vma does not fit: off %d on %d", i,
				   rmap_fits(off, a), rmap_fits(on, b));
			return;
		}
		if (pte_present(a) && content(off) != content(on)) {
			KUNIT_FAIL(test, "page %u holds %u with the switch off, %u on", i,
				   content(off), content(on));
			return;
		}
	}
}

static void move_same_answers_test(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	unsigned long runs = count_now(PAGERUN_MOVE).runs;
	int i, j;

	for (i = 0; i < LAYOUTS; i++) {
		lay_out(test);
		for (j = 0; j < CALLS; j++) {
			compare_call(test);
			if (j % 4 == 3)
				compare_windows(test);
			if (test->status == KUNIT_FAILURE)
				break;
		}
		unpin(ctx);
		if (test->status == KUNIT_FAILURE)
			return;
	}
	/* Some of it was moved by the run. */
	KUNIT_EXPECT_GT(test, count_now(PAGERUN_MOVE).runs - runs, 100);
}

static unsigned int order_at(unsigned long addr)
{
	pte_t pte = read_pte(addr);

	return pte_present(pte) ? folio_order(page_folio(pte_page(pte))) : ~0U;
}

/* 64 KiB folios at the window's start, moved to its second page table. */
static void move_whole_test(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	unsigned long src = ctx->window[0], dst = src + PMD_SIZE;
	unsigned int i;
	pte_t pte;

	KUNIT_ASSERT_EQ(test, make_window(ctx, src), 0);
	for (i = 0; i < 32; i++)
		touch(src + i * PAGE_SIZE, 4, i + 1);
	KUNIT_ASSERT_EQ(test, order_at(src), 4);
	clean_pte(src + 5 * PAGE_SIZE);

	set_switch(PAGERUN_MOVE, true);
	KUNIT_EXPECT_EQ(test, move_pages(&ctx->uffd, dst, src, 2 * SIZE_64K, 0), 2 * SIZE_64K);
	KUNIT_EXPECT_EQ(test, order_at(dst), 4);
	for (i = 0; i < 32; i++) {
		KUNIT_EXPECT_TRUE(test, pte_none(read_pte(src + i * PAGE_SIZE)));
		pte = read_pte(dst + i * PAGE_SIZE);
		KUNIT_EXPECT_TRUE(test, pte_present(pte) && pte_write(pte));
		KUNIT_EXPECT_EQ(test, !!pte_dirty(pte), i != 5);
	}

	/* A place that does not agree modulo 64 KiB: each page on its own. */
	KUNIT_EXPECT_EQ(test, move_pages(&ctx->uffd, src + PAGE_SIZE, dst, SIZE_64K, 0), SIZE_64K);
	KUNIT_EXPECT_EQ(test, order_at(src + PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, order_at(dst + SIZE_64K), 4);
}

/* Call what the base calls, without the base behind it. */
static unsigned long move_alone(unsigned long dst, unsigned long src, unsigned long len)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned long moved = 0;

	mmap_read_lock(mm);
	vma = find_vma(mm, src);
	if (vma && pagerun_move_wanted(len) && !anon_vma_prepare(vma))
		moved = pagerun_move(mm_find_pmd(mm, dst), mm_find_pmd(mm, src),
				     vma, vma, dst, src, len);
	mmap_read_unlock(mm);
	return moved;
}

/* What is pinned, small or large, stays where it is, entry and all. */
static void move_pinned_test(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	unsigned long src = ctx->window[0], dst = src + PMD_SIZE;
	unsigned long large = src + SIZE_64K;
	struct page *page;
	pte_t pte;
	int i;

	KUNIT_ASSERT_EQ(test, make_window(ctx, src), 0);
	for (i = 0; i < 16; i++)
		touch(src + i * PAGE_SIZE, 0, i + 1);
	for (; i < 32; i++)
		touch(src + i * PAGE_SIZE, 4, i + 1);
	/* There has to be a table. */
	touch(dst + 100 * PAGE_SIZE, 0, 1);
	set_switch(PAGERUN_MOVE, true);

	KUNIT_ASSERT_EQ(test, pin_user_pages_fast(src + 7 * PAGE_SIZE, 1, FOLL_WRITE, &page), 1);
	pte = read_pte(src + 7 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, move_alone(dst, src, 32 * PAGE_SIZE), 7 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, pte_val(read_pte(src + 7 * PAGE_SIZE)), pte_val(pte));
	KUNIT_EXPECT_TRUE(test, pte_none(read_pte(dst + 7 * PAGE_SIZE)));
	unpin_user_page(page);

	KUNIT_ASSERT_EQ(test, pin_user_pages_fast(large + 3 * PAGE_SIZE, 1, FOLL_WRITE, &page), 1);
	pte = read_pte(large + 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, move_alone(dst + SIZE_64K, large, SIZE_64K), 0);
	KUNIT_EXPECT_EQ(test, pte_val(read_pte(large + 2 * PAGE_SIZE)), pte_val(pte));
	unpin_user_page(page);

	/* Other references do not stop it. */
	KUNIT_ASSERT_EQ(test, get_user_pages_fast(large, 1, FOLL_WRITE, &page), 1);
	KUNIT_EXPECT_EQ(test, move_alone(dst + SIZE_64K, large, SIZE_64K), SIZE_64K);
	put_page(page);
}

/* Exchange what two addresses of one page table map. */
static void exchange(unsigned long a, unsigned long b)
{
	pmd_t *pmd = mm_find_pmd(current->mm, a);
	pte_t *ptep, *first, *second, pte;

	ptep = pmd ? pte_offset_map(pmd, a & PMD_MASK) : NULL;
	if (!ptep)
		return;
	__acquire(RCU);
	first = ptep + pte_index(a);
	second = ptep + pte_index(b);
	/* Neither page is mapped twice at any time, which page table checks mind. */
	pte = ptep_get_and_clear(current->mm, a, first);
	set_pte_at(current->mm, a, first, ptep_get_and_clear(current->mm, b, second));
	set_pte_at(current->mm, b, second, pte);
	pte_unmap(ptep);
	flush_tlb_mm(current->mm);
}

/* A large folio whose pages are all there, but in another order, is not whole. */
static void move_order_test(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	unsigned long src = ctx->window[0], dst = src + PMD_SIZE;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, make_window(ctx, src), 0);
	for (i = 0; i < 16; i++)
		touch(src + i * PAGE_SIZE, 4, i + 1);
	KUNIT_ASSERT_EQ(test, order_at(src), 4);
	/* There has to be a table. */
	touch(dst + 100 * PAGE_SIZE, 0, 1);
	set_switch(PAGERUN_MOVE, true);

	exchange(src + 3 * PAGE_SIZE, src + 9 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, move_alone(dst, src, SIZE_64K), 0);
	exchange(src + 3 * PAGE_SIZE, src + 9 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, move_alone(dst, src, SIZE_64K), SIZE_64K);
}

/* One page, a table's last page, and an overlap by a page are not for a run. */
static void move_limits_test(struct kunit *test)
{
	struct move_context *ctx = test->priv;
	unsigned long src = ctx->window[0], end = src + PMD_SIZE;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, make_window(ctx, src), 0);
	for (i = 100; i < PTRS_PER_PTE + 4; i++)
		touch(src + i * PAGE_SIZE, 0, i + 1);
	set_switch(PAGERUN_MOVE, true);

	KUNIT_EXPECT_EQ(test, move_alone(src, end - PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, move_alone(src, end - PAGE_SIZE, 4 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, move_alone(src, end - 3 * PAGE_SIZE, 7 * PAGE_SIZE), 3 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, move_alone(src + 99 * PAGE_SIZE, src + 100 * PAGE_SIZE,
					 50 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, move_alone(src + 90 * PAGE_SIZE, src + 100 * PAGE_SIZE,
					 50 * PAGE_SIZE), 10 * PAGE_SIZE);
	/* Nothing there, or no place. */
	KUNIT_EXPECT_EQ(test, move_alone(src + 20 * PAGE_SIZE, src + 30 * PAGE_SIZE,
					 8 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, move_alone(src + 200 * PAGE_SIZE, src + 300 * PAGE_SIZE,
					 8 * PAGE_SIZE), 0);
}

static int move_init(struct kunit *test)
{
	struct move_context *ctx;
	unsigned long addr;
	int i;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	/* Room for both, aligned, and a gap between them. */
	addr = kunit_vm_mmap(test, NULL, 0, 2 * WINDOW_SIZE + 3 * PMD_SIZE, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (!addr || IS_ERR_VALUE(addr))
		return -ENOMEM;
	for (i = 0; i < 2; i++)
		ctx->window[i] = ALIGN(addr, PMD_SIZE) + i * (WINDOW_SIZE + PMD_SIZE);

	init_rwsem(&ctx->uffd.map_changing_lock);
	ctx->uffd.mm = current->mm;
	prandom_seed_state(&ctx->rnd, 20);
	ctx->orders[0] = huge_anon_orders_always;
	ctx->orders[1] = huge_anon_orders_inherit;
	huge_anon_orders_always = 0;
	huge_anon_orders_inherit = 0;
	test->priv = ctx;
	return 0;
}

static void move_exit(struct kunit *test)
{
	struct move_context *ctx = test->priv;

	if (!ctx)
		return;
	leave_window(ctx, ctx->window[0]);
	leave_window(ctx, ctx->window[1]);
	huge_anon_orders_always = ctx->orders[0];
	huge_anon_orders_inherit = ctx->orders[1];
}

static bool switch_was_on;

static int move_suite_init(struct kunit_suite *suite)
{
	switch_was_on = switch_is_on(PAGERUN_MOVE);
	return 0;
}

static void move_suite_exit(struct kunit_suite *suite)
{
	set_switch(PAGERUN_MOVE, switch_was_on);
}

static struct kunit_case move_cases[] = {
	KUNIT_CASE_SLOW(move_same_answers_test),
	KUNIT_CASE(move_whole_test),
	KUNIT_CASE(move_pinned_test),
	KUNIT_CASE(move_order_test),
	KUNIT_CASE(move_limits_test),
	{ }
};

static struct kunit_suite move_suite = {
	.name = "pagerun_move",
	.suite_init = move_suite_init,
	.suite_exit = move_suite_exit,
	.init = move_init,
	.exit = move_exit,
	.test_cases = move_cases,
};

kunit_test_suite(move_suite);
