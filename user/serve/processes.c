// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of DBSP processes. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/serve_internal.h"

struct served *serve__process(const struct serve *serve, pid_t pid)
{
	for (size_t i = 0; i < serve->process_count; i++)
		if (serve->processes[i]->pid == pid)
			return serve->processes[i];
	return NULL;
}

bool served__has_ended(const struct served *process)
{
	struct pollfd ended = { .fd = process->pidfd, .events = POLLIN };

	return poll(&ended, 1, 0) > 0;
}

bool served__changes_exe(struct served *process)
{
	struct stat exe;
	char path[32];
	bool changes;

	snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
	if (stat(path, &exe))
		return false;
	changes = exe.st_dev != process->exe_device || exe.st_ino != process->exe_inode;
	process->exe_device = exe.st_dev;
	process->exe_inode = exe.st_ino;
	return changes;
}

static void free_process(struct served *process)
{
	if (process->pidfd >= 0)
		close(process->pidfd);
	series__close(process->series);
	metrics_sums__free(process->sums);
	observer__close(process->observer);
	free(process);
}

/* The one that ended first makes room. */
static bool drop_oldest_ended(struct serve *serve)
{
	size_t oldest = serve->process_count;

	for (size_t i = 0; i < serve->process_count; i++)
		if (serve->processes[i]->state == SERVED_ENDED &&
		    (oldest == serve->process_count ||
		     serve->processes[i]->ended_at < serve->processes[oldest]->ended_at))
			oldest = i;
	if (oldest == serve->process_count)
		return false;
	serve__remove_process(serve, oldest);
	return true;
}

struct served *serve__add_process(struct serve *serve, pid_t pid)
{
	struct served *process;
	struct epoll_event event = { .events = EPOLLIN };

	if (serve->process_count == SERVE_PROCESSES_MAX && !drop_oldest_ended(serve))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	event.data.ptr = process;
	if (process->pidfd < 0 || epoll_ctl(serve->epoll, EPOLL_CTL_ADD, process->pidfd, &event)) {
		/* It has gone already, as processes do. */
		serve->errors.discovery += process->pidfd >= 0 || errno != ESRCH;
		free_process(process);
		return NULL;
	}
	served__changes_exe(process);
	serve->processes[serve->process_count++] = process;
	return process;
}

void serve__remove_process(struct serve *serve, size_t index)
{
	free_process(serve->processes[index]);
	serve->processes[index] = serve->processes[--serve->process_count];
}
