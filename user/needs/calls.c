// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "needs/calls.h"

const char *call__name(enum call call)
{
	static const char *const names[CALLS] = {
		[CALL_BPF] = "bpf()",
		[CALL_PERF_EVENT_OPEN] = "perf_event_open()",
		[CALL_PIDFD_OPEN] = "pidfd_open()",
	};

	return names[call];
}

/* The errno of a call that cannot succeed, or 0 for the one that the kernel answers with. */
static int attempt(enum call call)
{
	union bpf_attr attr = { .info.bpf_fd = (__u32)-1 };
	long result = 0;
	int expected = 0, or = 0;

	switch (call) {
	case CALL_BPF:
		/* Information on no object is to be had by everybody. */
		result = syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
		expected = EBADF;
		or = EBADFD; /* of newer kernels */
		break;
	case CALL_PERF_EVENT_OPEN:
		result = syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0UL);
		expected = EFAULT;
		break;
	case CALL_PIDFD_OPEN:
		result = syscall(SYS_pidfd_open, -1, 0);
		expected = EINVAL;
		break;
	case CALLS:
		break;
	}
	return result < 0 && errno != expected && errno != or ? errno : 0;
}

int call__try(enum call call)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (child == 0) {
		const struct rlimit none = { 0, 0 };

		/* Being killed by the filter is an answer, not worth a core file. */
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_DUMPABLE, 0);
		_exit(attempt(call));
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

bool calls__filtered(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	int mode = 0, found;
	char line[256];

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Seccomp: %d", &found) == 1)
			mode = found;
	fclose(file);
	return mode == 2; /* SECCOMP_MODE_FILTER */
}
