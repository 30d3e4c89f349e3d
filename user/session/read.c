// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Copies of what the programs have counted. */
#include <errno.h>

#include "session/session_internal.h"

/*
 * A thread's record, as it was at @edge unless that is 0. One that has not changed since then is
 * what it was; if it changes while it is read, the second look finds it copied.
 */
static int read_thread(struct session *session, uint32_t index, uint64_t edge,
		       struct dbprof_thread *ret_thread)
{
	const struct bpf_map *threads = session->skeleton->maps.threads;
	struct dbprof_thread_record record, again;
	int err = bpf_map__lookup_elem(threads, &index, sizeof(index), &record, sizeof(record), 0);

	if (!err && edge && record.now.edge != edge) {
		err = bpf_map__lookup_elem(threads, &index, sizeof(index), &again, sizeof(again),
					   0);
		if (again.now.edge == edge)
			record = again;
	}
	if (err)
		return err;
	*ret_thread = edge && record.now.edge == edge ? record.then : record.now;
	return 0;
}

static int read_threads(struct session *session, uint64_t edge, struct session_data *data)
{
	uint32_t used = session->skeleton->bss->threads_used;

	if (used > session->options.max_threads)
		used = session->options.max_threads;
	data->threads = calloc(used ? used : 1, sizeof(*data->threads));
	if (!data->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < used; i++) {
		int err = read_thread(session, i, edge, &data->threads[i]);

		if (err)
			return err;
	}
	/* Slots of threads that have exited are empty; no process has the id 0. */
	data->thread_count = used;
	return 0;
}

/*
 * Copies a hash, keys and values, @room entries at most. What is added meanwhile may be missing;
 * what is there is complete. Returns 0 or a negative errno; the copies are the caller's also then.
 */
static int read_hash(const struct bpf_map *map, size_t room, void **ret_keys, void **ret_values,
		     size_t *ret_count)
{
	size_t key_size = bpf_map__key_size(map), value_size = bpf_map__value_size(map);
	char *keys, *values, *previous = NULL;
	int err = 0;

	*ret_keys = keys = calloc(room ? room : 1, key_size);
	*ret_values = values = calloc(room ? room : 1, value_size);
	*ret_count = 0;
	if (!keys || !values)
		return -ENOMEM;
	while (*ret_count < room) {
		char *key = keys + *ret_count * key_size;

		err = bpf_map__get_next_key(map, previous, key, key_size);
		if (!err)
			err = bpf_map__lookup_elem(map, key, key_size,
						   values + *ret_count * value_size, value_size, 0);
		if (err)
			break;
		previous = key;
		++*ret_count;
	}
	return err == -ENOENT ? 0 : err;
}

/* As read_thread(). */
static void settle_circuit(struct session *session, const struct dbprof_circuit_key *key,
			   uint64_t edge, struct dbprof_circuit_record *record)
{
	struct dbprof_circuit_record again;

	if (record->edge != edge &&
	    !bpf_map__lookup_elem(session->skeleton->maps.circuits, key, sizeof(*key), &again,
				  sizeof(again), 0) &&
	    again.edge == edge)
		*record = again;
	if (record->edge == edge)
		record->now = record->then;
}

int session__circuit(const struct session *session, const struct dbprof_circuit_key *key,
		     struct dbprof_circuit *ret_circuit)
{
	struct dbprof_circuit_record record;
	int err = bpf_map__lookup_elem(session->skeleton->maps.circuits, key, sizeof(*key), &record,
				       sizeof(record), 0);

	if (!err)
		*ret_circuit = record.now;
	return err;
}

static int read_circuits(struct session *session, uint64_t edge, struct session_data *data)
{
	struct dbprof_circuit_record *records = NULL;
	size_t count = 0;
	int err = read_hash(session->skeleton->maps.circuits, session->options.max_circuits,
			    (void **)&data->circuit_keys, (void **)&records, &count);

	data->circuits = calloc(count + 1, sizeof(*data->circuits));
	if (!err && !data->circuits)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		size_t kept = data->circuit_count;

		if (edge)
			settle_circuit(session, &data->circuit_keys[i], edge, &records[i]);
		/* One that made its first step after the edge has nothing to tell of it. */
		if (edge && !records[i].now.first_start)
			continue;
		data->circuit_keys[kept] = data->circuit_keys[i];
		data->circuits[kept] = records[i].now;
		data->circuit_count++;
	}
	free(records);
	return err;
}

static void settle_operator(struct session *session, const struct dbprof_operator_key *key,
			    uint64_t edge, struct dbprof_operator_record *record)
{
	struct dbprof_operator_record again;

	if (record->edge != edge &&
	    !bpf_map__lookup_elem(session->skeleton->maps.operators, key, sizeof(*key), &again,
				  sizeof(again), 0) &&
	    again.edge == edge)
		*record = again;
	if (record->edge == edge)
		record->now = record->then;
}

static int read_operators(struct session *session, uint64_t edge, struct session_data *data)
{
	struct dbprof_operator_record *records = NULL;
	int err = read_hash(session->skeleton->maps.operators, session->options.max_operators,
			    (void **)&data->operator_keys, (void **)&records,
			    &data->operator_count);

	data->operators = calloc(data->operator_count + 1, sizeof(*data->operators));
	if (!err && !data->operators)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < data->operator_count; i++) {
		if (edge)
			settle_operator(session, &data->operator_keys[i], edge, &records[i]);
		data->operators[i] = records[i].now;
	}
	free(records);
	return err;
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

void session__losses(const struct session *session, struct dbprof_losses *ret_losses,
		     uint64_t *ret_missed)
{
	*ret_losses = session->skeleton->bss->losses;
	*ret_missed = missed_runs(session);
}

/* What was counted up to @edge; up to now, when the window is closed, for 0. */
static int read_data(struct session *session, uint64_t edge, struct session_data **ret_data)
{
	struct session_data *data = calloc(1, sizeof(*data));
	int err;

	if (!data)
		return -ENOMEM;
	err = read_threads(session, edge, data);
	if (!err)
		err = session__read_exited(session, edge != 0, data);
	if (!err)
		err = read_circuits(session, edge, data);
	if (!err)
		err = read_operators(session, edge, data);
	if (err) {
		session_data__free(data);
		return err;
	}
	data->losses = session->skeleton->bss->losses;
	data->missed = missed_runs(session);
	data->frequency_hz = session->frequency_hz;
	*ret_data = data;
	return 0;
}

int session__read(struct session *session, struct session_data **ret_data)
{
	return read_data(session, 0, ret_data);
}

int session__read_edge(struct session *session, struct session_data **ret_data)
{
	return read_data(session, session->edge, ret_data);
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
	free(data->operator_keys);
	free(data->operators);
	free(data);
}

static uint64_t run_time(const struct session *session, bool only_probes)
{
	struct bpf_program *program;
	uint64_t ns = 0;

	/* What another profiler has the kernel count begins and ends with that one. */
	if (session->stats_fd < 0)
		return 0;
	bpf_object__for_each_program(program, session->skeleton->obj)
	{
		struct bpf_prog_info info = {};
		uint32_t len = sizeof(info);

		if (only_probes && bpf_program__type(program) != BPF_PROG_TYPE_KPROBE)
			continue;
		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
			ns += info.run_time_ns;
	}
	return ns;
}

uint64_t session__program_ns(const struct session *session)
{
	return run_time(session, false);
}

uint64_t session__probe_ns(const struct session *session)
{
	return run_time(session, true);
}

uint64_t session__hits(const struct session *session)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *counts, hits = 0;
	uint32_t only = 0;

	if (cpus < 1)
		return 0;
	counts = calloc((size_t)cpus, sizeof(*counts));
	if (counts && !bpf_map__lookup_elem(session->skeleton->maps.hits, &only, sizeof(only),
					    counts, (size_t)cpus * sizeof(*counts), 0))
		for (int cpu = 0; cpu < cpus; cpu++)
			hits += counts[cpu];
	free(counts);
	return hits;
}
