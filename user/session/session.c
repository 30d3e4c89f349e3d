// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/calibrate.h"
#include "session/namespaces.h"
#include "session/session_internal.h"
#include "session/uprobes.h"
#include "util/clock.h"

/* The edges of a window lie so far ahead that every CPU knows of them in time. */
#define EDGE_AHEAD_NS 500000ULL
/* And a program that began before the end has ended by then. */
#define SETTLE_NS 2000000ULL

static int silence(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
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
	session->stats_fd = -1;
	session->closer = closer__new();
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

static void set_sizes(struct session *session)
{
	const struct session_options *options = &session->options;
	struct dbprof *skeleton = session->skeleton;

	skeleton->rodata->max_threads = options->max_threads;
	bpf_program__set_autoload(skeleton->progs.find_process,
				  !namespace__is_hosts(NAMESPACE_PID));
	bpf_map__set_max_entries(skeleton->maps.threads, options->max_threads);
	bpf_map__set_max_entries(skeleton->maps.free_slots, options->max_threads);
	bpf_map__set_max_entries(skeleton->maps.circuits, options->max_circuits);
	bpf_map__set_max_entries(skeleton->maps.operators, options->max_operators);
	bpf_map__set_max_entries(skeleton->maps.turns, (__u32)libbpf_num_possible_cpus());
}

static void choose_uprobes(struct session *session)
{
	struct bpf_program *program;

	session->multi = !session->options.perf_uprobes && uprobe_multi__supported();
	if (!session->multi)
		return;
	bpf_object__for_each_program(program,
				     session->skeleton->obj) if (bpf_program__type(program) ==
								 BPF_PROG_TYPE_KPROBE)
		bpf_program__set_expected_attach_type(program, UPROBE_MULTI_ATTACH_TYPE);
}

/* Measures what a trap costs; the probe on ourselves goes with the others. */
static int calibrate(struct session *session, struct fail *fail)
{
	int64_t offset = calibrate__offset();
	uint64_t file_offset = (uint64_t)offset, cookie = 0;
	int err = offset < 0 ? (int)offset : 0;

	if (!err)
		session__attach_uprobes(session, PLAN_PROBE_KINDS, &file_offset, &cookie, 1,
					"/proc/self/exe", getpid(), &err);
	if (!err)
		err = calibrate__measure(session->skeleton->bss->calibration, &session->trap);
	if (err)
		return fail__set(fail, err, "no uprobe can be attached here: %s%s", strerror(-err),
				 !session->multi && (err == -EACCES || err == -EPERM)
					 ? "; perf uprobes need CAP_SYS_ADMIN"
					 : "");
	session->skeleton->bss->trap = session->trap;
	return 0;
}

int session__load(struct session *session, struct fail *fail)
{
	struct dbprof *skeleton = session->skeleton;
	int err;

	choose_uprobes(session);
	session__choose_discovery(session);
	set_sizes(session);
	err = dbprof__load(skeleton);
	if (err)
		return fail__set(fail, err, "the kernel refused the BPF programs: %s",
				 strerror(-err));
	skeleton->links.on_sched_switch = bpf_program__attach(skeleton->progs.on_sched_switch);
	if (skeleton->links.on_sched_switch)
		skeleton->links.on_sched_waking =
			bpf_program__attach(skeleton->progs.on_sched_waking);
	if (skeleton->links.on_sched_waking)
		skeleton->links.on_exec = bpf_program__attach(skeleton->progs.on_exec);
	if (!skeleton->links.on_exec) {
		err = -errno;
		return fail__set(fail, err, "the scheduler's tracepoints cannot be attached: %s",
				 strerror(-err));
	}
	err = session__learn_level(session);
	if (!err)
		err = session__begin_discovery(session);
	if (err)
		return fail__set(fail, err, "starting processes cannot be watched: %s",
				 strerror(-err));
	return calibrate(session, fail);
}

int session__add_worker(struct session *session, pid_t tid, uint64_t idle_totals)
{
	uint32_t key = (uint32_t)tid;
	int err = bpf_map__update_elem(session->skeleton->maps.worker_tids, &key, sizeof(key),
				       &idle_totals, sizeof(idle_totals), BPF_ANY);

	session->skeleton->bss->worker_generation++;
	return err;
}

void session__remove_worker(struct session *session, pid_t tid)
{
	uint32_t key = (uint32_t)tid;

	bpf_map__delete_elem(session->skeleton->maps.worker_tids, &key, sizeof(key), 0);
}

uint64_t session__entry_depth(const struct session *session, pid_t pid, unsigned int frame)
{
	struct dbprof_entry_key key = { .frame = frame };
	uint64_t depth;

	while (key.process < session->process_count && session->processes[key.process] != pid)
		key.process++;
	if (bpf_map__lookup_elem(session->skeleton->maps.entries, &key, sizeof(key), &depth,
				 sizeof(depth), 0))
		return 0;
	return depth;
}

void session__measure_programs(struct session *session, bool on)
{
	if (session->stats_fd >= 0)
		close(session->stats_fd);
	session->stats_fd = on ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
}

int session__begin(struct session *session, uint64_t *ret_start)
{
	uint64_t start = clock__now() + EDGE_AHEAD_NS;

	session->skeleton->bss->window_end = UINT64_MAX;
	session->skeleton->data->window_start = start;
	clock__sleep_until(start);
	session->start = start;
	*ret_start = start;
	return 0;
}

int session__join(struct session *session, pid_t pid, struct dbprof_process *process,
		  uint64_t *ret_start)
{
	uint64_t start = clock__now() + EDGE_AHEAD_NS;
	int err;

	process->since = start;
	err = session__set_process(session, pid, process);
	if (err)
		return err;
	clock__sleep_until(start);
	*ret_start = start;
	return 0;
}

int session__mark_edge(struct session *session, uint64_t *ret_edge)
{
	uint64_t edge = clock__now() + EDGE_AHEAD_NS;

	/* By turns odd and even, odd first: see struct dbprof_exited_key. */
	edge += (edge & 1) == (session->edge & 1);
	session->skeleton->data->window_edge = edge;
	clock__sleep_until(edge + SETTLE_NS);
	session__reuse_slots(session);
	session->edge = edge;
	*ret_edge = edge;
	return 0;
}

int session__end(struct session *session, uint64_t *ret_end)
{
	uint64_t end = clock__now() + EDGE_AHEAD_NS;

	session->skeleton->bss->window_end = end;
	clock__sleep_until(end + SETTLE_NS);
	*ret_end = end;
	return 0;
}

void session__free(struct session *session)
{
	if (!session)
		return;
	if (session->skeleton)
		session__detach(session);
	if (session->stats_fd >= 0)
		close(session->stats_fd);
	closer__free(session->closer);
	ring_buffer__free(session->started);
	free(session->freed);
	dbprof__destroy(session->skeleton);
	free(session);
}

struct dbprof_trap session__trap(const struct session *session)
{
	return session->trap;
}

bool session__is_multi(const struct session *session)
{
	return session->multi;
}

const char *session__uprobe_kind(const struct session *session)
{
	return session->multi ? "uprobe_multi" : "perf uprobes";
}
