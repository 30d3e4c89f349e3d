// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which processes are DBSP's: those that have a thread named as its workers are. The kernel tells
 * when a thread gets such a name; a look at /proc finds those that had it before.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/serve_internal.h"
#include "target/proc.h"
#include "util/clock.h"

#define WORKER "dbsp-worker-"

/* Threads are named one after the other: what is read a little later is read once. */
#define SETTLE_NS 20000000ULL
/* Where the kernel tells of new processes, a look at all is for what nobody thought of. */
#define SCAN_NS	     60000000000ULL
#define SCAN_ONLY_NS 5000000000ULL
#define BUSY_NS	     3000000000ULL

static struct served *without_ended(struct serve *serve, pid_t pid)
{
	for (size_t i = 0; i < serve->process_count; i++) {
		struct served *process = serve->processes[i];

		if (process->pid != pid)
			continue;
		if (process->state != SERVED_ENDED)
			return process;
		/* Two with the same id would have the same metrics. */
		serve__remove_process(serve, i);
		return NULL;
	}
	return NULL;
}

void serve__found(struct serve *serve, pid_t pid)
{
	struct served *process = without_ended(serve, pid);
	uint64_t now = clock__now();

	if (!process) {
		process = serve__add_process(serve, pid);
		if (process)
			process->try_at = now + SETTLE_NS;
		return;
	}
	switch (process->state) {
	case SERVED_PROFILED:
		process->busy_until = now + BUSY_NS;
		process->poll_at = now + SETTLE_NS;
		break;
	case SERVED_REFUSED:
		/* The same program again is no news. */
		if (!served__changes_exe(process))
			break;
		process->tries = 0;
		process->try_at = now + SETTLE_NS;
		break;
	default:
		break;
	}
}

static bool is_worker(int proc, pid_t tid)
{
	char name[64], *comm = NULL;
	bool is;

	snprintf(name, sizeof(name), "task/%d/comm", tid);
	if (proc__read(proc, name, 64, &comm, NULL))
		return false;
	is = strncmp(comm, WORKER, strlen(WORKER)) == 0;
	free(comm);
	return is;
}

static bool has_worker(pid_t pid)
{
	int proc = proc__open(pid);
	pid_t *tids = NULL;
	size_t count = 0;
	bool has = false;

	if (proc < 0)
		return false;
	if (!proc__threads(proc, &tids, &count))
		for (size_t i = 0; i < count && !has; i++)
			has = is_worker(proc, tids[i]);
	free(tids);
	close(proc);
	return has;
}

void serve__scan(struct serve *serve)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	serve->scan_at =
		clock__now() + (session__started_fd(serve->session) >= 0 ? SCAN_NS : SCAN_ONLY_NS);
	if (!proc) {
		serve->errors.discovery++;
		return;
	}
	while ((entry = readdir(proc))) {
		pid_t pid;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (has_worker(pid))
			serve__found(serve, pid);
	}
	closedir(proc);
}

static void found(void *context, pid_t pid)
{
	serve__found(context, pid);
}

void serve__read_started(struct serve *serve)
{
	if (session__read_started(serve->session, found, serve))
		serve->scan_at = 0;
}
