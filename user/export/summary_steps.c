// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Steps that hang, and what the workers wait for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/summary_parts.h"

/* A step open for less is an everyday one, unless none ended in the window. */
#define REMARKABLE_AGE_NS 1000000000u

struct open_step {
	const struct snapshot_worker *worker;
	const struct snapshot_circuit *circuit;
};

static bool is_remarkable(const struct snapshot_circuit *circuit)
{
	return circuit->step_open && (circuit->step_open_before || circuit->steps == 0 ||
				      circuit->step_age_ns >= REMARKABLE_AGE_NS);
}

static int compare_age(const void *left, const void *right)
{
	const struct open_step *a = left;
	const struct open_step *b = right;

	if (a->circuit->step_age_ns != b->circuit->step_age_ns)
		return a->circuit->step_age_ns > b->circuit->step_age_ns ? -1 : 1;
	if (a->worker->index != b->worker->index)
		return a->worker->index < b->worker->index ? -1 : 1;
	return node_path__compare(&a->circuit->id, &b->circuit->id);
}

/* Collects the remarkable open steps; with @steps NULL they are only counted. */
static size_t find_open_steps(const struct snapshot *snapshot, struct open_step *steps)
{
	size_t count = 0;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];

		for (size_t j = 0; j < worker->circuit_count; j++) {
			if (!is_remarkable(&worker->circuits[j]))
				continue;
			if (steps)
				steps[count] = (struct open_step){ worker, &worker->circuits[j] };
			count++;
		}
	}
	return count;
}

/*
 * What the step is doing at the end of the window. When no step ended in the window, its shares are
 * those of this very step.
 */
static void activity(const struct snapshot_circuit *circuit, char *text, size_t size)
{
	uint64_t waits = summary__waits(circuit);
	uint64_t known = summary__add(circuit->cpu_ns, waits);
	char cpu[TEXT_NUMBER_MAX], wait[TEXT_NUMBER_MAX];
	bool stuck;

	if (circuit->open_reason >= 0 && circuit->open_reason < PARK_REASONS) {
		text__duration(circuit->open_reason_ns, wait);
		snprintf(text, size, "waiting for %s for %s",
			 park_reason_name((unsigned int)circuit->open_reason), wait);
		return;
	}
	text__percent(circuit->cpu_ns, circuit->runtime_ns, cpu);
	text__percent(waits, circuit->runtime_ns, wait);
	stuck = circuit->steps == 0 && known < circuit->runtime_ns / 2;
	snprintf(text, size, "%s: %s CPU%s%s%s",
		 stuck ? "off the CPU without a wait that DBSP declares" : "computing", cpu,
		 waits > 0 ? ", " : "", waits > 0 ? wait : "", waits > 0 ? " waits" : "");
	if (circuit->steps > 0)
		strncat(text, " over all steps of the window", size - strlen(text) - 1);
}

static void say_open_step(const struct summary *summary, const struct open_step *step)
{
	const struct snapshot_circuit *circuit = step->circuit;
	bool exact = circuit->step_age_exact || !circuit->step_open_before;
	char where[NODE_ID_TEXT_MAX + 16] = "";
	char id[NODE_ID_TEXT_MAX];
	char age[TEXT_NUMBER_MAX];
	char doing[256];

	if (circuit->id.depth > 0) {
		node_path__format(&circuit->id, id);
		snprintf(where, sizeof(where), ", circuit %s", id);
	}
	text__duration(circuit->step_age_ns, age);
	activity(circuit, doing, sizeof(doing));
	summary__say(summary, STYLE_ALARM, "worker %u%s: a step has been open for %s%s, %s",
		     step->worker->index, where, age, exact ? "" : " (at least)", doing);
}

int summary__open_steps(const struct summary *summary)
{
	size_t count = find_open_steps(summary->snapshot, NULL);
	struct open_step *steps;

	if (count == 0)
		return 0;
	steps = calloc(count, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	find_open_steps(summary->snapshot, steps);
	qsort(steps, count, sizeof(*steps), compare_age);
	fputc('\n', summary->out);
	for (size_t i = 0; i < count && i < SUMMARY_ROWS; i++)
		say_open_step(summary, &steps[i]);
	if (count > SUMMARY_ROWS)
		summary__say(summary, STYLE_ALARM, "... and %zu more open steps, no older ones",
			     count - SUMMARY_ROWS);
	free(steps);
	return 0;
}

struct reason_total {
	unsigned int reason;
	uint64_t nanos;
};

static int compare_reasons(const void *left, const void *right)
{
	const struct reason_total *a = left;
	const struct reason_total *b = right;

	if (a->nanos != b->nanos)
		return a->nanos > b->nanos ? -1 : 1;
	return (a->reason > b->reason) - (a->reason < b->reason);
}

/* Waits of all workers by reason, worst first. Returns the time in steps of all workers. */
static uint64_t total_reasons(const struct snapshot *snapshot,
			      struct reason_total totals[PARK_REASONS])
{
	uint64_t in_steps = 0;

	for (unsigned int i = 0; i < PARK_REASONS; i++)
		totals[i] = (struct reason_total){ i, 0 };
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_circuit *root = summary__root(&snapshot->workers[i]);

		if (!root)
			continue;
		in_steps = summary__add(in_steps, root->runtime_ns);
		for (unsigned int j = 0; j < PARK_REASONS; j++)
			totals[j].nanos = summary__add(totals[j].nanos, root->wait_ns[j]);
	}
	qsort(totals, PARK_REASONS, sizeof(*totals), compare_reasons);
	return in_steps;
}

int summary__reasons(const struct summary *summary)
{
	struct reason_total totals[PARK_REASONS];
	uint64_t in_steps = total_reasons(summary->snapshot, totals);
	char number[TEXT_NUMBER_MAX];
	struct table table;
	size_t used = 0;
	int err;

	while (used < PARK_REASONS && totals[used].nanos > 0)
		used++;
	if (used == 0)
		return 0;
	err = table__init(&table, used, 4);
	if (err)
		return err;
	table.left = 1u << 1;
	for (size_t i = 0; i < used; i++) {
		table__set(&table, i, 1, park_reason_name(totals[i].reason));
		text__duration(totals[i].nanos, table__cell(&table, i, 2));
		text__percent(totals[i].nanos, in_steps, table__cell(&table, i, 3));
	}
	text__duration(in_steps, number);
	fputc('\n', summary->out);
	summary__say(summary, STYLE_FAINT,
		     "waits of all workers together, of %s in steps:", number);
	for (size_t i = 0; i < used; i++)
		table__print_row(&table, i, summary->out);
	table__clear(&table);
	return 0;
}
