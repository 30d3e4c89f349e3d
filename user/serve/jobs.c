// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Profiles on demand: from one edge to another, across the windows between. */
#include <errno.h>
#include <stdlib.h>

#include "serve/serve_internal.h"

struct profile_job {
	struct served *process;
	uint64_t duration_ns;
	profile_done *done;
	void *context;
	struct series *series; /* NULL before its first edge */
	uint64_t ends_at;      /* 0 before it */
	struct cost_reading cost;
};

int serve__begin_profile(struct serve *serve, pid_t pid, uint64_t duration_ns, profile_done *done,
			 void *context, struct profile_job **ret_job)
{
	struct served *process = serve__process(serve, pid);
	struct profile_job *job;

	if (!process || process->state != SERVED_PROFILED || process->ended)
		return -ESRCH;
	if (process->job)
		return -EBUSY;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	*job = (struct profile_job){
		.process = process, .duration_ns = duration_ns, .done = done, .context = context
	};
	process->job = job;
	*ret_job = job;
	return 0;
}

void serve__cancel_profile(struct serve *serve, struct profile_job *job)
{
	(void)serve;
	job->process->job = NULL;
	series__close(job->series);
	free(job);
}

bool profile_job__is_due(const struct profile_job *job, uint64_t now)
{
	return now >= job->ends_at;
}

uint64_t profile_job__due_at(const struct profile_job *job)
{
	return job->ends_at;
}

/* Its window is what comes after this edge. */
static void begin(struct profile_job *job, const struct snapshot *until, uint64_t edge,
		  const struct cost_reading *cost)
{
	struct snapshot *before = NULL;

	job->ends_at = edge + job->duration_ns;
	job->cost = *cost;
	if (series__open(&job->series) || !until)
		return;
	series__next(job->series, until, &before);
	snapshot__free(before);
}

static void end(struct serve *serve, struct profile_job *job, const struct snapshot *until,
		const struct cost_reading *cost)
{
	struct served *process = job->process;
	struct snapshot *window = NULL;
	const char *why = "no worker with a circuit was found in the process; is it built yet?";
	profile_done *done = job->done;
	void *context = job->context;

	if (until && (!job->series || series__next(job->series, until, &window)))
		why = "there was not enough memory for the profile";
	if (window)
		serve__set_cost(serve, process, &job->cost, cost, window);
	serve__cancel_profile(serve, job);
	done(context, window, window ? NULL : why);
	snapshot__free(window);
}

void serve__advance_job(struct serve *serve, struct served *process, const struct snapshot *until,
			uint64_t edge, const struct cost_reading *cost)
{
	struct profile_job *job = process->job;

	if (!job->ends_at && !process->ended)
		begin(job, until, edge, cost);
	else if (process->ended || edge >= job->ends_at)
		end(serve, job, until, cost);
}
