// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Process ids of PID namespaces. The kernel's programs see those of the host; in a container only
 * the kernel itself can tell which process that is.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/namespaces.h"
#include "session/session_internal.h"

#define OF_THREAD O_EXCL /* PIDFD_THREAD, since Linux 6.9 */

/*
 * Visits processes until there are no more; kernels from 6.1 on visit only the one that is asked
 * for. Returns 0 or a negative errno.
 */
static int visit(struct session *session, pid_t pid)
{
	union bpf_iter_link_info which = { .task.tid = (uint32_t)pid };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &which,
		    .link_info_len = sizeof(which));
	struct bpf_link *link =
		bpf_program__attach_iter(session->skeleton->progs.find_process, &opts);
	char nothing[64];
	ssize_t len;
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : 0;
	do
		len = fd < 0 ? 0 : read(fd, nothing, sizeof(nothing));
	while (len > 0 || (len < 0 && (errno == EAGAIN || errno == EINTR)));
	if (len < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

int session__kernel_pid(struct session *session, pid_t pid, uint32_t *ret_pid)
{
	struct dbprof__bss *shared = session->skeleton->bss;
	int err;

	if (namespace__is_hosts(NAMESPACE_PID)) {
		*ret_pid = (uint32_t)pid;
		return 0;
	}
	shared->sought.pid = (uint32_t)pid;
	shared->sought.kernel_pid = 0;
	err = visit(session, pid);
	if (err)
		return err;
	if (!shared->sought.kernel_pid)
		return -ESRCH;
	shared->pid_level = shared->sought.level;
	*ret_pid = shared->sought.kernel_pid;
	return 0;
}

int session__learn_level(struct session *session)
{
	uint32_t own;

	return session__kernel_pid(session, getpid(), &own);
}

void session__expect_thread(struct session *session, pid_t tid)
{
	int thread = (int)syscall(SYS_pidfd_open, tid, OF_THREAD);
	uint32_t none = 0;

	if (thread < 0)
		return;
	bpf_map__update_elem(session->skeleton->maps.slots, &thread, sizeof(thread), &none,
			     sizeof(none), BPF_ANY);
	close(thread);
}
