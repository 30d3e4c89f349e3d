// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem() */
#endif
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "target/demangle.h"

#define MANGLED_MAX   65536u
#define DEMANGLED_MAX (1u << 20) /* mangled, the longest of the test pipeline has 3 KiB */

struct output {
	char *text;
	size_t len;
	size_t size;
	jmp_buf enough;
};

/* "{closure#0}" of the v0 scheme becomes "{{closure}}", as the legacy one has it. */
static void unify_closures(char *name)
{
	static const char v0[] = "{closure#", legacy[] = "{{closure}}";
	char *from = name, *to = name;

	while (*from) {
		size_t digits;

		if (strncmp(from, v0, strlen(v0)) != 0) {
			*to++ = *from++;
			continue;
		}
		digits = strspn(from + strlen(v0), "0123456789");
		if (digits == 0 || from[strlen(v0) + digits] != '}') {
			*to++ = *from++;
			continue;
		}
		/* 9 + at least 1 digit + 1 for the brace: never shorter than the 11 written. */
		memcpy(to, legacy, strlen(legacy));
		to += strlen(legacy);
		from += strlen(v0) + digits + 1;
	}
	*to = '\0';
}

/*
 * The v0 scheme refers back to parts of a name, so that each few bytes more can make what they
 * stand for twice as long (RFC 2603): nobody could wait for it. The demangler cannot be told to
 * stop, but holds nothing that would be lost.
 */
static void take(const char *text, size_t len, void *arg)
{
	struct output *output = arg;

	if (len > DEMANGLED_MAX - output->len)
		longjmp(output->enough, 1);
	if (output->len + len >= output->size) {
		size_t size = 2 * (output->len + len) + 64;
		char *longer = realloc(output->text, size);

		if (!longer)
			longjmp(output->enough, 1);
		output->text = longer;
		output->size = size;
	}
	memcpy(output->text + output->len, text, len);
	output->len += len;
	output->text[output->len] = '\0';
}

static bool demangle(const char *name, struct output *output)
{
	if (setjmp(output->enough))
		return false;
	return rust_demangle_callback(name, DMGL_NO_OPTS, take, output) && output->text;
}

char *demangle__rust(const char *name)
{
	const char *suffix = strstr(name, ".llvm.");
	struct output output = { 0 };
	char *copy = NULL;

	if (strncmp(name, "_ZN", 3) != 0 && strncmp(name, "_R", 2) != 0)
		return NULL;
	if (strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	/* Added by LLVM to local symbols that thin LTO made global. */
	if (suffix) {
		copy = strndup(name, (size_t)(suffix - name));
		if (!copy)
			return NULL;
	}
	if (demangle(copy ? copy : name, &output)) {
		unify_closures(output.text);
	} else {
		free(output.text);
		output.text = NULL;
	}
	free(copy);
	return output.text;
}
