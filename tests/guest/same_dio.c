// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named cases of direct reads and writes: parts of random memory, in several pieces a
 * call, from and to a device that keeps its data in memory. What a call returns is the
 * same with the switches off and on, and the data is that of the device.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "same.h"

#define DISK		"/dev/nullb0"
#define BLOCK		512U
#define DATA_SIZE	((size_t)WINDOW_MAX * PAGE_SIZE)
#define SCENES		12
#define CALLS		30
#define PIECES		4

static int disk = -1;
static unsigned char *data;	/* what the disk has */

static bool disk_holds(void)
{
	unsigned char block[PAGE_SIZE] __attribute__((aligned(4096)));

	memset(block, 0x5b, sizeof(block));
	if (pwrite(disk, block, sizeof(block), 0) != (ssize_t)sizeof(block))
		return false;
	memset(block, 0, sizeof(block));
	return pread(disk, block, sizeof(block), 0) == (ssize_t)sizeof(block) &&
	       block[7] == 0x5b;
}

static const char *no_disk(void)
{
	if (disk < 0)
		disk = open(DISK, O_RDWR | O_DIRECT | O_CLOEXEC);
	return disk < 0 || !disk_holds() ?
		"there is no " DISK " that keeps data; boot with null_blk.memory_backed=1 null_blk.gb=1" :
		NULL;
}

static void disk_fill(uint64_t seed)
{
	struct rng rng = { .state = seed };
	size_t at;

	if (!data) {
		data = mmap(NULL, DATA_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (data == MAP_FAILED)
			die("no memory for the data");
	}
	for (at = 0; at < DATA_SIZE; at += sizeof(uint64_t))
		*(uint64_t *)(data + at) = rng_next(&rng);
	if (pwrite(disk, data, DATA_SIZE, 0) != (ssize_t)DATA_SIZE)
		die("cannot fill " DISK);
}

/* Pieces of the window: blocks, beginning anywhere a block may. */
static int draw_pieces(struct rng *rng, const struct window *win, struct iovec *pieces)
{
	const uint32_t blocks = win->nr * (PAGE_SIZE / BLOCK);
	int nr = 1 + (int)rng_below(rng, PIECES), i;

	for (i = 0; i < nr; i++) {
		uint32_t first = rng_below(rng, blocks), len;

		if (rng_chance(rng, 50))
			first &= ~7U;
		len = rng_chance(rng, 40) ? 16 * 8 : 1 + rng_below(rng, 4096);
		pieces[i].iov_base = win->base + (size_t)first * BLOCK;
		pieces[i].iov_len = (size_t)min_u32(len, blocks - first) * BLOCK;
	}
	return nr;
}

/* The data that pieces have after a read, the last that was read into each place. */
static bool pieces_hold(const struct iovec *pieces, int nr, ssize_t got, size_t off,
			size_t *bad)
{
	size_t at[PIECES], i, j;
	int n;

	for (n = 0; n < nr; n++) {
		at[n] = off;
		off += pieces[n].iov_len;
	}
	for (n = 0; n < nr && got > 0; n++) {
		const unsigned char *mem = pieces[n].iov_base;
		size_t len = (size_t)got < pieces[n].iov_len ? (size_t)got : pieces[n].iov_len;

		got -= (ssize_t)len;
		for (i = 0; i < len; i += BLOCK) {
			bool later = false;

			for (j = (size_t)n + 1; j < (size_t)nr; j++)
				later |= mem + i >= (unsigned char *)pieces[j].iov_base &&
					 mem + i < (unsigned char *)pieces[j].iov_base +
						   pieces[j].iov_len;
			if (!later && memcmp(mem + i, data + at[n] + i, BLOCK)) {
				*bad = at[n] + i;
				return false;
			}
		}
	}
	return true;
}

static ssize_t call(bool write, const struct iovec *pieces, int nr, size_t off)
{
	ssize_t ret = write ? pwritev(disk, pieces, nr, (off_t)off) :
			      preadv(disk, pieces, nr, (off_t)off);

	return ret < 0 ? -errno : ret;
}

/* Neither memory nor disk has what the call is to bring. */
static void wipe(bool write, const struct iovec *pieces, int nr, size_t off)
{
	static unsigned char *blank;
	size_t len = 0;
	int n;

	for (n = 0; n < nr; n++) {
		if (!write)
			memset(pieces[n].iov_base, 0xa5, pieces[n].iov_len);
		len += pieces[n].iov_len;
	}
	if (!write)
		return;
	if (!blank) {
		blank = mmap(NULL, DATA_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (blank == MAP_FAILED)
			die("no memory for blanks");
	}
	if (pwrite(disk, blank, len, (off_t)off) != (ssize_t)len)
		die("cannot wipe " DISK);
}

/* Is what was written there, as it is read with the switches off? */
static bool disk_has(const struct iovec *pieces, int nr, ssize_t put, size_t off)
{
	unsigned char *back = mmap(NULL, (size_t)put + PAGE_SIZE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at = 0, len;
	bool same = true;
	int n;

	if (back == MAP_FAILED || pread(disk, back, (size_t)put, (off_t)off) != put)
		die("cannot read back from " DISK);
	for (n = 0; n < nr && at < (size_t)put; n++) {
		len = (size_t)put - at < pieces[n].iov_len ? (size_t)put - at : pieces[n].iov_len;
		same &= !memcmp(back + at, pieces[n].iov_base, len);
		at += len;
	}
	munmap(back, (size_t)put + PAGE_SIZE);
	return same;
}

/* @whole: all of the memory is there, so that its content can be looked at. */
static void one_scene(uint64_t seed, bool whole, struct why *why)
{
	static struct layout lay;
	struct rng rng = { .state = rng_mix(seed) };
	struct iovec pieces[PIECES];
	struct scene scene;
	ssize_t rets[2];
	size_t off, bad = 0;
	int i, nr, on;

	if (whole)
		whole_layout(&rng, &lay);
	else
		random_layout(&rng, &lay);
	scene_make(&scene, &lay, 1);
	for (i = 0; i < CALLS && !why->bad; i++) {
		bool write = rng_chance(&rng, 30);

		nr = draw_pieces(&rng, &scene.win[0], pieces);
		off = (size_t)rng_below(&rng, 4096) * BLOCK;
		for (on = 0; on < 2 && !why->bad; on++) {
			if (whole)
				wipe(write, pieces, nr, off);
			switch_set(on);
			rets[on] = call(write, pieces, nr, off);
			switch_set(false);
			if (whole && rets[on] <= 0)
				wrong(why, "seed %llu, call %d, %s, %s: %zd",
				      (unsigned long long)seed, i, write ? "write" : "read",
				      on ? "on" : "off", rets[on]);
			if (whole && rets[on] > 0 &&
			    !(write ? disk_has(pieces, nr, rets[on], off) :
				      pieces_hold(pieces, nr, rets[on], off, &bad)))
				wrong(why, "seed %llu, call %d, %s, %s: wrong data at %#zx",
				      (unsigned long long)seed, i, write ? "write" : "read",
				      on ? "on" : "off", bad);
		}
		if (!why->bad && rets[0] != rets[1])
			wrong(why, "seed %llu, call %d, %s: %zd off, %zd on",
			      (unsigned long long)seed, i, write ? "write" : "read", rets[0],
			      rets[1]);
		if (write && rets[1] > 0 &&
		    pwrite(disk, data + off, (size_t)rets[1], (off_t)off) != rets[1])
			die("cannot fill " DISK);
	}
	scene_end(&scene);
}

static void case_whole(struct why *why)
{
	uint64_t seed;

	disk_fill(options.seed);
	for (seed = 0; seed < SCENES && !why->bad; seed++)
		one_scene(options.seed + seed, true, why);
}

static void case_holes(struct why *why)
{
	uint64_t seed;

	disk_fill(options.seed);
	for (seed = 0; seed < SCENES && !why->bad; seed++)
		one_scene(options.seed + seed, false, why);
}

const struct named dio_cases[] = {
	{ "direct reads and writes: folios of all sizes", no_disk, case_whole },
	{ "direct reads and writes: memory that cannot be had in places", no_disk, case_holes },
};

const unsigned int nr_dio_cases = ARRAY_SIZE(dio_cases);
