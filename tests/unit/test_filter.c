// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Other programs as filters.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "util/filter.h"
#include "check.h"

#define LONG_NS	 60000000000u
#define SHORT_NS 100000000u
#define MANY	 3000000u /* bytes, far more than a pipe holds */

static int run(const char *const argv[], const char *input, size_t size, uint64_t timeout_ns,
	       char **ret_text, size_t *ret_len, char message[FILTER_MESSAGE_MAX])
{
	FILE *out = open_memstream(ret_text, ret_len);
	int err = filter__run(argv, input, size, out, timeout_ns, message);

	fclose(out);
	return err;
}

static void check(const char *const argv[], const char *input, int wanted, const char *output,
		  const char *wanted_message)
{
	char message[FILTER_MESSAGE_MAX];
	char *text = NULL;
	size_t len;

	CHECK(run(argv, input, strlen(input), LONG_NS, &text, &len, message) == wanted);
	CHECK_TEXT(text, output);
	CHECK_TEXT(message, wanted_message);
	free(text);
}

static void test_runs(void)
{
	check((const char *const[]){ "cat", NULL }, "some text", 0, "some text", "");
	check((const char *const[]){ "cat", NULL }, "", 0, "", "");
	/* It need not read its input, nor all of it. */
	check((const char *const[]){ "echo", "a b;$HOME", NULL }, "unread", 0, "a b;$HOME\n", "");
	check((const char *const[]){ "dbprof-no-such-program", NULL }, "x", -ENOENT, "", "");
	check((const char *const[]){ "false", NULL }, "x", -ECHILD, "", "");
	check((const char *const[]){ "sh", "-c", "echo a; echo b >&2; echo c >&2; exit 3", NULL },
	      "", -ECHILD, "a\n", "b c ");
	check((const char *const[]){ "sh", "-c", "kill -9 $$", NULL }, "x", -ECHILD, "", "");
}

static void test_much(void)
{
	char *input = malloc(MANY), *text = NULL, message[FILTER_MESSAGE_MAX];
	size_t len;

	for (size_t i = 0; i < MANY; i++)
		input[i] = (char)('a' + i % 26);
	CHECK(run((const char *const[]){ "cat", NULL }, input, MANY, LONG_NS, &text, &len,
		  message) == 0);
	CHECK(len == MANY && memcmp(text, input, MANY) == 0);
	free(text);
	CHECK(run((const char *const[]){ "head", "-c", "5", NULL }, input, MANY, LONG_NS, &text,
		  &len, message) == 0);
	CHECK_TEXT(text, "abcde");
	free(text);
	CHECK(run((const char *const[]){ "sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x >&2",
					 NULL },
		  input, 5, LONG_NS, &text, &len, message) == 0);
	CHECK(strlen(message) == FILTER_MESSAGE_MAX - 1);
	free(text);
	free(input);
}

static void check_too_long(const char *const argv[])
{
	char message[FILTER_MESSAGE_MAX];
	char *text = NULL;
	size_t len;

	CHECK(run(argv, "x", 1, SHORT_NS, &text, &len, message) == -ETIMEDOUT);
	free(text);
}

static void test_time_is_over(void)
{
	check_too_long((const char *const[]){ "sleep", "1000", NULL });
	/* Both outputs are closed, but it does not end. */
	check_too_long((const char *const[]){ "sh", "-c", "exec sleep 1000 >&- 2>&-", NULL });
	/* No child is left behind. */
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* A full disk. */
static void test_output_fails(void)
{
	FILE *full = fopen("/dev/full", "w");
	char message[FILTER_MESSAGE_MAX];
	char *input = calloc(1, MANY);

	CHECK(filter__run((const char *const[]){ "cat", NULL }, input, MANY, full, LONG_NS,
			  message) == -ENOSPC);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	fclose(full);
	free(input);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN); /* as the program does */
	test_runs();
	test_much();
	test_time_is_over();
	test_output_fails();
	return CHECK_RESULT();
}
