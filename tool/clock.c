// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "pagerun.h"
#include "sysfile.h"

/* The lab's kernel command line holds this in its insn mode. */
#define INSN_PROMISE "pagerun.clock=insn"

/* Ticks are at multiples of this, or of a part of it, whatever HZ is. */
#define SECOND_NS	1000000000L
#define TICK_NS		10000000L
/* What a tick and waking up take is over after this. */
#define AFTER_TICK_NS	500000L

const char *clock_name(enum clock_kind clock)
{
	return clock == CLOCK_INSN ? "insn" : "wall";
}

const char *clock_page_unit(enum clock_kind clock)
{
	return clock == CLOCK_INSN ? "insn/page" : "ns/page";
}

#ifdef __x86_64__

static uint64_t read_cycles(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* Ticks for a loop of 2 * @rounds instructions and a handful around it. */
static uint64_t time_loop(uint64_t rounds)
{
	uint32_t lo0, hi0, lo1, hi1;

	__asm__ volatile("rdtsc" : "=a"(lo0), "=d"(hi0) : : "memory");
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
	__asm__ volatile("rdtsc" : "=a"(lo1), "=d"(hi1) : : "memory");
	return ((uint64_t)hi1 << 32 | lo1) - ((uint64_t)hi0 << 32 | lo0);
}

/*
 * The shortest of some tries, as interrupts only add. What the loop is framed
 * by takes few instructions; hardware that happens to run near two ticks a
 * round is not that near, and not at both lengths.
 */
static bool loop_counts(uint64_t rounds)
{
	uint64_t ticks, best = UINT64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		ticks = time_loop(rounds);
		if (ticks < best)
			best = ticks;
	}
	return best >= 2 * rounds && best <= 2 * rounds + 16;
}

static bool counts_insns(void)
{
	return loop_counts(1000000) && loop_counts(250000);
}

#else

/* No clock here counts instructions, so nobody comes here. */
static uint64_t read_cycles(void)
{
	return 0;
}

static bool counts_insns(void)
{
	return false;
}

#endif

static bool insn_promised(void)
{
	char line[8192], *word, *rest;

	if (sysfile_read("/proc/cmdline", line, sizeof(line)))
		return false;
	for (word = strtok_r(line, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(word, "--"))
			break;
		if (!strcmp(word, INSN_PROMISE))
			return true;
	}
	return false;
}

int clock_choose(enum clock_kind wish, bool threads, enum clock_kind *clock)
{
	bool proven = counts_insns();

	if (!proven && insn_promised()) {
		warnx("the kernel command line says " INSN_PROMISE
		      ", but the clock does not count instructions: boot it in QEMU with -accel tcg -icount shift=0,sleep=off,align=off");
		return PR_FAIL;
	}
	if (wish == CLOCK_INSN && !proven) {
		warnx("the clock does not count instructions here: boot in QEMU with -accel tcg -icount shift=0,sleep=off,align=off, or use --clock wall");
		return PR_SKIP;
	}
	if (proven && (threads || wish == CLOCK_WALL)) {
		warnx("the clock counts instructions here, on one CPU, and no time: %s a machine without -icount",
		      threads ? "--threads need" : "--clock wall needs");
		return PR_SKIP;
	}
	*clock = proven ? CLOCK_INSN : CLOCK_WALL;
	return PR_OK;
}

static uint64_t read_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

uint64_t clock_read(enum clock_kind clock)
{
	return clock == CLOCK_INSN ? read_cycles() : read_ns();
}

void clock_pass_tick(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += TICK_NS - at.tv_nsec % TICK_NS + AFTER_TICK_NS;
	if (at.tv_nsec >= SECOND_NS) {
		at.tv_nsec -= SECOND_NS;
		at.tv_sec++;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}
