// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tells user space of processes in which a thread gets the name of a DBSP worker. */
#include "state.h"

#include <bpf/bpf_tracing.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16384); /* at least a page, a power of two */
} started SEC(".maps");

__u64 started_lost; /* no room: user space has to look for itself */

static __always_inline bool is_worker_name(const char *name)
{
	static const char worker[] = "dbsp-worker-";
	char comm[16] = {};

	bpf_probe_read_kernel_str(comm, sizeof(comm), name);
	for (int i = 0; i < (int)sizeof(worker) - 1; i++)
		if (comm[i] != worker[i])
			return false;
	return true;
}

/* Before the thread bears the name (__set_task_comm(), fs/exec.c). */
SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *task, const char *comm)
{
	__u32 tgid = pid_level ? task_number(task->group_leader, pid_level) : (__u32)task->tgid;

	if (tgid && is_worker_name(comm) && bpf_ringbuf_output(&started, &tgid, sizeof(tgid), 0))
		__sync_fetch_and_add(&started_lost, 1);
	return 0;
}
