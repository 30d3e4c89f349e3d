// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine_internal.h"
#include "engine/graph_reader.h"

#define READ_TRIES 3
#define PAUSE_US   2000 /* between tries of a whole circuit */

void engine_worker__free(struct engine_worker *worker)
{
	if (!worker)
		return;
	graph__free(worker->graph);
	free(worker->circuits);
	free(worker);
}

/*
 * A circuit gets its handle when it is complete. Where the layout does not know handles, a second
 * look must find the same graph.
 */
static int check_complete(struct target *target, const struct layout *layout,
			  const struct engine_root *root, const struct graph *graph,
			  struct fail *fail)
{
	struct graph *again;
	int err;

	if (root->handle.address)
		return 0;
	usleep(PAUSE_US);
	err = graph__read(target->memory, layout, root->monitor, &again, fail);
	if (err)
		return err;
	if (!graph__equal(graph, again))
		err = fail__set(fail, -EAGAIN, "the circuit is being built");
	graph__free(again);
	return err;
}

static int read_worker(struct target *target, const struct layout *layout,
		       const struct target_thread *thread, struct engine_worker **ret_worker,
		       struct fail *fail)
{
	struct engine_worker *worker;
	struct engine_root root;
	int err = engine_root__find(target, layout, thread, &root, fail);

	if (err)
		return err;
	worker = calloc(1, sizeof(*worker));
	if (!worker)
		return -ENOMEM;
	worker->tid = thread->tid;
	worker->index = (unsigned int)thread->worker;
	worker->handle = root.handle.address;
	worker->idle = root.handle.idle;
	err = graph__read(target->memory, layout, root.monitor, &worker->graph, fail);
	if (!err)
		err = check_complete(target, layout, &root, worker->graph, fail);
	if (!err)
		err = engine_circuits__read(target->memory, layout, &root, worker->graph,
					    &worker->circuits, &worker->circuit_count, fail);
	if (err)
		engine_worker__free(worker);
	else
		*ret_worker = worker;
	return err;
}

/* What a try that failed may be tried again for: the program changed what was being read. */
static bool passing(int err)
{
	return err == -EAGAIN || err == -EPROTO || err == -EFAULT;
}

int engine_worker__read(struct target *target, const struct layout *layout,
			const struct target_thread *thread, struct engine_worker **ret_worker,
			struct fail *fail)
{
	struct fail reason = { 0 };
	bool changing = false;
	int err;

	if (thread->worker < 0)
		return fail__set(fail, -EINVAL, "thread %d (%s) is not a worker", thread->tid,
				 thread->comm);
	err = fields__check(layout, FIELDS_GRAPH, fail);
	if (err)
		return err == -ENODATA ? -EPROTO : err;
	for (int i = 0; i < READ_TRIES; i++) {
		if (i)
			usleep(PAUSE_US);
		fail__clear(&reason);
		err = read_worker(target, layout, thread, ret_worker, &reason);
		if (!err || !passing(err))
			break;
		changing |= err == -EAGAIN;
	}
	if (!err)
		return 0;
	if (err == -EFAULT)
		err = fail__set(&reason, -EPROTO, "an address in the circuit leads nowhere");
	if (err == -EPROTO && changing)
		err = -EAGAIN;
	if (err == -EPROTO)
		return fail__set(fail, err,
				 "%s: the layout from %s does not fit this program; make one with "
				 "`dbprof-bpf layout` from a build with debug info",
				 reason.text, layout->source);
	if (err == -ESRCH)
		fail__set(&reason, err, "thread %d (%s) of process %d has ended", thread->tid,
			  thread->comm, target->pid);
	return fail__set(fail, err, "%s", reason.text[0] ? reason.text : strerror(-err));
}
