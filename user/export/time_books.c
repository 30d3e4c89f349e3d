// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "export/time_books.h"

static bool is_storage(const char *reason)
{
	return strncmp(reason, "storage_", 8) == 0;
}

/*
 * Leaves each circuit what is not of the circuits inside it. Outer circuits come before inner ones
 * in the table.
 */
static void split_waits(struct time_table *table, size_t reason)
{
	struct circuit_time *counts = table->counts;

	for (size_t i = 0; i < table->count; i++)
		counts[i].inner_wait_ns = 0;
	for (size_t i = 1; i < table->count; i++) {
		uint64_t *inner = &counts[counts[i].parent].inner_wait_ns;

		*inner = nanos__add(*inner, counts[i].wait_ns[reason]);
	}
	for (size_t i = 0; i < table->count; i++) {
		struct circuit_time *circuit = &counts[i];

		if (i > 0 && counts[circuit->parent].keeps_waits)
			circuit->wait_ns[reason] = 0;
		circuit->keeps_waits = circuit->inner_wait_ns > circuit->wait_ns[reason];
		if (!circuit->keeps_waits)
			circuit->wait_ns[reason] -= circuit->inner_wait_ns;
	}
}

/* What of the root's waits for a reason lies outside of evaluations. */
static void leave_parks(struct time_table *table, size_t reason, uint64_t blocked_ns)
{
	const char *name = table->reasons[reason];
	uint64_t *root = &table->counts[0].wait_ns[reason];
	uint64_t before = *root;

	if (!is_storage(name))
		return;
	*root = strcmp(name, "storage_read") == 0 ? nanos__minus(before, blocked_ns) : 0;
	/* Of which circuits those are is not known. */
	for (size_t i = 1; i < table->count; i++)
		table->counts[i].wait_ns[reason] = 0;
}

/* Takes the waits out of what is left of the steps; they never get more than that. */
static void take_waits(struct time_table *table, uint64_t blocked_ns, struct time_books *books)
{
	uint64_t left = time_parts__wall(&books->left);

	for (size_t reason = 0; reason < table->reason_count; reason++) {
		uint64_t *root = &table->counts[0].wait_ns[reason];

		leave_parks(table, reason, blocked_ns);
		if (*root > left - books->wait_ns)
			*root = left - books->wait_ns;
		books->wait_ns += *root;
		split_waits(table, reason);
	}
	books->wait_cpu_ns = time_parts__take_wait(&books->left, books->wait_ns);
}

static void close_outside(const struct step_time *steps, struct time_books *books)
{
	uint64_t outside = steps->idle_ns;

	books->outside_ns = steps->outside_cpu_ns < outside ? steps->outside_cpu_ns : outside;
	books->idle_ns = outside - books->outside_ns;
}

void time_books__close(struct time_table *table, struct time_books *ret_books)
{
	struct time_parts operators = { 0 };
	struct time_parts steps = time_table__step_parts(table);
	struct time_books books = { 0 };
	uint64_t *computing = &books.left.ns[PART_COMPUTING];

	/* The root, at 0, is no operator. */
	for (size_t i = 1; i <= table->graph->node_count; i++) {
		struct time_parts parts = time_entry__parts(&table->entries[i]);

		time_parts__add(&operators, &parts);
		books.operators |= table->entries[i].timed;
	}
	books.left = time_parts__minus(&steps, &operators);
	if (table->steps.known)
		books.excess_ns =
			nanos__minus(time_parts__wall(&operators), time_parts__wall(&steps));
	take_waits(table, time_parts__blocked(&operators), &books);
	books.engine_timing_ns = table->steps.engine_timing_ns < *computing
					 ? table->steps.engine_timing_ns
					 : *computing;
	*computing -= books.engine_timing_ns;
	close_outside(&table->steps, &books);
	*ret_books = books;
}
