// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/numbers.h"
#include "export/metrics_sums.h"
#include "serve/serve.h"

enum {
	KEY_INTERVAL = 0x100,
	KEY_BUDGET,
	KEY_TOP,
	KEY_MAX_THREADS,
	KEY_MAX_CIRCUITS,
	KEY_MAX_OPERATORS,
	KEY_LISTEN,
	KEY_TLS_CERT,
	KEY_TLS_KEY,
	KEY_TOKEN_FILE,
	KEY_STORE,
	KEY_KEEP,
};

#define INTERVAL_MIN_NS 100000000 /* shorter windows are for `dbprof-bpf --interval` */

static const char doc[] = "Profiles every DBSP process of the host, all the time: finds those that "
			  "run and those that "
			  "start, in any container, and serves what they add up to."
			  "\v"
			  "Example:\n"
			  "  sudo dbprof-bpf serve --interval 10s\n"
			  "\n"
			  "It says on the standard error which processes come and go, and ends on "
			  "SIGTERM or SIGINT.\n"
			  "Exit status: 0 ended by a signal, 1 failed, 2 wrong usage.";

static const struct argp_option argp_options[] = {
	{ "interval", KEY_INTERVAL, "TIME", 0,
	  "Length of the windows that are added up (default 10s)", 1 },
	{ "budget", KEY_BUDGET, "PERCENT", 0,
	  "What profiling may cost, of the CPU time of all pipelines together, before probes are "
	  "given up (default 1)",
	  1 },
	{ "mode", 'm', "MODE", 0,
	  "How operators are measured: engine, sampled, exact, waits, or auto, the default, which "
	  "alone keeps the budget",
	  1 },
	{ "top-operators", KEY_TOP, "K", 0,
	  "Operators of each process that metrics tell of one by one (default 20)", 1 },
	{ "listen", KEY_LISTEN, "ADDR:PORT", 0,
	  "Where requests are answered (default " HTTP_LISTEN_DEFAULT
	  "); what other machines can reach needs --tls-cert, --tls-key and --token-file",
	  2 },
	{ "tls-cert", KEY_TLS_CERT, "FILE", 0, "Certificate, PEM", 2 },
	{ "tls-key", KEY_TLS_KEY, "FILE", 0, "Its key, PEM", 2 },
	{ "token-file", KEY_TOKEN_FILE, "FILE", 0,
	  "One line: who asks has to send it as bearer token", 2 },
	{ "store", KEY_STORE, "DIR", 0,
	  "Keep a profile of each window there; 'dbprof-bpf report FILE' shows one", 3 },
	{ "keep", KEY_KEEP, "SIZE", 0,
	  "Room that these may take, such as 500M or 10G (default 1G); old ones are thinned out",
	  3 },
	{ "layout", 'l', "FILE", 0,
	  "Layout of the engine's types, for versions without a built-in one", 4 },
	{ "max-threads", KEY_MAX_THREADS, "N", 0, "Threads that can be observed (default 8192)",
	  4 },
	{ "max-circuits", KEY_MAX_CIRCUITS, "N", 0, "Circuits that can be observed (default 8192)",
	  4 },
	{ "max-operators", KEY_MAX_OPERATORS, "N", 0,
	  "Operators of workers that can be observed (default 65536)", 4 },
	{},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct serve_options *options = state->input;

	switch (key) {
	case KEY_INTERVAL:
		options->interval_ns = numbers__time(state, "interval", arg, INTERVAL_MIN_NS);
		break;
	case KEY_BUDGET:
		options->budget = numbers__budget(state, arg);
		break;
	case 'm':
		options->observer.mode = numbers__mode(state, arg);
		break;
	case KEY_TOP:
		options->shown_operators = numbers__count(state, "top-operators", arg, 0, 1000);
		break;
	case 'l':
		options->observer.layout_file = arg;
		break;
	case KEY_MAX_THREADS:
		options->max_threads = numbers__count(state, "max-threads", arg, 1, 1 << 20);
		break;
	case KEY_MAX_CIRCUITS:
		options->max_circuits = numbers__count(state, "max-circuits", arg, 1, 1 << 20);
		break;
	case KEY_MAX_OPERATORS:
		options->max_operators = numbers__count(state, "max-operators", arg, 1, 1 << 20);
		break;
	case KEY_LISTEN:
		options->http.listen = arg;
		break;
	case KEY_TLS_CERT:
		options->http.tls_cert = arg;
		break;
	case KEY_TLS_KEY:
		options->http.tls_key = arg;
		break;
	case KEY_TOKEN_FILE:
		options->http.token_file = arg;
		break;
	case KEY_STORE:
		options->store = arg;
		break;
	case KEY_KEEP:
		options->keep = numbers__bytes(state, "keep", arg, 1 << 20);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "there is nothing to give but options, such as --interval 10s");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void say(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "dbprof-bpf: %s\n", line);
}

enum exit_status command_serve(int argc, char **argv)
{
	const struct argp argp = { argp_options, parse_option, NULL, doc, NULL, NULL, NULL };
	struct serve_options options = {
		.interval_ns = 10000000000ULL,
		.budget = 0.01,
		.shown_operators = METRICS_OPERATORS_SHOWN,
		.max_threads = 8192,
		.max_circuits = 8192,
		.max_operators = 65536,
		.keep = 1ULL << 30,
		.say = say,
	};
	struct serve *serve = NULL;
	struct fail fail = {};
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = serve__open(&options, &serve, &fail);
	if (!err)
		err = serve__run(serve, &fail);
	serve__close(serve);
	return err ? command__failed(&fail, err) : STATUS_COMPLETE;
}
