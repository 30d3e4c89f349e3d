// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GET /v1/profile and GET /debug/pprof/profile: a profile of the next seconds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/export.h"
#include "export/snapshot_source.h"
#include "serve/answers.h"
#include "serve/serve_internal.h"

#define SECONDS_MAX	300
#define SECONDS_DEFAULT 10
#define PATIENCE	60 /* seconds beyond them, after which the answer is 503 */

struct format {
	const char *exporter;
	const char *type;
};

/* In the order of the names below. */
static const struct format formats[] = {
	{ "json", "application/json" },
	{ "bundle", "application/zip" },
	{ "pprof", "application/octet-stream" },
	{ "html", "text/html; charset=utf-8" },
	{ "folded", "text/plain; charset=utf-8" },
	{ "snapshot", "application/octet-stream" },
};

static const char *const format_names[] = { "json",   "bundle",	  "pprof", "html",
					    "folded", "snapshot", NULL };

#define FORMAT_PPROF 2

/* A request that waits for its profile. */
struct demand {
	struct serve *serve;
	struct http_request *request;
	struct profile_job *job;
	const struct format *format;
	pid_t pid;
};

static void gone(struct http_request *request, void *data)
{
	struct demand *demand = data;

	(void)request;
	serve__cancel_profile(demand->serve, demand->job);
	free(demand);
}

static int write_to(int fd, const struct snapshot *window, const struct format *format,
		    uint64_t *ret_size, struct fail *fail)
{
	const struct exporter *exporter = exporter__find(format->exporter);
	struct profile_source *source = NULL;
	int copy = dup(fd), err;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	off_t size;

	if (!out) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	err = snapshot_source__open(window, &source);
	if (!err)
		err = exporter->write(source, out, fail);
	profile_source__close(source);
	if (fclose(out) && !err)
		err = -errno;
	size = lseek(fd, 0, SEEK_END);
	if (!err && size < 0)
		err = -errno;
	*ret_size = (uint64_t)size;
	return err;
}

static void answer(const struct demand *demand, const struct snapshot *window)
{
	int fd = memfd_create("profile", MFD_CLOEXEC), err;
	struct fail fail = {};
	uint64_t size = 0;
	char name[128];

	err = fd < 0 ? -errno : write_to(fd, window, demand->format, &size, &fail);
	if (err) {
		demand->serve->errors.profiles++;
		if (fd >= 0)
			close(fd);
		http_request__refuse(demand->request, 500, "the profile cannot be written: %s",
				     fail.text[0] ? fail.text : strerror(-err));
		return;
	}
	snprintf(name, sizeof(name), "attachment; filename=\"dbprof-%d.%s\"", demand->pid,
		 exporter__find(demand->format->exporter)->extension);
	if (strcmp(demand->format->exporter, "html") != 0)
		http_request__add_header(demand->request, "Content-Disposition", name);
	http_request__answer_fd(demand->request, 200, demand->format->type, fd, size);
}

static void done(void *context, const struct snapshot *window, const char *why)
{
	struct demand *demand = context;

	if (window) {
		answer(demand, window);
	} else {
		demand->serve->errors.profiles++;
		http_request__refuse(demand->request, 503, "there is no profile of process %d: %s",
				     demand->pid, why);
	}
	free(demand);
}

static void refuse(const struct serve *serve, struct http_request *request, pid_t pid, int err)
{
	const struct served *process = serve__process(serve, pid);

	if (err == -EBUSY)
		http_request__refuse_busy(request, SECONDS_DEFAULT,
					  "a profile of process %d is being taken already", pid);
	else if (err == -ESRCH && process && process->state == SERVED_REFUSED)
		http_request__refuse(request, 404, "process %d cannot be profiled: %s", pid,
				     process->reason);
	else if (err == -ESRCH)
		http_request__refuse(request, 404,
				     "process %d is not being profiled; /v1/processes lists those "
				     "that are",
				     pid);
	else
		http_request__refuse(request, 500, "no profile can be taken: %s", strerror(-err));
}

static void begin(struct serve *serve, struct http_request *request, pid_t pid, uint64_t seconds,
		  const struct format *format)
{
	struct demand *demand = calloc(1, sizeof(*demand));
	int err = demand ? 0 : -ENOMEM;

	if (!err) {
		*demand = (struct demand){
			.serve = serve, .request = request, .format = format, .pid = pid
		};
		err = serve__begin_profile(serve, pid, seconds * 1000000000ULL, done, demand,
					   &demand->job);
	}
	if (err) {
		free(demand);
		refuse(serve, request, pid, err);
		return;
	}
	http_request__later(request, (unsigned int)seconds + PATIENCE, gone, demand);
}

/* The only process that is profiled; 0 when there are others, or none. */
static pid_t only_process(const struct serve *serve)
{
	pid_t only = 0;

	for (size_t i = 0; i < serve->process_count; i++) {
		const struct served *process = serve->processes[i];

		if (process->state != SERVED_PROFILED)
			continue;
		if (only)
			return 0;
		only = process->pid;
	}
	return only;
}

static void demand_profile(struct serve *serve, struct http_request *request, size_t format)
{
	const struct http_query *query = http_request__query(request);
	uint64_t pid = (uint64_t)only_process(serve), seconds = SECONDS_DEFAULT;
	struct fail fail = {};
	int err = http_query__number(query, "pid", 1, INT32_MAX, &pid, &fail);

	if (!err)
		err = http_query__number(query, "seconds", 1, SECONDS_MAX, &seconds, &fail);
	if (!err)
		err = http_query__choice(query, "format", format_names, &format, &fail);
	if (err)
		http_request__refuse(request, 400, "%s", fail.text);
	else if (!pid)
		http_request__refuse(request, 400,
				     "say which process with pid=N; /v1/processes lists them");
	else
		begin(serve, request, (pid_t)pid, seconds, &formats[format]);
}

void answer_profile(struct http_request *request, void *context)
{
	demand_profile(context, request, 0);
}

void answer_pprof(struct http_request *request, void *context)
{
	demand_profile(context, request, FORMAT_PPROF);
}
