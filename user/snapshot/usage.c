// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Threads as /proc sees them: for those that did not switch once in a window. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snapshot/observer_internal.h"

static int read_small(const struct target *target, pid_t tid, const char *name, char *text,
		      size_t size)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "task/%d/%s", tid, name);
	fd = openat(target->proc_dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, text, size - 1);
	close(fd);
	if (len < 0)
		return -EIO;
	text[len] = '\0';
	return 0;
}

static void read_usage(const struct target *target, struct thread_usage *usage)
{
	char text[512];
	const char *end;

	/* schedstat: time on CPU, time on the run queue, slices (fs/proc/base.c). */
	if (!read_small(target, usage->tid, "schedstat", text, sizeof(text)))
		sscanf(text, "%" SCNu64, &usage->ran_ns);
	/* The system call's number, "running", or -1 (fs/proc/base.c, proc_pid_syscall). */
	usage->call = -1;
	if (!read_small(target, usage->tid, "syscall", text, sizeof(text)))
		sscanf(text, "%ld", &usage->call);
	usage->state = '?';
	if (!read_small(target, usage->tid, "stat", text, sizeof(text))) {
		end = strrchr(text, ')');
		if (end && end[1] == ' ')
			usage->state = end[2];
	}
}

int usage_list__read(const struct target *target, struct usage_list *ret_list)
{
	struct target_thread *threads = NULL;
	struct usage_list list = {};
	int err = target__threads(target, &threads, &list.count);

	if (err)
		return err;
	list.threads = calloc(list.count ? list.count : 1, sizeof(*list.threads));
	if (!list.threads) {
		free(threads);
		return -ENOMEM;
	}
	for (size_t i = 0; i < list.count; i++) {
		list.threads[i].tid = threads[i].tid;
		list.threads[i].start_ticks = threads[i].start_ticks;
		memcpy(list.threads[i].comm, threads[i].comm, sizeof(list.threads[i].comm));
		read_usage(target, &list.threads[i]);
	}
	free(threads);
	usage_list__free(ret_list);
	*ret_list = list;
	return 0;
}

void observer__expect_threads(struct observer *observer)
{
	struct target_thread *threads = NULL;
	size_t count = 0;

	if (target__threads(observer->target, &threads, &count))
		return;
	for (size_t i = 0; i < count; i++)
		session__expect_thread(observer->session, threads[i].tid);
	free(threads);
}

void usage_list__free(struct usage_list *list)
{
	free(list->threads);
	*list = (struct usage_list){};
}

const struct thread_usage *usage_list__find(const struct usage_list *list, pid_t tid)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->threads[middle].tid == tid)
			return &list->threads[middle];
		if (list->threads[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

uint64_t observer__ran_ns(const struct observer *observer)
{
	struct usage_list now = {};
	uint64_t ran = 0;

	if (usage_list__read(observer->target, &now))
		return 0;
	for (size_t i = 0; i < now.count; i++) {
		const struct thread_usage *before =
			usage_list__find(&observer->before, now.threads[i].tid);
		uint64_t from = before && before->start_ticks == now.threads[i].start_ticks
					? before->ran_ns
					: 0;

		ran += now.threads[i].ran_ns > from ? now.threads[i].ran_ns - from : 0;
	}
	usage_list__free(&now);
	return ran;
}
