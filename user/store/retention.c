// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "store/retention.h"

#define NANOS 1000000000

enum worth {
	EMPTY,
	BETWEEN, /* neither the first nor the last of its process */
	END,
	NEWEST, /* never goes */
};

struct candidate {
	struct retention_file *file;
	size_t at; /* in the order of time */
	enum worth class;
	int level; /* the largest slot, 2^level s, in which it is the first one; -1 for none */
};

static int by_process(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->file->process != y->file->process)
		return x->file->process < y->file->process ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_time(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The first to go comes first. */
static int by_worth(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static uint64_t second_of(const struct candidate *candidate)
{
	int64_t ns = candidate->file->unix_ns;

	return ns < 0 ? 0 : (uint64_t)ns / NANOS;
}

/* Of the slots of 2^k s, which begin at whole multiples, those that lie between the two differ. */
static int level_after(const struct candidate *previous, const struct candidate *next)
{
	uint64_t differ = second_of(previous) ^ second_of(next);

	return differ ? 63 - __builtin_clzll(differ) : -1;
}

/* Sorted by process: which are ends, and the levels of those that are not. */
static void rank_in_processes(struct candidate *all, size_t count)
{
	struct candidate *before = NULL; /* the one before of this process */

	for (size_t i = 0; i < count; i++) {
		struct candidate *it = &all[i];

		if (it->class == EMPTY)
			continue;
		if (before && before->file->process != it->file->process)
			before = NULL;
		it->class = END;
		if (before) {
			it->level = level_after(before, it);
			/* Not the last one, and not the first one when it has a level. */
			if (before->level != INT32_MAX)
				before->class = BETWEEN;
		} else {
			it->level = INT32_MAX;
		}
		before = it;
	}
}

/* Sorted by time: ends as one series, the newest of all apart. Returns the bytes of ends. */
static uint64_t rank_ends(struct candidate *all, size_t count)
{
	const struct candidate *before = NULL;
	struct candidate *newest = NULL;
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		if (all[i].class != EMPTY)
			newest = &all[i];
		if (all[i].class != END)
			continue;
		all[i].level = before ? level_after(before, &all[i]) : INT32_MAX;
		before = &all[i];
		bytes += all[i].file->size;
	}
	if (newest) {
		if (newest->class == END)
			bytes -= newest->file->size;
		newest->class = NEWEST;
	}
	return bytes;
}

/* Removes those of a class, the cheapest first, until the whole fits. */
static void remove_class(struct candidate *all, size_t count, enum worth class, uint64_t *total,
			 uint64_t keep)
{
	for (size_t i = 0; i<count && * total> keep; i++) {
		if (all[i].class != class || all[i].file->remove)
			continue;
		all[i].file->remove = true;
		*total -= all[i].file->size;
	}
}

/* Sorted by worth. @ends: bytes of the files of that class. */
static void choose(struct candidate *all, size_t count, uint64_t total, uint64_t ends,
		   uint64_t keep)
{
	remove_class(all, count, EMPTY, &total, keep);
	for (size_t i = 0; i < count && total > keep && ends > keep / 2; i++) {
		if (all[i].class != END)
			continue;
		all[i].file->remove = true;
		total -= all[i].file->size;
		ends -= all[i].file->size;
	}
	remove_class(all, count, BETWEEN, &total, keep);
	remove_class(all, count, END, &total, keep);
}

int retention__choose(struct retention_file *files, size_t count, uint64_t keep)
{
	struct candidate *all;
	uint64_t total = 0, ends;

	for (size_t i = 0; i < count; i++) {
		files[i].remove = false;
		total += files[i].size;
	}
	if (total <= keep)
		return 0;
	all = calloc(count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		all[i] = (struct candidate){ .file = &files[i],
					     .at = i,
					     .class = files[i].empty ? EMPTY : END,
					     .level = -1 };
	qsort(all, count, sizeof(*all), by_process);
	rank_in_processes(all, count);
	qsort(all, count, sizeof(*all), by_time);
	ends = rank_ends(all, count);
	qsort(all, count, sizeof(*all), by_worth);
	choose(all, count, total, ends, keep);
	free(all);
	return 0;
}
