// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One line for a window of a series. */
#include <inttypes.h>

#include "export/summary.h"
#include "export/summary_parts.h"

/* Root circuits of all workers together. */
struct totals {
	uint64_t most_steps; /* of one worker: they step together */
	uint64_t steps;	     /* of all */
	uint64_t runtime_ns;
	uint64_t cpu_ns;
	uint64_t all_ns;
	uint64_t wait_ns[PARK_REASONS];
};

static struct totals add_up(const struct snapshot *snapshot)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_circuit *root = summary__root(&snapshot->workers[i]);

		if (!root)
			continue;
		if (root->steps > totals.most_steps)
			totals.most_steps = root->steps;
		totals.steps = summary__add(totals.steps, root->steps);
		totals.runtime_ns = summary__add(totals.runtime_ns, root->runtime_ns);
		totals.cpu_ns = summary__add(totals.cpu_ns, root->cpu_ns);
		totals.all_ns = summary__add(totals.all_ns, root->runtime_ns);
		totals.all_ns = summary__add(totals.all_ns,
					     summary__add(root->idle_ns, root->edge_idle_ns));
		for (size_t reason = 0; reason < PARK_REASONS; reason++)
			totals.wait_ns[reason] =
				summary__add(totals.wait_ns[reason], root->wait_ns[reason]);
	}
	return totals;
}

static unsigned int longest_wait(const struct totals *totals)
{
	unsigned int longest = 0;

	for (unsigned int i = 1; i < PARK_REASONS; i++)
		if (totals->wait_ns[i] > totals->wait_ns[longest])
			longest = i;
	return longest;
}

static void heading(FILE *out, bool many)
{
	fprintf(out, "%s%6s  %9s  %8s  %9s  %6s  %s\n", many ? "    pid  " : "", "window", "length",
		"steps", "a step", "CPU", "longest wait");
}

void summary__window_line(FILE *out, const struct snapshot *snapshot, unsigned int window,
			  bool many)
{
	struct totals totals = add_up(snapshot);
	unsigned int reason = longest_wait(&totals);
	char length[TEXT_NUMBER_MAX], step[TEXT_NUMBER_MAX] = "-", cpu[TEXT_NUMBER_MAX],
				      wait[TEXT_NUMBER_MAX];

	text__duration(snapshot->window_ns, length);
	if (totals.steps)
		text__duration(totals.runtime_ns / totals.steps, step);
	text__percent(totals.cpu_ns, totals.all_ns, cpu);
	text__percent(totals.wait_ns[reason], totals.all_ns, wait);
	if (window == 1)
		heading(out, many);
	if (many)
		fprintf(out, "%7d  ", snapshot->pid);
	fprintf(out, "%6u  %9s  %8" PRIu64 "  %9s  %6s  ", window, length, totals.most_steps, step,
		cpu);
	if (totals.wait_ns[reason])
		fprintf(out, "%s %s\n", park_reason_name(reason), wait);
	else
		fputs("none\n", out);
}
