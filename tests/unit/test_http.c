// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What of a request is text: parameters, the token, addresses.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "http/address.h"
#include "http/query.h"
#include "http/token.h"

static const char secret[] = "0123456789abcdef0123456789abcdef";

static void check_query(void)
{
	static const char *const choices[] = { "json", "pprof", NULL };
	static const char *const names[] = { "pid", "format", "text", NULL };
	struct http_query query = { 0 };
	uint64_t pid = 1;
	size_t format = 0;

	CHECK(http_query__parse("pid=42&format=pprof&&text=a+b%20%c3%a9&", &query, NULL) == 0);
	CHECK(query.count == 3 && http_query__only(&query, names, NULL) == 0);
	CHECK(http_query__number(&query, "pid", 1, 100, &pid, NULL) == 0 && pid == 42);
	CHECK(http_query__choice(&query, "format", choices, &format, NULL) == 0 && format == 1);
	CHECK_TEXT(http_query__text(&query, "text"), "a b \xc3\xa9");
	CHECK(http_query__only(&query, names + 1, NULL) == -EINVAL);
	CHECK(http_query__number(&query, "seconds", 1, 100, &pid, NULL) == 0 && pid == 42);
	CHECK(http_query__number(&query, "pid", 1, 41, &pid, NULL) == -EINVAL && pid == 42);
	CHECK(http_query__choice(&query, "text", choices, &format, NULL) == -EINVAL);
	CHECK(http_query__parse(NULL, &query, NULL) == 0 && query.count == 0);
	CHECK(http_query__parse("a", &query, NULL) == 0);
	CHECK_TEXT(http_query__text(&query, "a"), "");
}

static void check_sentences(void)
{
	static const char *const choices[] = { "json", "pprof", NULL };
	struct http_query query = { 0 };
	struct fail fail = { 0 };
	uint64_t number = 0;
	size_t choice = 0;

	http_query__parse("pid=x&format=%3Cb%3E", &query, NULL);
	http_query__number(&query, "pid", 1, 9, &number, &fail);
	CHECK_TEXT(fail.text, "pid takes a number from 1 to 9, not 'x'");
	fail__clear(&fail);
	http_query__choice(&query, "format", choices, &choice, &fail);
	CHECK_TEXT(fail.text, "format takes one of json, pprof, not '<b>'");
}

static void check_hostile_queries(void)
{
	static const char *const bad[] = {
		"a=%",	    "a=%0",	"a=%zz",    "a=%00",
		"%00=1",    "a=%0a",	"a=%7f",    "a=%ff",
		"a=%c0%80", "=1",	"a=1&a=2",  "a=1&%61=2",
		"a=\xff",   "a=%e2%82", "a=%C2%80", "a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q",
	};
	static const char *const no_numbers[] = {
		"a=",
		"a=-1",
		"a=+1",
		"a=1.5",
		"a=1e3",
		"a=0x10",
		"a=%201",
		"a=1%20",
		"a=18446744073709551616",
		"a=99999999999999999999999999",
	};
	char large[HTTP_QUERY_LEN_MAX + 2];
	struct http_query query = { 0 };
	uint64_t number = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!CHECK(http_query__parse(bad[i], &query, NULL) == -EINVAL && !query.count))
			fprintf(stderr, "  %s\n", bad[i]);
	for (size_t i = 0; i < sizeof(no_numbers) / sizeof(no_numbers[0]); i++) {
		CHECK(http_query__parse(no_numbers[i], &query, NULL) == 0);
		CHECK(http_query__number(&query, "a", 0, UINT64_MAX, &number, NULL) == -EINVAL);
	}
	CHECK(number == 7);
	CHECK(http_query__parse("a=18446744073709551615", &query, NULL) == 0);
	CHECK(http_query__number(&query, "a", 0, UINT64_MAX, &number, NULL) == 0);
	CHECK(number == UINT64_MAX);
	memset(large, 'a', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	CHECK(http_query__parse(large, &query, NULL) == -EINVAL);
	CHECK(http_query__parse(large + 1, &query, NULL) == 0 && query.count == 1);
}

/* Bytes of all kinds: refused, or text that is whole. The same ones in each run. */
static void check_random_queries(void)
{
	static const char alphabet[] = "%%%&=+0189afAF\xc3\xa9\x01g";
	struct http_query query = { 0 };
	uint32_t state = 1;

	for (int i = 0; i < 20000; i++) {
		char text[24];
		size_t len = (state >> 8) % sizeof(text);

		for (size_t j = 0; j < len; j++) {
			state = state * 1664525 + 1013904223;
			text[j] = alphabet[(state >> 16) % (sizeof(alphabet) - 1)];
		}
		text[len] = '\0';
		state = state * 1664525 + 1013904223;
		if (http_query__parse(text, &query, NULL))
			continue;
		CHECK(query.count <= HTTP_QUERY_PARAMETERS);
		for (size_t j = 0; j < query.count; j++)
			CHECK(*query.parameters[j].name &&
			      !strpbrk(query.parameters[j].value, "\x01\n"));
	}
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	fputs(text, file);
	fclose(file);
	chmod(path, mode);
}

static void check_token_file(const char *path)
{
	struct token token;
	struct fail fail = { 0 };
	char text[TOKEN_MAX + 8];

	write_file(path, "0123456789abcdef0123456789abcdef\n", 0600);
	CHECK(token__read(path, &token, NULL) == 0);
	CHECK_TEXT(token.text, secret);
	chmod(path, 0440);
	CHECK(token__read(path, &token, NULL) == 0);
	chmod(path, 0644);
	CHECK(token__read(path, &token, &fail) == -EPERM);
	CHECK(strstr(fail.text, "mode 0644") != NULL);
	chmod(path, 0620);
	CHECK(token__read(path, &token, NULL) == -EPERM);
	write_file(path, "", 0600);
	CHECK(token__read(path, &token, NULL) == -EINVAL);
	write_file(path, "short\n", 0600);
	CHECK(token__read(path, &token, NULL) == -EINVAL);
	write_file(path, "two words which are long enough\n", 0600);
	CHECK(token__read(path, &token, NULL) == -EINVAL);
	memset(text, 'x', sizeof(text));
	text[TOKEN_MAX + 1] = '\0';
	write_file(path, text, 0600);
	CHECK(token__read(path, &token, NULL) == -EINVAL);
	text[TOKEN_MAX] = '\0';
	write_file(path, text, 0600);
	CHECK(token__read(path, &token, NULL) == 0);
	unlink(path);
	CHECK(token__read(path, &token, NULL) == -ENOENT);
	CHECK(token__read("/dev/zero", &token, NULL) == -EINVAL);
	CHECK(token__read("/", &token, NULL) == -EINVAL);
}

static void check_token(void)
{
	static const char *const wrong[] = {
		"",
		"Bearer",
		"Bearer ",
		"0123456789abcdef0123456789abcdef",
		"Basic 0123456789abcdef0123456789abcdef",
		"Bearer 0123456789abcdef0123456789abcdee",
		"Bearer 1123456789abcdef0123456789abcdef",
		"Bearer 0123456789abcdef0123456789abcde",
		"Bearer 0123456789abcdef0123456789abcdef0",
		"Bearer 0123456789ABCDEF0123456789ABCDEF",
		"Bearer 0123456789abcdef0123456789abcdef ",
	};
	struct token token = { 0 };
	char large[4096];

	memcpy(token.text, secret, sizeof(secret));
	CHECK(token__allows(&token, "Bearer 0123456789abcdef0123456789abcdef"));
	CHECK(token__allows(&token, "bearer  0123456789abcdef0123456789abcdef"));
	CHECK(!token__allows(&token, NULL));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!CHECK(!token__allows(&token, wrong[i])))
			fprintf(stderr, "  %s\n", wrong[i]);
	memset(large, 'a', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	memcpy(large, "Bearer ", 7);
	CHECK(!token__allows(&token, large));
}

static void check_addresses(void)
{
	static const char *const bad[] = {
		"",	  "9747",	  ":9747",     "::1:9747",   "[::1]",
		"[::1",	  "[]:1",	  "127.0.0.1", "1.2.3:80",   "127.0.0.1:65536",
		"a.b:80", "127.0.0.1:+1", "[::1]x:1",  "127.0.0.1:", "1.2.3.4:0x1"
	};
	static const char *const inside[] = { "127.0.0.1:1", "127.1.2.3:0", "[::1]:80",
					      "localhost:80", "[::ffff:127.0.0.1]:80" };
	static const char *const outside[] = { "0.0.0.0:1",	      "[::]:1",
					       "10.0.0.1:1",	      "128.0.0.1:1",
					       "[::ffff:10.0.0.1]:1", "[fe80::1]:1" };
	struct address address;
	char text[ADDRESS_TEXT_MAX];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!CHECK(address__parse(bad[i], &address, NULL) == -EINVAL))
			fprintf(stderr, "  %s\n", bad[i]);
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		CHECK(address__parse(inside[i], &address, NULL) == 0 &&
		      address__is_loopback(&address));
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		CHECK(address__parse(outside[i], &address, NULL) == 0 &&
		      !address__is_loopback(&address));
	address__parse("[::1]:9747", &address, NULL);
	address__format(&address, text);
	CHECK_TEXT(text, "[::1]:9747");
	CHECK(address__is_loopback_host("localhost") && address__is_loopback_host("LOCALHOST:1"));
	CHECK(address__is_loopback_host("127.0.0.1") && address__is_loopback_host("[::1]"));
	CHECK(!address__is_loopback_host("evil.example:9747"));
	CHECK(!address__is_loopback_host("localhost.evil.example"));
	CHECK(!address__is_loopback_host("") && !address__is_loopback_host("10.0.0.1"));
}

int main(void)
{
	char folder[] = "/tmp/dbprof-http-XXXXXX", path[64];

	check_query();
	check_sentences();
	check_hostile_queries();
	check_random_queries();
	check_token();
	check_addresses();
	if (CHECK(mkdtemp(folder) != NULL)) {
		snprintf(path, sizeof(path), "%s/token", folder);
		check_token_file(path);
		rmdir(folder);
	}
	return CHECK_RESULT();
}
