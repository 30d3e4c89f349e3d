// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* record_memory PID FILE: writes what the engine's readers read of the first worker of a program.
 */
#include <errno.h>
#include <string.h>

#include "image.h"
#include "target/proc.h"
#include "util/clock.h"

struct recording {
	struct memory *real;
	struct image_span *spans;
	size_t span_count;
	uint64_t *pages; /* addresses */
	size_t page_count;
};

static void *grow(void *list, size_t count, size_t size)
{
	/* Doubled at powers of two. */
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2 * count : 1) * size);
	if (!list)
		exit(2);
	return list;
}

static void add_page(struct recording *recording, uint64_t page)
{
	for (size_t i = recording->page_count; i-- > 0;)
		if (recording->pages[i] == page)
			return;
	recording->pages = grow(recording->pages, recording->page_count, sizeof(page));
	recording->pages[recording->page_count++] = page;
}

static int record(void *arg, uint64_t addr, void *buf, size_t len)
{
	struct recording *recording = arg;
	int err = memory__read(recording->real, addr, buf, len);

	if (err)
		return err;
	recording->spans = grow(recording->spans, recording->span_count, sizeof(struct image_span));
	recording->spans[recording->span_count++] = (struct image_span){ addr, len };
	for (uint64_t page = addr / IMAGE_PAGE; page <= (addr + len - 1) / IMAGE_PAGE; page++)
		add_page(recording, page * IMAGE_PAGE);
	return 0;
}

static int copy_maps(void *arg, struct mapping **ret_mappings, size_t *ret_count)
{
	const struct recording *recording = arg;
	const struct mapping *first;
	size_t count = memory__mappings(recording->real, &first);
	struct mapping *copy = calloc(count + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, first, count * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i].path = strdup(first[i].path);
	*ret_mappings = copy;
	*ret_count = count;
	return 0;
}

static void write_all(FILE *out, const void *data, size_t size)
{
	if (size && fwrite(data, size, 1, out) != 1)
		exit(2);
}

static void write_image(const struct recording *recording, struct image_head *head, FILE *out)
{
	const struct mapping *first;
	uint8_t page[IMAGE_PAGE];

	head->mappings = memory__mappings(recording->real, &first);
	head->pages = recording->page_count;
	head->spans = recording->span_count;
	write_all(out, head, sizeof(*head));
	for (size_t i = 0; i < head->mappings; i++) {
		const struct image_mapping mapping = {
			.start = first[i].start,
			.end = first[i].end,
			.readable = first[i].readable,
			.writable = first[i].writable,
			.executable = first[i].executable,
		};

		write_all(out, &mapping, sizeof(mapping));
	}
	write_all(out, recording->pages, recording->page_count * sizeof(uint64_t));
	write_all(out, recording->spans, recording->span_count * sizeof(struct image_span));
	for (size_t i = 0; i < recording->page_count; i++) {
		memset(page, 0, sizeof(page));
		memory__read(recording->real, recording->pages[i], page, sizeof(page));
		write_all(out, page, sizeof(page));
	}
}

static int find_worker(const struct target *target, struct target_thread *ret_thread)
{
	struct target_thread *threads;
	size_t count;

	if (target__threads(target, &threads, &count))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (threads[i].worker != 0)
			continue;
		*ret_thread = threads[i];
		free(threads);
		return 0;
	}
	free(threads);
	return -1;
}

static void take_frames(const struct target *target, struct image_head *head)
{
	const struct plan_options options = { .exact = true };
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan || plan__make(target->image, &head->layout, &options, plan, NULL))
		exit(2);
	head->frame_count = plan->frame_count;
	for (size_t i = 0; i < plan->frame_count; i++)
		head->frames[i] = (struct engine_frame){
			.return_address = plan->frames[i].return_address + target->load_bias,
			.state_from_slot = plan->frames[i].state_from_slot,
		};
	free(plan);
}

int main(int argc, char **argv)
{
	static const struct memory_source source = { record, copy_maps };
	struct image_head head = { .clock_ns = clock__now() };
	struct recording recording = { 0 };
	struct target_thread thread;
	struct target *target;
	struct fail fail = { 0 };
	FILE *out = argc == 3 ? fopen(argv[2], "we") : NULL;
	int err;

	if (!out || target__open((pid_t)atoi(argv[1]), &target, &fail) ||
	    find_worker(target, &thread) ||
	    layout__choose(target->image, NULL, &head.layout, &fail) ||
	    target__stack_pointer(target, thread.tid, &head.stack_pointer)) {
		fprintf(stderr, "record_memory PID FILE: %s\n", fail.text);
		return 2;
	}
	take_frames(target, &head);
	recording.real = target->memory;
	if (memory__from_source(&source, &recording, &target->memory))
		return 2;
	err = image__exercise(target, &head, &thread, true);
	if (err) {
		fprintf(stderr, "the worker cannot be read: %s\n", strerror(-err));
		return 1;
	}
	write_image(&recording, &head, out);
	printf("%zu reads, %zu pages\n", recording.span_count, recording.page_count);
	memory__close(recording.real);
	target__close(target);
	free(recording.spans);
	free(recording.pages);
	return fclose(out) ? 2 : 0;
}
