/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where to listen.
 */
#ifndef DBPROF_HTTP_ADDRESS_H
#define DBPROF_HTTP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "util/fail.h"

#define ADDRESS_TEXT_MAX 64

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/*
 * Parses "127.0.0.1:9747", "[::1]:9747" or "localhost:9747", which is 127.0.0.1. Other names are
 * not looked up. Returns 0, or -EINVAL with a sentence.
 */
int address__parse(const char *text, struct address *ret_address, struct fail *fail);

/* Whether only this machine can reach it. */
bool address__is_loopback(const struct address *address);

unsigned int address__port(const struct address *address);
/* "127.0.0.1:9747", "[::1]:9747". */
void address__format(const struct address *address, char text[ADDRESS_TEXT_MAX]);

/*
 * A socket that listens there, which does not block; *@address gets the port when it was 0. Returns
 * the descriptor, or a negative errno with a sentence.
 */
int address__listen(struct address *address, struct fail *fail);

/* Whether the value of a header Host names this machine from the inside: "localhost:9747". */
bool address__is_loopback_host(const char *host);

#endif
