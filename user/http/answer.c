// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/internal.h"

#define LINE_MAX_SIZE 1024

static const char text_type[] = "text/plain; charset=utf-8";

void http_request__add_header(struct http_request *request, const char *name, const char *value)
{
	struct http_header *header = &request->headers[request->header_count];

	if (request->header_count == HTTP_HEADERS_MAX)
		return;
	*header = (struct http_header){ strdup(name), strdup(value) };
	if (header->name && header->value) {
		request->header_count++;
		return;
	}
	free(header->name);
	free(header->value);
}

static void add_headers(struct http_request *request, const char *type)
{
	struct MHD_Response *response = request->response;

	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	for (size_t i = 0; i < request->header_count; i++)
		MHD_add_response_header(response, request->headers[i].name,
					request->headers[i].value);
}

/* Takes over @response, NULL when memory is short: then the connection is closed. */
static void answer(struct http_request *request, unsigned int status, const char *type,
		   struct MHD_Response *response)
{
	bool later = request->stage == HTTP_LATER;

	if (request->stage != HTTP_HANDLED && !later) {
		/* Answered twice, or given up: a mistake of the caller that harms nobody. */
		if (response)
			MHD_destroy_response(response);
		return;
	}
	request->stage = HTTP_ANSWERED;
	request->gone = NULL;
	request->status = status;
	request->response = response;
	if (response)
		add_headers(request, type);
	if (later) {
		http_connection__unwatch(request->connection);
		MHD_resume_connection(request->connection->mhd);
		http_server__wake(request->server);
	}
}

static bool check_size(struct http_request *request, uint64_t size)
{
	if (size <= request->server->options.answer_max)
		return true;
	http_request__refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
			     "the answer has %" PRIu64 " bytes, of which %" PRIu64
			     " are allowed: ask for less",
			     size, request->server->options.answer_max);
	return false;
}

void http_request__answer(struct http_request *request, unsigned int status, const char *type,
			  const void *data, size_t size)
{
	if (!check_size(request, size))
		return;
	answer(request, status, type,
	       MHD_create_response_from_buffer(size, (void *)data, MHD_RESPMEM_MUST_COPY));
}

void http_request__answer_fd(struct http_request *request, unsigned int status, const char *type,
			     int fd, uint64_t size)
{
	struct MHD_Response *response;
	struct stat stat;

	/* A shorter file would leave the client waiting for the rest. */
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || (uint64_t)stat.st_size < size) {
		close(fd);
		http_request__refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
				     "the answer is not there in full");
		return;
	}
	if (!check_size(request, size)) {
		close(fd);
		return;
	}
	response = MHD_create_response_from_fd64(size, fd);
	if (!response)
		close(fd);
	answer(request, status, type, response);
}

static void refuse(struct http_request *request, unsigned int status, const char *format,
		   va_list args)
{
	char line[LINE_MAX_SIZE];
	int len = vsnprintf(line, sizeof(line) - 1, format, args);
	size_t end = len < 0 ? 0 : (size_t)len;

	if (end > sizeof(line) - 2)
		end = sizeof(line) - 2;
	line[end] = '\n';
	answer(request, status, text_type,
	       MHD_create_response_from_buffer(end + 1, line, MHD_RESPMEM_MUST_COPY));
}

void http_request__refuse(struct http_request *request, unsigned int status, const char *format,
			  ...)
{
	va_list args;

	va_start(args, format);
	refuse(request, status, format, args);
	va_end(args);
}

void http_request__refuse_busy(struct http_request *request, unsigned int retry_seconds,
			       const char *format, ...)
{
	char seconds[16];
	va_list args;

	snprintf(seconds, sizeof(seconds), "%u", retry_seconds);
	http_request__add_header(request, "Retry-After", seconds);
	va_start(args, format);
	refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, format, args);
	va_end(args);
}
