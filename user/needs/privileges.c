// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What this user may do. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "needs/calls.h"
#include "needs/needs.h"
#include "session/namespaces.h"
#include "session/privileges.h"
#include "target/proc.h"

static const struct {
	unsigned int number;
	const char *name;
	enum need_verdict without;
	const char *lost;
	const char *remedy;
} capabilities[] = {
	{ CAP_BPF, "CAP_BPF", NEED_MISSING, "BPF programs cannot be loaded",
	  "run as root (sudo), or setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep on the program" },
	{ CAP_PERFMON, "CAP_PERFMON", NEED_MISSING,
	  "BPF programs cannot trace, and there are no perf events",
	  "run as root (sudo), or setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep on the program" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", NEED_MISSING,
	  "the memory of the program that is to be profiled cannot be read",
	  "run as root (sudo), or setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep on the program" },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", NEED_DEGRADED,
	  "programs of other users cannot be profiled: where their threads are in the kernel is "
	  "in files of theirs",
	  "run as the user whose program it is, or add cap_dac_read_search to the other "
	  "capabilities" },
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN", NEED_DEGRADED,
	  "the kernel does not count the run time of the BPF programs, so that the cost in the "
	  "profile, and what is held against the budget, is that of the probes alone",
	  "run as root (sudo) to see that cost; the rest of the profile is the same" },
};

/* Whether the files of the process's threads belong to this user (proc(5) on ownership). */
static bool is_own(pid_t pid)
{
	struct stat folder;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &folder) && folder.st_uid == geteuid();
}

static int check_capabilities(struct need_list *needs, pid_t pid)
{
	bool own = pid && is_own(pid);
	uint64_t mask = 0;
	int err = privileges__effective(&mask);

	if (err)
		return needs__add(needs, NEED_PRIVILEGES, "capabilities", NEED_UNCHECKED, NULL,
				  NULL, "/proc/self/status: %s", strerror(-err));
	for (size_t i = 0; !err && i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		unsigned int number = capabilities[i].number;
		bool has = privileges__has(mask, number);
		/* Either lets files of other users be read. */
		bool reads = number == CAP_DAC_READ_SEARCH &&
			     privileges__has(mask, CAP_DAC_OVERRIDE);
		bool spared = number == CAP_DAC_READ_SEARCH && own;
		const char *detail = has      ? "there"
				     : reads  ? "CAP_DAC_OVERRIDE stands for it"
				     : spared ? "not needed: the program runs as this user"
					      : "not there";

		if (has && !(mask >> number & 1))
			detail = "CAP_SYS_ADMIN stands for it";
		err = needs__add(needs, NEED_PRIVILEGES, capabilities[i].name,
				 has || reads || spared ? NEED_OK : capabilities[i].without,
				 capabilities[i].lost, capabilities[i].remedy, "%s", detail);
	}
	return err;
}

/* The number in a file of /proc/sys; @fallback when there is none. */
static int read_sysctl(const char *file, int fallback)
{
	char *text;
	int value;

	if (proc__read(AT_FDCWD, file, 4096, &text, NULL))
		return fallback;
	value = atoi(text);
	free(text);
	return value;
}

static int check_sysctls(struct need_list *needs)
{
	int events = read_sysctl("/proc/sys/kernel/perf_event_paranoid", -2);
	int programs = read_sysctl("/proc/sys/kernel/unprivileged_bpf_disabled", -1);
	int yama = read_sysctl("/proc/sys/kernel/yama/ptrace_scope", -1), err;

	/* Levels from 3 on are those of distributions, which not all let CAP_PERFMON through. */
	if (events == -2)
		err = needs__add(needs, NEED_PRIVILEGES, "perf_event_paranoid", NEED_MISSING,
				 "there are no perf events, which samples are taken with",
				 "use a kernel with CONFIG_PERF_EVENTS=y",
				 "there is no kernel.perf_event_paranoid");
	else
		err = needs__add(needs, NEED_PRIVILEGES, "perf_event_paranoid", NEED_OK, NULL, NULL,
				 "%d, which does not matter with CAP_PERFMON%s", events,
				 events > 2 ? "; the trial below shows whether this kernel, of a "
					      "distribution, agrees"
					    : "");
	if (!err && programs >= 0)
		err = needs__add(needs, NEED_PRIVILEGES, "unprivileged_bpf", NEED_OK, NULL, NULL,
				 "kernel.unprivileged_bpf_disabled = %d, which does not matter "
				 "with CAP_BPF",
				 programs);
	if (err)
		return err;
	if (yama < 0)
		return needs__add(needs, NEED_PRIVILEGES, "yama", NEED_OK, NULL, NULL,
				  "not in this kernel");
	return needs__add(needs, NEED_PRIVILEGES, "yama", yama > 2 ? NEED_MISSING : NEED_OK,
			  "the memory of other processes cannot be read, not even by root",
			  "kernel.yama.ptrace_scope = 3 stays until the machine is started again: "
			  "take it out of /etc/sysctl.d, and reboot",
			  yama > 2 ? "kernel.yama.ptrace_scope = %d"
				   : "kernel.yama.ptrace_scope = %d, which does not matter with "
				     "CAP_SYS_PTRACE",
			  yama);
}

static int check_call(struct need_list *needs, enum call call)
{
	int err = call__try(call);
	bool filtered = calls__filtered();

	if (!err)
		return needs__add(needs, NEED_PRIVILEGES, call__name(call), NEED_OK, NULL, NULL,
				  filtered ? "a seccomp filter lets it through"
					   : "no seccomp filter");
	return needs__add(needs, NEED_PRIVILEGES, call__name(call), NEED_MISSING,
			  "profiling does not work without this system call",
			  filtered
				  ? "run outside of the container or service, or let its seccomp "
				    "filter allow bpf, perf_event_open and pidfd_open"
				  : "use a kernel that has it; a security module may forbid it too",
			  "%s: %s", filtered ? "refused by a seccomp filter" : "refused",
			  err == -EINTR ? "whoever calls it is killed" : strerror(-err));
}

static int check_namespaces(struct need_list *needs)
{
	bool all = namespace__is_hosts(NAMESPACE_PID), proc = namespace__has_proc();
	bool user = namespace__is_hosts(NAMESPACE_USER), shifted = namespace__clocks_differ();
	int err = needs__add(needs, NEED_PRIVILEGES, "PID namespace", proc ? NEED_OK : NEED_MISSING,
			     "/proc shows the processes of another PID namespace",
			     "mount that of this one (mount -t proc proc /proc)", "%s",
			     all ? "that of the host"
				 : "one of its own: programs outside of it cannot be profiled");

	if (!err)
		err = needs__add(needs, NEED_PRIVILEGES, "user namespace",
				 user ? NEED_OK : NEED_MISSING,
				 "the kernel lets nobody load BPF programs in one of its own, "
				 "whatever capabilities it gives",
				 "run as root of the host, or in a container without one", "%s",
				 user ? "that of the host" : "one of its own");
	if (err)
		return err;
	return needs__add(needs, NEED_PRIVILEGES, "time namespace",
			  shifted ? NEED_MISSING : NEED_OK,
			  "clocks of its own are not those of the kernel",
			  "run outside of the time namespace", "%s",
			  shifted ? "its clocks are set off" : "the clocks are those of the host");
}

int needs__check_privileges(struct need_list *needs, pid_t pid)
{
	int err = check_capabilities(needs, pid);

	if (!err)
		err = check_sysctls(needs);
	for (enum call call = 0; !err && call < CALLS; call++)
		err = check_call(needs, call);
	if (!err)
		err = check_namespaces(needs);
	return err;
}
