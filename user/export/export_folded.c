// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stacks for flame graphs, one a line: frames with semicolons between, and nanoseconds of wall
 * time.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "export/export.h"
#include "export/stacks.h"
#include "util/utf8.h"

/*
 * Frames may hold blanks, since the number is what follows the last one; not what would end a
 * frame or a line.
 */
static void write_frame(FILE *out, const char *name)
{
	size_t left = strlen(name);
	uint32_t ch;

	for (size_t len; left > 0; name += len, left -= len) {
		len = utf8__next(name, left, &ch);
		if (ch == UTF8_INVALID)
			fputs(UTF8_REPLACEMENT, out);
		else if (ch == ';')
			fputc(':', out);
		else if (ch < 0x20 || ch == 0x7f)
			fputc(' ', out);
		else
			fwrite(name, 1, len, out);
	}
}

static int sample(void *context, const struct stack_sample *sample)
{
	FILE *out = context;

	for (size_t i = 0; i < sample->depth; i++) {
		if (i > 0)
			fputc(';', out);
		write_frame(out, sample->frames[i]->name);
	}
	if (fprintf(out, " %" PRId64 "\n", sample->wall_ns) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

int export_folded(struct profile_source *source, FILE *out, struct fail *fail)
{
	static const struct stack_sink sink = { .sample = sample };
	struct stack_notes notes;
	int err = stacks__tell(source, &sink, out, &notes, fail);

	return !err && ferror(out) ? -EIO : err;
}
