// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the programs need of the machine, asked before the kernel refuses without saying why. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/namespaces.h"
#include "session/privileges.h"
#include "session/session.h"

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
	int err = privileges__effective(&mask);

	if (err)
		return fail__set(fail, err, "/proc/self/status: %s", strerror(-err));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (privileges__has(mask, needed[i].number))
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

static int check_namespaces(struct fail *fail)
{
	if (!namespace__is_hosts(NAMESPACE_USER))
		return fail__set(fail, -EPERM,
				 "this is a user namespace of its own, in which the kernel lets "
				 "nobody load BPF programs; run as root of the host, or in a "
				 "container without one");
	if (!namespace__has_proc())
		return fail__set(fail, -ENOTSUP,
				 "/proc shows the processes of another PID namespace; mount that "
				 "of this one (mount -t proc proc /proc)");
	if (namespace__clocks_differ())
		return fail__set(fail, -ENOTSUP,
				 "this is a time namespace with clocks of its own, which are not "
				 "those of the kernel; run outside of it");
	return 0;
}

int session__check(struct fail *fail)
{
	int err = check_namespaces(fail);

	if (!err)
		err = check_capabilities(fail);

	if (err)
		return err;
	if (access(KERNEL_BTF, R_OK))
		return fail__set(fail, -ENOTSUP,
				 "the kernel has no BTF (" KERNEL_BTF
				 "); use one built with CONFIG_DEBUG_INFO_BTF=y");
	return 0;
}
