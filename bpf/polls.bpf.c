// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Steps where their first and last polls cannot be told from the code: each poll, entered and left.
 */
#include "arch.h"
#include "hit.h"
#include "steps.h"

#include <bpf/bpf_tracing.h>

/* Polls nest with circuits, so the futures being polled are a stack. */
#define POLLS_MAX 8

struct polls {
	__u32 depth;
	__u64 future[POLLS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct polls);
} polling SEC(".maps");

static __always_inline long future_state(__u64 future, __u64 cookie, __u8 *ret_state)
{
	return bpf_probe_read_user(ret_state, sizeof(*ret_state),
				   (void *)(future + DBPROF_COOKIE_OFFSET(cookie)));
}

/* The future being polled is kept, and a step begins if it was never polled before. */
static __always_inline void enter_poll(const struct hit *hit, struct pt_regs *regs, __u64 cookie)
{
	struct polls *polls;
	__u64 future = 0;
	__u8 state = 0;

	if (probed_future(regs, cookie, &future) || future_state(future, cookie, &state)) {
		count_loss(&losses.reads);
		return;
	}
	polls = bpf_task_storage_get(&polling, hit->task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (polls) {
		__u32 depth = polls->depth++; /* a poll cut by the window's end may leave one */

		if (depth < POLLS_MAX)
			polls->future[depth] = future;
	}
	if (state == DBPROF_STATE_UNRESUMED) {
		__u64 circuit = future_circuit(hit->process, future, DBPROF_COOKIE_CIRCUIT(cookie));

		if (circuit)
			begin_step(hit, circuit);
	}
}

SEC("uprobe")
int BPF_KPROBE(on_poll_enter)
{
	struct hit hit;

	if (!hit_take(&hit))
		return 0;
	hit.thread->worker = 1;
	sync_waits(hit.thread, hit.process);
	enter_poll(&hit, ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

/* The future whose poll returns; 0 for one that was entered before the window began. */
static __always_inline __u64 leave_poll(struct task_struct *task)
{
	struct polls *polls = bpf_task_storage_get(&polling, task, 0, 0);
	__u32 depth;

	if (!polls || !polls->depth)
		return 0;
	depth = --polls->depth;
	return depth < POLLS_MAX ? polls->future[depth] : 0;
}

SEC("uretprobe")
int BPF_KPROBE(on_poll_leave)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u64 future, circuit;
	struct hit hit;
	__u8 state = 0;

	if (!hit_take(&hit))
		return 0;
	future = leave_poll(hit.task);
	if (!future)
		return 0;
	if (future_state(future, cookie, &state)) {
		count_loss(&losses.reads);
		return 0;
	}
	if (state != DBPROF_STATE_RETURNED)
		return 0;
	sync_waits(hit.thread, hit.process);
	circuit = future_circuit(hit.process, future, DBPROF_COOKIE_CIRCUIT(cookie));
	if (circuit)
		end_step(&hit, circuit, false);
	return 0;
}
