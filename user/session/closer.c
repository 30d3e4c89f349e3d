// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/closer.h"

#define THREADS_MAX 256
#define STACK	    65536

struct closer {
	pthread_mutex_t lock;
	pthread_cond_t done;
	unsigned int running;
};

struct task {
	struct closer *closer;
	int fd;
};

struct closer *closer__new(void)
{
	struct closer *closer = calloc(1, sizeof(*closer));

	if (!closer)
		return NULL;
	pthread_mutex_init(&closer->lock, NULL);
	pthread_cond_init(&closer->done, NULL);
	return closer;
}

static void *run(void *data)
{
	struct task task = *(struct task *)data;

	free(data);
	close(task.fd);
	pthread_mutex_lock(&task.closer->lock);
	task.closer->running--;
	pthread_cond_signal(&task.closer->done);
	pthread_mutex_unlock(&task.closer->lock);
	return NULL;
}

/* A thread that takes no signals: they are for the main one. */
static int start(struct task *task)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, run, task);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

/* Takes a place for one more thread, if there is one. */
static bool take_place(struct closer *closer)
{
	bool taken;

	pthread_mutex_lock(&closer->lock);
	taken = closer->running < THREADS_MAX;
	closer->running += taken;
	pthread_mutex_unlock(&closer->lock);
	return taken;
}

static void give_place(struct closer *closer)
{
	pthread_mutex_lock(&closer->lock);
	closer->running--;
	pthread_mutex_unlock(&closer->lock);
}

void closer__close(struct closer *closer, int fd)
{
	struct task *task = NULL;

	if (closer && take_place(closer)) {
		task = malloc(sizeof(*task));
		if (task) {
			*task = (struct task){ closer, fd };
			if (!start(task))
				return;
		}
		free(task);
		give_place(closer);
	}
	close(fd);
}

void closer__free(struct closer *closer)
{
	if (!closer)
		return;
	pthread_mutex_lock(&closer->lock);
	while (closer->running)
		pthread_cond_wait(&closer->done, &closer->lock);
	pthread_mutex_unlock(&closer->lock);
	pthread_cond_destroy(&closer->done);
	pthread_mutex_destroy(&closer->lock);
	free(closer);
}
