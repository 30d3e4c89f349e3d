/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract between the BPF programs and user space: one file, included by both.
 *
 * Times are nanoseconds of bpf_ktime_get_ns(), which is CLOCK_MONOTONIC: the clock of Rust's
 * Instant, so that the engine's own times and ours compare.
 */
#ifndef DBPROF_BPF_DBPROF_H
#define DBPROF_BPF_DBPROF_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DBPROF_REASONS 10 /* ParkReason::COUNT, src/profile/cpu.rs of the dbsp crate */

/* ParkReason's discriminants. */
enum dbprof_reason {
	DBPROF_UNATTRIBUTED = 0,
	DBPROF_MERGE_BACKPRESSURE = 1,
	DBPROF_PEERS = 2,
	DBPROF_OPERATOR_PENDING = 3,
	DBPROF_SCHEDULER = 4,
	DBPROF_STORAGE_READ = 5,
	DBPROF_STORAGE_WRITE = 6,
	DBPROF_STORAGE_SYNC = 7,
	DBPROF_STORAGE_METADATA = 8,
	DBPROF_NETWORK = 9,
};

/* Where a probe finds the step future: a register, or a word on the stack. Part of a cookie. */
enum dbprof_place {
	DBPROF_IN_RBX = 0,
	DBPROF_IN_RBP = 1,
	DBPROF_IN_R12 = 2,
	DBPROF_IN_R13 = 3,
	DBPROF_IN_R14 = 4,
	DBPROF_IN_R15 = 5,
	DBPROF_IN_RSI = 6,
	DBPROF_IN_RDI = 7,
	DBPROF_ON_STACK = 8, /* at the stack pointer plus the cookie's offset */
	/*
	 * No future, but the event that the engine logs: the address of the circuit's global node
	 * id lies at the stack pointer or %rbp plus the cookie's offset.
	 */
	DBPROF_EVENT_RSP = 16,
	DBPROF_EVENT_RBP = 17,
};

/*
 * Cookies of step probes: place in bits 0-7, offset of the captured `circuit` in the step future
 * in bits 8-31, and in bits 32-63 the stack offset (on the stack, events), signed, or the offset of
 * the future's state.
 */
#define DBPROF_COOKIE(place, circuit, offset) \
	((__u64)(place) | (__u64)(circuit) << 8 | (__u64)(offset) << 32)
#define DBPROF_COOKIE_PLACE(cookie)   ((__u8)(cookie))
#define DBPROF_COOKIE_CIRCUIT(cookie) ((__u32)(cookie) >> 8)
#define DBPROF_COOKIE_OFFSET(cookie)  ((__u32)((cookie) >> 32))

/*
 * Cookie of the exact probe: place of the Timed in bits 0-7, this flag in bits 8-31, and in bits
 * 32-63 how far above the stack pointer the slot lies. Of the task entry probe: the frame's index.
 */
#define DBPROF_EXACT_PENDING_IF_ZERO 1

/* State of an async function's future (rustc numbers coroutine states so). */
#define DBPROF_STATE_UNRESUMED 0
#define DBPROF_STATE_RETURNED  1

/*
 * How an operator's evaluation shows on a worker's stack: the word that holds the return address of
 * its task's call of Timed::poll (the slot), and words near it. Addresses are absolute.
 */
struct dbprof_frame {
	__u64 return_address;
	__u64 slot;  /* bytes below the thread pointer; 0: not learned */
	__u32 inner; /* so far below the slot lies the return address of what Timed::poll calls */
	__s32 state; /* so far above the slot lies the address of the task's state */
	__u64 counted[3]; /* return addresses inside the interval that the engine measures */
	__u64 entry;	  /* the slot lies so far below the stack pointer at the task's entry */
};
_Static_assert(sizeof(struct dbprof_frame) == 56, "struct dbprof_frame");

#define DBPROF_FRAMES 8

/* The tasks of a step run not far below the thread's outermost frame: 10 KiB in 0.354.0. */
#define DBPROF_DEPTH_MAX (1ull << 20)

/*
 * The slot's distance when a task is entered with its stack pointer @depth bytes below the thread
 * pointer and the code puts the slot @entry below that. 0 when @depth cannot be right: by the ABI
 * the stack pointer is 8 bytes off a multiple of 16 at a function's entry.
 */
static inline __u64 dbprof_slot(__u64 depth, __u64 entry)
{
	if (depth % 16 != 8 || depth > DBPROF_DEPTH_MAX || entry > DBPROF_DEPTH_MAX)
		return 0;
	return depth + entry;
}

/* How wait reasons are had; user space changes it when the park probes have to go. */
enum dbprof_waits {
	DBPROF_WAITS_BY_PARKS, /* by the park probes */
	/*
	 * By the totals that the engine keeps, at the begin and end of steps; where they are not
	 * known, by what the thread declares at context switches. Parks seen to begin still end.
	 */
	DBPROF_WAITS_BY_TOTALS,
	DBPROF_WAITS_NO_PROBES, /* the same, and no probe will tell the end of a park */
};

/* Key of what the task entry probe has measured: bytes between thread and stack pointer. */
struct dbprof_entry_key {
	__u32 process; /* its index */
	__u32 frame;
};

#define DBPROF_PROCESSES 256

#define DBPROF_NEVER ((__u64)-1)

/*
 * Words that lie together are read at once: each read of user memory costs as much as the rest of a
 * small program. Of a task: its node is two words after its circuit. Of a Timed: seconds and
 * nanoseconds of the real time, then of the CPU time, are four words in a row.
 */
#define DBPROF_TASK_PACKED  1
#define DBPROF_TIMED_PACKED 2

/* Clock ticks a second of start times in /proc: USER_HZ. */
#define DBPROF_TICKS 100

/* What the programs must know of a process; an array, whose index a thread knows. */
struct dbprof_process {
	__u64 start_ticks;	/* when it started, as /proc/PID/stat has it: ids are used again */
	__u64 parking_tls;	/* PARKING_FOR lies so far below the thread pointer; 0: unknown */
	__u64 blocking_tls;	/* BLOCKING_DEPTH likewise */
	__u32 arc_data;		/* offset of the value in ArcInner */
	__u32 circuit_inner;	/* offset of the Rc in a ChildCircuit */
	__u32 idle_park_start;	/* offset of the Arc `park_start` in RuntimeIdle */
	__u32 idle_park_reason; /* offset of the Arc `park_reason` in RuntimeIdle */
	__u32 frame_count;	/* of frames */
	__u32 task_circuit;	/* offset of the circuit's Rc in a task's state */
	__u32 task_node;	/* offset of the node id in it */
	__u32 timed_real_secs;	/* offsets in Timed: seconds and nanoseconds of ElapsedTime */
	__u32 timed_real_nanos;
	__u32 timed_cpu_secs;
	__u32 timed_cpu_nanos;
	__u32 waits;	   /* enum dbprof_waits */
	__u32 slots_known; /* every frame has its slot */
	__u32 packed;	   /* of DBPROF_TASK_PACKED, DBPROF_TIMED_PACKED */
	__u32 pid;	   /* as the profiler's PID namespace numbers it */
	__u32 reserved;
	__u64 since; /* what happens before is not counted; 0: the window's begin */
	/*
	 * Steps are watched in turns where their probes cost too much: this turn's number, begin
	 * and end. It stands for the time since the last one, too: see dbprof_clock().
	 */
	__u32 turn;
	__u32 turn_pace; /* in 1 / DBPROF_PACE */
	__u64 turn_start;
	__u64 turn_end;
	__u64 turn_clock; /* the clock at its begin */
	struct dbprof_frame frames[DBPROF_FRAMES];
};
_Static_assert(sizeof(struct dbprof_process) == 128 + 56 * DBPROF_FRAMES, "struct dbprof_process");

/*
 * The clock of what is watched stands still between turns, and makes up for it in the next one:
 * there it goes by the turn's pace until it is as late as it really is. So what is measured by it
 * is an estimate for all the time that has gone by.
 */
#define DBPROF_PACE    1024
#define DBPROF_PACE_NS 1000000000ull /* at most, so that the product has room */

/* @when (CLOCK_MONOTONIC, ns) lies in the turn. */
static inline __u64 dbprof_clock(const struct dbprof_process *process, __u64 when)
{
	__u64 clock, since = when - process->turn_start;

	if (process->turn_pace == DBPROF_PACE || since > DBPROF_PACE_NS)
		return when;
	clock = process->turn_clock + since * process->turn_pace / DBPROF_PACE;
	return clock < when ? clock : when;
}

enum dbprof_off {
	DBPROF_OFF_UNKNOWN = 0,
	DBPROF_OFF_BLOCKED = 1,	  /* the thread waits for something */
	DBPROF_OFF_PREEMPTED = 2, /* it could run, another one runs */
	DBPROF_OFF_DEAD = 3,	  /* it has exited */
};

/* What a blocked thread waits for in the kernel, by its system call and the file it names. */
enum dbprof_cause {
	DBPROF_CAUSE_FUTEX,
	DBPROF_CAUSE_EPOLL, /* epoll, poll and select */
	DBPROF_CAUSE_BLOCK_IO,
	DBPROF_CAUSE_PAGE_FAULT,
	DBPROF_CAUSE_SOCKET,
	DBPROF_CAUSE_PIPE,
	DBPROF_CAUSE_SLEEP,
	DBPROF_CAUSE_OTHER,
	DBPROF_CAUSES,
};

/* Who takes the CPU from a thread, or wakes it. */
enum dbprof_party {
	DBPROF_PARTY_WORKER, /* another worker of the same process */
	DBPROF_PARTY_MERGER,
	DBPROF_PARTY_THREAD, /* another thread of the same process: I/O and the like */
	DBPROF_PARTY_OTHER,  /* another process */
	DBPROF_PARTY_KERNEL, /* the kernel itself: its threads, interrupts, timers */
	DBPROF_PARTIES,
};

/* Where the kernel let a thread wait. */
struct dbprof_kernel_share {
	__u64 run_queue_ns; /* woken, not yet running */
	__u64 blocked_ns[DBPROF_CAUSES];
	__u64 preempted_ns[DBPROF_PARTIES]; /* by who took the CPU */
	__u64 woken_ns[DBPROF_PARTIES];	    /* blocked time once more, by who ended it */
};
_Static_assert(sizeof(struct dbprof_kernel_share) == 152, "struct dbprof_kernel_share");

/* Circuits whose steps begin or end in one stay of a thread on a CPU; more go without correction.
 */
#define DBPROF_CROSSED 4

enum dbprof_in_trap {
	DBPROF_TRAP_NONE,
	DBPROF_TRAP_PARK,
	DBPROF_TRAP_UNPARK,
	DBPROF_TRAP_STEP_BEGIN, /* at the event of a step's begin */
	DBPROF_TRAP_STEP_END,
};

/*
 * A thread of a profiled process. Only the thread itself, or the switch to it, writes this. Here
 * and in all keys but one, ids are those of the profiler's PID namespace.
 */
struct dbprof_thread {
	__u32 tgid; /* 0: the slot is free; who clears it by compare and swap frees it */
	__u32 tid;
	__u64 since;	      /* when it was first observed: window start or the thread's start */
	__u64 on_since;	      /* on a CPU since; 0 when off */
	__u64 off_since;      /* off since; 0 when on */
	__u32 off;	      /* enum dbprof_off, why it is off */
	__u32 blocked_reason; /* 1 + reason that its time off is charged to; 0: none */
	__u32 off_cause;      /* enum dbprof_cause of a blocked thread */
	__u32 off_taker;      /* enum dbprof_party that was first to run in its place */
	__u64 off_circuit;    /* the operator it was in when it went off: address of its circuit */
	__u32 off_node;	      /* and its local node id; no operator when off_circuit is 0 */
	__u32 in_step;	      /* steps that are open now, nested circuits included */
	__u32 worker;	      /* it drives a circuit */
	__u32 park_reason;
	__u64 exec_ns;	 /* sum_exec_runtime when it was last known; 0 before */
	__u64 cpu_ns;	 /* CPU time in the window up to on_since, by sum_exec_runtime */
	__u64 on_cpu_ns; /* the same by the wall clock: interrupts and stolen time included */
	struct dbprof_kernel_share share;
	__u64 woken_at;		       /* last wake-up; written by the waker */
	__u32 waker;		       /* enum dbprof_party */
	__u32 process;		       /* index of its struct dbprof_process */
	__u64 park_since;	       /* parked since; 0 when not */
	__u64 wait_ns[DBPROF_REASONS]; /* parked or blocked, ended waits */
	__u64 blind_samples;	       /* of the sampler, while a slot was not learned yet */
	__u64 scheduler_samples;       /* of the sampler, in steps but outside of operators */
	__u64 outside_samples;	       /* and outside of steps */
	__u64 unwatched_samples;       /* outside of operators, while steps were not watched */
	struct dbprof_kernel_share step_share; /* of share, while a reason was declared */
	__u32 off_in_step;		       /* it went off while one was */
	__u32 generation;		       /* of the known workers, when it was looked up */
	__u32 parks_seen;		       /* park or unpark was seen at least once */
	__u32 crossed_count;		       /* of crossed */
	__u64 crossed[DBPROF_CROSSED];	       /* since on_since; see stay_correct() */
	__u64 trap_ip;	   /* of the last probe at which the engine reads its clock */
	__u32 trap;	   /* enum dbprof_in_trap: whether the trap may not be left yet */
	__u32 trap_reason; /* of the park that it ended */
	__u32 off_cpu;	   /* the CPU that it was preempted on */
	__u32 off_turn;	   /* turns of that CPU then */
	__u32 off_waits;   /* it counts as waiting there */
	__u32 turn;	   /* in which it last began or ended a step */
	__u32 kernel_tgid; /* tgid as the kernel numbers it */
	__u32 reserved;
	__u64 idle_totals; /* address of the engine's park totals, by reason; 0: unknown */
	__u64 synced_ns[DBPROF_REASONS]; /* these as they were last added to wait_ns */
	__u32 synced;			 /* they are what waits are counted by */
	__u32 reserved2;
	__u64 ended_step;   /* the circuit whose step ended last, until it is left */
	__u64 trap_circuit; /* whose step begins or ends at the trap */
	__u64 lost_ip;	    /* where it lost its CPU last since ended_step */
	__u64 lost_ns;	    /* and how long it was without it there */
	__u64 ended;	    /* when it exited; 0 when it lives */
	char comm[16];
	__u64 edge; /* the last edge that the record was copied at; stays when the slot is free */
};
_Static_assert(sizeof(struct dbprof_thread) == 784, "struct dbprof_thread");

/*
 * Windows that follow each other without a gap: user space names an edge ahead of time, and a
 * record that changes after the edge is copied before it does so for the first time. So at any time
 * from an edge to the next one it can be told what was counted up to the edge.
 */
struct dbprof_thread_record {
	struct dbprof_thread now;  /* first: the one is found by the other */
	struct dbprof_thread then; /* as it was at now.edge */
};
_Static_assert(sizeof(struct dbprof_thread_record) == 1568, "struct dbprof_thread_record");

/* A circuit of a worker. */
struct dbprof_circuit_key {
	__u64 circuit; /* address of its RcInner<CircuitInner>, or of the global node id in that */
	__u32 tgid;
	__u32 tid;
};
_Static_assert(sizeof(struct dbprof_circuit_key) == 16, "struct dbprof_circuit_key");

/*
 * How long steps took: their number by the upper limit of a bucket, nanoseconds. The last bucket is
 * for all that took longer.
 */
#define DBPROF_LATENCIES 20
#define DBPROF_LATENCY_LIMITS                                                                     \
	{                                                                                         \
		100000ull, 250000ull, 500000ull, 1000000ull, 2500000ull, 5000000ull, 10000000ull, \
			25000000ull, 50000000ull, 100000000ull, 250000000ull, 500000000ull,       \
			1000000000ull, 2500000000ull, 5000000000ull, 10000000000ull,              \
			25000000000ull, 50000000000ull, 100000000000ull                           \
	}

struct dbprof_latency {
	__u64 steps[DBPROF_LATENCIES]; /* in 1 / DBPROF_PACE */
	__u64 sum_ns;		       /* of their times */
};

/* Its moments are by the clock of what is watched, and what it counts is weighted by its pace. */
struct dbprof_circuit {
	__u64 steps;	  /* that ended, in 1 / DBPROF_PACE */
	__u64 runtime_ns; /* inside ended steps */
	__u64 cpu_ns;
	__u64 idle_ns; /* between steps */
	__u64 wait_ns[DBPROF_REASONS];
	__u64 start; /* when the open step began; 0 when none is open */
	__u64 start_cpu_ns;
	__u64 start_wait_ns[DBPROF_REASONS];
	struct dbprof_kernel_share share; /* of runtime_ns */
	struct dbprof_kernel_share start_share;
	__u64 first_start; /* when the first step seen began; the window's start if cut */
	__u64 last_end;	   /* when the last ended step ended, or was left; 0 before any */
	__u64 leaving_ns;  /* between these: the engine's own profiler notes down what it saw */
	__u64 part_ns;	   /* of runtime_ns, of steps not watched whole: where it went is unknown */
	__u32 turn;	   /* in which a step last began or ended */
	__u32 reserved2;
	__u32 cut;	 /* the first step seen was open when the window began */
	__u8 begun_here; /* the open step began in the thread's present stay on its CPU */
	__u8 ended_here; /* in it, a step ended that had begun before */
	__u8 part;	 /* the open step began in an earlier turn than the present one */
	__u8 reserved;
	struct dbprof_latency latency; /* of steps that were seen from begin to end */
};
_Static_assert(sizeof(struct dbprof_circuit) == 728, "struct dbprof_circuit");

struct dbprof_circuit_record {
	struct dbprof_circuit now; /* first, as above */
	__u64 edge;		   /* as in its thread */
	struct dbprof_circuit then;
};
_Static_assert(sizeof(struct dbprof_circuit_record) == 1464, "struct dbprof_circuit_record");

/* An operator of a worker. */
struct dbprof_operator_key {
	__u64 circuit; /* address of its circuit's RcInner<CircuitInner> */
	__u32 node;    /* local node id in that */
	__u32 tid;
};
_Static_assert(sizeof(struct dbprof_operator_key) == 16, "struct dbprof_operator_key");

struct dbprof_operator {
	__u64 samples;	      /* on a CPU inside the interval that the engine measures */
	__u64 timing_samples; /* in the engine's own clock reads outside of it */
	struct dbprof_kernel_share share;
	__u64 evaluations; /* by the exact probe, with the engine's own numbers */
	__u64 real_ns;
	__u64 cpu_ns;
};
_Static_assert(sizeof(struct dbprof_operator) == 192, "struct dbprof_operator");

struct dbprof_operator_record {
	struct dbprof_operator now; /* first, as above */
	__u64 edge;
	struct dbprof_operator then;
};
_Static_assert(sizeof(struct dbprof_operator_record) == 392, "struct dbprof_operator_record");

/*
 * Threads that exit are counted in one of two sums of their process, by turns: before and after an
 * edge. The lowest bit of the edge is the number of the sum that is for those after it.
 */
struct dbprof_exited_key {
	__u32 tgid;
	__u32 sum;
};
_Static_assert(sizeof(struct dbprof_exited_key) == 8, "struct dbprof_exited_key");

/* Threads of a process that have exited and drive no circuit: their slots are used again. */
struct dbprof_exited {
	__u64 count;
	__u64 observed_ns;
	__u64 on_cpu_ns;
	struct dbprof_kernel_share share;
};
_Static_assert(sizeof(struct dbprof_exited) == 176, "struct dbprof_exited");

/* What a trap costs around the programs' own clock reads, measured at load (calibrate.c). */
struct dbprof_trap {
	__u32 enter_ns; /* from the probed instruction to the begin of the program */
	__u32 leave_ns; /* from the end of the program to the next instruction */
};

/* A process that user space seeks, and what was found. */
struct dbprof_sought {
	__u32 pid;	  /* in the PID namespace of who seeks */
	__u32 level;	  /* how deep that is nested */
	__u32 kernel_pid; /* its number for the kernel; 0: not found */
};

/* What the programs could not do. */
struct dbprof_losses {
	__u64 threads;	 /* no slot left for a thread */
	__u64 circuits;	 /* no slot left for a circuit */
	__u64 reads;	 /* target memory could not be read */
	__u64 steps;	 /* a step ended that never began, or began twice */
	__u64 operators; /* no slot left for an operator */
	__u64 slots;	 /* a stack slot could not be read */
};

#endif
