// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GET /v1/processes and GET /metrics. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/export.h"
#include "serve/answers.h"
#include "serve/capabilities.h"
#include "serve/own.h"
#include "util/clock.h"
#include "util/json_writer.h"

static const char *state_name(const struct served *process)
{
	static const char *const names[] = {
		[SERVED_STARTING] = "starting",
		[SERVED_PROFILED] = "profiled",
		[SERVED_REFUSED] = "refused",
		[SERVED_ENDED] = "ended",
	};

	return names[process->state];
}

static void write_text(struct json_writer *json, const char *key, const char *text)
{
	if (text && text[0])
		json__member_string(json, key, text);
}

static uint64_t milliseconds_until(uint64_t when, uint64_t now)
{
	return when > now ? (when - now) / 1000000 : 0;
}

static void write_observer(struct json_writer *json, const struct served *process)
{
	const struct observer *observer = process->observer;

	write_text(json, "exe", observer__exe(observer));
	write_text(json, "pipeline", observer__pipeline(observer));
	write_text(json, "pipeline_name", observer__pipeline_name(observer));
	write_text(json, "dbsp", observer__dbsp_version(observer));
	write_text(json, "layout", observer__layout(observer));
	json__member_string(json, "mode", snapshot_mode__name(observer__mode(observer)));
	json__member_uint(json, "workers", observer__workers(observer));
	json__member_uint(json, "start_ticks", observer__start_ticks(observer));
	write_text(json, "missing", observer__missing(observer));
}

static void write_process(struct json_writer *json, const struct served *process, uint64_t now)
{
	char path[32], exe[4096];
	ssize_t len;

	json__object_begin(json);
	json__member_int(json, "pid", process->pid);
	json__member_string(json, "state", state_name(process));
	if (process->state == SERVED_PROFILED) {
		write_observer(json, process);
		json__member_uint(json, "profiled_ms", (now - process->start) / 1000000);
		json__member_bool(json, "parks_dropped", process->parks_dropped);
		json__member_bool(json, "steps_in_turns", process->in_turns);
		json__member_bool(json, "busy", process->job != NULL);
	} else if (process->state != SERVED_ENDED) {
		snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
		len = readlink(path, exe, sizeof(exe) - 1);
		exe[len > 0 ? len : 0] = '\0';
		write_text(json, "exe", exe);
	}
	if (process->sums) {
		json__member_uint(json, "windows", process->sums->windows);
		json__member_uint(json, "incomplete_windows", process->sums->incomplete_windows);
	}
	if (process->state == SERVED_REFUSED) {
		json__member_string(json, "reason", process->reason);
		json__member_uint(json, "tries", process->tries);
		json__member_uint(json, "next_try_ms", milliseconds_until(process->try_at, now));
	}
	json__object_end(json);
}

static void write_own(struct json_writer *json, const struct serve *serve)
{
	json__member_object_begin(json, "profiler");
	json__member_string(json, "version", DBPROF_VERSION);
	json__member_int(json, "pid", getpid());
	json__member_string(json, "probes", session__uprobe_kind(serve->session));
	json__member_bool(json, "told_of_starts", session__started_fd(serve->session) >= 0);
	json__member_uint(json, "interval_ms", serve->options.interval_ns / 1000000);
	json__member_uint(json, "sampler_hz", serve->frequency_hz);
	capabilities__write(json);
	json__object_end(json);
}

static int write_list(const struct serve *serve, FILE *out)
{
	struct json_writer json;
	uint64_t now = clock__now();
	int err;

	json__begin(&json, out);
	json__object_begin(&json);
	json__member_array_begin(&json, "processes");
	for (size_t i = 0; i < serve->process_count; i++)
		write_process(&json, serve->processes[i], now);
	json__array_end(&json);
	write_own(&json, serve);
	json__object_end(&json);
	err = json__end(&json);
	fputc('\n', out);
	return err;
}

static int write_metrics(const struct serve *serve, enum metrics_dialect dialect, FILE *out)
{
	const struct metrics_sums **sums = calloc(serve->process_count + 1, sizeof(const void *));
	struct own *own = malloc(sizeof(*own));
	size_t count = 0;
	int err = -ENOMEM;

	if (sums && own) {
		for (size_t i = 0; i < serve->process_count; i++)
			if (serve->processes[i]->sums && serve->processes[i]->sums->windows)
				sums[count++] = serve->processes[i]->sums;
		own__read(serve, own);
		err = openmetrics__write(out, dialect, sums, count, &serve->cost,
					 &(struct metrics_own){ own->numbers, own->count }, NULL);
	}
	free(sums);
	free(own);
	return err;
}

static void answer_text(struct http_request *request, const char *type, char *text, size_t size,
			int err)
{
	if (err)
		http_request__refuse(request, 500, "the answer cannot be made: %s", strerror(-err));
	else
		http_request__answer(request, 200, type, text, size);
	free(text);
}

void answer_processes(struct http_request *request, void *context)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err = out ? write_list(context, out) : -errno;

	if (out && fclose(out) && !err)
		err = -ENOMEM;
	answer_text(request, "application/json", text, size, err);
}

void answer_metrics(struct http_request *request, void *context)
{
	const char *accept = http_request__header(request, "Accept");
	enum metrics_dialect dialect = accept && strstr(accept, "application/openmetrics-text")
					       ? METRICS_OPENMETRICS
					       : METRICS_PROMETHEUS;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err = out ? write_metrics(context, dialect, out) : -errno;

	if (out && fclose(out) && !err)
		err = -ENOMEM;
	answer_text(request, metrics_dialect__content_type(dialect), text, size, err);
}
