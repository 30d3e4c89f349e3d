// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "http/internal.h"
#include "util/clock.h"

#define SECOND		   1000000000ULL
#define CONNECTIONS	   64
#define REQUEST_SECONDS	   10
#define TRANSFER_SECONDS   120
#define ANSWER_MAX	   (256ULL << 20)
#define REQUEST_MEMORY	   (16 << 10) /* of a connection: the request's line and headers */
#define CONNECTIONS_ENDING 16	      /* that libmicrohttpd may still hold */
#define EVENTS_AT_ONCE	   64

/* Returns 0 or -ENOMEM. */
static int copy_text(const char **text)
{
	if (!*text)
		return 0;
	*text = strdup(*text);
	return *text ? 0 : -ENOMEM;
}

static int take_options(struct http_server *server, const struct http_options *options)
{
	struct http_options *own = &server->options;

	own->connections = options->connections ? options->connections : CONNECTIONS;
	own->request_seconds = options->request_seconds ? options->request_seconds
							: REQUEST_SECONDS;
	own->transfer_seconds = options->transfer_seconds ? options->transfer_seconds
							  : TRANSFER_SECONDS;
	own->answer_max = options->answer_max ? options->answer_max : ANSWER_MAX;
	own->token_file = options->token_file;
	return copy_text(&own->token_file);
}

/* What is given must belong together, and be enough for the address. */
static int check_options(struct http_server *server, const struct http_options *options,
			 struct fail *fail)
{
	const char *listen = options->listen ? options->listen : HTTP_LISTEN_DEFAULT;
	int err = address__parse(listen, &server->address, fail);

	if (err)
		return err;
	if (!options->tls_cert != !options->tls_key)
		return fail__set(fail, -EINVAL,
				 "a certificate and its key belong together: give --tls-cert and "
				 "--tls-key, or neither");
	if (!address__is_loopback(&server->address) && (!options->tls_cert || !options->token_file))
		return fail__set(fail, -EINVAL,
				 "other machines can reach %s: give --tls-cert, --tls-key and "
				 "--token-file, or listen on 127.0.0.1",
				 listen);
	return 0;
}

/* Reads the files once, so that what is wrong with them is said at the start. */
static int check_files(struct http_server *server, const struct http_options *options,
		       struct fail *fail)
{
	struct token token;
	int err = 0;

	if (options->token_file) {
		err = token__read(options->token_file, &token, fail);
		explicit_bzero(&token, sizeof(token));
	}
	if (!err && options->tls_cert) {
		err = tls__load(options->tls_cert, options->tls_key, &server->tls, fail);
		server->with_tls = !err;
	}
	return err;
}

static int start(struct http_server *server, struct fail *fail)
{
	unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, server->tls.cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, server->tls.key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, TLS_PRIORITIES },
		{ MHD_OPTION_END, 0, NULL },
	};

	if (server->with_tls)
		flags |= MHD_USE_TLS;
	else
		tls[0].option = MHD_OPTION_END;
	server->mhd = MHD_start_daemon(
		flags, 0, NULL, NULL, http_request__handle, server, MHD_OPTION_URI_LOG_CALLBACK,
		http_request__begin, server, MHD_OPTION_NOTIFY_COMPLETED, http_request__completed,
		server, MHD_OPTION_NOTIFY_CONNECTION, http_connections__notify, server,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY,
		MHD_OPTION_CONNECTION_LIMIT, server->options.connections + CONNECTIONS_ENDING,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!server->mhd)
		return fail__set(fail, -EIO, "cannot start the HTTP server%s",
				 server->with_tls ? " with this certificate" : "");
	return 0;
}

static int watch(struct http_server *server, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int make_epoll(struct http_server *server, struct fail *fail)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	int err = 0;

	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (server->epoll < 0 || server->timer < 0 || !info)
		err = -errno;
	if (!err)
		err = watch(server, info->epoll_fd, &server->mhd);
	if (!err)
		err = watch(server, server->timer, &server->timer);
	if (!err)
		err = watch(server, server->listener, &server->listener);
	return err ? fail__set(fail, err, "cannot start the HTTP server: %s", strerror(-err)) : 0;
}

static int listen_there(struct http_server *server, struct fail *fail)
{
	char text[ADDRESS_TEXT_MAX];
	int fd = address__listen(&server->address, fail);

	if (fd < 0)
		return fd;
	server->listener = fd;
	address__format(&server->address, text);
	snprintf(server->text, sizeof(server->text), "http%s://%s", server->with_tls ? "s" : "",
		 text);
	return 0;
}

int http_server__open(const struct http_options *options, const struct http_route *routes,
		      size_t count, void *context, struct http_server **ret_server,
		      struct fail *fail)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int err;

	if (!server)
		return fail__set(fail, -ENOMEM, "cannot start the HTTP server: out of memory");
	server->routes = routes;
	server->route_count = count;
	server->context = context;
	server->listener = server->epoll = server->timer = -1;
	server->accept_ns = HTTP_NEVER;
	err = take_options(server, options);
	if (!err)
		err = check_options(server, options, fail);
	if (!err)
		err = check_files(server, options, fail);
	if (!err)
		err = listen_there(server, fail);
	if (!err)
		err = start(server, fail);
	if (!err)
		err = make_epoll(server, fail);
	if (err)
		http_server__close(server);
	else
		*ret_server = server;
	return err;
}

int http_server__fd(const struct http_server *server)
{
	return server->epoll;
}

void http_server__wake(struct http_server *server)
{
	static const struct itimerspec at_once = { .it_value.tv_nsec = 1 };

	timerfd_settime(server->timer, 0, &at_once, NULL);
}

/* Wakes at @when_ns, or as soon as libmicrohttpd has something to do. */
static int set_timer(struct http_server *server, uint64_t when_ns)
{
	struct itimerspec timer = { 0 };
	MHD_UNSIGNED_LONG_LONG milliseconds;

	if (MHD_get_timeout(server->mhd, &milliseconds) == MHD_YES) {
		uint64_t then = clock__now() + milliseconds * 1000000;

		if (then < when_ns)
			when_ns = then;
	}
	if (when_ns != HTTP_NEVER) {
		timer.it_value.tv_sec = (time_t)(when_ns / SECOND);
		timer.it_value.tv_nsec = (long)(when_ns % SECOND);
	}
	return timerfd_settime(server->timer, TFD_TIMER_ABSTIME, &timer, NULL) ? -errno : 0;
}

/* Clients that have hung up while their answer was being made. */
static void look_for_gone(struct http_server *server)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int count = epoll_wait(server->epoll, events, EVENTS_AT_ONCE, 0);

	for (int i = 0; i < count; i++) {
		struct http_connection *connection = events[i].data.ptr;
		void *what = connection;

		if (what == &server->listener || what == &server->timer || what == &server->mhd)
			continue;
		if (!connection->request || connection->request->stage != HTTP_LATER)
			continue;
		http_request__give_up(connection->request);
		MHD_resume_connection(connection->mhd);
	}
}

int http_server__run(struct http_server *server, struct fail *fail)
{
	uint64_t next;
	int err = 0;

	look_for_gone(server);
	http_connections__accept(server);
	http_connections__expire(server);
	if (MHD_run(server->mhd) != MHD_YES)
		err = -EIO;
	/* Requests that have come set new limits. */
	next = http_connections__expire(server);
	if (!err)
		err = set_timer(server, next);
	return err ? fail__set(fail, err, "the HTTP server has failed: %s", strerror(-err)) : 0;
}

unsigned int http_server__port(const struct http_server *server)
{
	return address__port(&server->address);
}

const char *http_server__address(const struct http_server *server)
{
	return server->text;
}

void http_server__counts(const struct http_server *server, struct http_counts *ret_counts)
{
	*ret_counts = server->counts;
}

int http_server__trouble(const struct http_server *server, struct fail *fail)
{
	if (server->trouble_err)
		return fail__set(fail, server->trouble_err, "%s", server->trouble.text);
	if (server->with_tls && server->tls.expires < time(NULL))
		return fail__set(
			fail, -EKEYEXPIRED,
			"the listener's certificate has expired: renew it and start again");
	return 0;
}

/* libmicrohttpd must not be stopped with suspended connections. */
static void give_up_all(struct http_server *server)
{
	for (struct http_connection *it = server->connections; it; it = it->next) {
		if (!it->request || it->request->stage != HTTP_LATER)
			continue;
		http_request__give_up(it->request);
		MHD_resume_connection(it->mhd);
	}
	MHD_run(server->mhd);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void http_server__close(struct http_server *server)
{
	if (!server)
		return;
	if (server->mhd) {
		give_up_all(server);
		MHD_stop_daemon(server->mhd);
	}
	close_fd(server->listener);
	close_fd(server->epoll);
	close_fd(server->timer);
	tls__clear(&server->tls);
	free((char *)server->options.token_file);
	free(server);
}
