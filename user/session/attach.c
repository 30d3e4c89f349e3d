// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Putting probes and samplers in, and taking them out. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/session_internal.h"
#include "session/uprobes.h"

#define PLAN_CALIBRATE PLAN_PROBE_KINDS	      /* the probe on ourselves, of no plan */
#define PLAN_SAMPLER   (PLAN_PROBE_KINDS + 1) /* and the timers */

struct bpf_program *session__program(struct dbprof *skeleton, enum plan_probe_kind kind)
{
	switch (kind) {
	case PLAN_PARK:
		return skeleton->progs.on_park;
	case PLAN_UNPARK:
		return skeleton->progs.on_unpark;
	case PLAN_STEP_BEGIN:
		return skeleton->progs.on_step_begin;
	case PLAN_STEP_END:
		return skeleton->progs.on_step_end;
	case PLAN_STEP_LEFT:
		return skeleton->progs.on_step_left;
	case PLAN_POLL_ENTER:
		return skeleton->progs.on_poll_enter;
	case PLAN_POLL_LEAVE:
		return skeleton->progs.on_poll_leave;
	case PLAN_EXACT:
		return skeleton->progs.on_exact;
	case PLAN_TASK_ENTRY:
		return skeleton->progs.on_task_entry;
	case PLAN_CALIBRATE:
		return skeleton->progs.on_calibrate;
	}
	return NULL;
}

void session__drop_attachment(struct session *session, struct attachment *attachment)
{
	if (attachment->fd >= 0)
		closer__close(session->closer, attachment->fd);
	bpf_link__destroy(attachment->link);
	*attachment = (struct attachment){ .fd = -1 };
}

int session__keep(struct session *session, struct attachment attachment)
{
	struct attachment *longer =
		realloc(session->attachments, (session->attachment_count + 1) * sizeof(*longer));

	if (!longer) {
		session__drop_attachment(session, &attachment);
		return -ENOMEM;
	}
	session->attachments = longer;
	session->attachments[session->attachment_count++] = attachment;
	return 0;
}

/*
 * Whether a probe that fires in all processes is in the file already, for another process of the
 * same program. Notes the file in @ret_attachment.
 */
static bool is_attached(const struct session *session, enum plan_probe_kind kind, const char *path,
			uint64_t offset, struct attachment *ret_attachment)
{
	struct stat file;

	if (stat(path, &file))
		return false;
	ret_attachment->device = file.st_dev;
	ret_attachment->inode = file.st_ino;
	ret_attachment->offset = offset;
	for (size_t i = 0; i < session->attachment_count; i++) {
		const struct attachment *other = &session->attachments[i];

		if (!other->pid && other->kind == kind && other->device == file.st_dev &&
		    other->inode == file.st_ino && other->offset == offset)
			return true;
	}
	return false;
}

static int attach_multi(struct session *session, enum plan_probe_kind kind, const uint64_t *offsets,
			const uint64_t *cookies, size_t count, const char *path, pid_t pid)
{
	struct attachment attachment = { .pid = pid, .kind = kind };
	int program = bpf_program__fd(session__program(session->skeleton, kind));

	/* Where the kernel's filter is broken the programs filter alone. */
	if (!uprobe_multi__filters_processes())
		attachment.pid = 0;
	if (!attachment.pid && is_attached(session, kind, path, offsets[0], &attachment))
		return 0;
	attachment.fd = uprobe_multi__attach(program, path, offsets, cookies, count, attachment.pid,
					     kind == PLAN_POLL_LEAVE);
	return attachment.fd < 0 ? attachment.fd : session__keep(session, attachment);
}

/* A perf uprobe: in all processes, since a pid would tax every context switch of the machine. */
static int attach_perf(struct session *session, enum plan_probe_kind kind, uint64_t offset,
		       uint64_t cookie, const char *path)
{
	struct attachment attachment = { .kind = kind, .fd = -1 };
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie,
		    .retprobe = kind == PLAN_POLL_LEAVE);

	if (is_attached(session, kind, path, offset, &attachment))
		return 0;
	attachment.link = bpf_program__attach_uprobe_opts(session__program(session->skeleton, kind),
							  -1, path, offset, &opts);
	return attachment.link ? session__keep(session, attachment) : -errno;
}

size_t session__attach_uprobes(struct session *session, enum plan_probe_kind kind,
			       const uint64_t *offsets, const uint64_t *cookies, size_t count,
			       const char *path, pid_t pid, int *ret_err)
{
	size_t failed = 0;
	int err;

	if (!count)
		return 0;
	if (session->multi) {
		err = attach_multi(session, kind, offsets, cookies, count, path, pid);
		if (err)
			*ret_err = err;
		return err ? count : 0;
	}
	for (size_t i = 0; i < count; i++) {
		err = attach_perf(session, kind, offsets[i], cookies[i], path);
		if (err) {
			*ret_err = err;
			failed++;
		}
	}
	return failed;
}

static size_t attach_kind(struct session *session, const struct plan *plan,
			  enum plan_probe_kind kind, pid_t pid, const char *path, int *ret_err)
{
	uint64_t offsets[PLAN_PROBES_MAX], cookies[PLAN_PROBES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < plan->probe_count; i++) {
		if (plan->probes[i].kind != kind)
			continue;
		offsets[count] = plan->probes[i].file_offset;
		cookies[count++] = plan->probes[i].cookie;
	}
	return session__attach_uprobes(session, kind, offsets, cookies, count, path, pid, ret_err);
}

static bool is_essential(enum plan_probe_kind kind)
{
	return kind != PLAN_PARK && kind != PLAN_UNPARK && kind != PLAN_TASK_ENTRY;
}

/* Where the process is, or the first free place for 0; process_count when there is none. */
static uint32_t place_of(const struct session *session, pid_t pid)
{
	uint32_t index = 0;

	while (index < session->process_count && session->processes[index] != pid)
		index++;
	return index;
}

/* Probes that fire in all processes go with the last one that runs their file. */
static void note_file(struct session *session, pid_t pid, const char *path)
{
	uint32_t index = place_of(session, pid);
	struct stat file;

	if (index < session->process_count && !stat(path, &file))
		session->files[index] = (struct process_file){ file.st_dev, file.st_ino };
}

int session__set_process(struct session *session, pid_t pid, const struct dbprof_process *process)
{
	uint32_t index = place_of(session, pid);
	bool known = index < session->process_count;
	uint32_t kernel_pid;
	int err;

	if (!known)
		index = place_of(session, 0);
	if (index == DBPROF_PROCESSES)
		return -E2BIG;
	err = bpf_map__update_elem(session->skeleton->maps.processes, &index, sizeof(index),
				   process, sizeof(*process), BPF_ANY);
	if (err || known)
		return err;
	err = session__kernel_pid(session, pid, &kernel_pid);
	if (!err)
		err = session__begin_exited(session, pid);
	if (err)
		return err;
	/* Only now, when the description is there, does the process count as profiled. */
	session->processes[index] = pid;
	session->kernel_pids[index] = kernel_pid;
	session->past[index] = (struct dbprof_exited){};
	session->files[index] = (struct process_file){};
	if (index == session->process_count)
		session->process_count++;
	return bpf_map__update_elem(session->skeleton->maps.process_index, &kernel_pid,
				    sizeof(kernel_pid), &index, sizeof(index), BPF_ANY);
}

int session__add(struct session *session, const struct plan *plan, uint32_t kinds, pid_t pid,
		 const char *path, size_t *ret_failed, struct fail *fail)
{
	size_t failed = 0, failed_steps = 0;
	int err = 0;

	note_file(session, pid, path);
	for (enum plan_probe_kind kind = 0; kind < PLAN_PROBE_KINDS; kind++) {
		size_t lost = kinds >> kind & 1 ? attach_kind(session, plan, kind, pid, path, &err)
						: 0;

		failed += lost;
		if (is_essential(kind))
			failed_steps += lost;
	}
	if (failed_steps)
		return fail__set(fail, err, "no probe can be put into process %d: %s", pid,
				 strerror(-err));
	*ret_failed = failed;
	return 0;
}

void session__drop(struct session *session, pid_t pid, uint32_t kinds)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->attachment_count; i++) {
		struct attachment *attachment = &session->attachments[i];
		bool its = attachment->pid ? attachment->pid == pid
					   : session__processes(session) == 1;

		if (its && kinds >> attachment->kind & 1)
			session__drop_attachment(session, attachment);
		else
			session->attachments[kept++] = *attachment;
	}
	session->attachment_count = kept;
}

static int attach_sampler(struct session *session, int cpu, uint32_t frequency_hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = frequency_hz,
	};
	struct attachment attachment = { .kind = PLAN_SAMPLER, .fd = -1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno; /* a CPU that is offline */
	/* The link takes the descriptor over. */
	attachment.link = bpf_program__attach_perf_event(session->skeleton->progs.on_sample, fd);
	if (!attachment.link) {
		close(fd);
		return -errno;
	}
	return session__keep(session, attachment);
}

int session__sample(struct session *session, uint32_t frequency_hz, struct fail *fail)
{
	int cpus = libbpf_num_possible_cpus(), err = cpus < 0 ? cpus : 0;

	for (int cpu = 0; !err && cpu < cpus; cpu++)
		err = attach_sampler(session, cpu, frequency_hz);
	if (err)
		return fail__set(fail, err, "the sampler cannot be attached: %s", strerror(-err));
	session->frequency_hz = frequency_hz;
	return 0;
}

void session__stop_sampling(struct session *session)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->attachment_count; i++) {
		if (session->attachments[i].kind == PLAN_SAMPLER)
			session__drop_attachment(session, &session->attachments[i]);
		else
			session->attachments[kept++] = session->attachments[i];
	}
	session->attachment_count = kept;
}

int session__detach(struct session *session)
{
	struct dbprof *skeleton = session->skeleton;

	for (size_t i = 0; i < session->attachment_count; i++)
		session__drop_attachment(session, &session->attachments[i]);
	free(session->attachments);
	session->attachments = NULL;
	session->attachment_count = 0;
	bpf_link__destroy(skeleton->links.on_sched_switch);
	bpf_link__destroy(skeleton->links.on_sched_waking);
	bpf_link__destroy(skeleton->links.on_exec);
	skeleton->links.on_exec = NULL;
	skeleton->links.on_sched_switch = NULL;
	skeleton->links.on_sched_waking = NULL;
	return 0;
}
