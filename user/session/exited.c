// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Threads that have exited, of which only a sum is kept; struct dbprof_exited_key tells of which.
 */
#include <errno.h>

#include "session/session_internal.h"

#define EXITED_WORDS (sizeof(struct dbprof_exited) / sizeof(__u64))

static void add(struct dbprof_exited *sum, const struct dbprof_exited *part)
{
	for (size_t i = 0; i < EXITED_WORDS; i++)
		((__u64 *)sum)[i] += ((const __u64 *)part)[i];
}

static int set_sum(struct session *session, pid_t pid, uint32_t number)
{
	struct dbprof_exited_key key = { .tgid = (uint32_t)pid, .sum = number };
	const struct dbprof_exited none = {};

	return bpf_map__update_elem(session->skeleton->maps.exited, &key, sizeof(key), &none,
				    sizeof(none), BPF_ANY);
}

static int add_sum(struct session *session, pid_t pid, uint32_t number, struct dbprof_exited *sum)
{
	struct dbprof_exited_key key = { .tgid = (uint32_t)pid, .sum = number };
	struct dbprof_exited part;
	int err = bpf_map__lookup_elem(session->skeleton->maps.exited, &key, sizeof(key), &part,
				       sizeof(part), 0);

	if (!err)
		add(sum, &part);
	return err;
}

int session__begin_exited(struct session *session, pid_t pid)
{
	int err = set_sum(session, pid, 0);

	return err ? err : set_sum(session, pid, 1);
}

/* Nobody adds to the sum for those before the edge any more: it is free for after the next one. */
static int read_process(struct session *session, uint32_t index, bool at_edge,
			struct dbprof_exited *ret_exited)
{
	uint32_t before = !(session->edge & 1);
	pid_t pid = session->processes[index];
	struct dbprof_exited *past = &session->past[index];
	int err;

	if (at_edge) {
		err = add_sum(session, pid, before, past);
		if (!err)
			err = set_sum(session, pid, before);
		*ret_exited = *past;
		return err;
	}
	*ret_exited = *past;
	err = add_sum(session, pid, 0, ret_exited);
	return err ? err : add_sum(session, pid, 1, ret_exited);
}

int session__read_exited(struct session *session, bool at_edge, struct session_data *data)
{
	int err = 0;

	data->exited_tgids = calloc(session->process_count + 1, sizeof(*data->exited_tgids));
	data->exited = calloc(session->process_count + 1, sizeof(*data->exited));
	if (!data->exited_tgids || !data->exited)
		return -ENOMEM;
	for (uint32_t i = 0; i < session->process_count && !err; i++) {
		size_t count = data->exited_count;

		if (!session->processes[i])
			continue;
		data->exited_tgids[count] = (uint32_t)session->processes[i];
		err = read_process(session, i, at_edge, &data->exited[count]);
		data->exited_count++;
	}
	return err;
}
