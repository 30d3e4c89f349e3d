// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/series.h"
#include "snapshot/series_internal.h"
#include "snapshot/turns.h"

struct series {
	struct snapshot *sum;  /* of all windows; NULL before the first */
	struct snapshot *last; /* what the last one ended with */
	/* The sum of windows as they were told, once steps were not watched all the time. */
	struct snapshot *told;
};

int series__open(struct series **ret_series)
{
	struct series *series = calloc(1, sizeof(*series));

	if (!series)
		return -ENOMEM;
	*ret_series = series;
	return 0;
}

void series__close(struct series *series)
{
	if (!series)
		return;
	snapshot__free(series->sum);
	snapshot__free(series->last);
	snapshot__free(series->told);
	free(series);
}

static void *copy_array(const void *from, size_t count, size_t size, bool *ok)
{
	void *to = calloc(count + 1, size);

	if (!to)
		*ok = false;
	else if (count)
		memcpy(to, from, count * size);
	return to;
}

static char *copy_text(const char *from, bool *ok)
{
	char *to = from ? strdup(from) : NULL;

	if (from && !to)
		*ok = false;
	return to;
}

static void copy_workers(struct snapshot *copy, const struct snapshot *from, bool *ok)
{
	copy->workers = copy_array(from->workers, from->worker_count, sizeof(*from->workers), ok);
	copy->worker_count = copy->workers ? from->worker_count : 0;
	for (size_t i = 0; i < copy->worker_count; i++) {
		struct snapshot_worker *worker = &copy->workers[i];

		worker->graph_borrowed = true;
		worker->circuits = copy_array(worker->circuits, worker->circuit_count,
					      sizeof(*worker->circuits), ok);
		worker->operators = copy_array(worker->operators, worker->operator_count,
					       sizeof(*worker->operators), ok);
	}
}

/* A copy that borrows the graphs; NULL when memory is short. */
static struct snapshot *copy_of(const struct snapshot *from)
{
	struct snapshot *copy = malloc(sizeof(*copy));
	bool ok = true;

	if (!copy)
		return NULL;
	*copy = *from;
	copy->exe = copy_text(from->exe, &ok);
	copy->build_id = copy_text(from->build_id, &ok);
	copy->dbsp_version = copy_text(from->dbsp_version, &ok);
	copy->rustc_version = copy_text(from->rustc_version, &ok);
	copy->layout = copy_text(from->layout, &ok);
	copy->pipeline = copy_text(from->pipeline, &ok);
	copy->pipeline_name = copy_text(from->pipeline_name, &ok);
	copy->dropped = copy_text(from->dropped, &ok);
	if (copy->dropped)
		copy->cost.dropped = copy->dropped;
	copy->threads = copy_array(from->threads, from->thread_count, sizeof(*from->threads), &ok);
	copy_workers(copy, from, &ok);
	if (ok)
		return copy;
	snapshot__free(copy);
	return NULL;
}

/* Those that count; the others tell how it is at the end. */
static void subtract_losses(struct snapshot_losses *losses, const struct snapshot_losses *sum)
{
	losses->threads = minus(losses->threads, sum->threads);
	losses->circuits = minus(losses->circuits, sum->circuits);
	losses->operators = minus(losses->operators, sum->operators);
	losses->reads = minus(losses->reads, sum->reads);
	losses->slots = minus(losses->slots, sum->slots);
	losses->steps = minus(losses->steps, sum->steps);
	losses->missed = minus(losses->missed, sum->missed);
}

static uint64_t on_cpu_ns(const struct snapshot *snapshot)
{
	uint64_t total = snapshot->exited.on_cpu_ns;

	for (size_t i = 0; i < snapshot->thread_count; i++)
		total += snapshot->threads[i].on_cpu_ns;
	return total;
}

/* @window, which is from the begin on, becomes the part of it that is new. */
static void subtract(const struct series *series, struct snapshot *window)
{
	const struct snapshot *sum = series->sum, *last = series->last;

	if (!sum)
		return;
	window->window_start_ns += sum->window_ns;
	window->window_start_unix_ns += (int64_t)sum->window_ns + sum->clock_step_ns;
	window->window_ns = minus(window->window_ns, sum->window_ns);
	series__subtract_workers(window, sum, last);
	series__subtract_threads(window, sum);
	subtract_losses(&window->losses, &last->losses);
	/* What could not be read at the last edge is in this window, too. */
	window->losses.torn += last->losses.torn;
	window->cost.target_cpu_ns = on_cpu_ns(window);
}

/* @whole becomes the sum of @sum, NULL for none, and @window. */
static void add(struct snapshot *whole, const struct snapshot *sum, const struct snapshot *window,
		const struct snapshot *until)
{
	series__add_workers(whole, sum, window, until);
	series__add_threads(whole, sum, window);
	whole->cost.target_cpu_ns = on_cpu_ns(whole);
}

static bool is_watched_whole(const struct snapshot *window)
{
	for (size_t i = 0; i < window->worker_count; i++)
		if (window->workers[i].watched_ns < window->workers[i].observed_ns)
			return false;
	return true;
}

/* The window as it is told: what was not watched is estimated, in the sum of windows, too. */
static int tell(struct series *series, struct snapshot *window, const struct snapshot *until)
{
	struct snapshot *told;

	if (!series->told && is_watched_whole(window))
		return 0;
	told = copy_of(until);
	if (!told)
		return -ENOMEM;
	snapshot__extend(window);
	add(told, series->told ? series->told : series->sum, window, until);
	snapshot__free(series->told);
	series->told = told;
	return 0;
}

int series__next(struct series *series, const struct snapshot *until, struct snapshot **ret_window)
{
	struct snapshot *window = copy_of(until), *whole = copy_of(until), *last = copy_of(until);

	if (!window || !whole || !last) {
		snapshot__free(window);
		snapshot__free(whole);
		snapshot__free(last);
		return -ENOMEM;
	}
	subtract(series, window);
	add(whole, series->sum, window, until);
	if (tell(series, window, until)) {
		snapshot__free(window);
		snapshot__free(whole);
		snapshot__free(last);
		return -ENOMEM;
	}
	snapshot__free(series->sum);
	snapshot__free(series->last);
	series->sum = whole;
	series->last = last;
	*ret_window = window;
	return 0;
}

struct snapshot *series__sum(struct series *series)
{
	return series->told ? series->told : series->sum;
}
