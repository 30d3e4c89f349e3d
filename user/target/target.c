// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf() */
#endif
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "target/proc.h"
#include "target/stacks.h"
#include "target/target.h"

#define PAGE 4096u

static int describe(struct fail *fail, int err, pid_t pid)
{
	switch (err) {
	case -ESRCH:
		return fail__set(fail, err, "no process has the id %d", pid);
	case -EACCES:
	case -EPERM:
		return fail__set(fail, -EPERM,
				 "not allowed to look into process %d: run as root or give "
				 "CAP_SYS_PTRACE",
				 pid);
	default:
		return fail__set(fail, err, "cannot look into process %d: %s", pid, strerror(-err));
	}
}

/* /proc/TID exists for every thread, though the folder does not list it. */
static int check_is_process(const struct target *target, struct fail *fail)
{
	long group;
	int err;

	err = proc__status_number(target->proc_dir, "Tgid", &group);
	if (err)
		return describe(fail, err, target->pid);
	if (group != target->pid)
		return fail__set(fail, -ESRCH, "%d is a thread of process %ld: give that id",
				 target->pid, group);
	return 0;
}

/* The engine's instants are of its own clock, and times here of the host's. */
static int check_clock(const struct target *target, struct fail *fail)
{
	if (proc__clock_differs(target->proc_dir, "monotonic"))
		return fail__set(
			fail, -ENOTSUP,
			"process %d is in a time namespace with a clock of its own: its "
			"times cannot be told; start it without an offset of the monotonic "
			"clock",
			target->pid);
	return 0;
}

static int describe_no_memory(const struct target *target, struct fail *fail)
{
	struct proc_stat stat;
	int err = proc__stat(target->proc_dir, "stat", &stat);

	if (err)
		return describe(fail, err, target->pid);
	if (stat.state == 'Z' || stat.state == 'X')
		return fail__set(fail, -ESRCH,
				 "process %d (%s) has ended; its parent has not collected it yet",
				 target->pid, stat.comm);
	return fail__set(fail, -ENOEXEC, "process %d (%s) is a kernel thread", target->pid,
			 stat.comm);
}

/* The main thread may have exited before the others; its "exe" then leads nowhere. */
static int find_exe(struct target *target, struct fail *fail)
{
	char prefix[32], name[64], link[4096];
	struct proc_stat stat;
	ssize_t len;
	int err;

	err = proc__living_prefix(target->proc_dir, prefix, sizeof(prefix));
	if (err == -ENODATA)
		return describe_no_memory(target, fail);
	if (!err)
		err = proc__stat(target->proc_dir, "stat", &stat);
	if (err)
		return describe(fail, err, target->pid);
	target->start_ticks = stat.start_ticks;
	snprintf(name, sizeof(name), "%sexe", prefix);
	len = readlinkat(target->proc_dir, name, link, sizeof(link) - 1);
	if (len < 0)
		return describe(fail, errno == ENOENT ? -ESRCH : -errno, target->pid);
	link[len] = '\0';
	target->exe = strdup(link);
	if (!target->exe || asprintf(&target->exe_path, "/proc/%d/%s", target->pid, name) < 0) {
		target->exe_path = NULL;
		return fail__set(fail, -ENOMEM, "out of memory");
	}
	return 0;
}

static int open_image(struct target *target, struct fail *fail)
{
	struct fail cause = { 0 };
	int err;

	err = elf_image__open(target->exe_path, &target->image, &cause);
	if (err == -ENOEXEC)
		return fail__set(fail, err,
				 "%s of process %d is no 64-bit ELF executable for x86-64 or "
				 "AArch64",
				 target->exe, target->pid);
	if (err == -EACCES || err == -EPERM)
		return describe(fail, err, target->pid);
	if (err)
		return fail__set(fail, err, "cannot read %s of process %d: %s", target->exe,
				 target->pid, strerror(-err));
	if (!elf_image__uses_dbsp(target->image))
		return fail__set(fail, -ENOEXEC,
				 "%s (process %d) is no DBSP program: no source path of the dbsp "
				 "crate is in it",
				 target->exe, target->pid);
	return 0;
}

/* Whether the code of the image is mapped with that bias. */
static bool fits(const struct target *target, uint64_t bias)
{
	const struct mapping *mapping =
		memory__mapping(target->memory, bias + elf_image__entry(target->image));

	return bias % PAGE == 0 && mapping && mapping->executable;
}

/* AT_ENTRY is where the kernel put the entry point, however the files are named and numbered. */
static int bias_by_auxv(const struct target *target, uint64_t *ret_bias)
{
	char prefix[32], name[64], *text;
	Elf64_auxv_t item;
	size_t len, at;
	uint64_t bias;
	int err;

	err = proc__living_prefix(target->proc_dir, prefix, sizeof(prefix));
	if (err)
		return err;
	snprintf(name, sizeof(name), "%sauxv", prefix);
	err = proc__read(target->proc_dir, name, PAGE, &text, &len);
	if (err)
		return err;
	err = -ENOENT;
	for (at = 0; at + sizeof(item) <= len && err; at += sizeof(item)) {
		memcpy(&item, text + at, sizeof(item));
		if (item.a_type != AT_ENTRY)
			continue;
		bias = item.a_un.a_val - elf_image__entry(target->image);
		if (!fits(target, bias))
			continue;
		*ret_bias = bias;
		err = 0;
	}
	free(text);
	return err;
}

/* By the lowest mapping of the file that fits: programs may map their own file once more. */
static int bias_by_maps(const struct target *target, uint64_t *ret_bias)
{
	const struct mapping *mappings;
	size_t count, i;
	struct stat file;

	if (stat(target->exe_path, &file) < 0)
		return -errno;
	count = memory__mappings(target->memory, &mappings);
	for (i = 0; i < count; i++) {
		bool same = mappings[i].inode == file.st_ino &&
			    mappings[i].dev_major == major(file.st_dev) &&
			    mappings[i].dev_minor == minor(file.st_dev);
		uint64_t vaddr;

		/* Stacked file systems give other device numbers in maps than in stat(). */
		if (!same && strcmp(mappings[i].path, target->exe) != 0)
			continue;
		if (elf_image__vaddr(target->image, mappings[i].offset, &vaddr) ||
		    !fits(target, mappings[i].start - vaddr))
			continue;
		*ret_bias = mappings[i].start - vaddr;
		return 0;
	}
	return -ENOENT;
}

static int find_bias(struct target *target, struct fail *fail)
{
	uint64_t bias = 0;
	int err;

	err = bias_by_auxv(target, &bias);
	if (err)
		err = bias_by_maps(target, &bias);
	if (err)
		return fail__set(fail, err, "cannot tell where %s is loaded in process %d",
				 target->exe, target->pid);
	target->load_bias = bias;
	return 0;
}

int target__open(pid_t pid, struct target **ret_target, struct fail *fail)
{
	struct target *target = calloc(1, sizeof(*target));
	int err;

	if (!target)
		return fail__set(fail, -ENOMEM, "out of memory");
	target->pid = pid;
	target->proc_dir = proc__open(pid);
	err = target->proc_dir < 0 ? describe(fail, target->proc_dir, pid) : 0;
	if (!err)
		err = stacks__new(&target->stacks) ? fail__set(fail, -ENOMEM, "out of memory") : 0;
	if (!err)
		err = check_is_process(target, fail);
	if (!err)
		err = check_clock(target, fail);
	if (!err)
		err = find_exe(target, fail);
	if (!err)
		err = memory__open(pid, &target->memory, fail);
	if (!err)
		err = open_image(target, fail);
	if (!err)
		err = find_bias(target, fail);
	/* Names are for people: without them everything else works. */
	if (!err)
		pipeline_names__read(target->proc_dir, &target->names);
	if (err) {
		target__close(target);
		/* Permission is refused with either; callers know one. */
		return err == -EACCES ? -EPERM : err;
	}
	*ret_target = target;
	return 0;
}

void target__close(struct target *target)
{
	if (!target)
		return;
	memory__close(target->memory);
	elf_image__close(target->image);
	stacks__free(target->stacks);
	free(target->exe);
	free(target->exe_path);
	pipeline_names__clear(&target->names);
	if (target->proc_dir >= 0)
		close(target->proc_dir);
	free(target);
}

int target__check_threads(const struct target *target, struct fail *fail)
{
	int fd = openat(target->proc_dir, "syscall", O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		return fail__set(fail, -EACCES,
				 "process %d belongs to another user, whose threads cannot be read "
				 "without CAP_DAC_READ_SEARCH; run as root (sudo)",
				 target->pid);
	if (fd >= 0)
		close(fd);
	return 0;
}

/* The address space goes with the process, and with the program when it runs another one. */
bool target__alive(const struct target *target)
{
	uint64_t addr = target->load_bias + elf_image__first_vaddr(target->image);
	char byte;

	return memory__read(target->memory, addr, &byte, 1) != -ESRCH;
}
