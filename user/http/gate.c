// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "http/internal.h"

#define METHODS_MAX 64

/*
 * A page of another site can make a browser ask for a name that leads here. Without a token, the
 * name by which we are asked must be one of this machine itself.
 */
static bool check_host(struct http_request *request)
{
	const char *host = http_request__header(request, "Host");

	if (!host || address__is_loopback_host(host))
		return true;
	http_request__refuse(request, MHD_HTTP_FORBIDDEN,
			     "this server answers to localhost, not to another name");
	return false;
}

static bool check_token(struct http_request *request)
{
	struct http_server *server = request->server;
	struct token token;
	bool allowed;

	if (!server->options.token_file)
		return check_host(request);
	server->trouble = (struct fail){ 0 };
	server->trouble_err = token__read(server->options.token_file, &token, &server->trouble);
	allowed = !server->trouble_err &&
		  token__allows(&token, http_request__header(request, "Authorization"));
	explicit_bzero(&token, sizeof(token));
	if (allowed)
		return true;
	http_request__add_header(request, "WWW-Authenticate", "Bearer");
	http_request__refuse(request, MHD_HTTP_UNAUTHORIZED,
			     "the right token is needed: Authorization: Bearer TOKEN");
	return false;
}

static bool has_method(const struct http_route *route, const struct http_request *request,
		       const char *method)
{
	if (request->head)
		return !strcmp(route->method, "GET") && !(route->flags & HTTP_NO_HEAD);
	return !strcmp(route->method, method);
}

static void refuse_method(struct http_request *request)
{
	const struct http_server *server = request->server;
	char allow[METHODS_MAX] = "";
	size_t len = 0;

	for (size_t i = 0; i < server->route_count && len < sizeof(allow); i++) {
		const struct http_route *route = &server->routes[i];
		bool head = !strcmp(route->method, "GET") && !(route->flags & HTTP_NO_HEAD);

		if (!strcmp(route->path, request->path))
			len += (size_t)snprintf(allow + len, sizeof(allow) - len, "%s%s%s",
						len ? ", " : "", route->method,
						head ? ", HEAD" : "");
	}
	http_request__add_header(request, "Allow", allow);
	http_request__refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, "%s takes %s here",
			     request->path, allow);
}

/* The route, NULL when there is none; *@ret_path is the one that its path has at least. */
static const struct http_route *find(const struct http_request *request, const char *method,
				     const struct http_route **ret_path)
{
	const struct http_server *server = request->server;

	*ret_path = NULL;
	for (size_t i = 0; i < server->route_count; i++) {
		const struct http_route *route = &server->routes[i];

		if (strcmp(route->path, request->path) != 0)
			continue;
		*ret_path = route;
		if (has_method(route, request, method))
			return route;
	}
	return NULL;
}

static bool check_query(struct http_request *request)
{
	struct fail fail = { 0 };

	if (!http_query__parse(request->query_text, &request->query, &fail) &&
	    (!request->route->parameters ||
	     !http_query__only(&request->query, request->route->parameters, &fail)))
		return true;
	http_request__refuse(request, MHD_HTTP_BAD_REQUEST, "%s", fail.text);
	return false;
}

bool http_gate__pass(struct http_request *request, const char *method)
{
	const struct http_route *path;

	request->route = find(request, method, &path);
	/* Who has no token is not told which paths there are. */
	if (!(path && (path->flags & HTTP_NO_TOKEN)) && !check_token(request))
		return false;
	if (!path) {
		http_request__refuse(request, MHD_HTTP_NOT_FOUND, "there is nothing here");
		return false;
	}
	if (!request->route) {
		refuse_method(request);
		return false;
	}
	return check_query(request);
}
