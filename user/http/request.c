// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/internal.h"
#include "util/clock.h"

#define SECOND	 1000000000ULL
#define BODY_MAX (2 << 20) /* bytes that are read to be able to answer at all */

void *http_request__begin(void *server, const char *uri, struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_connection *connection = info ? info->socket_context : NULL;
	struct http_request *request = connection ? calloc(1, sizeof(*request)) : NULL;
	char *query;

	if (!request)
		return NULL;
	request->path = strdup(uri);
	if (!request->path) {
		free(request);
		return NULL;
	}
	query = strchr(request->path, '?');
	if (query) {
		*query = '\0';
		request->query_text = query + 1;
	}
	request->server = server;
	request->connection = connection;
	connection->request = request;
	return request;
}

static void count(struct http_request *request, unsigned int status)
{
	if (!request->counted && status / 100 < 6)
		request->server->counts.answers[status / 100]++;
	request->counted = true;
}

void http_request__completed(void *server, struct MHD_Connection *mhd, void **context,
			     enum MHD_RequestTerminationCode code)
{
	struct http_request *request = *context;

	(void)server;
	(void)mhd;
	*context = NULL;
	if (!request)
		return;
	if (request->stage == HTTP_LATER)
		http_request__give_up(request);
	/* What libmicrohttpd has answered itself was malformed or too large. */
	if (request->stage == HTTP_COMING && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		count(request, MHD_HTTP_BAD_REQUEST);
	request->connection->request = NULL;
	http_connection__wait(request->connection);
	if (request->response)
		MHD_destroy_response(request->response);
	for (size_t i = 0; i < request->header_count; i++) {
		free(request->headers[i].name);
		free(request->headers[i].value);
	}
	free(request->path);
	free(request);
}

void http_request__give_up(struct http_request *request)
{
	void (*gone)(struct http_request *, void *) = request->gone;

	request->gone = NULL;
	request->stage = HTTP_GONE;
	http_connection__unwatch(request->connection);
	if (gone)
		gone(request, request->gone_data);
}

static enum MHD_Result send_answer(struct http_request *request)
{
	struct http_connection *connection = request->connection;

	connection->quiet = false;
	connection->deadline_ns = clock__now() + request->server->options.transfer_seconds * SECOND;
	count(request, request->status);
	return MHD_queue_response(connection->mhd, request->status, request->response);
}

static void handle(struct http_request *request, const char *method)
{
	struct http_server *server = request->server;

	request->stage = HTTP_HANDLED;
	if (request->body) {
		http_request__add_header(request, "Connection", "close");
		http_request__refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
				     "a request has no body here");
		return;
	}
	if (!http_gate__pass(request, method))
		return;
	request->route->handler(request, server->context);
	if (request->stage == HTTP_HANDLED)
		http_request__refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
				     "there is no answer to this");
}

/* Looks at the headers. True when there is a body that is too long to be read at all. */
static bool has_long_body(struct http_request *request)
{
	const char *length = http_request__header(request, "Content-Length");
	bool chunked = http_request__header(request, "Transfer-Encoding") != NULL;
	bool asks = http_request__header(request, "Expect") != NULL;

	request->body = chunked || (length && strspn(length, "0") != strlen(length));
	return request->body && (chunked || asks || strtoull(length, NULL, 10) > BODY_MAX);
}

enum MHD_Result http_request__handle(void *server, struct MHD_Connection *mhd, const char *url,
				     const char *method, const char *version, const char *data,
				     size_t *size, void **context)
{
	struct http_request *request = *context;

	(void)server;
	(void)url;
	(void)version;
	(void)data;
	if (!request || request->stage == HTTP_GONE)
		return MHD_NO;
	if (request->stage == HTTP_ANSWERED)
		return request->response ? send_answer(request) : MHD_NO;
	if (!request->begun) {
		request->begun = true;
		request->head = !strcmp(method, "HEAD");
		if (!has_long_body(request))
			return MHD_YES;
	} else if (*size > 0) {
		*size = 0;
		return MHD_YES;
	}
	if (request->stage == HTTP_COMING)
		handle(request, method);
	if (request->stage == HTTP_ANSWERED)
		return request->response ? send_answer(request) : MHD_NO;
	MHD_suspend_connection(mhd);
	return MHD_YES;
}

const struct http_query *http_request__query(const struct http_request *request)
{
	return &request->query;
}

const char *http_request__path(const struct http_request *request)
{
	return request->path;
}

const char *http_request__header(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection->mhd, MHD_HEADER_KIND, name);
}

bool http_request__is_head(const struct http_request *request)
{
	return request->head;
}

void http_request__later(struct http_request *request, unsigned int seconds,
			 void (*gone)(struct http_request *request, void *data), void *data)
{
	request->stage = HTTP_LATER;
	request->gone = gone;
	request->gone_data = data;
	request->connection->quiet = false;
	request->connection->deadline_ns = clock__now() + seconds * SECOND;
	/* Without the watch a client that goes is noticed only when it is answered. */
	(void)!http_connection__watch(request->connection);
}
