// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gather.h"

/* A system call costs about as much as copying this many bytes that nobody asked for. */
#define GAP_MAX	 2048
#define SPAN_MAX (256 * 1024)

int buffer__reserve(struct buffer *buffer, size_t len)
{
	uint8_t *bytes;

	if (len <= buffer->capacity)
		return 0;
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	free(buffer->bytes);
	buffer->bytes = bytes;
	buffer->capacity = len;
	return 0;
}

int buffer__read(struct buffer *buffer, struct memory *memory, uint64_t addr, size_t len)
{
	int err = buffer__reserve(buffer, len);

	if (err || len == 0)
		return err;
	return memory__read(memory, addr, buffer->bytes, len);
}

void buffer__free(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){ 0 };
}

static int compare_parts(const void *left, const void *right)
{
	const struct gather_part *a = left, *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* One by one, when the memory between the parts cannot be read as a whole. */
static int read_each(struct memory *memory, struct gather_part *parts, size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count; i++) {
		struct gather_part *part = &parts[i];

		part->err = part->len ? memory__read(memory, part->addr, part->to, part->len) : 0;
		if (part->err == -ESRCH)
			return -ESRCH;
		if (part->err)
			result = part->err;
	}
	return result;
}

/* Parts and what lies between them in one read. */
static int read_span(struct memory *memory, struct gather_part *parts, size_t count, uint64_t end)
{
	uint64_t start = parts[0].addr;
	uint8_t *span;
	int err;

	if (count == 1 || start == end)
		return read_each(memory, parts, count);
	span = malloc(end - start);
	if (!span)
		return -ENOMEM;
	err = memory__read(memory, start, span, end - start);
	for (size_t i = 0; !err && i < count; i++) {
		memcpy(parts[i].to, span + (parts[i].addr - start), parts[i].len);
		parts[i].err = 0;
	}
	free(span);
	return err && err != -ESRCH ? read_each(memory, parts, count) : err;
}

/* How many parts from the first on are worth one read, and where that ends. */
static size_t take_span(const struct gather_part *parts, size_t count, uint64_t *ret_end)
{
	uint64_t start = parts[0].addr;
	uint64_t end = start + parts[0].len;
	size_t taken = 1;

	for (; taken < count && end - start <= SPAN_MAX; taken++) {
		const struct gather_part *part = &parts[taken];
		uint64_t part_end = part->addr + part->len;

		if (part_end < part->addr || part_end - start > SPAN_MAX)
			break;
		if (part->addr > end && part->addr - end > GAP_MAX)
			break;
		if (part_end > end)
			end = part_end;
	}
	*ret_end = end;
	return taken;
}

int gather__read(struct memory *memory, struct gather_part *parts, size_t count)
{
	int result = 0;

	if (count == 0)
		return 0;
	qsort(parts, count, sizeof(*parts), compare_parts);
	for (size_t first = 0; first < count;) {
		uint64_t end;
		size_t taken = take_span(&parts[first], count - first, &end);
		int err = read_span(memory, &parts[first], taken, end);

		if (err)
			result = err;
		if (err == -ESRCH || err == -ENOMEM)
			break;
		first += taken;
	}
	return result;
}
