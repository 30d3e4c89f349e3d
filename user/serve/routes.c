// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What can be asked of the daemon. */
#include <errno.h>
#include <sys/epoll.h>

#include "serve/answers.h"
#include "serve/serve_internal.h"

static void answer_health(struct http_request *request, void *context)
{
	(void)context;
	http_request__answer(request, 200, "text/plain; charset=utf-8", "ok\n", 3);
}

/* Ready once the processes that ran before were looked at. */
static void answer_ready(struct http_request *request, void *context)
{
	const struct serve *serve = context;

	if (serve->scan_at)
		http_request__answer(request, 200, "text/plain; charset=utf-8", "ready\n", 6);
	else
		http_request__refuse(request, 503, "still starting; ask again in a second");
}

static const char *const no_parameters[] = { NULL };
static const char *const profile_parameters[] = { "pid", "seconds", "format", NULL };
static const char *const pprof_parameters[] = { "pid", "seconds", NULL };

static const struct http_route routes[] = {
	{ "GET", "/healthz", answer_health, HTTP_NO_TOKEN, NULL },
	{ "GET", "/readyz", answer_ready, HTTP_NO_TOKEN, NULL },
	{ "GET", "/metrics", answer_metrics, 0, NULL },
	{ "GET", "/v1/processes", answer_processes, 0, no_parameters },
	{ "GET", "/v1/profile", answer_profile, HTTP_NO_HEAD, profile_parameters },
	{ "GET", "/debug/pprof/profile", answer_pprof, HTTP_NO_HEAD, pprof_parameters },
};

int serve__listen(struct serve *serve, struct fail *fail)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &serve->http };
	int err = http_server__open(&serve->options.http, routes,
				    sizeof(routes) / sizeof(routes[0]), serve, &serve->http, fail);

	if (err)
		return err;
	return epoll_ctl(serve->epoll, EPOLL_CTL_ADD, http_server__fd(serve->http), &event) ? -errno
											    : 0;
}
