// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is kept of a process goes with it, so that nothing grows however many come and go. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/session_internal.h"

#define RECORD sizeof(struct dbprof_thread_record)

typedef bool matches(const void *key, const void *wanted);

/* Deletes the entries of a hash whose key matches; whoever adds meanwhile adds others. */
static void delete_keys(const struct bpf_map *map, matches *is_wanted, const void *wanted)
{
	size_t size = bpf_map__key_size(map);
	char key[32], next[32];
	int err;

	if (size > sizeof(key))
		return;
	err = bpf_map__get_next_key(map, NULL, key, size);
	while (!err) {
		/* Before this one goes, behind which it would not be found any more. */
		err = bpf_map__get_next_key(map, key, next, size);
		if (is_wanted(key, wanted))
			bpf_map__delete_elem(map, key, size, 0);
		__builtin_memcpy(key, next, size);
	}
}

/* The threads of a process, sorted. */
struct tids {
	uint32_t tgid;
	uint32_t *tids;
	size_t count;
};

static int compare_tids(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static bool is_circuit(const void *key, const void *wanted)
{
	return ((const struct dbprof_circuit_key *)key)->tgid ==
	       ((const struct tids *)wanted)->tgid;
}

static bool is_entry(const void *key, const void *wanted)
{
	return ((const struct dbprof_entry_key *)key)->process == *(const uint32_t *)wanted;
}

static bool is_operator(const void *key, const void *wanted)
{
	const struct tids *tids = wanted;
	uint32_t tid = ((const struct dbprof_operator_key *)key)->tid;

	return tids->count &&
	       bsearch(&tid, tids->tids, tids->count, sizeof(tid), compare_tids) != NULL;
}

static void put_aside(struct session *session, uint32_t slot)
{
	uint32_t *longer = reallocarray(session->freed, session->freed_count + 1, sizeof(*longer));

	if (!longer)
		return; /* the slot stays taken: a loss of room, not of truth */
	session->freed = longer;
	session->freed[session->freed_count++] = slot;
}

/*
 * The slots of the process' threads. A thread that exits at the same moment frees its own, so that
 * the one of us that clears the owner does it.
 */
static void free_threads(struct session *session, struct tids *tids)
{
	struct dbprof *skeleton = session->skeleton;
	uint32_t used = skeleton->bss->threads_used;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (session->options.max_threads * RECORD + page - 1) / page * page;
	struct dbprof_thread_record *records = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
						    bpf_map__fd(skeleton->maps.threads), 0);

	if (records == MAP_FAILED)
		return;
	if (used > session->options.max_threads)
		used = session->options.max_threads;
	tids->tids = calloc(used + 1, sizeof(*tids->tids));
	for (uint32_t i = 0; i < used; i++) {
		struct dbprof_thread *thread = &records[i].now;

		if (thread->tgid != tids->tgid)
			continue;
		if (tids->tids)
			tids->tids[tids->count++] = thread->tid;
		if (!__sync_bool_compare_and_swap(&thread->tgid, tids->tgid, 0))
			continue;
		records[i] = (struct dbprof_thread_record){};
		put_aside(session, i);
	}
	munmap(records, size);
	qsort(tids->tids, tids->count, sizeof(*tids->tids), compare_tids);
}

void session__reuse_slots(struct session *session)
{
	for (size_t i = 0; i < session->freed_count; i++)
		bpf_map__update_elem(session->skeleton->maps.free_slots, NULL, 0,
				     &session->freed[i], sizeof(session->freed[i]), BPF_ANY);
	free(session->freed);
	session->freed = NULL;
	session->freed_count = 0;
}

/* Whether probes that fire in all processes may stay: another process runs the same file. */
static bool is_shared(const struct session *session, const struct attachment *attachment)
{
	for (uint32_t i = 0; i < session->process_count; i++)
		if (session->processes[i] && session->files[i].device == attachment->device &&
		    session->files[i].inode == attachment->inode)
			return true;
	return false;
}

static void drop_probes(struct session *session, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->attachment_count; i++) {
		struct attachment *attachment = &session->attachments[i];
		bool is_probe = attachment->kind < PLAN_PROBE_KINDS;
		bool its = attachment->pid ? attachment->pid == pid
					   : !is_shared(session, attachment);

		if (is_probe && its)
			session__drop_attachment(session, attachment);
		else
			session->attachments[kept++] = *attachment;
	}
	session->attachment_count = kept;
}

static void delete_exited(struct session *session, uint32_t tgid)
{
	for (uint32_t sum = 0; sum < 2; sum++) {
		struct dbprof_exited_key key = { .tgid = tgid, .sum = sum };

		bpf_map__delete_elem(session->skeleton->maps.exited, &key, sizeof(key), 0);
	}
}

void session__remove(struct session *session, pid_t pid)
{
	const struct dbprof *skeleton = session->skeleton;
	struct tids tids = { .tgid = (uint32_t)pid };
	uint32_t index = 0;

	while (index < session->process_count && session->processes[index] != pid)
		index++;
	if (index == session->process_count)
		return;
	/* First, so that no thread of it comes in anew. */
	bpf_map__delete_elem(skeleton->maps.process_index, &session->kernel_pids[index],
			     sizeof(session->kernel_pids[index]), 0);
	session->processes[index] = 0;
	drop_probes(session, pid);
	free_threads(session, &tids);
	delete_keys(skeleton->maps.operators, is_operator, &tids);
	delete_keys(skeleton->maps.circuits, is_circuit, &tids);
	delete_keys(skeleton->maps.entries, is_entry, &index);
	delete_exited(session, tids.tgid);
	free(tids.tids);
}

size_t session__processes(const struct session *session)
{
	size_t count = 0;

	for (uint32_t i = 0; i < session->process_count; i++)
		count += session->processes[i] != 0;
	return count;
}

size_t session__attachments(const struct session *session)
{
	size_t count = 0;

	for (size_t i = 0; i < session->attachment_count; i++)
		count += session->attachments[i].fd >= 0 || session->attachments[i].link;
	return count;
}
