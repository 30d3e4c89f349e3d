/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Closes links of uprobes without waiting for it.
 *
 * The kernel returns from the close when no program can be at work any more
 * (uprobe_unregister_sync(), kernel/events/uprobes.c), which takes it up to half a second each; but
 * any number of them at once takes no longer than one. So each is closed by a thread of its own.
 */
#ifndef DBPROF_SESSION_CLOSER_H
#define DBPROF_SESSION_CLOSER_H

struct closer;

/* Returns NULL when memory is short. */
struct closer *closer__new(void);
/* Closes @fd now or soon. @closer may be NULL: then at once. */
void closer__close(struct closer *closer, int fd);
/* Waits until all are closed. NULL is fine. */
void closer__free(struct closer *closer);

#endif
