// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A server with a few routes, for tests/test_http.py:
 *
 *   http_driver [listen=ADDRESS:PORT] [cert=FILE] [key=FILE] [token=FILE] [connections=N]
 *               [request=SECONDS] [transfer=SECONDS]
 *
 * Says "listening PORT" and ends with its standard input.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "http/http.h"
#include "util/clock.h"

#define LATER_MAX   128
#define LATER_LIMIT 2
#define FILE_SIZE   (16 << 20)
#define ANSWER_MAX  (64 << 20)

struct pending {
	struct http_request *request;
	uint64_t when_ns;
};

struct driver {
	struct http_server *server;
	struct pending pending[LATER_MAX];
};

static void answer_text(struct http_request *request, const char *text)
{
	http_request__answer(request, 200, "text/plain", text, strlen(text));
}

static void on_health(struct http_request *request, void *context)
{
	(void)context;
	answer_text(request, "well\n");
}

static void on_now(struct http_request *request, void *context)
{
	static const char *const formats[] = { "json", "pprof", NULL };
	struct fail fail = { 0 };
	uint64_t seconds = 10;
	size_t format = 0;
	char text[128];

	(void)context;
	if (http_query__number(http_request__query(request), "seconds", 1, 600, &seconds, &fail) ||
	    http_query__choice(http_request__query(request), "format", formats, &format, &fail)) {
		http_request__refuse(request, 400, "%s", fail.text);
		return;
	}
	snprintf(text, sizeof(text), "%s %" PRIu64 " %s\n", http_request__path(request), seconds,
		 formats[format]);
	answer_text(request, text);
}

static void on_file(struct http_request *request, void *context)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);

	(void)context;
	if (fd < 0 || ftruncate(fd, FILE_SIZE)) {
		http_request__refuse(request, 500, "no memory");
		return;
	}
	http_request__add_header(request, "Content-Disposition", "attachment");
	http_request__answer_fd(request, 200, "application/octet-stream", fd, FILE_SIZE);
}

static void on_large(struct http_request *request, void *context)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);

	(void)context;
	(void)!ftruncate(fd, ANSWER_MAX + 1);
	http_request__answer_fd(request, 200, "text/plain", fd, ANSWER_MAX + 1);
}

static void on_busy(struct http_request *request, void *context)
{
	(void)context;
	http_request__refuse_busy(request, 7, "process %d is being profiled", 4321);
}

static void on_silent(struct http_request *request, void *context)
{
	(void)request;
	(void)context;
}

static void on_gone(struct http_request *request, void *data)
{
	struct pending *pending = data;

	(void)request;
	pending->request = NULL;
	printf("gone\n");
}

static void on_later(struct http_request *request, void *context)
{
	struct driver *driver = context;
	uint64_t milliseconds = 100;

	http_query__number(http_request__query(request), "ms", 0, 100000, &milliseconds, NULL);
	for (size_t i = 0; i < LATER_MAX; i++) {
		struct pending *pending = &driver->pending[i];

		if (pending->request)
			continue;
		*pending = (struct pending){ request, clock__now() + milliseconds * 1000000 };
		printf("pending\n");
		http_request__later(request, LATER_LIMIT, on_gone, pending);
		return;
	}
	http_request__refuse_busy(request, 1, "too many");
}

static void on_counts(struct http_request *request, void *context)
{
	struct driver *driver = context;
	struct http_counts counts;
	struct fail fail = { 0 };
	char text[1024];

	http_server__counts(driver->server, &counts);
	http_server__trouble(driver->server, &fail);
	snprintf(text, sizeof(text),
		 "{\"2xx\": %" PRIu64 ", \"4xx\": %" PRIu64 ", \"5xx\": %" PRIu64
		 ", \"connections\": %" PRIu64 ", \"evicted\": %" PRIu64 ", \"refused\": %" PRIu64
		 ", \"timed_out\": %" PRIu64 ", \"open\": %u, \"trouble\": \"%s\"}\n",
		 counts.answers[2], counts.answers[4], counts.answers[5], counts.connections,
		 counts.evicted, counts.refused, counts.timed_out, counts.open, fail.text);
	answer_text(request, text);
}

static const char *const now_parameters[] = { "seconds", "format", NULL };

static const struct http_route routes[] = {
	{ "GET", "/healthz", on_health, HTTP_NO_TOKEN, NULL },
	{ "GET", "/counts", on_counts, HTTP_NO_TOKEN, NULL },
	{ "GET", "/v1/now", on_now, 0, now_parameters },
	{ "GET", "/v1/file", on_file, 0, NULL },
	{ "GET", "/v1/large", on_large, 0, NULL },
	{ "GET", "/v1/busy", on_busy, 0, NULL },
	{ "GET", "/v1/silent", on_silent, 0, NULL },
	{ "GET", "/v1/later", on_later, HTTP_NO_HEAD, NULL },
	{ "POST", "/v1/later", on_later, 0, NULL },
};

/* Answers those whose time has come. Returns milliseconds until the next one's, -1 for none. */
static int answer_pending(struct driver *driver)
{
	uint64_t now = clock__now(), next = UINT64_MAX;

	for (size_t i = 0; i < LATER_MAX; i++) {
		struct pending *pending = &driver->pending[i];
		struct http_request *request = pending->request;

		if (!request)
			continue;
		if (pending->when_ns > now) {
			if (pending->when_ns < next)
				next = pending->when_ns;
			continue;
		}
		pending->request = NULL;
		answer_text(request, "later\n");
	}
	return next == UINT64_MAX ? -1 : (int)((next - now) / 1000000 + 1);
}

static int serve(struct driver *driver, struct fail *fail)
{
	struct pollfd fds[] = {
		{ .fd = http_server__fd(driver->server), .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	int err = 0;

	printf("listening %u %s\n", http_server__port(driver->server),
	       http_server__address(driver->server));
	while (!err && !fds[1].revents) {
		if (poll(fds, 2, answer_pending(driver)) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			err = http_server__run(driver->server, fail);
	}
	return err;
}

static unsigned int number(const char *text)
{
	return (unsigned int)strtoul(text, NULL, 10);
}

static void take(struct http_options *options, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return;
	*value++ = '\0';
	if (!strcmp(word, "listen"))
		options->listen = value;
	else if (!strcmp(word, "cert"))
		options->tls_cert = value;
	else if (!strcmp(word, "key"))
		options->tls_key = value;
	else if (!strcmp(word, "token"))
		options->token_file = value;
	else if (!strcmp(word, "connections"))
		options->connections = number(value);
	else if (!strcmp(word, "request"))
		options->request_seconds = number(value);
	else if (!strcmp(word, "transfer"))
		options->transfer_seconds = number(value);
}

int main(int argc, char **argv)
{
	struct http_options options = { .listen = "127.0.0.1:0", .answer_max = ANSWER_MAX };
	struct driver driver = { 0 };
	struct fail fail = { 0 };
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 1; i < argc; i++)
		take(&options, argv[i]);
	err = http_server__open(&options, routes, sizeof(routes) / sizeof(routes[0]), &driver,
				&driver.server, &fail);
	if (!err)
		err = serve(&driver, &fail);
	http_server__close(driver.server);
	if (err)
		fprintf(stderr, "%s\n", fail.text);
	return err ? 1 : 0;
}
