/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of the server share: it accepts connections itself and gives them to
 * libmicrohttpd, which reads requests and sends answers.
 */
#ifndef DBPROF_HTTP_INTERNAL_H
#define DBPROF_HTTP_INTERNAL_H

#include <microhttpd.h>

#include "http/address.h"
#include "http/http.h"
#include "http/tls.h"
#include "http/token.h"

#define HTTP_HEADERS_MAX 4
#define HTTP_NEVER	 UINT64_MAX

struct http_connection {
	struct http_server *server;
	struct http_connection *next, *previous;
	struct MHD_Connection *mhd;
	int fd;
	struct http_request *request; /* NULL between two of them */
	bool quiet;		      /* its request has not come yet, or not wholly */
	bool ended;		      /* shut down; libmicrohttpd is about to notice */
	uint64_t since_ns;	      /* when it became quiet */
	uint64_t deadline_ns;	      /* for what it is at */
};

enum http_stage {
	HTTP_COMING,   /* its headers, or a body that is thrown away */
	HTTP_HANDLED,  /* in the handler */
	HTTP_LATER,    /* suspended */
	HTTP_GONE,     /* given up, also while suspended */
	HTTP_ANSWERED, /* there is a response */
};

struct http_header {
	char *name;
	char *value;
};

struct http_request {
	struct http_server *server;
	struct http_connection *connection;
	const struct http_route *route;
	enum http_stage stage;
	bool head;
	bool begun;
	bool body; /* it came with one, which nobody wants */
	char *path;
	const char *query_text; /* in path's memory; NULL without */
	struct http_query query;
	struct http_header headers[HTTP_HEADERS_MAX];
	size_t header_count;
	struct MHD_Response *response;
	unsigned int status;
	bool counted;
	void (*gone)(struct http_request *request, void *data);
	void *gone_data;
};

struct http_server {
	struct http_options options; /* defaults filled in; the texts are the server's own */
	const struct http_route *routes;
	size_t route_count;
	void *context;
	struct address address;
	char text[ADDRESS_TEXT_MAX + 16];
	bool with_tls;
	struct tls tls;
	struct MHD_Daemon *mhd;
	int listener;
	int epoll; /* of the listener, the timer, libmicrohttpd's own, and suspended connections */
	int timer;
	bool deaf; /* accepts nobody until accept_ns */
	uint64_t accept_ns;
	struct http_connection *connections;
	struct http_counts counts;
	struct fail trouble; /* of the token file */
	int trouble_err;
};

/* server.c: http_server__run() is due at once, also when no client says anything. */
void http_server__wake(struct http_server *server);

/* connections.c: who is connected. */

/* Accepts those who wait. */
void http_connections__accept(struct http_server *server);
/* Ends those whose time is over. Returns when the next one's is. */
uint64_t http_connections__expire(struct http_server *server);
/* libmicrohttpd's MHD_OPTION_NOTIFY_CONNECTION. */
void http_connections__notify(void *server, struct MHD_Connection *mhd, void **context,
			      enum MHD_ConnectionNotificationCode code);
/* It waits for a request from now on. */
void http_connection__wait(struct http_connection *connection);
/* Tells the server when the client hangs up, while libmicrohttpd does not look. */
int http_connection__watch(struct http_connection *connection);
void http_connection__unwatch(struct http_connection *connection);

/* request.c: from the first line to the answer. The first three are libmicrohttpd's callbacks. */

void *http_request__begin(void *server, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result http_request__handle(void *server, struct MHD_Connection *mhd, const char *url,
				     const char *method, const char *version, const char *data,
				     size_t *size, void **context);
void http_request__completed(void *server, struct MHD_Connection *mhd, void **context,
			     enum MHD_RequestTerminationCode code);
/* Its client has gone, or the server goes: it will not be answered. */
void http_request__give_up(struct http_request *request);

/* gate.c: who may ask for what. */

/* Sets the route, or refuses. False when the request has been refused. */
bool http_gate__pass(struct http_request *request, const char *method);

#endif
