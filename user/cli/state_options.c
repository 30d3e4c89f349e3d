// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdbool.h>

#include "cli/options.h"
#include "cli/state_options.h"
#include "state/url.h"

enum {
	KEY_STATE = 0x200,
	KEY_STATE_TIMEOUT,
	KEY_STATE_HEADER,
};

static const struct argp_option argp_options[] = {
	{ "state", KEY_STATE, "FILE|URL", 0,
	  "Add what only the engine knows, such as memory and storage, from the pipeline's own "
	  "profile: a file, or the URL of the pipeline",
	  1 },
	{ "state-timeout", KEY_STATE_TIMEOUT, "TIME", 0,
	  "How long the pipeline may take to answer (default: until a second after the window; 30s "
	  "where there is no window)",
	  1 },
	{ "state-header", KEY_STATE_HEADER, "HEADER|@FILE", 0,
	  "Header of the request, such as 'Authorization: Bearer ...', or a file with some", 1 },
	{},
};

static void check(struct argp_state *state)
{
	const struct state_options *options = state->input;
	bool url = options->from && url__is_http(options->from);

	if (options->from && url__is_other(options->from))
		argp_error(state, "--state takes a file, or an URL of http or https");
	else if (!url && options->header_count > 0)
		argp_error(state, "--state-header is for --state with an URL");
	else if (!url && options->timeout_ns > 0)
		argp_error(state, "--state-timeout is for --state with an URL");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct state_options *options = state->input;

	switch (key) {
	case KEY_STATE:
		options->from = arg;
		if (!*arg)
			argp_error(state, "--state takes a file name or an URL");
		return 0;
	case KEY_STATE_TIMEOUT:
		if (duration__parse(arg, &options->timeout_ns))
			argp_error(state,
				   "--state-timeout takes a time such as 10s, 500ms or 2m, not "
				   "'%s'",
				   arg);
		return 0;
	case KEY_STATE_HEADER:
		if (options->header_count == HEADERS_MAX)
			argp_error(state, "at most %d --state-header", HEADERS_MAX);
		else
			options->headers[options->header_count++] = arg;
		return 0;
	case ARGP_KEY_END:
		check(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp state_argp = { argp_options, parse_option, NULL, NULL, NULL, NULL, NULL };
