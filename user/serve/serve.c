// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The loop: waits for what comes first, and does it. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "serve/capabilities.h"
#include "serve/serve_internal.h"
#include "session/tick.h"
#include "util/clock.h"

#define EVENTS 64
/* What is larger goes back to the system when it is freed, whatever was freed before. */
#define KEEP_BYTES 131072

void serve__say(struct serve *serve, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	serve->options.say(serve->options.context, line);
}

static int watch(struct serve *serve, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return epoll_ctl(serve->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Signals are read, so that no moment is wrong for one. SIGHUP is read, too, and nothing else. */
static int catch_signals(struct serve *serve)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	serve->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (serve->signals < 0)
		return -errno;
	return watch(serve, serve->signals, &serve->signals);
}

static void read_signals(struct serve *serve)
{
	struct signalfd_siginfo info;

	while (read(serve->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		serve->stop |= info.ssi_signo != SIGHUP;
}

static int open_session(struct serve *serve, struct fail *fail)
{
	const struct session_options options = {
		.max_threads = serve->options.max_threads,
		.max_circuits = serve->options.max_circuits,
		.max_operators = serve->options.max_operators,
		.perf_uprobes = serve->options.perf_uprobes,
		.discover = true,
	};
	int err = session__check(fail);

	if (!err)
		err = session__open(&options, &serve->session, fail);
	if (!err)
		err = session__load(serve->session, fail);
	if (!err)
		err = session__begin(serve->session, &serve->start);
	if (!err && session__started_fd(serve->session) >= 0)
		err = watch(serve, session__started_fd(serve->session), serve->session);
	return err;
}

int serve__open(const struct serve_options *options, struct serve **ret_serve, struct fail *fail)
{
	struct serve *serve = calloc(1, sizeof(*serve));
	int err;

	if (!serve)
		return -ENOMEM;
	mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
	serve->options = *options;
	serve->options.observer.joins = true;
	serve->signals = -1;
	serve->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = serve->epoll < 0 ? -errno : catch_signals(serve);
	/* First what may be wrong with the options, which is quick to find out. */
	if (!err)
		err = serve__listen(serve, fail);
	if (!err)
		err = open_session(serve, fail);
	if (!err) {
		serve->tick_ns = tick__cost_ns();
		meter__begin(&serve->meter, serve->session, 0, serve->tick_ns);
		err = capabilities__drop(!session__is_multi(serve->session), fail);
	}
	/* With what is left then: whoever it belongs to, it has to be ours to write to. */
	if (!err && options->store)
		err = store__open(options->store, options->keep, &serve->store, fail);
	if (err) {
		serve__close(serve);
		return err;
	}
	serve->cost_until = serve->meter.begin;
	serve->edge_at = serve->start + serve->options.interval_ns;
	*ret_serve = serve;
	return 0;
}

static void handle(struct serve *serve, void *what)
{
	if (what == &serve->signals)
		read_signals(serve);
	else if (what == &serve->http)
		serve->asked = true;
	else if (what == serve->session)
		serve__read_started(serve);
	else {
		struct served *process = what;

		process->ended = true;
		process->execs = false;
	}
}

/* Waits until @when for something to come, and takes it. */
static int wait_until(struct serve *serve, uint64_t when)
{
	struct epoll_event events[EVENTS];
	uint64_t now = clock__now();
	uint64_t ms = when > now ? (when - now) / 1000000 + 1 : 0;
	int count = epoll_wait(serve->epoll, events, EVENTS, ms < INT32_MAX ? (int)ms : INT32_MAX);

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	/* Processes first: one that starts may take the place of one that has gone. */
	for (int i = 0; i < count; i++)
		if (events[i].data.ptr != serve->session)
			handle(serve, events[i].data.ptr);
	for (int i = 0; i < count; i++)
		if (events[i].data.ptr == serve->session)
			handle(serve, events[i].data.ptr);
	return 0;
}

/* After all that has happened: an answer tells of it, and a handler finds the list as it is. */
static int answer(struct serve *serve, struct fail *fail)
{
	if (!serve->asked)
		return 0;
	serve->asked = false;
	return http_server__run(serve->http, fail);
}

static bool job_is_due(const struct serve *serve, uint64_t now)
{
	for (size_t i = 0; i < serve->process_count; i++)
		if (serve->processes[i]->job && profile_job__is_due(serve->processes[i]->job, now))
			return true;
	return false;
}

/* Processes that run another program, which may be DBSP's, too. */
static void look_again(struct serve *serve)
{
	for (size_t i = 0; i < serve->process_count; i++) {
		struct served *process = serve->processes[i];

		if (process->state != SERVED_ENDED || !process->execs)
			continue;
		process->execs = false;
		serve->scan_at = 0;
	}
}

int serve__run(struct serve *serve, struct fail *fail)
{
	serve__scan(serve);
	serve__say(serve, "listening on %s", http_server__address(serve->http));
	while (!serve->stop) {
		uint64_t now = clock__now(), next = serve__tend(serve, now);
		int err;

		now = clock__now();
		if (now >= serve->edge_at || serve__has_ended(serve) || job_is_due(serve, now)) {
			serve__mark_edge(serve, now);
			look_again(serve);
			next = now;
		}
		if (now >= serve->scan_at)
			serve__scan(serve);
		if (session__processes(serve->session))
			serve__keep_budget(serve, now);
		next = next < serve->edge_at ? next : serve->edge_at;
		next = next < serve->scan_at ? next : serve->scan_at;
		if (session__processes(serve->session))
			next = next < serve->budget_at ? next : serve->budget_at;
		err = wait_until(serve, next);
		if (err)
			return fail__set(fail, err, "waiting failed: %s", strerror(-err));
		err = answer(serve, fail);
		if (err)
			return fail__set(fail, err, "the server has failed: %s", strerror(-err));
	}
	return 0;
}

void serve__close(struct serve *serve)
{
	if (!serve)
		return;
	/* First those who wait for a profile of a process that is forgotten then. */
	http_server__close(serve->http);
	while (serve->process_count)
		serve__remove_process(serve, serve->process_count - 1);
	store__close(serve->store);
	session__free(serve->session);
	if (serve->signals >= 0)
		close(serve->signals);
	if (serve->epoll >= 0)
		close(serve->epoll);
	free(serve);
}
