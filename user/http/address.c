// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "http/address.h"

#define BACKLOG	     128
#define LOOPBACK_NET 127 /* 127.0.0.0/8 */

/* Splits "HOST:PORT" or "[HOST]:PORT". False when it is neither. */
static bool split(const char *text, char host[ADDRESS_TEXT_MAX], unsigned int *ret_port)
{
	const char *colon = strrchr(text, ':');
	const char *first = text, *end = colon;
	unsigned long port;
	size_t digits;

	if (!colon)
		return false;
	if (*text == '[') {
		first++;
		if (--end <= first || *end != ']')
			return false;
	} else if (memchr(text, ':', (size_t)(colon - text))) {
		return false;
	}
	digits = strspn(colon + 1, "0123456789");
	if (digits == 0 || digits > 5 || colon[1 + digits] || end - first >= ADDRESS_TEXT_MAX)
		return false;
	port = strtoul(colon + 1, NULL, 10);
	if (port > UINT16_MAX)
		return false;
	memcpy(host, first, (size_t)(end - first));
	host[end - first] = '\0';
	*ret_port = (unsigned int)port;
	return true;
}

static bool is_localhost(const char *host)
{
	return !strcasecmp(host, "localhost");
}

/* Sets everything but the port. */
static bool parse_host(const char *host, struct address *address)
{
	*address = (struct address){ 0 };
	if (inet_pton(AF_INET, is_localhost(host) ? "127.0.0.1" : host, &address->v4.sin_addr) ==
	    1) {
		address->v4.sin_family = AF_INET;
		address->len = sizeof(address->v4);
		return true;
	}
	if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1) {
		address->v6.sin6_family = AF_INET6;
		address->len = sizeof(address->v6);
		return true;
	}
	return false;
}

int address__parse(const char *text, struct address *ret_address, struct fail *fail)
{
	char host[ADDRESS_TEXT_MAX];
	unsigned int port;

	if (!split(text, host, &port) || !parse_host(host, ret_address))
		return fail__set(
			fail, -EINVAL,
			"cannot listen on '%.100s': give a numeric address and a port, such "
			"as 127.0.0.1:9747 or [::1]:9747",
			text);
	if (ret_address->any.sa_family == AF_INET)
		ret_address->v4.sin_port = htons((uint16_t)port);
	else
		ret_address->v6.sin6_port = htons((uint16_t)port);
	return 0;
}

bool address__is_loopback(const struct address *address)
{
	const struct in6_addr *v6 = &address->v6.sin6_addr;

	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == LOOPBACK_NET;
	if (IN6_IS_ADDR_V4MAPPED(v6))
		return v6->s6_addr[12] == LOOPBACK_NET;
	return IN6_IS_ADDR_LOOPBACK(v6);
}

unsigned int address__port(const struct address *address)
{
	return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port
						       : address->v6.sin6_port);
}

void address__format(const struct address *address, char text[ADDRESS_TEXT_MAX])
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (address->any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof(host));
		snprintf(text, ADDRESS_TEXT_MAX, "%s:%u", host, address__port(address));
	} else {
		inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof(host));
		snprintf(text, ADDRESS_TEXT_MAX, "[%s]:%u", host, address__port(address));
	}
}

static int bind_and_listen(int fd, struct address *address)
{
	static const int on = 1;

	/* Connections of an earlier run that linger do not keep the port. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, &address->any, address->len) || listen(fd, BACKLOG) ||
	    getsockname(fd, &address->any, &address->len))
		return -errno;
	return 0;
}

int address__listen(struct address *address, struct fail *fail)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : bind_and_listen(fd, address);
	char text[ADDRESS_TEXT_MAX];

	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	address__format(address, text);
	if (err == -EADDRINUSE)
		return fail__set(fail, err,
				 "cannot listen on %s: another program does; choose another port",
				 text);
	return fail__set(fail, err, "cannot listen on %s: %s", text, strerror(-err));
}

bool address__is_loopback_host(const char *host)
{
	char copy[ADDRESS_TEXT_MAX + 8];
	char name[ADDRESS_TEXT_MAX];
	struct address address;
	unsigned int port;

	if (is_localhost(host))
		return true;
	/* The port may be left out. */
	if (!split(host, name, &port)) {
		if (snprintf(copy, sizeof(copy), "%s:80", host) >= (int)sizeof(copy) ||
		    !split(copy, name, &port))
			return false;
	}
	return parse_host(name, &address) && address__is_loopback(&address);
}
