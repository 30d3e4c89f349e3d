/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many small reads of the target's memory in few system calls.
 */
#ifndef DBPROF_ENGINE_GATHER_H
#define DBPROF_ENGINE_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "target/memory.h"

/* Memory of ours that grows and is used again. */
struct buffer {
	uint8_t *bytes;
	size_t capacity;
};

/* Makes room for @len bytes. What was there is lost. Returns 0 or -ENOMEM. */
int buffer__reserve(struct buffer *buffer, size_t len);
/* Fills the buffer with @len bytes at @addr. Returns 0, -ENOMEM, or as memory__read(). */
int buffer__read(struct buffer *buffer, struct memory *memory, uint64_t addr, size_t len);
void buffer__free(struct buffer *buffer);

struct gather_part {
	uint64_t addr;
	uint32_t len;
	int err; /* of this part alone: 0, -EFAULT */
	void *to;
};

/*
 * Reads all @parts, neighbours at once; changes their order. Returns 0 when all were read, else
 * the error of one of them; the others are still read. -ENOMEM and -ESRCH end it at once.
 */
int gather__read(struct memory *memory, struct gather_part *parts, size_t count);

#endif
