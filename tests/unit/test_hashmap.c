// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hashbrown tables and gathered reads, in this process's own memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "engine/gather.h"
#include "engine/hashmap.h"

#define BUCKETS 8

/* A table as hashbrown lays it out: entries downwards from the control bytes. */
struct image {
	uint64_t entries[BUCKETS];
	uint8_t ctrl[BUCKETS + 16];
};

static struct layout test_layout(void)
{
	struct layout layout = { 0 };

	layout.value[LAYOUT_TABLE_CTRL] = 0;
	layout.value[LAYOUT_TABLE_MASK] = 8;
	layout.value[LAYOUT_TABLE_ITEMS] = 24;
	return layout;
}

static int decode(const void *ctrl, uint64_t mask, uint64_t items, uint64_t entry_size,
		  struct table_header *ret_header)
{
	struct layout layout = test_layout();
	uint64_t words[] = { (uintptr_t)ctrl, mask, 0, items };

	return table_header__decode(&layout, (const uint8_t *)words, entry_size, ret_header);
}

static void check_headers(void)
{
	static struct image image;
	struct table_header header;

	CHECK(decode(image.ctrl, BUCKETS - 1, 3, 8, &header) == 0 && header.buckets == BUCKETS);
	CHECK(decode(image.ctrl, 0, 0, 8, &header) == 0 && header.buckets == 0);
	CHECK(decode(image.ctrl, 5, 3, 8, &header) == -EPROTO); /* no power of two */
	CHECK(decode(image.ctrl, 7, 9, 8, &header) == -EPROTO); /* more than fit */
	CHECK(decode(image.ctrl, UINT64_MAX, 1, 8, &header) == -EPROTO);
	CHECK(decode(image.ctrl, (1ull << 62) - 1, 1, 8, &header) == -EPROTO);
	CHECK(decode(NULL, 7, 1, 8, &header) == -EPROTO);
	CHECK(decode((void *)8, 7, 1, 8, &header) == -EPROTO); /* entries below address 0 */
	CHECK(decode(image.ctrl + 1, 7, 1, 8, &header) == -EPROTO);
}

static void check_iteration(struct memory *memory)
{
	static struct image image;
	struct buffer copy = { 0 };
	struct table_header header;
	uint64_t cursor = 0, sum = 0;
	const uint8_t *entry;

	memset(image.ctrl, 0xff, sizeof(image.ctrl));
	for (uint64_t i = 0; i < BUCKETS; i++)
		image.entries[BUCKETS - 1 - i] = 1ull << i; /* bucket i */
	image.ctrl[0] = 0x12;
	image.ctrl[3] = 0x7f;
	image.ctrl[4] = 0x80; /* deleted */
	image.ctrl[7] = 0x00;
	CHECK(decode(image.ctrl, BUCKETS - 1, 3, 8, &header) == 0);
	CHECK(table__read(memory, &header, &copy) == 0);
	while ((entry = table__next(&header, copy.bytes, &cursor))) {
		uint64_t value;

		memcpy(&value, entry, sizeof(value));
		CHECK(value == 1ull << (cursor - 1));
		CHECK(table__entry_address(&header, cursor - 1) ==
		      (uintptr_t)&image.entries[BUCKETS - cursor]);
		sum += value;
	}
	CHECK(sum == (1 << 0 | 1 << 3 | 1 << 7));
	/* The number of used entries must be the header's. */
	CHECK(decode(image.ctrl, BUCKETS - 1, 4, 8, &header) == 0);
	CHECK(table__read(memory, &header, &copy) == -EAGAIN);
	buffer__free(&copy);
}

static void check_empty(struct memory *memory)
{
	static const uint64_t group[2] = { UINT64_MAX, UINT64_MAX };
	struct buffer copy = { 0 };
	struct table_header header;
	uint64_t cursor = 0;

	CHECK(decode(group, 0, 0, 8, &header) == 0);
	CHECK(table__read(memory, &header, &copy) == 0);
	CHECK(!table__next(&header, copy.bytes, &cursor));
	buffer__free(&copy);
}

/* Parts in any order, overlapping, empty, and on both sides of an unmapped page. */
static void check_gather(struct memory *memory)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char got[5][8] = { 0 };

	if (!CHECK(map != MAP_FAILED))
		return;
	memcpy(map + page - 8, "abcdefgh", 8);
	memcpy(map + 2 * page, "ijkl", 4);
	CHECK(munmap(map + page, page) == 0);
	struct gather_part parts[] = {
		{ .addr = (uintptr_t)map + 2 * page, .len = 4, .to = got[0] },
		{ .addr = (uintptr_t)map + page - 8, .len = 4, .to = got[1] },
		{ .addr = (uintptr_t)map + page - 6, .len = 4, .to = got[2] },
		{ .addr = (uintptr_t)map + page, .len = 4, .to = got[3] },
		{ .addr = 8, .len = 0, .to = got[4] },
		{ .addr = 8, .len = 0, .to = got[4] },
	};
	CHECK(gather__read(memory, parts, 6) == -EFAULT);
	CHECK(memcmp(got[0], "ijkl", 4) == 0 && memcmp(got[1], "abcd", 4) == 0 &&
	      memcmp(got[2], "cdef", 4) == 0);
	for (size_t i = 0; i < 6; i++)
		CHECK(parts[i].err == (parts[i].to == got[3] ? -EFAULT : 0));
	CHECK(gather__read(memory, parts, 0) == 0);
	munmap(map, page);
	munmap(map + 2 * page, page);
}

/* A part longer than what is read at once does not overrun it when others overlap it. */
static void check_long_parts(struct memory *memory)
{
	size_t len = 600 * 1024;
	uint8_t *from = malloc(len), *to = malloc(len);
	uint8_t few[16];

	for (size_t i = 0; i < len; i++)
		from[i] = (uint8_t)(i * 7);
	struct gather_part parts[] = {
		{ .addr = (uintptr_t)from, .len = (uint32_t)len, .to = to },
		{ .addr = (uintptr_t)from + 16, .len = 16, .to = few },
	};
	CHECK(gather__read(memory, parts, 2) == 0);
	CHECK(memcmp(from, to, len) == 0 && memcmp(from + 16, few, 16) == 0);
	free(from);
	free(to);
}

int main(void)
{
	struct memory *memory;

	if (!CHECK(memory__open(getpid(), &memory, NULL) == 0))
		return CHECK_RESULT();
	check_headers();
	check_iteration(memory);
	check_empty(memory);
	check_gather(memory);
	check_long_parts(memory);
	memory__close(memory);
	return CHECK_RESULT();
}
