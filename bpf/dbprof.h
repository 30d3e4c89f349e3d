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

/* State of an async function's future (rustc numbers coroutine states so). */
#define DBPROF_STATE_UNRESUMED 0
#define DBPROF_STATE_RETURNED  1

/* What the programs must know of a process. Key of the map: its thread group id. */
struct dbprof_process {
	__u64 parking_tls;	/* PARKING_FOR lies so far below the thread pointer; 0: unknown */
	__u64 blocking_tls;	/* BLOCKING_DEPTH likewise */
	__u32 arc_data;		/* offset of the value in ArcInner */
	__u32 circuit_inner;	/* offset of the Rc in a ChildCircuit */
	__u32 idle_park_start;	/* offset of the Arc `park_start` in RuntimeIdle */
	__u32 idle_park_reason; /* offset of the Arc `park_reason` in RuntimeIdle */
};
_Static_assert(sizeof(struct dbprof_process) == 32, "struct dbprof_process");

enum dbprof_off {
	DBPROF_OFF_UNKNOWN = 0,
	DBPROF_OFF_BLOCKED = 1,	  /* the thread waits for something */
	DBPROF_OFF_PREEMPTED = 2, /* it could run, another one runs */
	DBPROF_OFF_DEAD = 3,	  /* it has exited */
};

/* A thread of a profiled process. Only the thread itself, or the switch to it, writes this. */
struct dbprof_thread {
	__u32 tgid;
	__u32 tid;
	__u32 sequence;	      /* odd while it is being written */
	__u32 worker;	      /* it drives a circuit */
	__u64 since;	      /* when it was first observed: window start or the thread's start */
	__u64 on_since;	      /* on a CPU since; 0 when off */
	__u64 off_since;      /* off since; 0 when on */
	__u32 off;	      /* enum dbprof_off, why it is off */
	__u32 blocked_reason; /* 1 + reason of the system call it is off in; 0: none */
	__u64 exec_at_on;     /* sum_exec_runtime at on_since */
	__u64 cpu_ns;	      /* CPU time in the window up to on_since, by sum_exec_runtime */
	__u64 on_cpu_ns;      /* the same by the wall clock: interrupts and stolen time included */
	__u64 run_queue_ns;
	__u64 preempted_ns;
	__u64 blocked_ns;
	__u64 woken_at;	  /* last wake-up; written by the waker, hence outside of sequence */
	__u64 park_since; /* parked since; 0 when not */
	__u32 park_reason;
	__u32 parks_seen;	       /* park or unpark was seen at least once */
	__u64 wait_ns[DBPROF_REASONS]; /* parked or blocked, ended waits */
	__u64 parks;
	__u64 ended; /* when it exited; 0 when it lives */
	char comm[16];
};
_Static_assert(sizeof(struct dbprof_thread) == 232, "struct dbprof_thread");

/* A circuit of a worker. */
struct dbprof_circuit_key {
	__u64 circuit; /* address of its RcInner<CircuitInner>, or of the global node id in that */
	__u32 tgid;
	__u32 tid;
};
_Static_assert(sizeof(struct dbprof_circuit_key) == 16, "struct dbprof_circuit_key");

struct dbprof_circuit {
	__u64 steps;	  /* that ended */
	__u64 runtime_ns; /* inside ended steps */
	__u64 cpu_ns;
	__u64 idle_ns; /* between steps */
	__u64 wait_ns[DBPROF_REASONS];
	__u64 start; /* when the open step began; 0 when none is open */
	__u64 start_cpu_ns;
	__u64 start_wait_ns[DBPROF_REASONS];
	__u64 first_start; /* when the first step seen began; the window's start if cut */
	__u64 last_end;	   /* when the last ended step ended; 0 before any */
	__u32 sequence;	   /* odd while it is being written */
	__u32 cut;	   /* the first step seen was open when the window began */
};
_Static_assert(sizeof(struct dbprof_circuit) == 232, "struct dbprof_circuit");

/* Threads of a process that have exited and drive no circuit: their slots are used again. */
struct dbprof_exited {
	__u64 count;
	__u64 observed_ns;
	__u64 on_cpu_ns;
	__u64 run_queue_ns;
	__u64 preempted_ns;
	__u64 blocked_ns;
};
_Static_assert(sizeof(struct dbprof_exited) == 48, "struct dbprof_exited");

/* What a trap costs around the programs' own clock reads, measured at load (calibrate.c). */
struct dbprof_trap {
	__u32 enter_ns; /* from the probed instruction to the begin of the program */
	__u32 leave_ns; /* from the end of the program to the next instruction */
};

/* What the programs could not do. */
struct dbprof_losses {
	__u64 threads;	/* no slot left for a thread */
	__u64 circuits; /* no slot left for a circuit */
	__u64 reads;	/* target memory could not be read */
	__u64 steps;	/* a step ended that never began, or began twice */
};

#endif
