// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a process that was found to one that is profiled, and back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "serve/serve_internal.h"
#include "util/clock.h"

/* For workers to build their circuits, which tells how they are measured best. */
#define BUILD_NS       2000000000ULL
#define BUILD_PAUSE_NS 20000000ULL
#define BUSY_NS	       3000000000ULL
/* Between tries of a process that cannot be profiled: twice as long each time. */
#define PAUSE_NS     1000000000ULL
#define PAUSE_MAX_NS 600000000000ULL
#define DOUBLINGS    10

static uint64_t pause_of(unsigned int tries)
{
	uint64_t pause = PAUSE_NS << (tries < DOUBLINGS ? tries : DOUBLINGS);

	return pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
}

/* Lists the process with the reason, which is said once. */
static void refuse(struct serve *serve, struct served *process, int err, const struct fail *fail)
{
	const char *reason = fail->text[0] ? fail->text : strerror(-err);
	bool known = process->state == SERVED_REFUSED && strcmp(process->reason, reason) == 0;
	uint64_t pause = pause_of(process->tries++);

	observer__close(process->observer);
	process->observer = NULL;
	process->ready_by = 0;
	/* Whatever failed of a process that has ended: the loop forgets it. */
	if (served__has_ended(process) || err == -ESRCH) {
		process->try_at = clock__now() + pause;
		return;
	}
	snprintf(process->reason, sizeof(process->reason), "%s", reason);
	process->state = SERVED_REFUSED;
	process->try_at = clock__now() + pause;
	serve->errors.attach++;
	if (!known)
		serve__say(serve, "cannot profile %d: %s; it is tried again", process->pid, reason);
}

static int make_sums(struct serve *serve, struct served *process)
{
	int err = series__open(&process->series);

	process->sums = metrics_sums__new(serve->options.shown_operators);
	return !err && !process->sums ? -ENOMEM : err;
}

/* What happened before it came is none of its business. */
static void begin_books(struct serve *serve, struct served *process)
{
	struct timespec ran = { 0 };

	session__losses(serve->session, &process->losses_before, &process->missed_before);
	meter__read(&serve->meter, serve->session, &process->cost_until);
	if (clock_getcpuclockid(process->pid, &process->clock) == 0)
		clock_gettime(process->clock, &ran);
	process->ran_ns = (uint64_t)ran.tv_sec * 1000000000ULL + (uint64_t)ran.tv_nsec;
}

static int attach(struct serve *serve, struct served *process, struct fail *fail)
{
	int err = observer__plan(process->observer, fail);

	if (!err && observer__mode(process->observer) == MODE_SAMPLED)
		err = serve__choose_sampler(serve, true, fail);
	if (!err)
		err = make_sums(serve, process);
	if (!err)
		err = observer__attach(process->observer, serve->session, fail);
	if (!err)
		err = observer__join(process->observer, &process->start);
	return err;
}

static void say_attached(struct serve *serve, const struct served *process)
{
	char text[1024];

	observer__describe(process->observer, text, sizeof(text));
	serve__say(serve, "attached %d: %s", process->pid, text);
}

static void undo(struct served *process)
{
	observer__detach(process->observer);
	series__close(process->series);
	metrics_sums__free(process->sums);
	process->series = NULL;
	process->sums = NULL;
}

void serve__try_process(struct serve *serve, struct served *process, uint64_t now)
{
	struct fail fail = {};
	int err = 0;

	if (!process->observer) {
		served__changes_exe(process);
		err = observer__look(process->pid, &serve->options.observer, &process->observer,
				     &fail);
		if (err) {
			process->observer = NULL;
			refuse(serve, process, err, &fail);
			return;
		}
		process->ready_by = clock__now() + BUILD_NS;
	}
	if (!observer__is_built(process->observer) && now < process->ready_by) {
		process->try_at = now + BUILD_PAUSE_NS;
		return;
	}
	err = attach(serve, process, &fail);
	if (err) {
		undo(process);
		refuse(serve, process, err, &fail);
		return;
	}
	begin_books(serve, process);
	process->state = SERVED_PROFILED;
	process->reason[0] = '\0';
	process->tries = 0;
	process->parks_dropped = false;
	process->poll_at = clock__now();
	process->busy_until = process->poll_at + BUSY_NS;
	serve->attached++;
	say_attached(serve, process);
}

void serve__detach_process(struct serve *serve, struct served *process)
{
	bool execs = process->execs;
	pid_t pid = process->pid;

	observer__detach(process->observer);
	series__close(process->series);
	observer__close(process->observer);
	if (process->pidfd >= 0)
		close(process->pidfd);
	process->series = NULL;
	process->observer = NULL;
	process->pidfd = -1;
	process->state = SERVED_ENDED;
	process->ended_at = clock__now();
	serve->detached++;
	serve__say(serve, "detached %d: %s", pid,
		   execs ? "it runs another program now" : "it has ended");
}
