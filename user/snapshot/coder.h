/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers, texts and arrays to bytes and back. One function describes a structure for both ways, so
 * that what is read is what was written.
 *
 * Numbers are little-endian and as wide as their function says, whatever the machine. What is read
 * is not trusted: each length is held against the bytes that are left before memory is taken for
 * it. The first error sticks and makes the rest a no-op, in which values that are read are zero.
 */
#ifndef DBPROF_SNAPSHOT_CODER_H
#define DBPROF_SNAPSHOT_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

#define CODER_TEXT_MAX 65536 /* bytes of one text */

struct coder {
	bool writing;
	int err;	   /* 0, -ENOMEM; reading also -EBADMSG */
	struct fail *fail; /* of reading: what is wrong */
	uint8_t *bytes;
	size_t len;	 /* written so far, or to be read */
	size_t capacity; /* of bytes when writing */
	size_t at;	 /* read so far */
};

/* Begins to write; bytes and len are the result, and coder__clear() frees them. */
void coder__begin_write(struct coder *coder);
void coder__clear(struct coder *coder);
/* Begins to read @bytes, which must outlive it. */
void coder__begin_read(struct coder *coder, const uint8_t *bytes, size_t len, struct fail *fail);

/* When reading: that the bytes contradict themselves, in one sentence. Returns the first error. */
int coder__refuse(struct coder *coder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One byte, which is below @limit. */
void coder__u8(struct coder *coder, uint8_t *value, uint8_t limit, const char *what);
void coder__u32(struct coder *coder, uint32_t *value);
void coder__u64(struct coder *coder, uint64_t *value);
void coder__words(struct coder *coder, uint64_t *values, size_t count);
/* Two's complement. */
void coder__i32(struct coder *coder, int32_t *value);
void coder__i64(struct coder *coder, int64_t *value);
void coder__bool(struct coder *coder, bool *value);
/* IEEE 754, 64 bits. Not a number is refused. */
void coder__double(struct coder *coder, double *value);
void coder__raw(struct coder *coder, void *bytes, size_t len);
/* An index below @limit. */
void coder__index(struct coder *coder, size_t *value, size_t limit, const char *what);

/*
 * UTF-8 without NUL, or NULL. Bytes that are not UTF-8 are written as U+FFFD, as all outputs show
 * them. A text that is read is the caller's to free.
 */
void coder__text(struct coder *coder, char **text);
/* The same in a fixed array of @size bytes, with a NUL at its end. */
void coder__text_in(struct coder *coder, char *text, size_t size);

/*
 * The number of an array's elements, each of which takes @least bytes in the file. When reading,
 * *@array is room for them, of @size bytes each and zero; the caller frees it.
 */
void coder__array(struct coder *coder, void **array, size_t *count, size_t size, size_t least);

#endif
