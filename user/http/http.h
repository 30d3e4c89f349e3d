/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small HTTP server for an event loop of one thread, on libmicrohttpd.
 *
 * It knows nothing of profiles. Who uses it waits until http_server__fd() is readable and calls
 * http_server__run() then; handlers run inside of that call. Nothing of a request reaches the file
 * system: a path is compared with those of the routes, byte for byte.
 *
 * Everything is bounded: connections, the size of a request, how long one may take to come and its
 * answer to go, and the size of an answer. Where connections are at their limit, a new one takes
 * the place of the one that has said nothing for the longest time.
 */
#ifndef DBPROF_HTTP_HTTP_H
#define DBPROF_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/query.h"
#include "util/fail.h"

struct http_server;
struct http_request;

/* Zero, or NULL, is the default of each. */
struct http_options {
	const char *listen;	  /* "ADDRESS:PORT", "[ADDRESS]:PORT"; default 127.0.0.1:9747 */
	const char *tls_cert;	  /* PEM file: the certificate, and those between it and its root */
	const char *tls_key;	  /* PEM file */
	const char *token_file;	  /* one line, the bearer token; read anew for each request */
	unsigned int connections; /* at most, default 64 */
	unsigned int request_seconds;  /* for a request to come, and for a pause; default 10 */
	unsigned int transfer_seconds; /* for an answer to be taken; default 120 */
	uint64_t answer_max;	       /* bytes of an answer, default 256 MiB */
};

#define HTTP_LISTEN_DEFAULT "127.0.0.1:9747"

/*
 * Answers @request, now or later: it calls one of http_request__answer..() or
 * http_request__later(). When it does neither, the answer is 500.
 */
typedef void (*http_handler)(struct http_request *request, void *context);

enum {
	HTTP_NO_TOKEN = 1, /* answered to everybody: /healthz */
	HTTP_NO_HEAD = 2,  /* HEAD is refused; else it runs the handler of GET and gets no body */
};

struct http_route {
	const char *method; /* "GET" */
	const char *path;   /* "/v1/processes" */
	http_handler handler;
	unsigned int flags;
	const char *const *parameters; /* ended by NULL; others are answered 400. NULL: any */
};

/*
 * Listens. @routes and @context live as long as the server does. An address that other machines
 * can reach needs a certificate, its key and a token. Returns 0, or a negative errno with a
 * sentence: -EADDRINUSE, -EACCES, -EINVAL, -EKEYEXPIRED for a certificate that is not valid now,
 * ...
 */
int http_server__open(const struct http_options *options, const struct http_route *routes,
		      size_t count, void *context, struct http_server **ret_server,
		      struct fail *fail);

/* Readable when http_server__run() has something to do, also when a time has run out. */
int http_server__fd(const struct http_server *server);

/*
 * Does what there is to do without waiting. Returns 0; an error of the machine (-ENOMEM, ..) is the
 * server's end.
 */
int http_server__run(struct http_server *server, struct fail *fail);

/* The port it listens on, for options that say port 0. */
unsigned int http_server__port(const struct http_server *server);

/* "http://127.0.0.1:9747", for people. */
const char *http_server__address(const struct http_server *server);

struct http_counts {
	uint64_t answers[6];  /* by class of status: [2] is 2xx; [0] unused */
	uint64_t connections; /* accepted */
	uint64_t evicted;     /* that had to make room for another */
	uint64_t refused;     /* that found no room */
	uint64_t timed_out;   /* whose request or answer took too long */
	unsigned int open;    /* now */
};

void http_server__counts(const struct http_server *server, struct http_counts *ret_counts);

/*
 * Why requests are refused at the moment that would be answered otherwise: the token file can no
 * longer be used, or the certificate has run out. Returns 0 when all is well, or a negative errno
 * with a sentence. For a daemon to say so.
 */
int http_server__trouble(const struct http_server *server, struct fail *fail);

/* Ends all connections. Those who answer later are told so. NULL is fine. */
void http_server__close(struct http_server *server);

/* What was asked. Valid until it is answered. */
const struct http_query *http_request__query(const struct http_request *request);
const char *http_request__path(const struct http_request *request);
/* The value of a header, such as "Accept"; NULL when it is not there. */
const char *http_request__header(const struct http_request *request, const char *name);
bool http_request__is_head(const struct http_request *request);

/* A header of the answer, such as Content-Disposition. Up to four; copied. */
void http_request__add_header(struct http_request *request, const char *name, const char *value);

/* Answers with a copy of @size bytes. @type: "application/json". */
void http_request__answer(struct http_request *request, unsigned int status, const char *type,
			  const void *data, size_t size);

/*
 * Answers with the first @size bytes of @fd, a regular file or memfd, which it takes over and
 * closes in any case.
 */
void http_request__answer_fd(struct http_request *request, unsigned int status, const char *type,
			     int fd, uint64_t size);

/* Answers with one line of plain text, which says what is wrong and what to do. */
void http_request__refuse(struct http_request *request, unsigned int status, const char *format,
			  ...) __attribute__((format(printf, 3, 4)));

/* The same with 429 and Retry-After, for what is being done already. */
void http_request__refuse_busy(struct http_request *request, unsigned int retry_seconds,
			       const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * The answer comes later, from outside of the handler: @request stays valid until one of the calls
 * above answers it, or until @gone was called, because the client went away, @seconds have passed
 * (then the answer was 503), or the server is closed. @gone may not answer, and may be NULL.
 */
void http_request__later(struct http_request *request, unsigned int seconds,
			 void (*gone)(struct http_request *request, void *data), void *data);

#endif
