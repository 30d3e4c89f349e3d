// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/engine_state.h"
#include "reader/reader.h"
#include "state/fetch.h"
#include "state/headers.h"
#include "state/spool.h"
#include "state/state_source.h"
#include "state/url.h"
#include "util/clock.h"
#include "util/instant.h"

#define PATIENCE_NS	1000000000ULL /* after the window, unless a time limit is given */
#define NANOS_PER_MILLI 1000000

struct engine_state {
	const struct state_options *options;
	char *url;  /* NULL: it is a file */
	char *from; /* for people */
	struct headers headers;
	struct fetch *fetch;
	int file; /* the profile, -1: none */
	int64_t asked_unix_ns;
	uint64_t answer_ns;
	struct fail why; /* there is none */
};

int engine_state__open(const struct state_options *options, struct engine_state **ret_state,
		       struct fail *fail)
{
	struct engine_state *state;
	int err = 0;

	*ret_state = NULL;
	if (!options->from)
		return 0;
	state = calloc(1, sizeof(*state));
	if (!state)
		return -ENOMEM;
	state->options = options;
	state->file = -1;
	for (size_t i = 0; i < options->header_count && !err; i++)
		err = headers__add(&state->headers, options->headers[i], fail);
	if (!err && url__is_http(options->from)) {
		err = url__parse(options->from, &state->url, &state->from, fail);
	} else if (!err) {
		state->from = strdup(options->from);
		err = state->from ? 0 : -ENOMEM;
	}
	if (err) {
		engine_state__free(state);
		return err;
	}
	*ret_state = state;
	return 0;
}

void engine_state__free(struct engine_state *state)
{
	if (!state)
		return;
	fetch__free(state->fetch);
	headers__clear(&state->headers);
	if (state->file >= 0)
		close(state->file);
	free(state->url);
	free(state->from);
	free(state);
}

void engine_state__begin(struct engine_state *state, bool retry)
{
	struct fetch_options options;

	if (!state || !state->url)
		return;
	options = (struct fetch_options){
		.url = state->url,
		.headers = &state->headers,
		.timeout_ns = state->options->timeout_ns,
		.max_bytes = SPOOL_BYTES_MAX,
		.retry = retry,
	};
	state->asked_unix_ns = instant__now();
	fetch__start(&options, &state->fetch, &state->why);
}

/* The signal that ended the window has had its effect; only another one ends the waiting. */
static void drain(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
}

static void wait_for_answer(const struct engine_state *state, int signals)
{
	struct pollfd fds[] = { { .fd = fetch__event(state->fetch), .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	uint64_t until = clock__now() + PATIENCE_NS;

	if (state->options->timeout_ns)
		until = fetch__started(state->fetch) + state->options->timeout_ns;
	drain(signals);
	for (;;) {
		uint64_t now = clock__now();
		uint64_t left = until > now ? (until - now) / NANOS_PER_MILLI + 1 : 0;

		if (left == 0 || poll(fds, 2, left > INT32_MAX ? INT32_MAX : (int)left) != 0)
			return;
	}
}

static void read_file(struct engine_state *state)
{
	struct fail fail = { 0 };

	state->file = spool__copy(state->from, SPOOL_BYTES_MAX, &fail);
	if (state->file < 0)
		fail__set(&state->why, state->file, "%s: %s", state->from,
			  fail.text[0] ? fail.text : strerror(-state->file));
}

void engine_state__end(struct engine_state *state, int signals)
{
	if (!state)
		return;
	if (!state->url) {
		state->asked_unix_ns = instant__now();
		read_file(state);
		return;
	}
	if (!state->fetch)
		return;
	wait_for_answer(state, signals);
	state->file = fetch__end(state->fetch, &state->why);
	state->answer_ns = fetch__took(state->fetch);
}

/* What the reader says of the file that it reads, in words of what was asked for. */
static void describe(struct engine_state *state, int err, const struct fail *fail)
{
	char path[SPOOL_PATH_MAX];
	const char *text = fail->text[0] ? fail->text : strerror(-err);
	const char *at;

	spool__path(state->file, path);
	at = strstr(text, path);
	fail__clear(&state->why);
	if (at)
		fail__set(&state->why, err, "%.*s%s%s", (int)(at - text), text, state->from,
			  at + strlen(path));
	else
		fail__set(&state->why, err, "the profile in %s is not that of this pipeline: %s",
			  state->from, text);
}

static int open_engine(const struct engine_state *state, struct profile_source **ret_engine,
		       struct fail *fail)
{
	char path[SPOOL_PATH_MAX];

	spool__path(state->file, path);
	return profile_reader__open(path, ret_engine, fail);
}

int engine_state__join(struct engine_state *state, struct profile_source **source)
{
	struct state_origin origin = { 0 };
	struct profile_source *engine = NULL;
	struct fail fail = { 0 };
	int err = -ENOENT;

	if (!state)
		return 0;
	origin.from = state->from;
	origin.asked_unix_ns = state->asked_unix_ns;
	origin.answer_ns = state->answer_ns;
	if (state->file >= 0) {
		err = open_engine(state, &engine, &fail);
		if (!err)
			err = state_source__open(*source, engine, &origin, source, &fail);
		if (!err)
			return 0;
		describe(state, err, &fail);
		profile_source__close(engine);
	}
	origin.error = state->why.text;
	return state_source__open(*source, NULL, &origin, source, NULL);
}

const char *engine_state__error(const struct engine_state *state)
{
	return state && state->why.text[0] ? state->why.text : NULL;
}

void engine_state__complain(const struct engine_state *state)
{
	if (engine_state__error(state))
		fprintf(stderr, "dbprof-bpf: no engine metrics are in the profile: %s\n",
			engine_state__error(state));
}

const char *engine_state__from(const struct engine_state *state)
{
	return state ? state->from : NULL;
}
