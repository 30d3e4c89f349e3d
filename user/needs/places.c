// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Places for probes in a program's code, and the mode that they allow. */
#include <stdio.h>

#include "needs/program.h"

/* With the engine's own counters nothing is lost that only probes tell. */
static enum need_verdict unless_profiled(const struct program *program, enum need_verdict verdict)
{
	return program->profiled ? NEED_OK : verdict;
}

static int check_symbols(struct program *program)
{
	bool there = elf_image__has_symbols(program->target->image);

	return program__add(program, "symbols",
			    there ? NEED_OK : unless_profiled(program, NEED_DEGRADED),
			    "places for probes are found by symbols",
			    "do not strip the program, or turn DBSP's CPU profiler on in it",
			    there		? "there"
			    : program->profiled ? "stripped; engine mode needs none"
						: "stripped");
}

static int check_profiler(struct program *program)
{
	if (!program->observer)
		return program__add(program, "CPU profiler", NEED_UNCHECKED, NULL, NULL,
				    "off, or not to be told: auto would take sampled mode");
	if (!observer__workers(program->observer))
		return program__add(program, "CPU profiler", NEED_UNCHECKED, NULL, NULL,
				    "shows once there is a circuit; until then auto takes sampled "
				    "mode");
	return program__add(program, "CPU profiler", NEED_OK, NULL, NULL,
			    program->profiled
				    ? "on: auto takes engine mode, exact and without probes"
				    : "off: auto takes sampled mode");
}

static int check_steps(struct program *program)
{
	static const char lost[] = "steps are not measured, nor is what depends on them";
	static const char remedy[] = "turn DBSP's CPU profiler on in the program, or build it "
				     "with symbols";
	const struct plan *plan = &program->plan;
	char text[NEED_TEXT_MAX];

	if (program->plan_err)
		return program__add(program, "steps", unless_profiled(program, NEED_MISSING), lost,
				    remedy, program->plan_fail.text);
	snprintf(text, sizeof(text),
		 "%zu functions: %zu by paths, %zu at events, %zu at every poll, %zu not at all",
		 plan->step_functions,
		 plan->step_functions - plan->event_functions - plan->polled_functions,
		 plan->event_functions, plan->polled_functions, plan->missing_functions);
	return program__add(program, "steps",
			    plan->missing_functions ? unless_profiled(program, NEED_DEGRADED)
						    : NEED_OK,
			    "steps of some circuits are not measured", remedy, text);
}

static int check_parks(struct program *program)
{
	const struct plan *plan = &program->plan;
	bool all = plan->parks && plan->reasons && plan->blocking;

	return program__add(program, "parks",
			    all ? NEED_OK : unless_profiled(program, NEED_DEGRADED),
			    plan->parks ? "some waits have no reason"
					: "waits come from the engine's totals, at the begin and "
					  "end of steps",
			    "build the program with symbols, and without inlining across crates",
			    all		  ? "park, unpark and the reasons are found"
			    : plan->parks ? "park and unpark are found, the reasons are not"
					  : "park or unpark is not found");
}

static int check_operators(struct program *program)
{
	static const char lost[] = "operators are not told apart, only steps and waits";
	const struct plan *plan = &program->plan;
	char text[NEED_TEXT_MAX];
	int err;

	if (plan->frames_missing || !plan->frame_count)
		return program__add(program, "operators", NEED_DEGRADED,
				    program->profiled ? "what the kernel did to operators is not "
							"told, their times are"
						      : lost,
				    "turn DBSP's CPU profiler on in the program",
				    plan->frames_missing ? plan->frames_missing
							 : "no place tells them");
	snprintf(text, sizeof(text), "%zu places in the code tell them", plan->frame_count);
	err = program__add(program, "operators", NEED_OK, NULL, NULL, text);
	if (err || !program->observer)
		return err;
	return program__add(program, "slots", NEED_OK, NULL, NULL,
			    observer__has_slot(program->observer)
				    ? "the place on the stack is known already"
				    : "the place on the stack is learned at the first evaluation");
}

static int check_exact(struct program *program)
{
	const struct plan *plan = &program->plan;
	char text[NEED_TEXT_MAX];

	snprintf(text, sizeof(text), "not to be had: %.300s; only --mode exact needs them",
		 plan->exact_missing ? plan->exact_missing : "");
	return program__add(program, "exact probes", NEED_OK, NULL, NULL,
			    plan->exact_missing ? text : "have their places");
}

int program__check_places(struct program *program)
{
	int err = check_symbols(program);

	if (!err)
		err = check_profiler(program);
	if (!err)
		err = check_steps(program);
	if (err || program->plan_err)
		return err;
	err = check_parks(program);
	if (!err)
		err = check_operators(program);
	if (!err)
		err = check_exact(program);
	return err;
}
