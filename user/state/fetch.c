// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "state/fetch.h"
#include "state/spool.h"
#include "util/clock.h"
#include "util/text.h"

#define REDIRECTS_MAX	3
#define WAIT_MS		1000
#define RETRY_MS	200
#define NANOS_PER_MILLI 1000000u

struct fetch {
	struct fetch_options options;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	pthread_t thread;
	bool running; /* the thread is to be joined */
	atomic_bool stop;
	int event;
	int spool;
	int write_error; /* of the spool */
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	char reason[CURL_ERROR_SIZE];
	struct fail fail;
	int result;
};

static size_t receive(char *data, size_t size, size_t count, void *context)
{
	struct fetch *fetch = context;
	size_t len = size * count;

	fetch->bytes += len;
	if (fetch->bytes > fetch->options.max_bytes)
		fetch->write_error = -EFBIG;
	else
		fetch->write_error = spool__write(fetch->spool, data, len);
	return fetch->write_error ? CURL_WRITEFUNC_ERROR : len;
}

/* Milliseconds until the time limit, at most @most; 0 when it has passed. */
static int left_ms(const struct fetch *fetch, int most)
{
	uint64_t gone = clock__now() - fetch->start;
	uint64_t left;

	if (!fetch->options.timeout_ns)
		return most;
	if (gone >= fetch->options.timeout_ns)
		return 0;
	left = (fetch->options.timeout_ns - gone) / NANOS_PER_MILLI + 1;
	return left < (uint64_t)most ? (int)left : most;
}

static bool is_late(const struct fetch *fetch)
{
	return atomic_load(&fetch->stop) || left_ms(fetch, 1) == 0;
}

/* One request to its end. CURLE_OPERATION_TIMEDOUT when it took too long. */
static CURLcode request(struct fetch *fetch)
{
	CURLcode code = CURLE_FAILED_INIT;
	int active = 1, queued;
	CURLMsg *message;

	while (active) {
		if (is_late(fetch))
			return CURLE_OPERATION_TIMEDOUT;
		if (curl_multi_perform(fetch->multi, &active))
			return CURLE_FAILED_INIT;
		if (active)
			curl_multi_poll(fetch->multi, NULL, 0, left_ms(fetch, WAIT_MS), NULL);
	}
	message = curl_multi_info_read(fetch->multi, &queued);
	if (message && message->msg == CURLMSG_DONE)
		code = message->data.result;
	return code;
}

/* What a number of HTTP means to who asked for a profile. */
static int refuse_status(struct fetch *fetch, long status)
{
	if (status >= 300 && status < 400)
		return fail__set(
			&fetch->fail, -EPROTO,
			"the pipeline answered %ld, a redirect, which is not followed with "
			"--state-header; give the URL that it leads to",
			status);
	return fail__set(&fetch->fail, -EPROTO, "the pipeline answered %ld%s", status,
			 status == 401 || status == 403 ? "; it may want a --state-header"
			 : status == 404		? "; is the URL that of its profile?"
							: "");
}

static int timed_out(struct fetch *fetch)
{
	char took[TEXT_NUMBER_MAX];

	text__duration(fetch->end - fetch->start, took);
	return fail__set(&fetch->fail, -ETIMEDOUT,
			 "the pipeline did not answer within %s; a longer --state-timeout may help",
			 took);
}

static int explain(struct fetch *fetch, CURLcode code)
{
	long status = 0;

	curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
	if (fetch->write_error == -EFBIG)
		return fail__set(&fetch->fail, -EFBIG,
				 "the pipeline answered with more than %llu MiB",
				 (unsigned long long)(fetch->options.max_bytes >> 20));
	if (fetch->write_error)
		return fail__set(&fetch->fail, fetch->write_error,
				 "the pipeline's answer cannot be stored: %s",
				 strerror(-fetch->write_error));
	if (code == CURLE_OPERATION_TIMEDOUT)
		return timed_out(fetch);
	if (code == CURLE_PARTIAL_FILE)
		return fail__set(&fetch->fail, -EPROTO,
				 "the pipeline broke its answer off after %llu bytes",
				 (unsigned long long)fetch->bytes);
	if (code == CURLE_HTTP_RETURNED_ERROR || (!code && status != 200))
		return refuse_status(fetch, status);
	if (code)
		return fail__set(&fetch->fail, -EIO, "the pipeline cannot be asked: %.200s",
				 fetch->reason[0] ? fetch->reason : curl_easy_strerror(code));
	if (!fetch->bytes)
		return fail__set(&fetch->fail, -EPROTO, "the pipeline's answer is empty");
	return 0;
}

static void *run(void *argument)
{
	struct fetch *fetch = argument;
	CURLcode code;

	for (;;) {
		curl_multi_add_handle(fetch->multi, fetch->easy);
		code = request(fetch);
		curl_multi_remove_handle(fetch->multi, fetch->easy);
		if (code != CURLE_COULDNT_CONNECT || !fetch->options.retry)
			break;
		curl_multi_poll(fetch->multi, NULL, 0, left_ms(fetch, RETRY_MS), NULL);
		if (is_late(fetch))
			break;
	}
	fetch->end = clock__now();
	fetch->result = explain(fetch, code);
	eventfd_write(fetch->event, 1);
	return NULL;
}

static int add_headers(struct fetch *fetch)
{
	const struct headers *headers = fetch->options.headers;

	for (size_t i = 0; headers && i < headers->count; i++) {
		struct curl_slist *list = curl_slist_append(fetch->headers, headers->lines[i]);

		if (!list)
			return -ENOMEM;
		fetch->headers = list;
	}
	return 0;
}

static int set_up(struct fetch *fetch)
{
	bool secret = fetch->options.headers && fetch->options.headers->count > 0;
	CURL *easy = curl_easy_init();
	int failed = 0;

	fetch->easy = easy;
	fetch->multi = curl_multi_init();
	if (!fetch->multi || !easy || add_headers(fetch))
		return -ENOMEM;
	failed |= curl_easy_setopt(easy, CURLOPT_URL, fetch->options.url);
	failed |= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	failed |= curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	failed |= curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, secret ? 0L : 1L);
	failed |= curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
	failed |= curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
	failed |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	failed |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->headers);
	failed |= curl_easy_setopt(easy, CURLOPT_USERAGENT, "dbprof-bpf/" DBPROF_VERSION);
	failed |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
	failed |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
	failed |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->reason);
	/* A name server that does not answer holds nobody up (the thread that asks it is left). */
	failed |= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	return failed ? -ENOSYS : 0;
}

int fetch__start(const struct fetch_options *options, struct fetch **ret_fetch, struct fail *fail)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	int err;

	if (!fetch)
		return -ENOMEM;
	fetch->options = *options;
	fetch->event = fetch->spool = -1;
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		free(fetch);
		return fail__set(fail, -ENOSYS, "the HTTP library cannot be used");
	}
	err = fetch->spool = spool__open(fail);
	if (err >= 0) {
		fetch->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		err = fetch->event < 0 ? -errno : set_up(fetch);
	}
	fetch->start = fetch->end = clock__now();
	if (err >= 0)
		err = -pthread_create(&fetch->thread, NULL, run, fetch);
	if (err < 0) {
		fail__set(fail, err, "no request can be made: %s", strerror(-err));
		fetch__free(fetch);
		return err;
	}
	fetch->running = true;
	*ret_fetch = fetch;
	return 0;
}

int fetch__event(const struct fetch *fetch)
{
	return fetch->event;
}

uint64_t fetch__started(const struct fetch *fetch)
{
	return fetch->start;
}

uint64_t fetch__took(const struct fetch *fetch)
{
	return fetch->running ? 0 : fetch->end - fetch->start;
}

static void stop(struct fetch *fetch)
{
	if (!fetch->running)
		return;
	atomic_store(&fetch->stop, true);
	curl_multi_wakeup(fetch->multi);
	pthread_join(fetch->thread, NULL);
	fetch->running = false;
}

int fetch__end(struct fetch *fetch, struct fail *fail)
{
	int fd;

	stop(fetch);
	if (fetch->result)
		return fail__set(fail, fetch->result, "%s", fetch->fail.text);
	fd = fetch->spool;
	fetch->spool = -1;
	return fd < 0 ? -EBADF : fd;
}

void fetch__free(struct fetch *fetch)
{
	if (!fetch)
		return;
	stop(fetch);
	curl_easy_cleanup(fetch->easy);
	curl_multi_cleanup(fetch->multi);
	curl_slist_free_all(fetch->headers);
	if (fetch->event >= 0)
		close(fetch->event);
	if (fetch->spool >= 0)
		close(fetch->spool);
	free(fetch);
	curl_global_cleanup();
}
