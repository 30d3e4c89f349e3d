// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/snapshot.h"
#include "check.h"
#include "fixture.h"

static void test_names(void)
{
	static const char *const modes[] = { "engine", "sampled", "exact", "waits" };
	static const char *const roles[] = { "worker", "merger", "io", "other" };

	for (unsigned int i = 0; i < SNAPSHOT_MODES; i++)
		CHECK_TEXT(snapshot_mode__name((enum snapshot_mode)i), modes[i]);
	CHECK_TEXT(snapshot_mode__name((enum snapshot_mode)99), "unknown");
	for (unsigned int i = 0; i < THREAD_ROLES; i++)
		CHECK_TEXT(thread_role__name((enum thread_role)i), roles[i]);
	CHECK_TEXT(thread_role__name((enum thread_role)99), "other");
}

/* Each counter by itself; a counter that is new in the structure is seen here, too. */
static void test_incomplete(void)
{
	struct snapshot *snapshot = fixture_snapshot(0, false);
	uint64_t counter = 1;

	snapshot->losses.target_exited = true;
	CHECK(!snapshot__incomplete(snapshot));
	for (size_t at = 0; at < offsetof(struct snapshot_losses, target_exited);
	     at += sizeof(counter)) {
		char *losses = (char *)&snapshot->losses;

		counter = 1;
		memcpy(losses + at, &counter, sizeof(counter));
		if (!CHECK(snapshot__incomplete(snapshot)))
			fprintf(stderr, "  counter %zu\n", at / sizeof(counter));
		counter = 0;
		memcpy(losses + at, &counter, sizeof(counter));
	}
	CHECK(!snapshot__incomplete(snapshot));
	snapshot__free(snapshot);
}

static void test_free(void)
{
	snapshot__free(fixture_snapshot(3, false));
	snapshot__free(calloc(1, sizeof(struct snapshot)));
	snapshot__free(NULL);
}

static void test_slot(void)
{
	CHECK(dbprof_slot(10824, 624) == 11448);
	CHECK(dbprof_slot(10824, 0) == 10824);
	CHECK(dbprof_slot(10832, 624) == 0); /* not aligned as at an entry */
	CHECK(dbprof_slot(0, 624) == 0);
	CHECK(dbprof_slot(UINT64_MAX - 7, 624) == 0);
	CHECK(dbprof_slot((1ull << 40) + 8, 624) == 0);
	CHECK(dbprof_slot(10824, 1ull << 40) == 0);
}

int main(void)
{
	test_names();
	test_slot();
	test_incomplete();
	test_free();
	return CHECK_RESULT();
}
