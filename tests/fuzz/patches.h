/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults put into something real, as the fuzzer's input says: a real file or memory image is far
 * too large to be an input itself.
 */
#ifndef DBPROF_TESTS_PATCHES_H
#define DBPROF_TESTS_PATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATCHES_MAX 64

/* One fault, 14 bytes of input. */
struct patch {
	uint32_t where;
	uint8_t kind;
	uint8_t small;
	uint64_t value;
};

enum patch_kind {
	PATCH_BYTE,
	PATCH_WORD,
	PATCH_HALF_WORD,
	PATCH_ADD,
	PATCH_COPY, /* a word of another place */
	PATCH_FLIP,
	PATCH_LARGE, /* a power of two, or almost */
	PATCH_KINDS,
};

#define PATCH_BYTES 14

static inline size_t patches__parse(const uint8_t *data, size_t size, struct patch *patches)
{
	size_t count = 0;

	for (; count < PATCHES_MAX && size >= PATCH_BYTES; count++) {
		struct patch *patch = &patches[count];

		memcpy(&patch->where, data, 4);
		patch->kind = data[4] % PATCH_KINDS;
		patch->small = data[5];
		memcpy(&patch->value, data + 6, 8);
		data += PATCH_BYTES;
		size -= PATCH_BYTES;
	}
	return count;
}

/* Changes up to eight of the @size bytes at @at; @other is what PATCH_COPY takes. */
static inline void patch__apply(const struct patch *patch, uint8_t *at, size_t size,
				const uint8_t *other)
{
	uint64_t word = 0, value = patch->value;
	size_t len = size < 8 ? size : 8;

	memcpy(&word, at, len);
	switch ((enum patch_kind)patch->kind) {
	case PATCH_BYTE:
		word = (word & ~0xffull) | patch->small;
		break;
	case PATCH_HALF_WORD:
		word = (word & ~0xffffffffull) | (uint32_t)value;
		break;
	case PATCH_ADD:
		word += (uint64_t)(int8_t)patch->small * (value % 64 + 1);
		break;
	case PATCH_COPY:
		memcpy(&word, other, 8);
		break;
	case PATCH_FLIP:
		word ^= 1ull << patch->small % 64;
		break;
	case PATCH_LARGE:
		word = (1ull << patch->small % 64) + (uint64_t)(int8_t)(value & 7) - 4;
		break;
	default:
		word = value;
	}
	memcpy(at, &word, len);
}

/* A file of these bytes, by a path that lives as long as the descriptor. */
static inline int fuzz__file(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Reads the file that the variable @name names; exits without. */
static inline uint8_t *fuzz__base(const char *name, size_t *ret_size)
{
	const char *path = getenv(name);
	FILE *file = path ? fopen(path, "re") : NULL;
	uint8_t *bytes;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0) {
		fprintf(stderr, "%s does not name a file; run tests/fuzz/run.py\n", name);
		exit(2);
	}
	rewind(file);
	bytes = malloc((size_t)size);
	if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size)
		exit(2);
	fclose(file);
	*ret_size = (size_t)size;
	return bytes;
}

/* A copy of @base with the faults that the input says, cut short by some of them. */
static inline uint8_t *fuzz__faulty(const uint8_t *base, size_t size, const uint8_t *data,
				    size_t data_size, size_t *ret_size)
{
	struct patch patches[PATCHES_MAX];
	size_t count = patches__parse(data, data_size, patches);
	uint8_t *copy = malloc(size);

	if (!copy)
		exit(2);
	memcpy(copy, base, size);
	for (size_t i = 0; i < count; i++) {
		const struct patch *patch = &patches[i];
		size_t where = patch->where % size, other = patch->value % (size - 8);

		patch__apply(patch, copy + where, size - where, base + other);
	}
	*ret_size = size;
	if (count && patches[0].small == 0xff)
		*ret_size = patches[0].where % size + 1;
	return copy;
}

#endif
