// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "session/uprobes.h"

#define UPROBE_MULTI_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

/* link_create of union bpf_attr with its uprobe_multi part, include/uapi/linux/bpf.h since 6.6. */
struct link_create_uprobe_multi {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t padding;
};

_Static_assert(sizeof(struct link_create_uprobe_multi) == 64, "link_create of union bpf_attr");

static int create(const struct link_create_uprobe_multi *create)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, create, sizeof(*create));

	return fd < 0 ? -errno : fd;
}

int uprobe_multi__attach(int prog_fd, const char *path, const uint64_t *offsets,
			 const uint64_t *cookies, size_t count, pid_t pid, bool at_return)
{
	struct link_create_uprobe_multi attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = UPROBE_MULTI_ATTACH_TYPE,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.count = (uint32_t)count,
		.multi_flags = at_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)pid,
	};

	return create(&attr);
}

bool uprobe_multi__supported(void)
{
	/* r0 = 0; exit */
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = UPROBE_MULTI_ATTACH_TYPE);
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "probe", "GPL", insns, 2, &opts);
	uint64_t offset = 0;
	int link;

	if (prog < 0)
		return false;
	/* A folder is no file to probe: a kernel that knows the link type says so by EBADF. */
	link = uprobe_multi__attach(prog, "/", &offset, NULL, 1, 0, false);
	close(prog);
	if (link >= 0)
		close(link);
	return link == -EBADF;
}

bool uprobe_multi__filters_processes(void)
{
	struct utsname name;
	int major, minor;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 10);
}
