// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How full the maps are. */
#include "session/session_internal.h"

static uint64_t count_keys(const struct bpf_map *map)
{
	char key[32], *previous = NULL;
	size_t size = bpf_map__key_size(map);
	uint64_t count = 0, room = bpf_map__max_entries(map);

	if (size > sizeof(key))
		return 0;
	while (count < room && !bpf_map__get_next_key(map, previous, key, size)) {
		previous = key;
		count++;
	}
	return count;
}

/* Slots that were ever taken, of which those that are free now are not counted. */
static uint64_t count_threads(const struct session *session)
{
	uint32_t used = session->skeleton->bss->threads_used;
	uint64_t count = 0;

	for (uint32_t i = 0; i < used && i < session->options.max_threads; i++) {
		struct dbprof_thread_record record;

		if (!bpf_map__lookup_elem(session->skeleton->maps.threads, &i, sizeof(i), &record,
					  sizeof(record), 0))
			count += record.now.tgid != 0;
	}
	return count;
}

void session__fill(const struct session *session, struct session_fill ret_fills[SESSION_FILLS])
{
	const struct dbprof *skeleton = session->skeleton;

	ret_fills[0] = (struct session_fill){ "threads", count_threads(session),
					      session->options.max_threads };
	ret_fills[1] = (struct session_fill){ "circuits", count_keys(skeleton->maps.circuits),
					      session->options.max_circuits };
	ret_fills[2] = (struct session_fill){ "operators", count_keys(skeleton->maps.operators),
					      session->options.max_operators };
	ret_fills[3] =
		(struct session_fill){ "processes", session__processes(session), DBPROF_PROCESSES };
}
