// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/internal.h"
#include "util/clock.h"

#define SECOND		1000000000ULL
#define ACCEPTS_AT_ONCE 256	     /* before the caller's own work has its turn again */
#define PAUSE_NS	100000000ULL /* when the machine has no descriptor or memory left */

static const char no_room[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
			      "Content-Length: 0\r\nConnection: close\r\n\r\n";

void http_connection__wait(struct http_connection *connection)
{
	connection->quiet = true;
	connection->since_ns = clock__now();
	connection->deadline_ns =
		connection->since_ns + connection->server->options.request_seconds * SECOND;
}

/* libmicrohttpd sees the end of the stream and forgets it when it runs next. */
static void end(struct http_connection *connection)
{
	shutdown(connection->fd, SHUT_RDWR);
	connection->ended = true;
	connection->quiet = false;
	connection->deadline_ns = HTTP_NEVER;
}

static void started(struct http_server *server, struct MHD_Connection *mhd, void **context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http_connection *connection = calloc(1, sizeof(*connection));

	*context = connection;
	if (!connection) {
		/* Without it no request is taken either: http_request__begin(). */
		shutdown(info->connect_fd, SHUT_RDWR);
		return;
	}
	connection->server = server;
	connection->mhd = mhd;
	connection->fd = info->connect_fd;
	connection->next = server->connections;
	if (connection->next)
		connection->next->previous = connection;
	server->connections = connection;
	server->counts.open++;
	server->counts.connections++;
	http_connection__wait(connection);
}

static void closed(struct http_server *server, struct http_connection *connection)
{
	if (!connection)
		return;
	if (connection->next)
		connection->next->previous = connection->previous;
	if (connection->previous)
		connection->previous->next = connection->next;
	else
		server->connections = connection->next;
	server->counts.open--;
	free(connection);
}

void http_connections__notify(void *server, struct MHD_Connection *mhd, void **context,
			      enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		started(server, mhd, context);
	} else {
		closed(server, *context);
		*context = NULL;
	}
}

int http_connection__watch(struct http_connection *connection)
{
	struct epoll_event event = { .events = EPOLLRDHUP, .data.ptr = connection };

	return epoll_ctl(connection->server->epoll, EPOLL_CTL_ADD, connection->fd, &event) ? -errno
											   : 0;
}

void http_connection__unwatch(struct http_connection *connection)
{
	epoll_ctl(connection->server->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
}

/* The one that has been quiet for the longest time, NULL when all are being answered. */
static struct http_connection *find_quiet(const struct http_server *server)
{
	struct http_connection *oldest = NULL;

	for (struct http_connection *it = server->connections; it; it = it->next)
		if (it->quiet && (!oldest || it->since_ns < oldest->since_ns))
			oldest = it;
	return oldest;
}

static bool make_room(struct http_server *server)
{
	struct http_connection *quiet;

	if (server->counts.open < server->options.connections)
		return true;
	/* What has come meanwhile is no longer quiet. */
	MHD_run(server->mhd);
	if (server->counts.open < server->options.connections)
		return true;
	quiet = find_quiet(server);
	if (!quiet)
		return false;
	end(quiet);
	server->counts.evicted++;
	MHD_run(server->mhd);
	return server->counts.open < server->options.connections;
}

static void refuse(struct http_server *server, int fd)
{
	if (!server->with_tls)
		(void)!send(fd, no_room, sizeof(no_room) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	server->counts.refused++;
	close(fd);
}

static void set_deaf(struct http_server *server, bool deaf)
{
	struct epoll_event event = { .events = deaf ? 0 : EPOLLIN, .data.ptr = &server->listener };

	epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->listener, &event);
	server->deaf = deaf;
	server->accept_ns = deaf ? clock__now() + PAUSE_NS : HTTP_NEVER;
}

/* False when nobody else waits. */
static bool accept_one(struct http_server *server)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int fd = accept4(server->listener, (struct sockaddr *)&from, &len,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		if (errno == ECONNABORTED || errno == EINTR)
			return true;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			set_deaf(server, true);
		return false;
	}
	if (make_room(server))
		MHD_add_connection(server->mhd, fd, (struct sockaddr *)&from, len);
	else
		refuse(server, fd);
	return true;
}

void http_connections__accept(struct http_server *server)
{
	if (server->deaf) {
		if (clock__now() < server->accept_ns)
			return;
		set_deaf(server, false);
	}
	for (int i = 0; i < ACCEPTS_AT_ONCE && accept_one(server); i++)
		;
}

/* Ends it, or tells who waits for its answer that it came too late. */
static void expire(struct http_connection *connection)
{
	struct http_request *request = connection->request;
	void (*gone)(struct http_request *, void *);

	connection->server->counts.timed_out++;
	if (!request || request->stage != HTTP_LATER) {
		end(connection);
		return;
	}
	connection->deadline_ns = HTTP_NEVER;
	gone = request->gone;
	request->gone = NULL;
	if (gone)
		gone(request, request->gone_data);
	http_request__refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE,
			     "the answer was not ready in time");
}

uint64_t http_connections__expire(struct http_server *server)
{
	uint64_t now = clock__now(), next = HTTP_NEVER;

	for (struct http_connection *it = server->connections; it; it = it->next) {
		if (it->deadline_ns <= now)
			expire(it);
		if (it->deadline_ns < next)
			next = it->deadline_ns;
	}
	return server->deaf && server->accept_ns < next ? server->accept_ns : next;
}
