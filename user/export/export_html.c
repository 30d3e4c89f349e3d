// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One page with all that a profile says, for a browser: user/html/page.html with the styles, the
 * data and the scripts put in. It loads nothing and may load nothing: its policy lets only the
 * scripts and styles run that were put in here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "export/html_data.h"
#include "util/embedded.h"
#include "util/sha256.h"

/* In the order in which they run. */
static const char *const scripts[] = {
	"html/text.js",
	"html/data.js",
	"html/metrics.js",
	"html/findings.js",
	"html/head.js",
	"html/bars.js",
	"html/layers.js",
	"html/layout.js",
	"html/scale.js",
	"html/draw.js",
	"html/graph.js",
	"html/hand.js",
	"html/controls.js",
	"html/details.js",
	"html/table.js",
	"html/main.js",
	NULL,
};

static const char *const styles[] = { "html/page.css", "html/parts.css", NULL };

static const struct embedded *asset(const char *name)
{
	return embedded__next(name, NULL);
}

static int check_assets(const char *const *names, struct fail *fail)
{
	for (; *names; names++)
		if (!asset(*names))
			return fail__set(fail, -ENOENT, "this build lacks %s", *names);
	return 0;
}

static void put_assets(const char *const *names, FILE *out)
{
	for (; *names; names++)
		fwrite(asset(*names)->data, 1, asset(*names)->len, out);
}

static void put_digest(const char *const *names, FILE *out)
{
	char digest[SHA256_BASE64_SIZE];
	struct sha256 sha;

	sha256__begin(&sha);
	for (; *names; names++)
		sha256__add(&sha, asset(*names)->data, asset(*names)->len);
	sha256__base64(&sha, digest);
	fprintf(out, "'sha256-%s'", digest);
}

/*
 * Inside of a script element no "<" may stand: "</script" would end it. In JSON it only occurs in
 * strings, where it can be written as an escape.
 */
static ssize_t write_escaped(void *cookie, const char *text, size_t len)
{
	const char *from = text, *end = text + len, *next;
	FILE *out = cookie;

	for (; (next = memchr(from, '<', (size_t)(end - from))); from = next + 1) {
		fwrite(from, 1, (size_t)(next - from), out);
		fputs("\\u003c", out);
	}
	fwrite(from, 1, (size_t)(end - from), out);
	return ferror(out) ? 0 : (ssize_t)len;
}

static int put_data(struct profile_source *source, FILE *out, struct fail *fail)
{
	static const cookie_io_functions_t functions = { .write = write_escaped };
	FILE *escaped = fopencookie(out, "w", functions);
	int err;

	if (!escaped)
		return -ENOMEM;
	err = html_data__write(source, escaped, fail);
	errno = 0;
	if (fclose(escaped) != 0 && !err)
		err = errno ? -errno : -EIO;
	return err;
}

/* What stands at a mark of the page, "{{...}}". */
static int put_mark(const char *mark, size_t len, struct profile_source *source, FILE *out,
		    struct fail *fail)
{
	if (len == 4 && memcmp(mark, "data", len) == 0)
		return put_data(source, out, fail);
	if (len == 6 && memcmp(mark, "styles", len) == 0)
		put_assets(styles, out);
	else if (len == 7 && memcmp(mark, "scripts", len) == 0)
		put_assets(scripts, out);
	else if (len == 12 && memcmp(mark, "style digest", len) == 0)
		put_digest(styles, out);
	else if (len == 13 && memcmp(mark, "script digest", len) == 0)
		put_digest(scripts, out);
	else
		return fail__set(fail, -EINVAL, "the page has a mark {{%.*s}}", (int)len, mark);
	return 0;
}

int export_html(struct profile_source *source, FILE *out, struct fail *fail)
{
	const struct embedded *page = asset("html/page.html");
	const char *from, *end, *begin, *close;
	int err = check_assets(scripts, fail);

	if (!err)
		err = check_assets(styles, fail);
	if (err)
		return err;
	if (!page)
		return fail__set(fail, -ENOENT, "this build lacks html/page.html");
	from = page->data;
	end = page->data + page->len;
	while (!err && (begin = memmem(from, (size_t)(end - from), "{{", 2)) &&
	       (close = memmem(begin, (size_t)(end - begin), "}}", 2))) {
		fwrite(from, 1, (size_t)(begin - from), out);
		err = put_mark(begin + 2, (size_t)(close - begin - 2), source, out, fail);
		from = close + 2;
	}
	if (!err)
		fwrite(from, 1, (size_t)(end - from), out);
	return err ? err : ferror(out) ? -EIO : 0;
}
