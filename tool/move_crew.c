// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "move_crew.h"
#include "pagerun.h"

/**
 * struct shift - what the threads of a round share
 * @made: held until all of them are made
 * @called_off: some could not be; read under @made
 * @barrier: before the first moves and after the last did. The one after keeps a
 *	thread's end, which unmaps its stack, out of what the others measure
 * @spinning: spinners that run
 * @moving: movers that have not ended
 */
struct shift {
	const struct move_plan *plan;
	const struct move_area *area;
	const struct move_crew *crew;
	pthread_mutex_t made;
	bool called_off;
	pthread_barrier_t barrier;
	atomic_uint spinning, moving;
};

/**
 * struct member - one thread; the movers are the first
 * @spent, @err: of a mover
 */
struct member {
	pthread_t thread;
	struct shift *shift;
	unsigned int nr;
	uint64_t spent;
	int err;
};

static void spin(struct shift *shift)
{
	atomic_fetch_add(&shift->spinning, 1);
	while (atomic_load_explicit(&shift->moving, memory_order_relaxed))
		;
}

static void move(struct member *m)
{
	struct shift *shift = m->shift;

	while (atomic_load(&shift->spinning) < shift->crew->spinners)
		sched_yield();
	m->err = move_part(shift->plan, shift->area, m->nr, CLOCK_WALL, &m->spent);
	atomic_fetch_sub(&shift->moving, 1);
}

static void *member_main(void *data)
{
	struct member *m = data;
	struct shift *shift = m->shift;
	bool called_off;

	pthread_mutex_lock(&shift->made);
	called_off = shift->called_off;
	pthread_mutex_unlock(&shift->made);
	if (called_off)
		return NULL;
	cpus_pin(m->nr);
	pthread_barrier_wait(&shift->barrier);
	if (m->nr < shift->crew->movers)
		move(m);
	else
		spin(shift);
	pthread_barrier_wait(&shift->barrier);
	return NULL;
}

static int run_members(struct shift *shift, struct member *members, unsigned int nr)
{
	unsigned int i, made;
	int err = 0;

	pthread_mutex_lock(&shift->made);
	for (made = 0; made < nr && !err; made += !err) {
		members[made].shift = shift;
		members[made].nr = made;
		err = pthread_create(&members[made].thread, NULL, member_main,
				     &members[made]);
	}
	shift->called_off = err;
	pthread_mutex_unlock(&shift->made);
	for (i = 0; i < made; i++)
		pthread_join(members[i].thread, NULL);
	if (!err)
		return PR_OK;
	warnx("cannot start thread %u of %u (%s): raise the limit of processes (ulimit -u)",
	      made + 1, nr, strerror(err));
	return PR_FAIL;
}

int move_crew_round(const struct move_plan *plan, const struct move_area *area,
		    const struct move_crew *crew, uint64_t *spent)
{
	struct shift shift = {
		.plan = plan, .area = area, .crew = crew,
		.made = PTHREAD_MUTEX_INITIALIZER, .moving = crew->movers,
	};
	unsigned int nr = crew->movers + crew->spinners, i;
	struct member *members = calloc(nr, sizeof(*members));
	int ret;

	if (!members || pthread_barrier_init(&shift.barrier, NULL, nr)) {
		free(members);
		warnx("out of memory for %u threads", nr);
		return PR_FAIL;
	}
	ret = run_members(&shift, members, nr);
	for (i = 0; i < crew->movers && !ret; i++) {
		spent[i] = members[i].spent;
		if (members[i].err)
			ret = move_how_failed(plan->how, members[i].err);
	}
	pthread_barrier_destroy(&shift.barrier);
	free(members);
	return ret;
}
