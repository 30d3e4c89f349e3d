// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "target/proc.h"
#include "target/stacks.h"
#include "target/target.h"

#define SYSCALL_TRIES 50
#define SYSCALL_PAUSE 100000 /* ns: some 5 ms in all */
#define SAMPLE_MS     50
#define REMEMBERED    1024

struct target_stacks {
	struct {
		pid_t tid;
		uint64_t sp; /* some address in the thread's stack */
	} known[REMEMBERED];
	size_t count;
};

int stacks__new(struct target_stacks **ret_stacks)
{
	struct target_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	*ret_stacks = stacks;
	return 0;
}

void stacks__free(struct target_stacks *stacks)
{
	free(stacks);
}

static void remember(struct target_stacks *stacks, pid_t tid, uint64_t sp)
{
	size_t i;

	for (i = 0; i < stacks->count && stacks->known[i].tid != tid; i++)
		;
	if (i == REMEMBERED)
		return;
	if (i == stacks->count)
		stacks->count++;
	stacks->known[i].tid = tid;
	stacks->known[i].sp = sp;
}

static uint64_t recall(const struct target_stacks *stacks, pid_t tid)
{
	size_t i;

	for (i = 0; i < stacks->count; i++) {
		if (stacks->known[i].tid == tid)
			return stacks->known[i].sp;
	}
	return 0;
}

/*
 * The file says "running", or "NUMBER ARGS.. SP PC" in a system call, or "-1 SP PC" when the
 * thread waits otherwise, as in a page fault (proc_pid_syscall(), fs/proc/base.c).
 */
static int read_syscall(const struct target *target, pid_t tid, uint64_t *ret_sp)
{
	char name[64], *text, *field;
	int err;

	snprintf(name, sizeof(name), "task/%d/syscall", tid);
	err = proc__read(target->proc_dir, name, 4096, &text, NULL);
	if (err)
		return err == -EACCES ? -EPERM : err;
	err = -EBUSY;
	field = strrchr(text, ' ');
	if (field) {
		*field = '\0';
		field = strrchr(text, ' ');
	}
	if (field && sscanf(field, " 0x%" SCNx64, ret_sp) == 1 && *ret_sp)
		err = 0;
	free(text);
	return err;
}

/*
 * A thread that works and waits in turn is soon met waiting, exactly and at no cost to it; one
 * that spins is sampled.
 */
int target__stack_pointer(const struct target *target, pid_t tid, uint64_t *ret_sp)
{
	const struct timespec pause = { .tv_nsec = SYSCALL_PAUSE };
	uint64_t sp;
	int err, try;

	for (try = 0; try < SYSCALL_TRIES; try++) {
		err = read_syscall(target, tid, &sp);
		if (err == 0)
			*ret_sp = sp;
		if (err == 0 || err == -ESRCH)
			return err;
		if (err != -EBUSY)
			break; /* a kernel without the file, or one that forbids it */
		nanosleep(&pause, NULL);
	}
	return stacks__sample_sp(tid, SAMPLE_MS, ret_sp);
}

int target__thread_stack(const struct target *target, pid_t tid, uint64_t *ret_low,
			 uint64_t *ret_high)
{
	const struct mapping *mapping;
	bool whole = false;
	uint64_t sp;
	int err, refreshed;

	err = target__stack_pointer(target, tid, &sp);
	if (err && err != -ESRCH) {
		sp = recall(target->stacks, tid);
		whole = true;
		if (!sp)
			return err;
	} else if (err) {
		return err;
	}
	refreshed = memory__refresh(target->memory);
	if (refreshed)
		return refreshed;
	mapping = memory__mapping(target->memory, sp);
	if (!mapping || !mapping->readable)
		return -EFAULT;
	remember(target->stacks, tid, sp);
	*ret_low = whole ? mapping->start : sp;
	*ret_high = mapping->end;
	return 0;
}
