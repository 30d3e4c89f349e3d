/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hashbrown tables, which std's HashMap is made of (hashbrown, src/raw.rs).
 *
 * One allocation holds the entries and, above them, one control byte each: entry i lies i + 1
 * entries below the control bytes. The top bit of a control byte says that its entry is unused.
 */
#ifndef DBPROF_ENGINE_HASHMAP_H
#define DBPROF_ENGINE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/gather.h"
#include "layout/layout.h"
#include "target/memory.h"

/* A RawTableInner. */
struct table_header {
	uint64_t ctrl;	  /* address of the control bytes */
	uint64_t buckets; /* a power of two, 0 for a table that was never filled */
	uint64_t items;
	uint64_t entry_size;
};

/*
 * Reads a header of @bytes, which are RawTableInner's, for entries of @entry_size bytes. Returns
 * 0, or -EPROTO when it cannot be one.
 */
int table_header__decode(const struct layout *layout, const uint8_t *bytes, uint64_t entry_size,
			 struct table_header *ret_header);
bool table_header__equal(const struct table_header *a, const struct table_header *b);

/* Bytes of the table's copy: entries, then control bytes. */
size_t table_header__bytes(const struct table_header *header);

/*
 * Copies entries and control bytes into @buffer. Returns 0, -EAGAIN when their number is not the
 * header's (the table is being changed), -ENOMEM, or as memory__read().
 */
int table__read(struct memory *memory, const struct table_header *header, struct buffer *buffer);

/*
 * The next used entry of the copy @image from bucket *@cursor on, which starts at 0; NULL at the
 * end. *@cursor is then the bucket after it.
 */
const uint8_t *table__next(const struct table_header *header, const uint8_t *image,
			   uint64_t *cursor);
/* Address of bucket @bucket's entry in the target. */
uint64_t table__entry_address(const struct table_header *header, uint64_t bucket);

#endif
