// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "state/copy.h"
#include "state/pull.h"

struct pull {
	struct profile_source *source;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Who may touch the worker: the thread while one is wanted, else the one who asks. */
	bool wanted;
	bool stopped; /* nobody will ask again */
	bool over;    /* the thread has told all, or failed */
	int err;
	struct fail fail;
	struct profile pool; /* owns the worker's strings */
	struct profile_worker worker;
};

static int worker_begin(void *context, size_t index)
{
	struct pull *pull = context;
	bool stopped;

	(void)index;
	pthread_mutex_lock(&pull->lock);
	while (!pull->wanted && !pull->stopped)
		pthread_cond_wait(&pull->changed, &pull->lock);
	stopped = pull->stopped;
	pthread_mutex_unlock(&pull->lock);
	if (stopped)
		return -ECANCELED;
	profile_worker__clear(&pull->worker);
	string_pool__clear(&pull->pool.strings);
	return 0;
}

static int node(void *context, size_t index, const struct profile_node *node)
{
	struct pull *pull = context;

	(void)index;
	return copy__node(&pull->pool, &pull->worker, node, &pull->fail);
}

static int worker_end(void *context, size_t index)
{
	struct pull *pull = context;

	(void)index;
	pthread_mutex_lock(&pull->lock);
	pull->wanted = false;
	pthread_cond_broadcast(&pull->changed);
	pthread_mutex_unlock(&pull->lock);
	return 0;
}

static void *tell(void *argument)
{
	static const struct profile_visitor visitor = {
		.worker_begin = worker_begin,
		.node = node,
		.worker_end = worker_end,
	};
	struct pull *pull = argument;
	int err = profile_source__visit(pull->source, &visitor, pull, &pull->fail);

	pthread_mutex_lock(&pull->lock);
	pull->err = err;
	pull->over = true;
	pthread_cond_broadcast(&pull->changed);
	pthread_mutex_unlock(&pull->lock);
	return NULL;
}

int pull__start(struct profile_source *source, struct pull **ret_pull)
{
	struct pull *pull = calloc(1, sizeof(*pull));
	int err;

	if (!pull)
		return -ENOMEM;
	pull->source = source;
	pthread_mutex_init(&pull->lock, NULL);
	pthread_cond_init(&pull->changed, NULL);
	err = -pthread_create(&pull->thread, NULL, tell, pull);
	if (err) {
		pthread_cond_destroy(&pull->changed);
		pthread_mutex_destroy(&pull->lock);
		free(pull);
		return err;
	}
	*ret_pull = pull;
	return 0;
}

int pull__next(struct pull *pull, const struct profile_worker **ret_worker, struct fail *fail)
{
	int err = 0;

	pthread_mutex_lock(&pull->lock);
	pull->wanted = true;
	pthread_cond_broadcast(&pull->changed);
	while (pull->wanted && !pull->over)
		pthread_cond_wait(&pull->changed, &pull->lock);
	/* A worker that was told whole is good, even when the next thing is an error. */
	if (pull->wanted)
		err = pull->err ? pull->err : -ENODATA;
	pthread_mutex_unlock(&pull->lock);
	if (err == -ENODATA)
		return fail__set(fail, err, "the engine's profile has fewer workers than before");
	if (err)
		return pull->fail.text[0] ? fail__set(fail, err, "%s", pull->fail.text) : err;
	*ret_worker = &pull->worker;
	return 0;
}

void pull__end(struct pull *pull)
{
	if (!pull)
		return;
	pthread_mutex_lock(&pull->lock);
	pull->stopped = true;
	pthread_cond_broadcast(&pull->changed);
	pthread_mutex_unlock(&pull->lock);
	pthread_join(pull->thread, NULL);
	pthread_cond_destroy(&pull->changed);
	pthread_mutex_destroy(&pull->lock);
	profile_worker__clear(&pull->worker);
	string_pool__clear(&pull->pool.strings);
	free(pull);
}
