/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading another process's memory, which changes under us and is never trusted.
 */
#ifndef DBPROF_TARGET_MEMORY_H
#define DBPROF_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/fail.h"

struct memory;

/* One line of /proc/PID/maps. */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file, bytes */
	uint64_t inode;
	unsigned int dev_major;
	unsigned int dev_minor;
	bool readable;
	bool writable;
	bool executable;
	char *path; /* "" for anonymous memory */
};

/*
 * Opens the memory of the process @pid. Returns 0, or -ESRCH (no such process), -EPERM/-EACCES
 * (CAP_SYS_PTRACE is missing), another negative errno.
 */
int memory__open(pid_t pid, struct memory **ret_memory, struct fail *fail);

/* Where memory comes from, when not from a process. */
struct memory_source {
	/* As memory__read(), without an overflow of the address. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t len);
	/* The mappings, ascending and disjoint, for maps__free(). Returns 0 or a negative errno. */
	int (*maps)(void *arg, struct mapping **ret_mappings, size_t *ret_count);
};

/* Memory of another source: @source and @arg must outlive it. Returns as source->maps(). */
int memory__from_source(const struct memory_source *source, void *arg, struct memory **ret_memory);
void memory__close(struct memory *memory);

/* Reads the maps again; addresses that appeared since are known afterwards. */
int memory__refresh(struct memory *memory);

/* The mapping that holds @addr, or NULL. Valid until the next refresh. */
const struct mapping *memory__mapping(const struct memory *memory, uint64_t addr);
size_t memory__mappings(const struct memory *memory, const struct mapping **ret_first);

/* Whether @addr .. @addr + @len lies in one readable mapping, as of the last refresh. */
bool memory__readable(const struct memory *memory, uint64_t addr, size_t len);

/*
 * Copies @len bytes from @addr of the target. All or nothing: returns 0, -EFAULT when a byte is
 * not mapped, -ESRCH when the process is gone.
 */
int memory__read(struct memory *memory, uint64_t addr, void *buf, size_t len);
int memory__read_u64(struct memory *memory, uint64_t addr, uint64_t *ret_value);

/*
 * A copy, ended by NUL, of @len bytes at @addr that must be valid UTF-8 without NUL.
 * Returns 0, -EINVAL when it is not, -E2BIG over 64 KiB, or as memory__read(). Free it.
 */
int memory__read_string(struct memory *memory, uint64_t addr, size_t len, char **ret_string);

#endif
