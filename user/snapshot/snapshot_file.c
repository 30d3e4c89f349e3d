// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "snapshot/snapshot_code.h"
#include "snapshot/snapshot_file.h"

/* The first byte is no text, and the line end tells of a transfer that changes them. */
static const uint8_t magic[SNAPSHOT_FILE_MAGIC] = { 0x93, 'd', 'b', 'p', 'r', 'o', 'f', '\n' };

#define TAG_ABOUT   "ABOU"
#define TAG_THREADS "THRD"
#define TAG_GRAPH   "GRPH"
#define TAG_WORKER  "WORK"
#define TAG_END	    "LAST"
#define TAG_LEN	    4
/* More than that is no snapshot: thousands of operators of hundreds of workers are less. */
#define FILE_MAX (1ULL << 31)

bool snapshot_file__is_one(const void *bytes, size_t len)
{
	return len >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

/* The stream with the checksum of what went into it. */
struct sink {
	FILE *out;
	uint32_t crc;
	int err;
};

static void put(struct sink *sink, const void *bytes, size_t len)
{
	if (sink->err)
		return;
	if (len && fwrite(bytes, 1, len, sink->out) != len)
		sink->err = errno ? -errno : -EIO;
	sink->crc = (uint32_t)crc32_z(sink->crc, bytes, len);
}

static void put_section(struct sink *sink, const char *tag, struct coder *coder)
{
	struct coder head;
	uint64_t len = coder->len;

	coder__begin_write(&head);
	coder__raw(&head, (char *)tag, TAG_LEN);
	coder__u64(&head, &len);
	if (!sink->err)
		sink->err = head.err ? head.err : coder->err;
	put(sink, head.bytes, head.len);
	put(sink, coder->bytes, coder->len);
	coder__clear(&head);
	coder__clear(coder);
}

static void put_head(struct sink *sink)
{
	uint32_t version = SNAPSHOT_FILE_VERSION;
	struct coder coder;

	coder__begin_write(&coder);
	coder__raw(&coder, (uint8_t *)magic, sizeof(magic));
	coder__u32(&coder, &version);
	sink->err = coder.err;
	put(sink, coder.bytes, coder.len);
	coder__clear(&coder);
}

static void put_end(struct sink *sink)
{
	static const char tag[] = TAG_END;
	uint64_t len = sizeof(uint32_t);
	struct coder coder;

	coder__begin_write(&coder);
	coder__raw(&coder, (char *)tag, TAG_LEN);
	coder__u64(&coder, &len);
	sink->err = sink->err ? sink->err : coder.err;
	put(sink, coder.bytes, coder.len);
	coder__clear(&coder);
	coder__u32(&coder, &sink->crc);
	sink->err = sink->err ? sink->err : coder.err;
	put(sink, coder.bytes, coder.len);
	coder__clear(&coder);
}

/*
 * Workers run the same circuit: each graph is written once. *@ret_number has, for each worker, the
 * number of its graph from 1, 0 for none; @graphs the workers' positions. Returns how many.
 */
static uint32_t number_graphs(const struct snapshot *snapshot, uint32_t *numbers, size_t *graphs)
{
	uint32_t count = 0;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct graph *graph = snapshot->workers[i].graph;
		uint32_t same = 0;

		if (!graph)
			continue;
		while (same < count && !graph__equal(snapshot->workers[graphs[same]].graph, graph))
			same++;
		if (same == count)
			graphs[count++] = i;
		numbers[i] = same + 1;
	}
	return count;
}

static void put_snapshot(struct sink *sink, struct snapshot *snapshot, uint32_t *numbers,
			 const size_t *graphs, uint32_t graph_count)
{
	uint32_t worker_count = (uint32_t)snapshot->worker_count;
	struct coder coder;

	put_head(sink);
	coder__begin_write(&coder);
	code_about(&coder, snapshot, &graph_count, &worker_count);
	put_section(sink, TAG_ABOUT, &coder);
	code_threads(&coder, snapshot);
	put_section(sink, TAG_THREADS, &coder);
	for (uint32_t i = 0; i < graph_count; i++) {
		code_graph(&coder, &snapshot->workers[graphs[i]].graph);
		put_section(sink, TAG_GRAPH, &coder);
	}
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		code_worker(&coder, &snapshot->workers[i], &numbers[i], NULL, graph_count);
		put_section(sink, TAG_WORKER, &coder);
	}
	put_end(sink);
}

int snapshot_file__write(const struct snapshot *snapshot, FILE *out)
{
	uint32_t *numbers = calloc(snapshot->worker_count + 1, sizeof(*numbers));
	size_t *graphs = calloc(snapshot->worker_count + 1, sizeof(*graphs));
	struct sink sink = { .out = out, .err = numbers && graphs ? 0 : -ENOMEM };

	/* The same functions read, which is why they take what they may change; they do not. */
	if (!sink.err)
		put_snapshot(&sink, (struct snapshot *)snapshot, numbers, graphs,
			     number_graphs(snapshot, numbers, graphs));
	free(numbers);
	free(graphs);
	return sink.err;
}

static int read_all(FILE *in, uint8_t **ret_bytes, size_t *ret_len, struct fail *fail)
{
	size_t len = 0, capacity = 1 << 16, got;
	uint8_t *bytes = NULL, *longer;

	do {
		longer = realloc(bytes, capacity);
		if (!longer) {
			free(bytes);
			return -ENOMEM;
		}
		bytes = longer;
		got = fread(bytes + len, 1, capacity - len, in);
		len += got;
		capacity *= 2;
	} while (got && len < FILE_MAX);
	*ret_bytes = bytes;
	*ret_len = len;
	if (ferror(in))
		return errno ? -errno : -EIO;
	return len < FILE_MAX ? 0 : fail__set(fail, -EFBIG, "it is too large for a snapshot");
}

/* The next section is a @tag; *@ret_part reads it. */
static void open_section(struct coder *whole, const char *tag, struct coder *ret_part)
{
	char found[TAG_LEN];
	uint64_t len = 0;

	coder__raw(whole, found, TAG_LEN);
	coder__u64(whole, &len);
	if (!whole->err && memcmp(found, tag, TAG_LEN))
		coder__refuse(whole, "the section %s is missing", tag);
	else if (!whole->err && len > whole->len - whole->at)
		coder__refuse(whole, "it ends too early");
	if (whole->err)
		len = 0;
	coder__begin_read(ret_part, whole->bytes + whole->at, (size_t)len, whole->fail);
	ret_part->err = whole->err;
	whole->at += (size_t)len;
}

static void close_section(struct coder *whole, struct coder *part)
{
	if (!part->err && part->at != part->len)
		coder__refuse(part, "a section is too long");
	whole->err = whole->err ? whole->err : part->err;
}

/* What is left is the checksum of all before it, so that this comes first. */
static void check_sum(struct coder *whole)
{
	size_t end = whole->len, tail = TAG_LEN + sizeof(uint64_t) + sizeof(uint32_t);
	struct coder last, part;
	uint32_t crc = 0;

	if (end - whole->at < tail) {
		coder__refuse(whole, "it ends too early");
		return;
	}
	coder__begin_read(&last, whole->bytes + end - tail, tail, whole->fail);
	open_section(&last, TAG_END, &part);
	coder__u32(&part, &crc);
	close_section(&last, &part);
	if (!last.err && crc != (uint32_t)crc32_z(0, whole->bytes, end - sizeof(crc)))
		coder__refuse(&last, "its checksum does not fit");
	whole->err = last.err;
	whole->len = end - tail;
}

static void check_head(struct coder *whole)
{
	uint8_t found[SNAPSHOT_FILE_MAGIC];
	uint32_t version = 0;

	if (!snapshot_file__is_one(whole->bytes, whole->len)) {
		whole->err = fail__set(whole->fail, -EBADMSG, "it is no snapshot file");
		return;
	}
	coder__raw(whole, found, sizeof(found));
	coder__u32(whole, &version);
	if (!whole->err && version != SNAPSHOT_FILE_VERSION)
		whole->err = fail__set(whole->fail, -ENOTSUP,
				       "it is a snapshot of version %u, and this program reads "
				       "version %u: use the program that wrote it",
				       version, SNAPSHOT_FILE_VERSION);
}

static void read_workers(struct coder *whole, struct snapshot *snapshot, uint32_t count,
			 struct graph **graphs, uint32_t graph_count)
{
	/* Each takes at least its section's head in the file. */
	if (count > (whole->len - whole->at) / (TAG_LEN + sizeof(uint64_t)))
		coder__refuse(whole, "there are no %u workers", count);
	else
		snapshot->workers = calloc(count + 1ULL, sizeof(*snapshot->workers));
	if (!snapshot->workers)
		whole->err = whole->err ? whole->err : -ENOMEM;
	for (uint32_t i = 0; i < count && !whole->err; i++) {
		struct snapshot_worker *worker = &snapshot->workers[i];
		uint32_t graph = 0;
		struct coder part;

		snapshot->worker_count = i + 1;
		open_section(whole, TAG_WORKER, &part);
		code_worker(&part, worker, &graph, graphs, graph_count);
		if (!part.err && i && worker[-1].index >= worker->index)
			coder__refuse(&part, "the workers are out of order");
		close_section(whole, &part);
	}
	if (!whole->err && whole->at != whole->len)
		coder__refuse(whole, "there is something after its end");
}

/* The first worker that has a graph owns it; one without is of no use. */
static void give_graphs(struct coder *whole, struct snapshot *snapshot, struct graph **graphs,
			uint32_t graph_count)
{
	for (uint32_t i = 0; i < graph_count && !whole->err; i++) {
		size_t at = 0;

		while (at < snapshot->worker_count && snapshot->workers[at].graph != graphs[i])
			at++;
		if (at == snapshot->worker_count)
			coder__refuse(whole, "graph %u is of no worker", i + 1);
	}
	for (uint32_t i = 0; i < graph_count; i++) {
		for (size_t at = 0; at < snapshot->worker_count && !whole->err; at++) {
			if (snapshot->workers[at].graph != graphs[i])
				continue;
			snapshot->workers[at].graph_borrowed = false;
			break;
		}
		if (whole->err)
			graph__free(graphs[i]);
	}
}

static void read_graphs(struct coder *whole, struct snapshot *snapshot, uint32_t graph_count,
			uint32_t worker_count)
{
	struct graph **graphs = NULL;
	uint32_t count = 0;

	if (graph_count > worker_count ||
	    graph_count > (whole->len - whole->at) / (TAG_LEN + sizeof(uint64_t)))
		coder__refuse(whole, "there are no %u graphs", graph_count);
	else
		graphs = calloc(graph_count + 1ULL, sizeof(struct graph *));
	if (!graphs)
		whole->err = whole->err ? whole->err : -ENOMEM;
	for (; count < graph_count && !whole->err; count++) {
		struct coder part;

		open_section(whole, TAG_GRAPH, &part);
		code_graph(&part, &graphs[count]);
		close_section(whole, &part);
	}
	if (!whole->err)
		read_workers(whole, snapshot, worker_count, graphs, graph_count);
	give_graphs(whole, snapshot, graphs, count);
	free(graphs);
}

static void read_snapshot(struct coder *whole, struct snapshot *snapshot)
{
	uint32_t graph_count = 0, worker_count = 0;
	struct coder part;

	check_head(whole);
	if (!whole->err)
		check_sum(whole);
	open_section(whole, TAG_ABOUT, &part);
	code_about(&part, snapshot, &graph_count, &worker_count);
	if (!part.err && snapshot->cost.budget < 0)
		coder__refuse(&part, "the budget is negative");
	close_section(whole, &part);
	open_section(whole, TAG_THREADS, &part);
	code_threads(&part, snapshot);
	close_section(whole, &part);
	if (!whole->err)
		read_graphs(whole, snapshot, graph_count, worker_count);
}

int snapshot_file__read(FILE *in, struct snapshot **ret_snapshot, struct fail *fail)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct coder whole;
	uint8_t *bytes = NULL;
	size_t len = 0;
	int err = snapshot ? read_all(in, &bytes, &len, fail) : -ENOMEM;

	if (!err) {
		coder__begin_read(&whole, bytes, len, fail);
		read_snapshot(&whole, snapshot);
		err = whole.err;
	}
	free(bytes);
	if (err)
		snapshot__free(snapshot);
	else
		*ret_snapshot = snapshot;
	return err;
}
