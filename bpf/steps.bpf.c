// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Steps, by uprobes on the paths that only the first and the last poll of a step take. */
#include "arch.h"
#include "hit.h"
#include "steps.h"
#include "traps.h"

#include <bpf/bpf_tracing.h>

/* Which circuit a probe speaks of; 0 when it cannot be read. */
static __always_inline __u64 probed_circuit(struct pt_regs *regs, __u64 cookie,
					    const struct dbprof_process *process)
{
	__u64 found = 0;

	if (probes_event(cookie)) {
		if (!probed_event(regs, cookie, &found))
			return found;
	} else if (!probed_future(regs, cookie, &found)) {
		return future_circuit(process, found, DBPROF_COOKIE_CIRCUIT(cookie));
	}
	count_loss(&losses.reads);
	return 0;
}

static __always_inline void probed_step(struct pt_regs *regs, bool begins)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	struct hit hit;
	__u64 circuit;

	if (!hit_take(&hit))
		return;
	hit.thread->worker = 1;
	circuit = probed_circuit(regs, cookie, hit.process);
	if (!circuit)
		return;
	sync_waits(hit.thread, hit.process);
	if (begins)
		begin_step(&hit, circuit);
	else
		end_step(&hit, circuit, probes_event(cookie));
	if (!probes_event(cookie))
		return;
	hit.thread->trap_circuit = circuit;
	note_trap(hit.thread, regs, begins ? DBPROF_TRAP_STEP_BEGIN : DBPROF_TRAP_STEP_END);
}

/* On the path that only the first poll of a step takes. */
SEC("uprobe")
int BPF_KPROBE(on_step_begin)
{
	probed_step(ctx, true);
	return 0;
}

/* On the path that only a poll takes which returns Ready. */
SEC("uprobe")
int BPF_KPROBE(on_step_end)
{
	probed_step(ctx, false);
	return 0;
}

/*
 * On the same path, after the event by which the step has ended: what the engine's own profiler
 * noted down in between is not idle. Time off the CPU in this trap is.
 */
SEC("uprobe")
int BPF_KPROBE(on_step_left)
{
	struct dbprof_circuit *step;
	struct hit hit;

	if (!hit_take(&hit) || !hit.thread->ended_step)
		return 0;
	step = circuit_get(hit.thread, hit.thread->ended_step, false);
	hit.now -= trap.enter_ns + lost_in_trap(hit.thread, ctx);
	hit.now = dbprof_clock(hit.process, hit.now);
	if (step && hit.now > step->last_end) {
		step->leaving_ns += hit.now - step->last_end;
		step->last_end = hit.now;
	}
	hit.thread->ended_step = 0;
	return 0;
}

/* What a trap costs around a program's own clock reads: user space reads the clock around it. */
__u64 calibration[2];

SEC("uprobe")
int BPF_KPROBE(on_calibrate)
{
	calibration[0] = bpf_ktime_get_ns();
	calibration[1] = bpf_ktime_get_ns();
	return 0;
}
