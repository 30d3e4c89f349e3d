// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The threads of a process, and which of them are DBSP's workers.
 *
 * The kernel cuts "dbsp-worker-1234" to "dbsp-worker-123" (15 bytes). Names of whole indices are
 * unique, so one that several threads bear is cut: "123" may be worker 123 and 1230 .. 1239.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/proc.h"
#include "target/target.h"

#define PREFIX	   "dbsp-worker-"
#define CUT_DIGITS 3 /* what remains of 15 bytes after the prefix */

/* The digits after the prefix as a number, -1 when the name is another one. */
static int parse_worker(const char *comm)
{
	const char *digits = comm + strlen(PREFIX);
	size_t len;

	if (strncmp(comm, PREFIX, strlen(PREFIX)) != 0)
		return -1;
	len = strspn(digits, "0123456789");
	if (len == 0 || digits[len] || (digits[0] == '0' && len > 1))
		return -1;
	return atoi(digits);
}

static bool is_cut(const struct target_thread *thread)
{
	return thread->worker >= 0 && strlen(thread->comm) == strlen(PREFIX) + CUT_DIGITS;
}

static size_t count_alike(const struct target_thread *threads, size_t count,
			  const struct target_thread *like)
{
	size_t alike = 0, i;

	for (i = 0; i < count; i++)
		alike += strcmp(threads[i].comm, like->comm) == 0;
	return alike;
}

/*
 * Workers are started in the order of their indices (RuntimeHandle, src/circuit/runtime.rs), so
 * tids ascend with them. The local ones are consecutive: when one of them has less than three
 * digits they begin below 1000, and the first that bears a cut name bears it whole.
 */
static void resolve_cut(struct target_thread *threads, size_t count, size_t first, bool begins_low)
{
	int prefix = threads[first].worker, next = begins_low ? -1 : 0;
	size_t i;

	for (i = first; i < count; i++) {
		if (strcmp(threads[i].comm, threads[first].comm) != 0)
			continue;
		threads[i].worker = next < 0 ? prefix : next < 10 ? prefix * 10 + next : -1;
		next++;
	}
}

static void resolve_workers(struct target_thread *threads, size_t count)
{
	bool begins_low = false;
	size_t i;

	for (i = 0; i < count; i++)
		begins_low |= threads[i].worker >= 0 && !is_cut(&threads[i]);
	for (i = 0; i < count; i++) {
		/* Beyond the first of a name the number is its own already. */
		if (is_cut(&threads[i]) && threads[i].worker == parse_worker(threads[i].comm) &&
		    count_alike(threads, i, &threads[i]) == 0 &&
		    count_alike(threads, count, &threads[i]) > 1)
			resolve_cut(threads, count, i, begins_low);
	}
}

static int read_thread(const struct target *target, pid_t tid, struct target_thread *thread)
{
	struct proc_stat stat;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "task/%d/stat", tid);
	err = proc__stat(target->proc_dir, name, &stat);
	if (err)
		return err;
	if (stat.state == 'Z' || stat.state == 'X')
		return -ESRCH;
	thread->tid = tid;
	thread->start_ticks = stat.start_ticks;
	memcpy(thread->comm, stat.comm, sizeof(thread->comm));
	thread->worker = parse_worker(thread->comm);
	return 0;
}

int target__threads(const struct target *target, struct target_thread **ret_threads,
		    size_t *ret_count)
{
	struct target_thread *threads;
	size_t tid_count, count = 0, i;
	pid_t *tids;
	int err;

	err = proc__threads(target->proc_dir, &tids, &tid_count);
	if (err)
		return err;
	threads = calloc(tid_count, sizeof(*threads));
	if (!threads)
		err = -ENOMEM;
	for (i = 0; i < tid_count && !err; i++) {
		err = read_thread(target, tids[i], &threads[count]);
		if (!err)
			count++;
		else if (err == -ESRCH)
			err = 0; /* it ended meanwhile */
	}
	if (!err && count == 0)
		err = -ESRCH;
	free(tids);
	if (err) {
		free(threads);
		return err;
	}
	resolve_workers(threads, count);
	*ret_threads = threads;
	*ret_count = count;
	return 0;
}
