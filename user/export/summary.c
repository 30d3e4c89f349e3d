// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "export/summary.h"
#include "export/summary_parts.h"
#include "util/text.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MIN     40
#define INDENT	      2

void summary__style(const struct summary *summary, enum summary_style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m",    [STYLE_TITLE] = "\033[1m",
		[STYLE_FAINT] = "\033[2m",    [STYLE_ALARM] = "\033[1;31m",
		[STYLE_WARNING] = "\033[33m",
	};

	if (summary->colours)
		fputs(codes[style], summary->out);
}

/* Length of the first word of @text, which does not end between a number and its unit. */
static size_t word_length(const char *text)
{
	size_t len = 0;

	while (text[len] &&
	       (text[len] != ' ' || (len > 0 && isdigit((unsigned char)text[len - 1]))))
		len++;
	return len;
}

static void wrap(const struct summary *summary, const char *text)
{
	size_t used = strspn(text, " "); /* columns of the line */
	bool first = true;
	char word[512];

	fprintf(summary->out, "%*s", (int)used, "");
	text += used;
	while (*text) {
		size_t len = word_length(text);
		size_t columns;

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		columns = text__columns(word);
		if (!first && used + 1 + columns > summary->width) {
			fprintf(summary->out, "\n%*s", INDENT, "");
			used = INDENT;
		} else if (!first) {
			fputc(' ', summary->out);
			used++;
		}
		first = false;
		fputs(word, summary->out);
		used += columns;
		text += len;
		text += *text == ' ';
	}
}

void summary__say(const struct summary *summary, enum summary_style style, const char *format, ...)
{
	char text[1024], printable[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text__printable(text, printable, sizeof(printable));
	if (style != STYLE_PLAIN)
		summary__style(summary, style);
	wrap(summary, printable);
	if (style != STYLE_PLAIN)
		summary__style(summary, STYLE_PLAIN);
	fputc('\n', summary->out);
}

void summary__table(const struct summary *summary, const struct table *table, size_t header_rows)
{
	for (size_t row = 0; row < table->rows; row++) {
		if (row < header_rows && table__row_empty(table, row))
			continue;
		if (row < header_rows)
			summary__style(summary, STYLE_FAINT);
		table__print_row(table, row, summary->out);
		if (row < header_rows)
			summary__style(summary, STYLE_PLAIN);
	}
}

const struct snapshot_circuit *summary__root(const struct snapshot_worker *worker)
{
	return worker->circuit_count > 0 ? &worker->circuits[0] : NULL;
}

uint64_t summary__add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t summary__waits(const struct snapshot_circuit *circuit)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < PARK_REASONS; i++)
		sum = summary__add(sum, circuit->wait_ns[i]);
	return sum;
}

uint64_t summary__preempted(const struct dbprof_kernel_share *share)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < DBPROF_PARTIES; i++)
		sum = summary__add(sum, share->preempted_ns[i]);
	return sum;
}

uint64_t summary__own_time(const struct snapshot_worker *worker)
{
	const struct snapshot_circuit *root = summary__root(worker);
	uint64_t peers = root ? root->wait_ns[DBPROF_PEERS] : 0;

	return root && root->runtime_ns > peers ? root->runtime_ns - peers : 0;
}

static void headline(const struct summary *summary)
{
	const struct snapshot *snapshot = summary->snapshot;
	const char *version = snapshot->dbsp_version ? snapshot->dbsp_version : "";
	const char *slash = snapshot->exe ? strrchr(snapshot->exe, '/') : NULL;
	char length[TEXT_NUMBER_MAX];

	text__duration(snapshot->window_ns, length);
	summary__say(summary, STYLE_TITLE, "%.200s, pid %d on %s: dbsp %.60s, profiled for %s",
		     slash	     ? slash + 1
		     : snapshot->exe ? snapshot->exe
				     : "?",
		     (int)snapshot->pid, snapshot->host, *version ? version : "of unknown version",
		     length);
}

/* What the table shows only by its zeros. */
static void quiet(const struct summary *summary)
{
	const struct snapshot *snapshot = summary->snapshot;
	bool open = false;

	if (snapshot->worker_count == 0) {
		summary__say(summary, STYLE_WARNING,
			     "No worker with a circuit was found, so there is nothing to show.");
		return;
	}
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_circuit *root = summary__root(&snapshot->workers[i]);

		if (root && (root->steps > 0 || root->runtime_ns > 0))
			return;
		open |= root && root->step_open;
	}
	if (!open)
		summary__say(summary, STYLE_PLAIN, "No step in this window: the circuit was idle.");
}

static int write_parts(const struct summary *summary)
{
	int err;

	headline(summary);
	quiet(summary);
	summary__findings(summary);
	err = summary__workers(summary);
	if (!err)
		err = summary__open_steps(summary);
	if (!err)
		err = summary__operators(summary);
	if (!err)
		err = summary__reasons(summary);
	if (!err)
		err = summary__nested(summary);
	if (err)
		return err;
	summary__losses(summary);
	summary__cost(summary);
	return 0;
}

int summary__write(FILE *out, const struct snapshot *snapshot, bool colours, int width)
{
	struct operator_ranking ranking;
	struct summary summary = {
		.out = out,
		.snapshot = snapshot,
		.colours = colours,
		.width = width <= 0	     ? WIDTH_DEFAULT
			 : width < WIDTH_MIN ? WIDTH_MIN
					     : (size_t)width,
		.ranking = &ranking,
	};
	int err = operator_ranking__make(snapshot, &ranking);

	if (!err)
		err = write_parts(&summary);
	if (err)
		return err;
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
