// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel itself must have. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "needs/needs.h"
#include "session/privileges.h"
#include "session/uprobes.h"
#include "target/proc.h"

/* bpf_get_attach_cookie() and bpf_task_pt_regs() of our programs came with 5.15. */
#define OLDEST_MAJOR 5
#define OLDEST_MINOR 15
/* uprobe_multi links. */
#define MULTI_MAJOR 6
#define MULTI_MINOR 6

static bool older(int major, int minor, int than_major, int than_minor)
{
	return major < than_major || (major == than_major && minor < than_minor);
}

static int check_version(struct need_list *needs)
{
	struct utsname name;
	int major = 0, minor = 0;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return needs__add(needs, NEED_KERNEL, "version", NEED_UNCHECKED, NULL, NULL,
				  "the kernel's version is not to be had");
	if (older(major, minor, OLDEST_MAJOR, OLDEST_MINOR))
		return needs__add(needs, NEED_KERNEL, "version", NEED_MISSING,
				  "the BPF programs use calls that came with Linux 5.15",
				  "use Linux 5.15 or newer, better 6.10 or newer", "%s",
				  name.release);
	if (older(major, minor, MULTI_MAJOR, MULTI_MINOR))
		return needs__add(needs, NEED_KERNEL, "version", NEED_DEGRADED,
				  "no uprobe_multi: probes need CAP_SYS_ADMIN and are hit in all "
				  "processes of the same file",
				  "use Linux 6.10 or newer, or a program whose CPU profiler is on, "
				  "which needs no probe",
				  "%s, older than 6.6", name.release);
	if (!uprobe_multi__filters_processes())
		return needs__add(needs, NEED_KERNEL, "version", NEED_DEGRADED,
				  "probes are hit in all processes of the same file",
				  "use Linux 6.10 or newer where several of them run",
				  "%s, older than 6.10", name.release);
	return needs__add(needs, NEED_KERNEL, "version", NEED_OK, NULL, NULL, "%s", name.release);
}

/* The typedefs that the kernel's BTF has of its tracepoints, include/trace/bpf_probe.h. */
static int check_tracepoints(struct need_list *needs, const struct btf *btf)
{
	bool both = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF) > 0 &&
		    btf__find_by_name_kind(btf, "btf_trace_sched_waking", BTF_KIND_TYPEDEF) > 0;

	return needs__add(needs, NEED_KERNEL, "tracepoints", both ? NEED_OK : NEED_MISSING,
			  "the scheduler's switches, which every mode counts",
			  "use a kernel with CONFIG_TRACEPOINTS=y and complete BTF",
			  both ? "sched_switch and sched_waking are in the BTF"
			       : "sched_switch or sched_waking is not in the BTF");
}

static int check_btf(struct need_list *needs)
{
	static const char lost[] = "the BPF programs cannot be fitted to this kernel";
	struct btf *btf = access(KERNEL_BTF, R_OK) ? NULL : btf__parse(KERNEL_BTF, NULL);
	int err;

	if (!btf) {
		err = needs__add(needs, NEED_KERNEL, "BTF", NEED_MISSING, lost,
				 "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, and mount sysfs",
				 KERNEL_BTF " cannot be read: %s", strerror(errno));
		if (!err)
			err = needs__add(needs, NEED_KERNEL, "tracepoints", NEED_UNCHECKED, NULL,
					 NULL, "they are looked up in the BTF");
		return err;
	}
	err = needs__add(needs, NEED_KERNEL, "BTF", NEED_OK, NULL, NULL, "%s, %u types", KERNEL_BTF,
			 btf__type_cnt(btf));
	if (!err)
		err = check_tracepoints(needs, btf);
	btf__free(btf);
	return err;
}

static int check_jit(struct need_list *needs)
{
	static const char file[] = "/proc/sys/net/core/bpf_jit_enable";
	char *text;
	int err = proc__read(AT_FDCWD, file, 4096, &text, NULL), value;

	if (err == -ESRCH)
		return needs__add(needs, NEED_KERNEL, "BPF JIT", NEED_UNCHECKED, NULL, NULL,
				  "this network namespace does not show net.core.bpf_jit_enable");
	if (err)
		return needs__add(needs, NEED_KERNEL, "BPF JIT", NEED_UNCHECKED, NULL, NULL,
				  "only root may read net.core.bpf_jit_enable");
	value = atoi(text);
	free(text);
	return needs__add(needs, NEED_KERNEL, "BPF JIT", value ? NEED_OK : NEED_DEGRADED,
			  "the programs are interpreted, so that a profile costs several times as "
			  "much",
			  "sysctl net.core.bpf_jit_enable=1", "net.core.bpf_jit_enable = %d",
			  value);
}

/* "none [integrity] confidentiality": the one in brackets is in force. */
static int check_lockdown(struct need_list *needs)
{
	char *text, *mode, *end;
	int err = proc__read(AT_FDCWD, "/sys/kernel/security/lockdown", 4096, &text, NULL);
	bool locked;

	if (err)
		return needs__add(needs, NEED_KERNEL, "lockdown",
				  err == -ESRCH ? NEED_OK : NEED_UNCHECKED, NULL, NULL,
				  err == -ESRCH ? "not in force, or securityfs is not mounted"
						: "/sys/kernel/security/lockdown: %s",
				  strerror(-err));
	mode = strchr(text, '[');
	end = mode ? strchr(mode, ']') : NULL;
	locked = end && !strncmp(mode, "[confidentiality]", 17);
	err = needs__add(
		needs, NEED_KERNEL, "lockdown", locked ? NEED_MISSING : NEED_OK,
		"BPF programs may not read the kernel's memory, and there are no perf "
		"events",
		"start the kernel without lockdown=confidentiality; integrity does no harm", "%.*s",
		end ? (int)(end - mode - 1) : 1, end ? mode + 1 : "?");
	free(text);
	return err;
}

int needs__check_kernel(struct need_list *needs)
{
	int err = check_version(needs);

	if (!err)
		err = needs__check_options(needs);
	if (!err)
		err = check_btf(needs);
	if (!err)
		err = check_jit(needs);
	if (!err)
		err = check_lockdown(needs);
	if (!err)
		err = needs__add(needs, NEED_KERNEL, "tracefs", NEED_OK, NULL, NULL,
				 "not needed, nor is debugfs");
	return err;
}
