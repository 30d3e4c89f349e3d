// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How the numbers came about, and what that took.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/cost.h"
#include "export/summary_parts.h"
#include "snapshot/turns.h"

#define THOUSANDS_MAX 32

/* "1,210" */
static void thousands(uint64_t number, char text[THOUSANDS_MAX])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	char *to = text;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
}

/* A share of one: "0.4 %", "12 %", "<0.1 %". */
static void fine_percent(double share, char text[TEXT_NUMBER_MAX])
{
	double value = 100 * share;

	if (value > 0 && value < 0.05)
		snprintf(text, TEXT_NUMBER_MAX, "<0.1 %%");
	else if (value < 9.95)
		snprintf(text, TEXT_NUMBER_MAX, "%.1f %%", value);
	else
		snprintf(text, TEXT_NUMBER_MAX, value < 1e6 ? "%.0f %%" : "%.0e %%", value);
}

static uint64_t all_samples(const struct snapshot *snapshot)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < snapshot->worker_count; i++)
		sum = summary__add(sum, snapshot->workers[i].cpu.samples);
	return sum;
}

static void method(const struct snapshot *snapshot, char *text, size_t size)
{
	char count[THOUSANDS_MAX];

	thousands(snapshot->mode == MODE_SAMPLED ? all_samples(snapshot) : snapshot->cost.traps,
		  count);
	switch (snapshot->mode) {
	case MODE_ENGINE:
		snprintf(text, size, "read from the engine's own counters");
		break;
	case MODE_SAMPLED:
		snprintf(text, size, "sampled at %" PRIu32 " Hz per CPU: %s samples",
			 snapshot->frequency_hz, count);
		break;
	case MODE_EXACT:
		snprintf(text, size, "exact, by probes at every evaluation: %s hits", count);
		break;
	default:
		snprintf(text, size, "waits only, by probes: %s hits", count);
		break;
	}
}

/*
 * In proportion to what the program used, unless that was even less. A trap is priced as measured
 * in a loop, and is dearer in a busy program.
 */
static void price(const struct snapshot_cost *cost, char *text, size_t size)
{
	const char *least = cost->traps ? "at least " : "";
	char own[TEXT_NUMBER_MAX], target[TEXT_NUMBER_MAX];
	double share;

	if (cost__share(cost, &share) && share <= 1) {
		fine_percent(share, own);
		snprintf(text, size, "%s%s of the program's CPU", *own == '<' ? "" : least, own);
		return;
	}
	text__duration(cost__total_ns(cost), own);
	text__duration(cost->target_cpu_ns, target);
	snprintf(text, size, "%s%s of CPU, the program used %s", least, own, target);
}

/* Of the worker whose steps were watched least. */
static void say_watched(const struct summary *summary)
{
	const struct snapshot *snapshot = summary->snapshot;
	double least = 1, most = 0, steps;
	char share[TEXT_NUMBER_MAX], interval[TEXT_NUMBER_MAX];
	bool known = true;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];
		uint64_t runtime_ns;

		if (worker->watched_ns >= worker->observed_ns)
			continue;
		least = fmin(least, (double)worker->watched_ns / (double)worker->observed_ns);
		known &= turns__interval(worker, &steps, &runtime_ns);
		if (worker->circuits[0].steps)
			most = fmax(most, steps / (double)worker->circuits[0].steps);
	}
	if (least >= 1)
		return;
	fine_percent(least, share);
	fine_percent(most, interval);
	summary__say(summary, STYLE_FAINT, "steps were watched for %s of the time: %s%s", share,
		     known ? "their number is estimated, +- " : "their number is a rough estimate",
		     known ? interval : "");
}

void summary__cost(const struct summary *summary)
{
	const struct snapshot_cost *cost = &summary->snapshot->cost;
	char how[128], much[128], budget[80] = "", all[400];

	method(summary->snapshot, how, sizeof(how));
	price(cost, much, sizeof(much));
	if (cost->budget > 0)
		snprintf(budget, sizeof(budget), " (budget %.3g %%)", 100 * cost->budget);
	snprintf(all, sizeof(all), "%s; cost %s%s", how, much, budget);
	fputc('\n', summary->out);
	if (text__columns(all) <= summary->width) {
		summary__say(summary, STYLE_FAINT, "%s", all);
	} else {
		summary__say(summary, STYLE_FAINT, "%s", how);
		summary__say(summary, STYLE_FAINT, "cost %s%s", much, budget);
	}
	/* The scheduler's programs run in every mode, so that nothing counted is nothing seen. */
	if (cost->program_ns == 0)
		summary__say(summary, STYLE_FAINT,
			     "not in that cost: the run time of the BPF programs, which the kernel "
			     "counts for CAP_SYS_ADMIN only");
	say_watched(summary);
	if (cost->dropped)
		summary__say(summary, STYLE_FAINT, "given up to stay within the budget: %.400s",
			     cost->dropped);
}
