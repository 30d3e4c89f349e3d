// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "session/calibrate.h"
#include "session/session.h"
#include "session/uprobes.h"

#include "build/bpf/dbprof.skel.h"

/* The edges of a window lie so far ahead that every CPU knows of them in time. */
#define EDGE_AHEAD_NS 500000ULL
/* And a program that began before the end has ended by then. */
#define SETTLE_NS 2000000ULL

struct link_list {
	int *multi; /* file descriptors of uprobe_multi links */
	size_t multi_count;
	struct bpf_link **perf;
	size_t perf_count;
};

struct session {
	struct session_options options;
	struct dbprof *skeleton;
	bool multi;
	struct dbprof_trap trap;
	struct link_list links;
};

static int silence(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t when)
{
	struct timespec until = { (time_t)(when / 1000000000ULL), (long)(when % 1000000000ULL) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* The programs that sit on uprobes, by kind of probe. */
static struct bpf_program *uprobe_program(struct dbprof *skeleton, enum plan_probe_kind kind)
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
	case PLAN_POLL_ENTER:
		return skeleton->progs.on_poll_enter;
	case PLAN_POLL_LEAVE:
		return skeleton->progs.on_poll_leave;
	default:
		return NULL;
	}
}

int session__open(const struct session_options *options, struct session **ret_session,
		  struct fail *fail)
{
	struct session *session = calloc(1, sizeof(*session));
	int err;

	if (!session)
		return -ENOMEM;
	libbpf_set_print(silence);
	session->options = *options;
	session->skeleton = dbprof__open();
	if (!session->skeleton) {
		err = fail__set(fail, -errno, "the BPF programs cannot be opened: %s",
				strerror(errno));
		session__free(session);
		return err;
	}
	*ret_session = session;
	return 0;
}

static int keep_multi(struct link_list *links, int fd)
{
	int *longer = realloc(links->multi, (links->multi_count + 1) * sizeof(*longer));

	if (!longer) {
		close(fd);
		return -ENOMEM;
	}
	links->multi = longer;
	links->multi[links->multi_count++] = fd;
	return 0;
}

static int keep_perf(struct link_list *links, struct bpf_link *link)
{
	struct bpf_link **longer = realloc(links->perf, (links->perf_count + 1) * sizeof(*longer));

	if (!longer) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	links->perf = longer;
	links->perf[links->perf_count++] = link;
	return 0;
}

/* Measures what a trap costs; the probe on ourselves goes with the others. */
static int calibrate(struct session *session, struct fail *fail)
{
	struct bpf_program *program = session->skeleton->progs.on_calibrate;
	const char *self = "/proc/self/exe";
	int64_t offset = calibrate__offset();
	uint64_t file_offset = (uint64_t)offset, cookie = 0;
	struct bpf_link *link;
	int err = offset < 0 ? (int)offset : 0;

	if (!err && session->multi) {
		err = uprobe_multi__attach(bpf_program__fd(program), self, &file_offset, &cookie, 1,
					   getpid(), false);
		if (err >= 0)
			err = keep_multi(&session->links, err);
	} else if (!err) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts);

		link = bpf_program__attach_uprobe_opts(program, -1, self, file_offset, &opts);
		err = link ? keep_perf(&session->links, link) : -errno;
	}
	if (!err)
		err = calibrate__measure(session->skeleton->bss->calibration, &session->trap);
	if (err)
		return fail__set(fail, err, "no uprobe can be attached here: %s", strerror(-err));
	session->skeleton->bss->trap = session->trap;
	return 0;
}

int session__load(struct session *session, struct fail *fail)
{
	struct dbprof *skeleton = session->skeleton;
	int err;

	session->multi = !session->options.perf_uprobes && uprobe_multi__supported();
	for (enum plan_probe_kind kind = 0; session->multi && kind < PLAN_PROBE_KINDS; kind++)
		bpf_program__set_expected_attach_type(uprobe_program(skeleton, kind),
						      UPROBE_MULTI_ATTACH_TYPE);
	if (session->multi)
		bpf_program__set_expected_attach_type(skeleton->progs.on_calibrate,
						      UPROBE_MULTI_ATTACH_TYPE);
	skeleton->rodata->max_threads = session->options.max_threads;
	bpf_map__set_max_entries(skeleton->maps.threads, session->options.max_threads);
	bpf_map__set_max_entries(skeleton->maps.free_slots, session->options.max_threads);
	bpf_map__set_max_entries(skeleton->maps.circuits, session->options.max_circuits);
	err = dbprof__load(skeleton);
	if (err)
		return fail__set(fail, err, "the kernel refused the BPF programs: %s",
				 strerror(-err));
	skeleton->links.on_sched_switch = bpf_program__attach(skeleton->progs.on_sched_switch);
	if (skeleton->links.on_sched_switch)
		skeleton->links.on_sched_wakeup =
			bpf_program__attach(skeleton->progs.on_sched_wakeup);
	if (!skeleton->links.on_sched_switch || !skeleton->links.on_sched_wakeup) {
		err = -errno;
		return fail__set(fail, err, "the scheduler's tracepoints cannot be attached: %s",
				 strerror(-err));
	}
	return calibrate(session, fail);
}

/* One link for all probes of a kind. Returns how many probes failed. */
static size_t attach_multi(struct session *session, const struct plan *plan,
			   enum plan_probe_kind kind, pid_t pid, const char *path, int *ret_err)
{
	uint64_t offsets[PLAN_PROBES_MAX], cookies[PLAN_PROBES_MAX];
	size_t count = 0;
	int fd;

	for (size_t i = 0; i < plan->probe_count; i++) {
		if (plan->probes[i].kind != kind)
			continue;
		offsets[count] = plan->probes[i].file_offset;
		cookies[count++] = plan->probes[i].cookie;
	}
	if (!count)
		return 0;
	/* Where the kernel's filter is broken the programs filter alone. */
	fd = uprobe_multi__attach(
		bpf_program__fd(uprobe_program(session->skeleton, kind)), path, offsets, cookies,
		count, uprobe_multi__filters_processes() ? pid : 0, kind == PLAN_POLL_LEAVE);
	if (fd >= 0)
		fd = keep_multi(&session->links, fd);
	if (fd < 0)
		*ret_err = fd;
	return fd < 0 ? count : 0;
}

/* Perf uprobes: in all processes, since a pid would tax every context switch of the machine. */
static size_t attach_perf(struct session *session, const struct plan *plan,
			  enum plan_probe_kind kind, const char *path, int *ret_err)
{
	struct bpf_program *program = uprobe_program(session->skeleton, kind);
	size_t failed = 0;

	for (size_t i = 0; i < plan->probe_count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = plan->probes[i].cookie,
			    .retprobe = kind == PLAN_POLL_LEAVE);
		struct bpf_link *link;
		int err;

		if (plan->probes[i].kind != kind)
			continue;
		link = bpf_program__attach_uprobe_opts(program, -1, path,
						       plan->probes[i].file_offset, &opts);
		err = link ? keep_perf(&session->links, link) : -errno;
		if (err) {
			*ret_err = err;
			failed++;
		}
	}
	return failed;
}

int session__add(struct session *session, const struct plan *plan, pid_t pid, const char *path,
		 size_t *ret_failed, struct fail *fail)
{
	const struct dbprof_exited none = {};
	uint32_t tgid = (uint32_t)pid;
	size_t failed = 0, failed_steps = 0;
	int err;

	err = bpf_map__update_elem(session->skeleton->maps.exited, &tgid, sizeof(tgid), &none,
				   sizeof(none), BPF_ANY);
	if (!err)
		err = bpf_map__update_elem(session->skeleton->maps.processes, &tgid, sizeof(tgid),
					   &plan->process, sizeof(plan->process), BPF_ANY);
	if (err)
		return fail__set(fail, err, "too many processes at once: %s", strerror(-err));
	for (enum plan_probe_kind kind = 0; kind < PLAN_PROBE_KINDS; kind++) {
		size_t lost = session->multi ? attach_multi(session, plan, kind, pid, path, &err)
					     : attach_perf(session, plan, kind, path, &err);

		failed += lost;
		if (kind != PLAN_PARK && kind != PLAN_UNPARK)
			failed_steps += lost;
	}
	if (failed_steps)
		return fail__set(fail, err, "no probe can be put into process %d: %s", pid,
				 strerror(-err));
	*ret_failed = failed;
	return 0;
}

int session__begin(struct session *session, uint64_t *ret_start)
{
	uint64_t start = now_ns() + EDGE_AHEAD_NS;

	session->skeleton->bss->window_end = UINT64_MAX;
	session->skeleton->data->window_start = start;
	sleep_until(start);
	*ret_start = start;
	return 0;
}

static void detach_uprobes(struct session *session)
{
	struct link_list *links = &session->links;

	for (size_t i = 0; i < links->multi_count; i++)
		close(links->multi[i]);
	for (size_t i = 0; i < links->perf_count; i++)
		bpf_link__destroy(links->perf[i]);
	free(links->multi);
	free(links->perf);
	*links = (struct link_list){};
}

int session__end(struct session *session, uint64_t *ret_end)
{
	uint64_t end = now_ns() + EDGE_AHEAD_NS;

	session->skeleton->bss->window_end = end;
	sleep_until(end + SETTLE_NS);
	*ret_end = end;
	return 0;
}

int session__detach(struct session *session)
{
	detach_uprobes(session);
	bpf_link__destroy(session->skeleton->links.on_sched_switch);
	bpf_link__destroy(session->skeleton->links.on_sched_wakeup);
	session->skeleton->links.on_sched_switch = NULL;
	session->skeleton->links.on_sched_wakeup = NULL;
	return 0;
}

void session__free(struct session *session)
{
	if (!session)
		return;
	detach_uprobes(session);
	dbprof__destroy(session->skeleton);
	free(session);
}

struct dbprof_trap session__trap(const struct session *session)
{
	return session->trap;
}

const char *session__uprobe_kind(const struct session *session)
{
	return session->multi ? "uprobe_multi" : "perf uprobes";
}

static int read_threads(struct session *session, struct session_data *data)
{
	uint32_t used = session->skeleton->bss->threads_used;

	if (used > session->options.max_threads)
		used = session->options.max_threads;
	data->threads = calloc(used ? used : 1, sizeof(*data->threads));
	if (!data->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < used; i++) {
		int err = bpf_map__lookup_elem(session->skeleton->maps.threads, &i, sizeof(i),
					       &data->threads[i], sizeof(data->threads[i]), 0);

		if (err)
			return err;
	}
	/* Slots of threads that have exited are empty; no process has the id 0. */
	data->thread_count = used;
	return 0;
}

static int read_exited(struct session *session, struct session_data *data)
{
	const struct bpf_map *map = session->skeleton->maps.exited;
	size_t room = bpf_map__max_entries(map);
	uint32_t *previous = NULL;

	data->exited_tgids = calloc(room, sizeof(*data->exited_tgids));
	data->exited = calloc(room, sizeof(*data->exited));
	if (!data->exited_tgids || !data->exited)
		return -ENOMEM;
	while (data->exited_count < room) {
		uint32_t *tgid = &data->exited_tgids[data->exited_count];
		int err = bpf_map__get_next_key(map, previous, tgid, sizeof(*tgid));

		if (!err)
			err = bpf_map__lookup_elem(map, tgid, sizeof(*tgid),
						   &data->exited[data->exited_count],
						   sizeof(data->exited[0]), 0);
		if (err)
			return err == -ENOENT ? 0 : err;
		previous = tgid;
		data->exited_count++;
	}
	return 0;
}

static int read_circuits(struct session *session, struct session_data *data)
{
	const struct bpf_map *map = session->skeleton->maps.circuits;
	size_t room = session->options.max_circuits;
	struct dbprof_circuit_key *previous = NULL;
	int err = 0;

	data->circuit_keys = calloc(room ? room : 1, sizeof(*data->circuit_keys));
	data->circuits = calloc(room ? room : 1, sizeof(*data->circuits));
	if (!data->circuit_keys || !data->circuits)
		return -ENOMEM;
	while (data->circuit_count < room) {
		struct dbprof_circuit_key *key = &data->circuit_keys[data->circuit_count];

		err = bpf_map__get_next_key(map, previous, key, sizeof(*key));
		if (err)
			break;
		err = bpf_map__lookup_elem(map, key, sizeof(*key),
					   &data->circuits[data->circuit_count],
					   sizeof(data->circuits[0]), 0);
		if (err)
			break;
		previous = key;
		data->circuit_count++;
	}
	return err == -ENOENT ? 0 : err;
}

/* Runs that the kernel left out since the same program was already running on that CPU. */
static uint64_t missed_runs(const struct session *session)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, session->skeleton->obj)
	{
		struct bpf_prog_info info = {};
		uint32_t len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
			missed += info.recursion_misses;
	}
	return missed;
}

int session__read(struct session *session, struct session_data **ret_data)
{
	struct session_data *data = calloc(1, sizeof(*data));
	int err;

	if (!data)
		return -ENOMEM;
	err = read_threads(session, data);
	if (!err)
		err = read_exited(session, data);
	if (!err)
		err = read_circuits(session, data);
	if (err) {
		session_data__free(data);
		return err;
	}
	data->losses = session->skeleton->bss->losses;
	data->missed = missed_runs(session);
	*ret_data = data;
	return 0;
}

void session_data__free(struct session_data *data)
{
	if (!data)
		return;
	free(data->threads);
	free(data->exited_tgids);
	free(data->exited);
	free(data->circuit_keys);
	free(data->circuits);
	free(data);
}
