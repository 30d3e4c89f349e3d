/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who runs on a CPU while a profiled thread waits there that was preempted: the turns of a CPU, one
 * after the other. They are noted only while somebody waits.
 */
#ifndef DBPROF_BPF_TAKERS_H
#define DBPROF_BPF_TAKERS_H

#include "state.h"

/* What @other is to the process @tgid, as the kernel numbers it: an enum dbprof_party. */
__hidden __u32 party(struct task_struct *other, __u32 tgid);

/* The running thread is preempted: @next runs in its place. */
__hidden void takers_begin(struct dbprof_thread *thread, struct task_struct *next);

/* @next begins to run on this CPU. To be called after what else the switch has to tell. */
__hidden void takers_turn(struct task_struct *next, __u64 now);

/* A preempted thread runs again: its wait is split among those who ran; @op may be NULL. */
__hidden void takers_end(struct dbprof_thread *thread, struct dbprof_operator *op, __u64 now);

#endif
