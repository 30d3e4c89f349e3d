// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Operators on the stack: tasks of Inner::spawn_task() and the Timed::poll that they call. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/code.h"
#include "plan/plan_internal.h"
#include "plan/task_code.h"

#define TIMED_MAX 8 /* functions; one is usual */

#define SCHEDULER "dbsp::circuit::schedule::dynamic_scheduler::Inner"
#define TIMED	  "<dbsp::circuit::circuit_builder::Timed<"
#define POLL	  " as core::future::future::Future>::poll"

struct timed_list {
	struct timed_code list[TIMED_MAX];
	size_t count;
	const char *missing; /* why one is not understood */
};

/* The end of generic arguments that may begin at @text. */
static const char *skip_generics(const char *text)
{
	size_t depth = 0;

	if (*text != '<')
		return text;
	for (; *text; text++) {
		depth += *text == '<';
		/* The arrow of a function's type is no bracket. */
		if (*text == '>' && text[-1] != '-' && --depth == 0)
			return text + 1;
	}
	return text;
}

/*
 * The poll function of a task's async block: `Inner::spawn_task::{{closure}}` in legacy names,
 * `<Inner>::spawn_task::<..>::{closure#0}` in v0 names. Not what is generic over it.
 */
static int collect_task(const struct elf_symbol *symbol, void *arg)
{
	const char *name = symbol->demangled;

	name += *name == '<';
	if (strncmp(name, SCHEDULER, strlen(SCHEDULER)) != 0)
		return 0;
	name += strlen(SCHEDULER);
	name += *name == '>';
	if (strncmp(name, "::spawn_task::", strlen("::spawn_task::")) != 0)
		return 0;
	name += strlen("::spawn_task::");
	if (*name == '<') {
		name = skip_generics(name);
		if (strncmp(name, "::", 2) != 0)
			return 0;
		name += 2;
	}
	if (strcmp(name, "{{closure}}") != 0 && strcmp(name, "{closure#0}") != 0)
		return 0;
	return functions__collect(symbol, arg);
}

/* `<Timed<T> as Future>::poll`. */
static int collect_timed(const struct elf_symbol *symbol, void *arg)
{
	const char *name = symbol->demangled;

	if (strncmp(name, TIMED, strlen(TIMED)) != 0)
		return 0;
	if (strcmp(skip_generics(name + strlen(TIMED) - 1), POLL) != 0)
		return 0;
	return functions__collect(symbol, arg);
}

static struct elapsed_layout elapsed_layout(const struct layout *layout)
{
	uint64_t real = layout__get(layout, LAYOUT_TIMED_REAL);
	uint64_t cpu = layout__get(layout, LAYOUT_TIMED_CPU);
	uint64_t size = layout__get(layout, LAYOUT_DURATION_SIZE);
	struct elapsed_layout elapsed = {};

	if (real > UINT16_MAX || cpu > UINT16_MAX || size > UINT8_MAX)
		return elapsed;
	elapsed.begin = real < cpu ? real : cpu;
	elapsed.end = (real < cpu ? cpu : real) + size;
	return elapsed;
}

static int decode_timed(struct planner *planner, struct timed_list *timed)
{
	const struct elapsed_layout elapsed = elapsed_layout(planner->layout);
	struct functions functions = {};
	int err = 0;

	elf_image__each_symbol(planner->image, "Timed<", collect_timed, &functions);
	for (size_t i = 0; !err && i < functions.count; i++) {
		const struct function *function = &functions.list[i];
		struct timed_code *known = &timed->list[timed->count];
		struct code *code = NULL;

		if (timed->count == TIMED_MAX) {
			timed->missing = "there are too many versions of Timed::poll";
			break;
		}
		/* One that is not understood is kept with nothing but its address. */
		*known = (struct timed_code){ .address = function->address };
		timed->count++;
		err = code__decode(planner->image, function->address, function->size, &code);
		if (!err)
			err = task_code__timed(planner->image, code, &elapsed, known,
					       &timed->missing);
		else
			timed->missing = "Timed::poll cannot be decoded";
		code__free(code);
		err = err == -ENOMEM ? err : 0;
	}
	if (!functions.count)
		timed->missing = "Timed::poll was not found: it may be inlined";
	return err;
}

static int add_task(struct planner *planner, const struct function *function,
		    const struct timed_list *timed)
{
	struct plan *plan = planner->plan;
	struct task_frame frames[PLAN_FRAMES_MAX];
	size_t first = plan->frame_count, count = 0;
	struct code *code = NULL;
	const char *why = NULL;
	bool emulated;
	uint64_t entry = planner__entry_address(planner, function, &emulated);
	int err = code__decode(planner->image, function->address, function->size, &code);

	if (!err)
		err = task_code__frames(planner->image, code, timed->list, timed->count, frames,
					PLAN_FRAMES_MAX - first, &count, &why);
	code__free(code);
	if (err == -ENOMEM)
		return err;
	if (err)
		why = "the operators' task function cannot be decoded";
	for (size_t i = 0; i < count; i++) {
		struct plan_frame *frame = &plan->frames[plan->frame_count++];

		*frame = (struct plan_frame){
			.return_address = frames[i].return_address,
			.entry_to_slot = frames[i].entry_to_slot,
			.state_from_slot = frames[i].state_from_slot,
			.inner = frames[i].inner,
			.entry = (uint32_t)first,
		};
		memcpy(frame->counted, frames[i].counted, sizeof(frame->counted));
	}
	if (count)
		planner__add_probe(planner, PLAN_TASK_ENTRY, entry, first, emulated);
	if (why)
		plan->frames_missing = timed->missing ? timed->missing : why;
	return 0;
}

/* What the programs read in a task and in a Timed. False when the layout does not know it. */
static bool add_offsets(struct planner *planner)
{
	struct dbprof_process *process = &planner->plan->process;
	__u32 secs, nanos, real, cpu;

	if (!planner__small_offset(planner, LAYOUT_TASK_CIRCUIT, &process->task_circuit) ||
	    !planner__small_offset(planner, LAYOUT_TASK_NODE, &process->task_node))
		return false;
	if (process->task_node == process->task_circuit + 2 * sizeof(__u64))
		process->packed |= DBPROF_TASK_PACKED;
	if (planner__small_offset(planner, LAYOUT_TIMED_REAL, &real) &&
	    planner__small_offset(planner, LAYOUT_TIMED_CPU, &cpu) &&
	    planner__small_offset(planner, LAYOUT_DURATION_SECS, &secs) &&
	    planner__small_offset(planner, LAYOUT_DURATION_NANOS, &nanos)) {
		process->timed_real_secs = real + secs;
		process->timed_real_nanos = real + nanos;
		process->timed_cpu_secs = cpu + secs;
		process->timed_cpu_nanos = cpu + nanos;
		if (nanos == secs + sizeof(__u64) && cpu == real + 2 * sizeof(__u64))
			process->packed |= DBPROF_TIMED_PACKED;
	}
	return true;
}

static bool is_called(const struct plan *plan, const struct timed_code *timed)
{
	for (size_t i = 0; i < plan->frame_count; i++)
		if (plan->frames[i].counted[TIMED_OPERATOR] == timed->counted[TIMED_OPERATOR])
			return true;
	return false;
}

/* A probe in each Timed::poll, or none: times of some operators only would mislead. */
static void add_exact(struct planner *planner, const struct timed_list *timed)
{
	struct plan *plan = planner->plan;
	size_t before = plan->probe_count;

	plan->exact_missing = plan->frames_missing;
	for (size_t i = 0; !plan->exact_missing && i < timed->count; i++) {
		const struct timed_exact *exact = &timed->list[i].exact;
		uint8_t place = planner__place(exact->timed_reg);

		if (!is_called(plan, &timed->list[i]))
			continue;
		if (timed->list[i].exact_missing)
			plan->exact_missing = timed->list[i].exact_missing;
		else if (place == PLAN_NO_PLACE ||
			 planner__add_probe(planner, PLAN_EXACT, exact->address,
					    DBPROF_COOKIE(place,
							  exact->pending_if_zero
								  ? DBPROF_EXACT_PENDING_IF_ZERO
								  : 0,
							  exact->slot_from_sp),
					    true))
			plan->exact_missing = "Timed::poll cannot be probed";
	}
	if (plan->exact_missing)
		plan->probe_count = before;
}

int planner__add_frames(struct planner *planner)
{
	struct plan *plan = planner->plan;
	struct functions tasks = {};
	struct timed_list timed = {};
	int err = 0;

	if (!add_offsets(planner)) {
		plan->frames_missing = "the layout does not know the operators' tasks; make a new "
				       "one with `dbprof-bpf layout BINARY`";
	} else {
		err = decode_timed(planner, &timed);
		elf_image__each_symbol(planner->image, "spawn_task", collect_task, &tasks);
		if (!tasks.count)
			plan->frames_missing = "the operators' task function was not found";
		for (size_t i = 0; !err && i < tasks.count; i++)
			err = add_task(planner, &tasks.list[i], &timed);
	}
	if (!err && planner->options->exact)
		add_exact(planner, &timed);
	return err;
}
