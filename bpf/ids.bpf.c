// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the kernel calls a process that the profiler, in a PID namespace of its own, knows by
 * another number. User space reads the iterator, which visits the processes of that very namespace.
 */
#include "state.h"

#include <bpf/bpf_tracing.h>

volatile struct dbprof_sought sought;

SEC("iter/task")
int find_process(struct bpf_iter__task *ctx)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct task_struct *task = ctx->task;
	__u32 level;

	/* task_active_pid_ns(), kernel/pid.c: the namespace of the last of a thread's numbers. */
	level = self->thread_pid->level;
	if (!task || task->pid != task->tgid || task_number(task, level) != sought.pid)
		return 0;
	sought.kernel_pid = task->tgid;
	sought.level = level;
	return 0;
}
