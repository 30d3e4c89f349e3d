// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>

#include "export/summary_parts.h"

/* One counter of struct snapshot_losses in words. */
static void lost(const struct summary *summary, uint64_t count, const char *one, const char *many)
{
	if (count > 0)
		summary__say(summary, STYLE_WARNING, "  %" PRIu64 " %s", count,
			     count == 1 ? one : many);
}

void summary__losses(const struct summary *summary)
{
	const struct snapshot_losses *losses = &summary->snapshot->losses;

	if (losses->target_exited) {
		fputc('\n', summary->out);
		summary__say(summary, STYLE_PLAIN,
			     summary->snapshot->mode == MODE_ENGINE
				     ? "The program ended before the window did; its own counters "
				       "were last "
				       "read a fraction of a second before that."
				     : "The program ended before the window did; all is counted up "
				       "to there.");
	}
	if (!snapshot__incomplete(summary->snapshot))
		return;
	fputc('\n', summary->out);
	summary__say(summary, STYLE_WARNING, "This profile is not complete:");
	lost(summary, losses->workers, "worker whose circuit could not be read",
	     "workers whose circuits could not be read");
	lost(summary, losses->probes, "probe that could not be attached",
	     "probes that could not be attached");
	lost(summary, losses->missed, "probe hit that the kernel skipped",
	     "probe hits that the kernel skipped");
	lost(summary, losses->steps, "step of which only the start or the end was seen",
	     "steps of which only the start or the end was seen");
	lost(summary, losses->reads, "read of the program's memory that failed",
	     "reads of the program's memory that failed");
	lost(summary, losses->slots, "read of a worker's stack that failed",
	     "reads of workers' stacks that failed");
	lost(summary, losses->torn, "reading of the engine's counters that never settled",
	     "readings of the engine's counters that never settled");
	lost(summary, losses->threads, "thread that did not fit into the table of threads",
	     "threads that did not fit into the table of threads");
	lost(summary, losses->circuits, "circuit that did not fit into the table of circuits",
	     "circuits that did not fit into the table of circuits");
	lost(summary, losses->operators, "operator that did not fit into the table of operators",
	     "operators that did not fit into the table of operators");
	lost(summary, losses->unresolved, "circuit or operator that ran but is in no graph",
	     "circuits or operators that ran but are in no graph");
}
