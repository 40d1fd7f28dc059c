// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>

#include "move_crew.h"
#include "move_measure.h"
#include "pagerun.h"
#include "stats.h"

/*
 * Rounds whose median is a sample by the wall clock; one would be a matter of luck. A
 * crew's round is long where its members interrupt each other.
 */
#define ALONE_ROUNDS	5
#define CREW_ROUNDS	3
#define MAX_ROUNDS	5
#define MAX_MOVERS	16

/**
 * struct task - what a round is to do
 * @crew: NULL: the calling thread moves
 * @spent: filled, of each mover
 */
struct task {
	enum clock_kind clock;
	const struct move_crew *crew;
	uint64_t spent[MAX_MOVERS];
};

static int do_task(const struct move_plan *plan, const struct move_area *area,
		   void *data, struct why *why)
{
	struct task *task = data;
	int err;

	(void)why;
	if (task->crew)
		return move_crew_round(plan, area, task->crew, task->spent);
	err = move_part(plan, area, 0, task->clock, task->spent);
	return err ? move_how_failed(plan->how, err) : PR_OK;
}

static unsigned int rounds_of(const struct task *task)
{
	if (task->clock == CLOCK_INSN)
		return 1;
	return task->crew ? CREW_ROUNDS : ALONE_ROUNDS;
}

/* One sample of each mover, per page. */
static int take_sample(const struct move_plan *plan, struct task *task, int uffd,
		       double *samples, struct why *why)
{
	unsigned int movers = task->crew ? task->crew->movers : 1, i, round;
	double spent[MAX_MOVERS][MAX_ROUNDS];
	unsigned int rounds = rounds_of(task);
	struct stats stats;
	int ret;

	for (round = 0; round < rounds; round++) {
		ret = move_round(plan, movers, uffd, do_task, task, why);
		if (ret)
			return ret;
		for (i = 0; i < movers; i++)
			spent[i][round] = (double)task->spent[i];
	}
	for (i = 0; i < movers; i++) {
		if (!stats_of(spent[i], rounds, &stats)) {
			warnx("out of memory for the samples");
			return PR_FAIL;
		}
		samples[i] = stats.median / MOVE_PAGES;
	}
	return PR_OK;
}

static int measure(const struct bench_options *opt, const struct move_plan *plan,
		   struct task *task, int uffd, double *samples, struct why *why)
{
	unsigned int movers = task->crew ? task->crew->movers : 1, i;
	int ret;

	ret = move_round(plan, movers, uffd, do_task, task, why);
	for (i = 0; i < opt->repeat && !ret; i++)
		ret = take_sample(plan, task, uffd, samples + i * movers, why);
	return ret;
}

int move_measure_alone(const struct bench_options *opt,
		       const struct move_plan *plan, int uffd, double *samples,
		       struct why *why)
{
	struct task task = { .clock = opt->clock };

	return measure(opt, plan, &task, uffd, samples, why);
}

int move_measure_crew(const struct bench_options *opt,
		      const struct move_plan *plan, const struct move_crew *crew,
		      int uffd, double *samples, struct why *why)
{
	struct task task = { .clock = CLOCK_WALL, .crew = crew };

	return measure(opt, plan, &task, uffd, samples, why);
}
