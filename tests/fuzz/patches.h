/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults put into something real, as the fuzzer's input says: a real file or memory image is far
 * too large to be an input itself.
 */
#ifndef DBPROF_TESTS_PATCHES_H
#define DBPROF_TESTS_PATCHES_H

#include <elf.h>
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

/* A part of the base that most faults are put into. */
struct focus {
	size_t start;
	size_t size; /* 0: no such part */
};

/* That of the section called @name in a trusted ELF file. */
static inline struct focus focus__section(const uint8_t *base, const char *name)
{
	const Elf64_Ehdr *head = (const void *)base;
	const Elf64_Shdr *sections = (const void *)(base + head->e_shoff);
	const char *names = (const char *)base + sections[head->e_shstrndx].sh_offset;

	for (int i = 0; i < head->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, name))
			return (struct focus){ sections[i].sh_offset, sections[i].sh_size };
	return (struct focus){ 0, 0 };
}

#define FOCUS_PARTS 3

/* The byte that a fault begins at: one time in four anywhere, else in one of the parts. */
static inline size_t patch__place(const struct patch *patch, size_t size,
				  const struct focus focus[FOCUS_PARTS])
{
	uint32_t choice = patch->where >> 28;
	const struct focus *part = &focus[choice % FOCUS_PARTS];

	if (choice < 4 || !part->size)
		return patch->where % size;
	return part->start + (patch->where & 0xfffffff) % part->size;
}

/* A copy of @base with the faults that the input says, cut short by some of them. */
static inline uint8_t *fuzz__faulty(const uint8_t *base, size_t size,
				    const struct focus focus[FOCUS_PARTS], const uint8_t *data,
				    size_t data_size, size_t *ret_size)
{
	struct patch patches[PATCHES_MAX];
	size_t count = patches__parse(data, data_size, patches);
	uint8_t *copy = malloc(size);

	if (!copy)
		exit(2);
	memcpy(copy, base, size);
	for (size_t i = 0; i < count; i++) {
		size_t where = patch__place(&patches[i], size, focus);

		patch__apply(&patches[i], copy + where, size - where,
			     base + patches[i].value % (size - 8));
	}
	*ret_size = size;
	if (count && patches[0].small == 0xff)
		*ret_size = patches[0].where % size + 1;
	return copy;
}

#endif
