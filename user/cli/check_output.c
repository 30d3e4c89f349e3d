// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "cli/check_output.h"
#include "util/json_writer.h"
#include "util/text.h"

#define VERDICT_COLUMNS 13
#define NAME_COLUMNS	21
#define INDENT		(2 + VERDICT_COLUMNS + NAME_COLUMNS)
#define WORDS_MIN	30 /* columns for text on the narrowest terminal */

struct paper {
	FILE *out;
	size_t width;
	bool colours;
};

static void print_verdict(const struct paper *paper, enum need_verdict verdict)
{
	static const char *const colours[NEED_VERDICTS] = {
		[NEED_OK] = "\033[32m",
		[NEED_UNCHECKED] = "\033[2m",
		[NEED_DEGRADED] = "\033[33m",
		[NEED_MISSING] = "\033[31;1m",
	};

	fprintf(paper->out, "  %s%-*s%s", paper->colours ? colours[verdict] : "", VERDICT_COLUMNS,
		need_verdict__name(verdict), paper->colours ? "\033[0m" : "");
}

/* @text from column @used on, broken between words, each further line at @indent. */
static void print_words(const struct paper *paper, const char *text, size_t used, size_t indent)
{
	size_t width = paper->width > indent + WORDS_MIN ? paper->width : indent + WORDS_MIN;
	char printable[2 * NEED_TEXT_MAX], *save, *word;
	bool first = true;

	text__printable(text, printable, sizeof(printable));
	for (word = strtok_r(printable, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t columns = text__columns(word);

		if (!first && used + 1 + columns > width) {
			fprintf(paper->out, "\n%*s", (int)indent, "");
			used = indent;
		} else if (!first) {
			fputc(' ', paper->out);
			used++;
		}
		fputs(word, paper->out);
		used += columns;
		first = false;
	}
	fputc('\n', paper->out);
}

static void print_more(const struct paper *paper, const char *what, const char *text)
{
	if (!text)
		return;
	fprintf(paper->out, "%*s%s", INDENT, "", what);
	print_words(paper, text, INDENT + strlen(what), INDENT + strlen(what));
}

static void print_need(const struct paper *paper, const struct need *need)
{
	print_verdict(paper, need->verdict);
	fprintf(paper->out, "%-*s", NAME_COLUMNS, need->name);
	print_words(paper, need->detail, INDENT, INDENT);
	print_more(paper, "lost: ", need->lost);
	print_more(paper, "do: ", need->remedy);
}

static void print_conclusion(const struct paper *paper, const struct need_list *needs)
{
	static const char *const sentences[NEED_VERDICTS] = {
		[NEED_OK] = "Profiling works.",
		[NEED_DEGRADED] = "Profiling works, without what is lost above.",
		[NEED_MISSING] = "Profiling does not work here as it is.",
	};
	enum need_verdict verdict = needs__verdict(needs);

	fprintf(paper->out, "\n%s", sentences[verdict]);
	if (needs->mode && verdict != NEED_MISSING)
		fprintf(paper->out, " --mode auto takes %s mode.", needs->mode);
	fputc('\n', paper->out);
}

void check_output__text(const struct need_list *needs, size_t width, bool colours, FILE *out)
{
	const struct paper paper = { out, width, colours };
	enum need_group group = NEED_GROUPS;

	for (size_t i = 0; i < needs->count; i++) {
		if (needs->list[i].group != group) {
			fprintf(out, "%s%s\n", i ? "\n" : "",
				need_group__name(needs->list[i].group));
			group = needs->list[i].group;
		}
		print_need(&paper, &needs->list[i]);
	}
	print_conclusion(&paper, needs);
}

static void write_need(struct json_writer *json, const struct need *need)
{
	json__object_begin(json);
	json__member_string(json, "group", need_group__name(need->group));
	json__member_string(json, "name", need->name);
	json__member_string(json, "verdict", need_verdict__name(need->verdict));
	json__member_string(json, "detail", need->detail);
	json__member_string(json, "lost", need->lost);
	json__member_string(json, "remedy", need->remedy);
	json__object_end(json);
}

int check_output__json(const struct need_list *needs, pid_t pid, FILE *out)
{
	struct json_writer json;
	int err;

	json__begin(&json, out);
	json__object_begin(&json);
	json__member_string(&json, "verdict", need_verdict__name(needs__verdict(needs)));
	json__member_string(&json, "mode", needs->mode);
	if (pid)
		json__member_int(&json, "pid", pid);
	json__member_array_begin(&json, "needs");
	for (size_t i = 0; i < needs->count; i++)
		write_need(&json, &needs->list[i]);
	json__array_end(&json);
	json__object_end(&json);
	err = json__end(&json);
	if (!err && fputc('\n', out) == EOF)
		err = -EIO;
	return err;
}
