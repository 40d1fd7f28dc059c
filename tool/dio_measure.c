// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dio_measure.h"
#include "pagerun.h"
#include "uring.h"

static uint64_t start_clock(const struct dio_job *job)
{
	if (job->clock == CLOCK_INSN)
		clock_pass_tick();
	return clock_read(job->clock);
}

static int read_failed(const struct dio_job *job, long result)
{
	if (result < 0)
		warnx("a direct read of %zu KiB failed: %s", job->request >> 10,
		      strerror((int)-result));
	else
		warnx("a direct read of %zu KiB ended after %ld bytes",
		      job->request >> 10, result);
	return PR_FAIL;
}

int dio_measure_psync(const struct dio_job *job, uint64_t *spent, struct why *why)
{
	uint64_t start = start_clock(job);
	ssize_t got;
	size_t off;

	(void)why;
	for (off = 0; off < job->memory->size; off += job->request) {
		got = pread(job->fd, job->memory->addr + off, job->request, (off_t)off);
		if (got != (ssize_t)job->request)
			return read_failed(job, got < 0 ? -errno : got);
	}
	*spent = clock_read(job->clock) - start;
	return PR_OK;
}

/* Fill the queue with reads from @off on. Return: where the next one begins. */
static size_t queue_reads(const struct dio_job *job, struct io_uring *ring, size_t off,
			  unsigned int *in_flight)
{
	struct io_uring_sqe *sqe;

	while (off < job->memory->size && *in_flight < DIO_DEPTH) {
		sqe = io_uring_get_sqe(ring);
		if (!sqe)
			break;
		io_uring_prep_read(sqe, job->fd, job->memory->addr + off,
				   (unsigned int)job->request, off);
		off += job->request;
		(*in_flight)++;
	}
	return off;
}

/* Take what is done; the first result that is no whole read is noted. */
static void take_results(const struct dio_job *job, struct io_uring *ring,
			 unsigned int *in_flight, long *bad)
{
	struct io_uring_cqe *cqe;
	unsigned int head, nr = 0;

	io_uring_for_each_cqe(ring, head, cqe) {
		if (cqe->res != (int)job->request && *bad == (long)job->request)
			*bad = cqe->res;
		nr++;
	}
	io_uring_cq_advance(ring, nr);
	*in_flight -= nr;
}

static int read_all(const struct dio_job *job, struct io_uring *ring)
{
	long bad = (long)job->request;
	unsigned int in_flight = 0;
	size_t off = 0;
	int ret;

	do {
		if (bad == (long)job->request)
			off = queue_reads(job, ring, off, &in_flight);
		ret = io_uring_submit_and_wait(ring, 1);
		if (ret < 0 && ret != -EINTR)
			return read_failed(job, ret);
		take_results(job, ring, &in_flight, &bad);
	} while (in_flight || (off < job->memory->size && bad == (long)job->request));
	return bad == (long)job->request ? PR_OK : read_failed(job, bad);
}

int dio_measure_uring(const struct dio_job *job, uint64_t *spent, struct why *why)
{
	struct io_uring ring;
	uint64_t start;
	int ret;

	ret = uring_open(&ring, DIO_DEPTH, why);
	if (ret)
		return ret;
	start = start_clock(job);
	ret = read_all(job, &ring);
	*spent = clock_read(job->clock) - start;
	io_uring_queue_exit(&ring);
	return ret;
}
