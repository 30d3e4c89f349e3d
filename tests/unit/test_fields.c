// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fields of Rust objects by a layout that is not trusted.
 */
#include <errno.h>

#include "check.h"
#include "engine/fields.h"

static struct layout test_layout(void)
{
	struct layout layout = { 0 };

	layout.value[LAYOUT_VEC_CAP] = 0;
	layout.value[LAYOUT_VEC_PTR] = 8;
	layout.value[LAYOUT_VEC_LEN] = 16;
	layout.value[LAYOUT_COW_TAG] = 0;
	layout.value[LAYOUT_COW_IS_BORROWED] = 1ull << 63;
	layout.value[LAYOUT_COW_BORROWED_PTR] = 8;
	layout.value[LAYOUT_COW_BORROWED_LEN] = 16;
	layout.value[LAYOUT_COW_OWNED] = 0;
	layout.value[LAYOUT_DURATION_NANOS] = 8;
	return layout;
}

static bool vec(uint64_t cap, uint64_t addr, uint64_t len, uint64_t max)
{
	struct layout layout = test_layout();
	uint64_t words[] = { cap, addr, len };
	struct extent extent;

	return field_vec(&layout, (const uint8_t *)words, max, &extent) && extent.addr == addr &&
	       extent.len == len;
}

static bool cow(uint64_t tag, uint64_t addr, uint64_t len)
{
	struct layout layout = test_layout();
	uint64_t words[] = { tag, addr, len };
	struct extent extent;

	return field_cow(&layout, (const uint8_t *)words, &extent) && extent.addr == addr &&
	       extent.len == len;
}

static bool duration(uint64_t secs, uint32_t nanos, uint64_t wanted)
{
	struct layout layout = test_layout();
	uint64_t words[] = { secs, nanos };
	uint64_t ns;

	return field_duration(&layout, (const uint8_t *)words, &ns) && ns == wanted;
}

static void check_values(void)
{
	uint64_t words[] = { 4, UINT32_MAX, 1ull << 32 };
	struct node_path path;

	CHECK(vec(4, 0x1000, 3, 8));
	CHECK(vec(0, 8, 0, 8)); /* no elements: dangling */
	CHECK(!vec(2, 0x1000, 3, 8));
	CHECK(!vec(100, 0x1000, 9, 8));
	CHECK(!vec(4, 0, 3, 8));
	CHECK(!vec(4, 0x1004, 3, 8));
	CHECK(!vec(1ull << 63, 0x1000, 1, 8));
	CHECK(cow(1ull << 63, 0x1001, 5)); /* borrowed */
	CHECK(cow(8, 0x1001, 5));	   /* owned, capacity 8 */
	CHECK(!cow(4, 0x1001, 5));
	CHECK(!cow(1ull << 63, 0x1001, 1 << 20));
	CHECK(duration(2, 5, 2000000005));
	CHECK(!duration(2, 1000000000, 3000000000));
	CHECK(!duration(UINT64_MAX / 2, 0, 0));
	CHECK(node_path__from_words(words, 2, &path) && path.depth == 2 &&
	      path.id[1] == UINT32_MAX);
	CHECK(!node_path__from_words(words, 3, &path));
	CHECK(!node_path__from_words(words, NODE_PATH_MAX + 1, &path));
}

/* Offsets that a layout file could hold. */
static void check_bounds(void)
{
	struct layout layout = { 0 };
	struct fail fail = { 0 };

	layout.value[LAYOUT_SCHEDULER_SIZE] = 152;
	layout.value[LAYOUT_SCHEDULER_TAGSIZE] = 8;
	layout.value[LAYOUT_SCHEDULER_BORROW] = 8;
	layout.value[LAYOUT_SCHEDULER_TASKS] = 120;
	layout.value[LAYOUT_SCHEDULER_FRESH] = 151;
	CHECK(fields__check(&layout, FIELDS_SCHEDULER, &fail) == 0);
	layout.value[LAYOUT_SCHEDULER_TASKS] = 121;
	CHECK(fields__check(&layout, FIELDS_SCHEDULER, &fail) == -EPROTO);
	CHECK(strstr(fail.text, "dynamic_scheduler.tasks") != NULL);
	layout.value[LAYOUT_SCHEDULER_TASKS] = LAYOUT_ABSENT - 1;
	CHECK(fields__check(&layout, FIELDS_SCHEDULER, NULL) == -EPROTO);
	layout.value[LAYOUT_SCHEDULER_TASKS] = LAYOUT_ABSENT;
	CHECK(fields__check(&layout, FIELDS_SCHEDULER, NULL) == -ENODATA);
	layout.value[LAYOUT_SCHEDULER_TASKS] = 32;
	layout.value[LAYOUT_SCHEDULER_SIZE] = 1 << 30;
	CHECK(fields__check(&layout, FIELDS_SCHEDULER, NULL) == -EPROTO);
}

int main(void)
{
	check_values();
	check_bounds();
	return CHECK_RESULT();
}
