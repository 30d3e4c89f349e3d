// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The root circuit: CircuitInner<()>, src/circuit/circuit_builder.rs. */
#include <errno.h>
#include <stdlib.h>

#include "engine/engine_internal.h"
#include "engine/graph_reader.h"

#define COUNT_MAX    UINT32_MAX /* references to a circuit: a few per node and stream */
#define HANDLERS_MAX 64
#define STACK_MAX    (64ull * 1024 * 1024)
#define IMAGES_MAX   (16ull * 1024 * 1024) /* bytes of candidates at a time */

/* The root circuits that a stack points at. */
struct scan {
	struct target *target;
	const struct layout *layout;
	uint64_t low;
	size_t len;
	struct buffer stack;
	uint64_t *words; /* the distinct ones that could be pointers, ascending */
	size_t word_count;
};

bool engine_root__decode(const struct layout *layout, const uint8_t *bytes,
			 struct engine_root *ret_root)
{
	uint64_t strong = field_u64(layout, bytes, LAYOUT_ROOT_STRONG);
	uint64_t weak = field_u64(layout, bytes, LAYOUT_ROOT_WEAK);
	int64_t borrow = (int64_t)field_u64(layout, bytes, LAYOUT_ROOT_NODES_BORROW);
	struct engine_root root = {
		.circuit_handlers = field_u64(layout, bytes, LAYOUT_ROOT_CIRCUIT_HANDLERS),
		.scheduler_handlers = field_u64(layout, bytes, LAYOUT_ROOT_SCHEDULER_HANDLERS),
	};
	struct extent path;

	if (strong == 0 || strong > COUNT_MAX || weak == 0 || weak > COUNT_MAX)
		return false;
	/* The root has no root above it, the id 0, and an empty path. */
	if (field_tag(layout, bytes, LAYOUT_ROOT_PARENT_TAG, LAYOUT_ROOT_PARENT_TAGSIZE) !=
		    layout__get(layout, LAYOUT_ROOT_PARENT_IS_NONE) ||
	    field_u64(layout, bytes, LAYOUT_ROOT_NODE_ID) ||
	    !field_vec(layout, field(layout, bytes, LAYOUT_ROOT_GLOBAL_ID), 0, &path))
		return false;
	if (borrow < -1 || borrow > (int64_t)COUNT_MAX ||
	    !field_vec(layout, field(layout, bytes, LAYOUT_ROOT_NODES), GRAPH_NODES_MAX,
		       &root.nodes))
		return false;
	if (root.nodes.len == 0 || !root.circuit_handlers || root.circuit_handlers % 8 ||
	    !root.scheduler_handlers || root.scheduler_handlers % 8)
		return false;
	*ret_root = root;
	return true;
}

int engine_root__read(struct memory *memory, const struct layout *layout, uint64_t address,
		      struct engine_root *ret_root)
{
	struct buffer bytes = { 0 };
	int err = buffer__read(&bytes, memory, address, layout__get(layout, LAYOUT_ROOT_SIZE));

	if (err == -EFAULT || (!err && !engine_root__decode(layout, bytes.bytes, ret_root)))
		err = -EAGAIN;
	if (!err)
		ret_root->address = address;
	buffer__free(&bytes);
	return err;
}

static bool name_is(struct memory *memory, const struct layout *layout, const uint8_t *entry,
		    const char *name)
{
	size_t len = strlen(name);
	struct extent text;
	char copy[64];

	return field_string(layout, field(layout, entry, LAYOUT_HANDLER_NAME), &text) &&
	       text.len == len && len <= sizeof(copy) &&
	       memory__read(memory, text.addr, copy, len) == 0 && memcmp(copy, name, len) == 0;
}

int engine_handlers__find(struct memory *memory, const struct layout *layout, uint64_t handlers,
			  const char *name, enum layout_item closure_item, uint64_t *ret_inner)
{
	struct buffer bytes = { 0 }, image = { 0 };
	struct table_header header;
	uint64_t strong, closure = 0, cursor = 0;
	const uint8_t *entry;
	int err = buffer__read(&bytes, memory, handlers, layout__get(layout, LAYOUT_HANDLERS_SIZE));

	if (err)
		goto out;
	strong = field_u64(layout, bytes.bytes, LAYOUT_HANDLERS_STRONG);
	err = table_header__decode(layout, field(layout, bytes.bytes, LAYOUT_HANDLERS_TABLE),
				   layout__get(layout, LAYOUT_HANDLER_SIZE), &header);
	if (!err && (strong == 0 || strong > COUNT_MAX || header.items > HANDLERS_MAX))
		err = -EPROTO;
	if (!err)
		err = table__read(memory, &header, &image);
	while (!err && !closure && (entry = table__next(&header, image.bytes, &cursor)))
		if (name_is(memory, layout, entry, name))
			closure = field_u64(layout, entry, LAYOUT_HANDLER_CLOSURE);
	if (!err && !closure)
		err = -ENOENT;
	if (!err)
		err = memory__read_u64(memory, closure + layout__get(layout, closure_item),
				       ret_inner);
	if (!err && (*ret_inner == 0 || *ret_inner % 8))
		err = -EPROTO;
out:
	buffer__free(&bytes);
	buffer__free(&image);
	return err;
}

static int compare_words(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int read_stack(struct scan *scan, pid_t tid, struct fail *fail)
{
	uint64_t high;
	int err = target__thread_stack(scan->target, tid, &scan->low, &high);

	if (err == -EBUSY || err == -EFAULT)
		return fail__set(fail, -EAGAIN, "the stack of thread %d was not to be had", tid);
	if (err)
		return err;
	scan->low = (scan->low + 7) & ~7ull;
	if (high <= scan->low)
		return -EAGAIN;
	scan->len = (high - scan->low > STACK_MAX ? STACK_MAX : high - scan->low) & ~(size_t)7;
	err = buffer__read(&scan->stack, scan->target->memory, scan->low, scan->len);
	return err == -EFAULT ? -EAGAIN : err;
}

/* Circuits live on the heap: readable, writable, aligned. */
static int collect_words(struct scan *scan)
{
	const struct memory *memory = scan->target->memory;
	uint64_t size = layout__get(scan->layout, LAYOUT_ROOT_SIZE);
	size_t kept = 0;

	scan->words = malloc(scan->len + sizeof(uint64_t));
	if (!scan->words)
		return -ENOMEM;
	for (size_t at = 0; at < scan->len; at += 8) {
		uint64_t word = load_u64(scan->stack.bytes + at);
		const struct mapping *mapping;

		if (word == 0 || word % 8 || word > INT64_MAX - size)
			continue;
		mapping = memory__mapping(memory, word);
		if (mapping && mapping->readable && mapping->writable &&
		    word + size <= mapping->end)
			scan->words[scan->word_count++] = word;
	}
	qsort(scan->words, scan->word_count, sizeof(*scan->words), compare_words);
	for (size_t i = 0; i < scan->word_count; i++) {
		if (kept == 0 || scan->words[kept - 1] != scan->words[i])
			scan->words[kept++] = scan->words[i];
	}
	scan->word_count = kept;
	return 0;
}

/* Whether a decoded circuit also has a map of event handlers with the monitor in it. */
static bool has_monitor(struct scan *scan, struct engine_root *root)
{
	struct memory *memory = scan->target->memory;

	return memory__readable(memory, root->nodes.addr, root->nodes.len * 8) &&
	       engine_handlers__find(memory, scan->layout, root->circuit_handlers, "monitor",
				     LAYOUT_MONITOR_CLOSURE, &root->monitor) == 0;
}

/*
 * Takes @root when it is better than *best: one that a handle holds, of several the one whose
 * runtime was made first.
 */
static void take_root(struct scan *scan, struct engine_root *root, struct engine_root *best,
		      size_t *count)
{
	bool handled = engine_handle__find(scan->target->memory, scan->layout, scan->stack.bytes,
					   scan->len, scan->low, root->address, &root->handle);

	if (best->address && best->handle.address && !handled)
		return;
	if (handled && best->handle.address) {
		if (root->handle.idle.base_ns < best->handle.idle.base_ns)
			*best = *root;
		return;
	}
	*count = handled ? 1 : *count + 1;
	*best = *root;
}

/* Looks at the @count candidates from @first on, in few reads. */
static int look_at(struct scan *scan, size_t first, size_t count, struct gather_part *parts,
		   uint8_t *images, struct engine_root *best, size_t *ret_count)
{
	size_t size = layout__get(scan->layout, LAYOUT_ROOT_SIZE);
	int err;

	for (size_t i = 0; i < count; i++)
		parts[i] = (struct gather_part){
			.addr = scan->words[first + i],
			.len = (uint32_t)size,
			.to = images + i * size,
		};
	err = gather__read(scan->target->memory, parts, count);
	if (err == -ENOMEM || err == -ESRCH)
		return err;
	/* Words of a mapping that has just gone are no circuits. */
	for (size_t i = 0; i < count; i++) {
		struct engine_root root;

		if (parts[i].err || !engine_root__decode(scan->layout, parts[i].to, &root))
			continue;
		root.address = parts[i].addr;
		if (has_monitor(scan, &root))
			take_root(scan, &root, best, ret_count);
	}
	return 0;
}

/* Looks at all candidates; however many words a stack has, few are copied at a time. */
static int look(struct scan *scan, struct engine_root *best, size_t *ret_count)
{
	size_t size = layout__get(scan->layout, LAYOUT_ROOT_SIZE), most = IMAGES_MAX / size;
	size_t batch = scan->word_count < most ? scan->word_count : most;
	struct gather_part *parts = calloc(batch + 1, sizeof(*parts));
	struct buffer images = { 0 };
	int err = parts ? buffer__reserve(&images, batch * size + 1) : -ENOMEM;

	for (size_t first = 0; !err && first < scan->word_count; first += batch) {
		size_t left = scan->word_count - first;

		err = look_at(scan, first, left < batch ? left : batch, parts, images.bytes, best,
			      ret_count);
	}
	free(parts);
	buffer__free(&images);
	return err;
}

int engine_root__find(struct target *target, const struct layout *layout,
		      const struct target_thread *thread, struct engine_root *ret_root,
		      struct fail *fail)
{
	struct scan scan = { .target = target, .layout = layout };
	bool knows_handle = fields__check(layout, FIELDS_HANDLE, NULL) == 0;
	struct engine_root best = { 0 };
	size_t count = 0;
	int err = read_stack(&scan, thread->tid, fail);

	if (!err)
		err = collect_words(&scan);
	if (!err)
		err = look(&scan, &best, &count);
	if (err)
		goto out;
	if (count == 0)
		err = fail__set(fail, -EAGAIN,
				"thread %d (%s) has no circuit, or the layout from %s does not fit",
				thread->tid, thread->comm, layout->source);
	else if (count > 1)
		err = fail__set(fail, -EAGAIN,
				"thread %d (%s) has %zu circuits, which are being built",
				thread->tid, thread->comm, count);
	else if (knows_handle && !best.handle.address)
		err = fail__set(fail, -EAGAIN, "the circuit of thread %d (%s) is being built",
				thread->tid, thread->comm);
	if (!err)
		*ret_root = best;
out:
	free(scan.words);
	buffer__free(&scan.stack);
	return err;
}
