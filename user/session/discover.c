// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes in which a DBSP worker starts, as the kernel tells of them at once. */
#include <errno.h>

#include "session/session_internal.h"

#define TRACEPOINT "task_rename"

void session__choose_discovery(struct session *session)
{
	struct bpf_program *program = session->skeleton->progs.on_task_rename;
	bool wanted = session->options.discover &&
		      libbpf_find_vmlinux_btf_id(TRACEPOINT, BPF_TRACE_RAW_TP) > 0;

	bpf_program__set_autoload(program, wanted);
}

static int take(void *context, void *data, size_t size)
{
	struct session *session = context;
	uint32_t pid;

	if (size < sizeof(pid))
		return 0;
	pid = *(const uint32_t *)data;
	session->started_call.found(session->started_call.context, (pid_t)pid);
	return 0;
}

int session__begin_discovery(struct session *session)
{
	struct dbprof *skeleton = session->skeleton;

	if (!bpf_program__autoload(skeleton->progs.on_task_rename))
		return 0;
	session->started =
		ring_buffer__new(bpf_map__fd(skeleton->maps.started), take, session, NULL);
	if (!session->started)
		return -errno;
	skeleton->links.on_task_rename = bpf_program__attach(skeleton->progs.on_task_rename);
	return skeleton->links.on_task_rename ? 0 : -errno;
}

int session__started_fd(const struct session *session)
{
	return session->started ? ring_buffer__epoll_fd(session->started) : -1;
}

bool session__read_started(struct session *session, void (*found)(void *context, pid_t pid),
			   void *context)
{
	uint64_t lost = session->skeleton->bss->started_lost, before = session->started_lost;

	session->started_lost = lost;
	session->started_call = (struct started_call){ found, context };
	if (session->started)
		ring_buffer__consume(session->started);
	return lost != before;
}
