// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The request, against a server of one answer; URLs, headers and the temporary file.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "state/fetch.h"
#include "state/spool.h"
#include "state/url.h"
#include "check.h"

#define MINUTE_NS 60000000000ULL

/* Answers one request with @answer, or never when that is NULL. */
struct server {
	const char *answer;
	int listener;
	int peer;
	char url[64];
	char request[4096];
	pthread_t thread;
};

static void *serve(void *argument)
{
	struct server *server = argument;
	size_t len = 0;
	ssize_t got;

	server->peer = accept(server->listener, NULL, NULL);
	do {
		got = read(server->peer, server->request + len, sizeof(server->request) - 1 - len);
		len += got > 0 ? (size_t)got : 0;
	} while (got > 0 && !strstr(server->request, "\r\n\r\n"));
	if (server->answer) {
		if (write(server->peer, server->answer, strlen(server->answer)) < 0)
			return NULL;
		shutdown(server->peer, SHUT_WR);
	}
	return NULL;
}

static void start(struct server *server, const char *answer)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	*server = (struct server){ .answer = answer, .listener = socket(AF_INET, SOCK_STREAM, 0) };
	CHECK(bind(server->listener, (struct sockaddr *)&address, len) == 0);
	CHECK(listen(server->listener, 8) == 0);
	CHECK(getsockname(server->listener, (struct sockaddr *)&address, &len) == 0);
	snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d/profile",
		 ntohs(address.sin_port));
	CHECK(pthread_create(&server->thread, NULL, serve, server) == 0);
}

static void stop(struct server *server)
{
	/* The request may have ended before it came so far. */
	shutdown(server->listener, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->peer);
	close(server->listener);
}

/* What a request ends with: 0 and the answer's @text, or the error and @fail. */
static int fetch(const struct fetch_options *options, char text[64], struct fail *fail)
{
	struct fetch *fetch = NULL;
	struct pollfd over;
	int fd;

	CHECK(fetch__start(options, &fetch, fail) == 0);
	over = (struct pollfd){ .fd = fetch__event(fetch), .events = POLLIN };
	CHECK(poll(&over, 1, 60000) == 1);
	fd = fetch__end(fetch, fail);
	CHECK(fetch__took(fetch) > 0);
	fetch__free(fetch);
	if (fd < 0)
		return fd;
	memset(text, 0, 64);
	CHECK(pread(fd, text, 63, 0) >= 0);
	close(fd);
	return 0;
}

static int ask(const char *answer, char text[64], struct fail *fail)
{
	struct fetch_options options = { .timeout_ns = MINUTE_NS, .max_bytes = 32 };
	struct server server;
	int err;

	fail__clear(fail);
	start(&server, answer);
	options.url = server.url;
	err = fetch(&options, text, fail);
	stop(&server);
	return err;
}

static void test_answers(void)
{
	struct fail fail = { 0 };
	char text[64];

	CHECK(ask("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", text, &fail) == 0);
	CHECK_TEXT(text, "hello");
	CHECK(ask("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b", text, &fail) == 0);
	CHECK_TEXT(text, "\x1f\x8b");
	CHECK(ask("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", text, &fail) == -EPROTO);
	CHECK_TEXT(fail.text, "the pipeline broke its answer off after 5 bytes");
	CHECK(ask("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", text, &fail) == -EPROTO);
	CHECK_TEXT(fail.text, "the pipeline's answer is empty");
	CHECK(ask("HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx", text, &fail) == -EPROTO);
	CHECK_TEXT(fail.text, "the pipeline answered 404; is the URL that of its profile?");
	CHECK(ask("HTTP/1.1 401 No\r\nContent-Length: 1\r\n\r\nx", text, &fail) == -EPROTO);
	CHECK_TEXT(fail.text, "the pipeline answered 401; it may want a --state-header");
	CHECK(ask("HTTP/1.1 200 OK\r\n\r\n0123456789abcdef0123456789abcdefX", text, &fail) ==
	      -EFBIG);
	CHECK_TEXT(fail.text, "the pipeline answered with more than 0 MiB");
	CHECK(ask("no HTTP\r\n\r\n", text, &fail) == -EIO);
	CHECK(!strncmp(fail.text, "the pipeline cannot be asked: ", 30));
	CHECK(ask("", text, &fail) == -EIO);
	CHECK(ask("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", text, &fail) ==
	      -EIO);
	CHECK(strstr(fail.text, "file"));
}

/* What is asked for, and that a redirect gets no secrets. */
static void test_headers(void)
{
	struct headers headers = { 0 };
	struct fetch_options options = { .timeout_ns = MINUTE_NS, .max_bytes = 32 };
	struct fail fail = { 0 };
	struct server server;
	char text[64];

	CHECK(headers__add(&headers, "Authorization: Bearer s3cret", &fail) == 0);
	start(&server, "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\n\r\n");
	options.url = server.url;
	options.headers = &headers;
	CHECK(fetch(&options, text, &fail) == -EPROTO);
	CHECK(strstr(fail.text, "answered 307, a redirect, which is not followed"));
	CHECK(!strstr(fail.text, "s3cret"));
	CHECK(strstr(server.request, "GET /profile HTTP/1.1\r\n") == server.request);
	CHECK(strstr(server.request, "\r\nAuthorization: Bearer s3cret\r\n"));
	stop(&server);
	headers__clear(&headers);
}

/* It ends by its own limit, and at once when it is ended before. */
static void test_silence(void)
{
	struct fetch_options options = { .timeout_ns = 1000000, .max_bytes = 32 };
	struct fetch *asked = NULL;
	struct fail fail = { 0 };
	struct server server;
	char text[64];

	start(&server, NULL);
	options.url = server.url;
	CHECK(fetch(&options, text, &fail) == -ETIMEDOUT);
	CHECK(!strncmp(fail.text, "the pipeline did not answer within ", 35));
	stop(&server);
	fail__clear(&fail);
	start(&server, NULL);
	options.url = server.url;
	options.timeout_ns = 0;
	CHECK(fetch__start(&options, &asked, &fail) == 0);
	CHECK(fetch__end(asked, &fail) == -ETIMEDOUT);
	fetch__free(asked);
	stop(&server);
	fetch__free(NULL);
}

/* Nobody listens: an error at once, or once it is ended. */
static void test_nobody(void)
{
	struct fetch_options options = { .timeout_ns = MINUTE_NS, .max_bytes = 32 };
	struct fail fail = { 0 };
	struct server server;
	char text[64];

	start(&server, NULL);
	stop(&server);
	options.url = server.url;
	CHECK(fetch(&options, text, &fail) == -EIO);
	CHECK(!strncmp(fail.text, "the pipeline cannot be asked: ", 30));
	fail__clear(&fail);
	options.retry = true;
	options.timeout_ns = 300000000;
	CHECK(fetch(&options, text, &fail) == -EIO);
	CHECK(!strncmp(fail.text, "the pipeline cannot be asked: ", 30));
}

static void check_url(const char *text, const char *wanted, const char *shown)
{
	char *url = NULL, *seen = NULL;

	CHECK(url__parse(text, &url, &seen, NULL) == 0);
	CHECK_TEXT(url, wanted);
	CHECK_TEXT(seen, shown);
	free(url);
	free(seen);
}

static void test_urls(void)
{
	struct fail fail = { 0 };
	char *url = NULL, *shown = NULL;

	CHECK(url__is_http("http://h") && url__is_http("HTTPS://h") && !url__is_http("http"));
	CHECK(!url__is_http("profile.json") && !url__is_http("ftp://h"));
	CHECK(url__is_other("ftp://h") && url__is_other("file:///x") && !url__is_other("http://h"));
	CHECK(!url__is_other("a/b://c") && !url__is_other("x.json") && !url__is_other("://"));
	check_url("http://h:8080", "http://h:8080/dump_json_profile",
		  "http://h:8080/dump_json_profile");
	check_url("https://h/", "https://h/dump_json_profile", "https://h/dump_json_profile");
	check_url("http://h/v0/p/circuit_json_profile?x=1",
		  "http://h/v0/p/circuit_json_profile?x=1", "http://h/v0/p/circuit_json_profile");
	check_url("http://u:p@h/a#b", "http://u:p@h/a#b", "http://h/a");
	CHECK(url__parse("http://", &url, &shown, &fail) == -EINVAL);
	CHECK(!strncmp(fail.text, "it is no URL: ", 14));
	CHECK(url__parse("http://h:99999999/", &url, &shown, NULL) == -EINVAL);
	CHECK(!url && !shown);
}

static int add_lines(struct headers *headers, const char *lines, struct fail *fail)
{
	char name[] = "/tmp/dbprof-unit-XXXXXX", at[sizeof(name) + 1];
	int fd = mkstemp(name), err;

	CHECK(fd >= 0 && spool__write(fd, lines, strlen(lines)) == 0);
	close(fd);
	snprintf(at, sizeof(at), "@%s", name);
	err = headers__add(headers, at, fail);
	unlink(name);
	return err;
}

static void test_header_lines(void)
{
	static const char *const bad[] = { "",	      "x",  ": v", "A b: v",	    "A: v\n",
					   "A: \x7f", "A:", "A: ", "@/no/such/file" };
	struct headers headers = { 0 };
	struct fail fail = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fail__clear(&fail);
		CHECK(headers__add(&headers, bad[i], &fail) < 0 && fail.text[0]);
	}
	CHECK(headers.count == 0);
	CHECK(add_lines(&headers, "A: b\r\n\nX-Key: s3cret \t x\n", NULL) == 0);
	CHECK(headers.count == 2);
	CHECK_TEXT(headers.lines[0], "A: b");
	CHECK_TEXT(headers.lines[1], "X-Key: s3cret \t x");
	fail__clear(&fail);
	CHECK(add_lines(&headers, "s3cret\n", &fail) == -EINVAL && !strstr(fail.text, "s3cret"));
	while (headers.count < HEADERS_MAX)
		CHECK(headers__add(&headers, "A:b", NULL) == 0);
	CHECK(headers__add(&headers, "A:b", NULL) == -EINVAL);
	headers__clear(&headers);
}

static void test_spool(void)
{
	char name[] = "/tmp/dbprof-unit-XXXXXX", path[SPOOL_PATH_MAX], text[8] = "";
	struct fail fail = { 0 };
	int fd = mkstemp(name), copy;
	FILE *again;

	CHECK(spool__write(fd, "abc", 3) == 0);
	copy = spool__copy(name, 3, &fail);
	CHECK(copy >= 0);
	spool__path(copy, path);
	again = fopen(path, "r");
	CHECK(again && fread(text, 1, sizeof(text) - 1, again) == 3);
	CHECK_TEXT(text, "abc");
	fclose(again);
	close(copy);
	CHECK(spool__copy(name, 2, &fail) == -EFBIG);
	CHECK_TEXT(fail.text, "it is larger than 0 MiB");
	close(fd);
	unlink(name);
	fail__clear(&fail);
	CHECK(spool__copy(name, 2, &fail) == -ENOENT);
	CHECK_TEXT(fail.text, "No such file or directory");
	CHECK(spool__copy("/tmp", 2, NULL) == -EISDIR);
	CHECK(spool__copy("/dev/null", 2, NULL) == -EINVAL);
	setenv("TMPDIR", "/no/such/folder", 1);
	fd = spool__open(NULL);
	CHECK(fd >= 0);
	close(fd);
}

int main(void)
{
	unsetenv("http_proxy");
	test_answers();
	test_headers();
	test_silence();
	test_nobody();
	test_urls();
	test_header_lines();
	test_spool();
	return CHECK_RESULT();
}
