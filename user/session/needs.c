// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the programs need of the machine, asked before the kernel refuses without saying why. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"

#define KERNEL_BTF     "/sys/kernel/btf/vmlinux"
#define INIT_PID_INODE 0xEFFFFFFCU /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

static int effective_capabilities(uint64_t *ret_mask)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long long mask;
	char line[256];
	int err = -ENODATA;

	if (!status)
		return -errno;
	while (err && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "CapEff: %llx", &mask) == 1) {
			*ret_mask = mask;
			err = 0;
		}
	}
	fclose(status);
	return err;
}

static int check_capabilities(struct fail *fail)
{
	static const struct {
		unsigned int number;
		const char *name;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	};
	char missing[128] = "";
	uint64_t mask = 0;
	int err = effective_capabilities(&mask);

	if (err)
		return fail__set(fail, err, "/proc/self/status: %s", strerror(-err));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		/* CAP_SYS_ADMIN stands for the two that were split off it, not for the third. */
		bool has = mask >> needed[i].number & 1 ||
			   (needed[i].number != CAP_SYS_PTRACE && mask >> CAP_SYS_ADMIN & 1);

		if (has)
			continue;
		if (missing[0])
			strncat(missing, ", ", sizeof(missing) - strlen(missing) - 1);
		strncat(missing, needed[i].name, sizeof(missing) - strlen(missing) - 1);
	}
	if (missing[0])
		return fail__set(fail, -EPERM, "missing privileges: %s; run as root (sudo)",
				 missing);
	return 0;
}

int session__check(struct fail *fail)
{
	struct stat pid_namespace;
	int err = check_capabilities(fail);

	if (err)
		return err;
	if (access(KERNEL_BTF, R_OK))
		return fail__set(fail, -ENOTSUP,
				 "the kernel has no BTF (" KERNEL_BTF
				 "); use one built with CONFIG_DEBUG_INFO_BTF=y");
	if (!stat("/proc/self/ns/pid", &pid_namespace) && pid_namespace.st_ino != INIT_PID_INODE)
		return fail__set(fail, -ENOTSUP,
				 "this is a PID namespace of its own; run on the host, or in a "
				 "container started with the host's PID namespace");
	return 0;
}
