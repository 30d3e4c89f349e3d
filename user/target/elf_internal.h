/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the elf_*.c files only.
 */
#ifndef DBPROF_TARGET_ELF_INTERNAL_H
#define DBPROF_TARGET_ELF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run of bytes of the file, cut to what the file has. */
struct elf_range {
	uint64_t offset;
	uint64_t size;
};

struct elf_segment {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t file_size; /* cut to the file */
	uint64_t memory_size;
	uint64_t align;
	bool writable;
};

/* Bytes that elf_image__bytes() has handed out. */
struct elf_block {
	struct elf_block *next;
	struct elf_range range;
	uint8_t bytes[];
};

/* What is read at first use and kept; behind a pointer, since the image itself is constant. */
struct elf_cache {
	struct elf_block *blocks;
	uint8_t *symbols; /* .symtab */
	char *names;	  /* its .strtab, with a NUL added */
};

struct elf_image {
	char *path;
	int fd;
	uint64_t size;
	unsigned int machine; /* EM_X86_64 or EM_AARCH64 */
	bool pie;
	uint64_t entry;
	struct elf_segment *loads; /* PT_LOAD, in file order */
	size_t load_count;
	bool has_tls;
	struct elf_segment tls;
	struct elf_range *constants; /* sections .rodata* */
	size_t constant_count;
	struct elf_range comment;
	struct elf_range symbols;
	struct elf_range names;
	char build_id[129];
	char dbsp_version[32];
	char rustc_version[32];
	bool uses_dbsp;
	struct elf_cache *cache;
};

/* Copies a part of the file. Returns how many bytes there were, or a negative errno. */
ssize_t elf_image__pread(const struct elf_image *image, void *buf, size_t len, uint64_t offset);

/* Reads all of @range with a NUL after it. Returns 0, -ENOMEM, -EIO when the file shrank. */
int elf_image__load(const struct elf_image *image, const struct elf_range *range, char **ret_data);

/* Fills in dbsp_version, uses_dbsp and rustc_version. Returns 0 or a negative errno. */
int elf_image__find_versions(struct elf_image *image);

#endif
