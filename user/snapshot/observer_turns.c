// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Watching steps in turns. */
#include "engine/fields.h"
#include "snapshot/observer_internal.h"
#include "snapshot/turns.h"
#include "util/clock.h"

/* So long ahead the programs are told when a turn begins or ends. */
#define TURN_LEAD_NS 1000000ULL

static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* What the programs have counted of a worker's root circuit; false when that is nothing yet. */
static bool read_root(const struct observer *observer, const struct engine_worker *engine,
		      struct dbprof_circuit *ret_root)
{
	struct dbprof_circuit_key key = { .circuit = engine->circuits[0].address,
					  .tgid = (uint32_t)observer->target->pid,
					  .tid = (uint32_t)engine->tid };
	uint64_t id = layout__get(&observer->layout, LAYOUT_ROOT_GLOBAL_ID);

	if (!engine->circuit_count || !key.circuit)
		return false;
	if (!session__circuit(observer->session, &key, ret_root))
		return true;
	if (id == LAYOUT_ABSENT)
		return false;
	key.circuit += id;
	return !session__circuit(observer->session, &key, ret_root);
}

/* With the step that was open when the turn ended at @clock. */
static uint64_t runtime_at(const struct dbprof_circuit *root, uint64_t clock)
{
	return root->runtime_ns + (root->start ? between(root->start, clock) : 0);
}

/* Looks at the root circuit where a turn is over, or does not stand for more any longer. */
static void add_turn(struct observer *observer, struct observed_worker *worker, uint64_t when)
{
	uint64_t clock = turns__clock(&observer->process, when);
	struct dbprof_circuit root;

	if (!read_root(observer, worker->engine, &root))
		return;
	if (worker->turned_at && turns__is_estimate(&observer->process) && !observer->turn_told) {
		const struct snapshot_turn turn = {
			.watched_ns = between(observer->process.turn_start, when),
			.stood_for_ns = between(worker->turned_at, clock),
			.steps = between(worker->turned.steps, root.steps) / DBPROF_PACE,
			.runtime_ns = between(runtime_at(&worker->turned, worker->turned_at),
					      runtime_at(&root, clock)),
		};

		turns__add(&worker->turns, &turn);
	}
	worker->turned = root;
	worker->turned_at = clock;
}

static void add_turns(struct observer *observer, uint64_t when)
{
	for (size_t i = 0; i < observer->worker_count; i++)
		add_turn(observer, &observer->workers[i], when);
	observer->turn_told = true;
}

static int end_turn(struct observer *observer)
{
	struct session *session = observer->session;
	struct dbprof_process *process = &observer->process;
	pid_t pid = observer->target->pid;
	int err;

	turns__end(process, clock__now() + TURN_LEAD_NS);
	err = session__set_process(session, pid, process);
	/* A begin must not be gone while ends still count. */
	clock__sleep_until(process->turn_end);
	session__drop(session, pid, SESSION_STEP_KINDS);
	observer->watched_ns += between(process->turn_start > observer->began ? process->turn_start
									      : observer->began,
					process->turn_end);
	add_turns(observer, process->turn_end);
	return err;
}

static int begin_turn(struct observer *observer, uint64_t turn_ns)
{
	struct session *session = observer->session;
	struct dbprof_process *process = &observer->process;
	pid_t pid = observer->target->pid;
	struct fail unsaid = {};
	size_t failed = 0;
	int err = session__add(session, &observer->plan, SESSION_STEP_KINDS, pid,
			       observer->target->exe_path, &failed, &unsaid);

	if (err)
		return err;
	observer->turn_told = false;
	/* Until the second of these calls the new turn has ended before it began. */
	turns__begin(process, clock__now() + TURN_LEAD_NS, turn_ns);
	err = session__set_process(session, pid, process);
	turns__end(process, DBPROF_NEVER);
	return err ? err : session__set_process(session, pid, process);
}

int observer__watch_steps(struct observer *observer, uint64_t turn_ns)
{
	const struct dbprof_process *process = &observer->process;
	uint64_t now = clock__now();

	if (observer->mode != MODE_SAMPLED)
		return 0;
	if ((turn_ns != 0) != turns__watching(process))
		return turn_ns ? begin_turn(observer, turn_ns) : end_turn(observer);
	/* One that goes on stands for no more than itself once it has made up for the pause. */
	if (turn_ns && turns__is_estimate(process) && !observer->turn_told &&
	    turns__clock(process, now) == now)
		add_turns(observer, now);
	return 0;
}

uint64_t observer__watched_ns(const struct observer *observer, uint64_t end)
{
	const struct dbprof_process *process = &observer->process;
	uint64_t since = process->turn_start > observer->began ? process->turn_start
							       : observer->began;

	return observer->watched_ns + (turns__watching(process) ? between(since, end) : 0);
}
