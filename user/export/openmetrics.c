// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "export/export.h"
#include "export/openmetrics.h"
#include "model/kernel_names.h"

struct family;

/* The samples of one process. */
typedef void samples(struct metrics_text *text, const struct family *family,
		     const struct metrics_sums *sums);

/* A metric, and where its numbers are: in nanoseconds when the unit is seconds. */
struct family {
	const char *name;
	enum metric_type type;
	const char *unit;
	samples *write;
	size_t offset; /* in struct metrics_sums, metrics_worker, metrics_operator or losses */
	/* An array of numbers, told apart by a label: its name and its values. */
	const char *label;
	unsigned int count;
	const char *(*value)(unsigned int i);
	const char *help;
};

static samples of_process, of_process_info, of_losses, of_workers, of_latency, of_operators;

#define IN_SUMS(member)	    offsetof(struct metrics_sums, member)
#define IN_WORKER(member)   offsetof(struct metrics_worker, member)
#define IN_OPERATOR(member) offsetof(struct metrics_operator, member)
#define SECONDS		    METRIC_COUNTER, "seconds"
#define COUNT		    METRIC_COUNTER, NULL

static const struct family families[] = {
	{ "dbprof_process", METRIC_INFO, NULL, of_process_info, 0, NULL, 0, NULL,
	  "What is profiled and how: mode, versions of dbsp and rustc, build id." },
	{ "dbprof_process_cpu_seconds", SECONDS, of_process, IN_SUMS(process_cpu_ns), NULL, 0, NULL,
	  "CPU time of the process while it was profiled." },
	{ "dbprof_windows", COUNT, of_process, IN_SUMS(windows), NULL, 0, NULL,
	  "Windows that the other numbers are the sums of." },
	{ "dbprof_window_seconds", SECONDS, of_process, IN_SUMS(window_ns), NULL, 0, NULL,
	  "Time for which the process was profiled." },
	{ "dbprof_incomplete_windows", COUNT, of_process, IN_SUMS(incomplete_windows), NULL, 0,
	  NULL, "Windows in which something could not be observed." },
	{ "dbprof_incomplete", METRIC_GAUGE, NULL, of_process, IN_SUMS(incomplete), NULL, 0, NULL,
	  "Whether something could not be observed in the last window." },
	{ "dbprof_losses", COUNT, of_losses, 0, "kind", 0, NULL,
	  "What could not be observed, window by window." },
	{ "dbprof_operators_seconds", SECONDS, of_process, IN_SUMS(operators_ns), NULL, 0, NULL,
	  "Time in evaluations of all operators by all workers." },

	{ "dbprof_steps", COUNT, of_workers, IN_WORKER(steps), NULL, 0, NULL,
	  "Steps of the root circuit that ended." },
	{ "dbprof_step_seconds", SECONDS, of_workers, IN_WORKER(step_ns), NULL, 0, NULL,
	  "Time in steps: CPU, run queue, preempted, blocked and unobserved add up to it." },
	{ "dbprof_step_cpu_seconds", SECONDS, of_workers, IN_WORKER(cpu_ns), NULL, 0, NULL,
	  "CPU time in steps." },
	{ "dbprof_step_wait_seconds", SECONDS, of_workers, IN_WORKER(wait_ns), "reason",
	  PARK_REASONS, park_reason_name, "Time parked or blocked in steps by DBSP's reason." },
	{ "dbprof_step_run_queue_seconds", SECONDS, of_workers, IN_WORKER(share.run_queue_ns), NULL,
	  0, NULL, "Time in steps in which the worker was woken but did not run yet." },
	{ "dbprof_step_preempted_seconds", SECONDS, of_workers, IN_WORKER(share.preempted_ns), "by",
	  DBPROF_PARTIES, party_name, "Time in steps in which another thread had the CPU." },
	{ "dbprof_step_blocked_seconds", SECONDS, of_workers, IN_WORKER(share.blocked_ns), "cause",
	  DBPROF_CAUSES, cause_name, "Time in steps in which the worker waited in the kernel." },
	{ "dbprof_step_unobserved_seconds", SECONDS, of_workers, IN_WORKER(unobserved_ns), NULL, 0,
	  NULL, "Time in steps of which nothing is known." },
	{ "dbprof_idle_seconds", SECONDS, of_workers, IN_WORKER(idle_ns), NULL, 0, NULL,
	  "Time outside of steps." },
	{ "dbprof_open_step_seconds", METRIC_GAUGE, "seconds", of_workers, IN_WORKER(open_step_ns),
	  NULL, 0, NULL, "Age of the step that was open when the last window ended, or 0." },
	{ "dbprof_step_latency_seconds", METRIC_HISTOGRAM, "seconds", of_latency, 0, NULL, 0, NULL,
	  "How long steps took that were seen from begin to end, of all workers." },

	{ "dbprof_operator_seconds", SECONDS, of_operators, IN_OPERATOR(runtime_ns), NULL, 0, NULL,
	  "Time in evaluations of the operator by all workers." },
	{ "dbprof_operator_cpu_seconds", SECONDS, of_operators, IN_OPERATOR(cpu_ns), NULL, 0, NULL,
	  "CPU time in evaluations of the operator by all workers." },
	{ "dbprof_operator_evaluations", COUNT, of_operators, IN_OPERATOR(evaluations), NULL, 0,
	  NULL, "Evaluations of the operator by all workers." },
};

static uint64_t number(const void *base, size_t offset)
{
	return *(const uint64_t *)((const char *)base + offset);
}

static void value(struct metrics_text *text, const struct family *family, uint64_t value)
{
	if (family->unit)
		metrics_text__seconds(text, value);
	else
		metrics_text__uint(text, value);
}

/* The labels that all of a process have. */
static void name_process(struct metrics_text *text, const struct metrics_sums *sums)
{
	metrics_text__label_uint(text, "pid", (uint64_t)sums->pid);
	metrics_text__label(text, "exe", sums->exe);
	metrics_text__label(text, "pipeline", sums->pipeline);
	metrics_text__label(text, "pipeline_name", sums->pipeline_name);
}

/* Begins a sample with them. */
static void begin(struct metrics_text *text, const struct metrics_sums *sums)
{
	metrics_text__sample(text);
	name_process(text, sums);
}

static void of_process(struct metrics_text *text, const struct family *family,
		       const struct metrics_sums *sums)
{
	begin(text, sums);
	value(text, family, number(sums, family->offset));
}

static void of_process_info(struct metrics_text *text, const struct family *family,
			    const struct metrics_sums *sums)
{
	begin(text, sums);
	metrics_text__label(text, "mode", snapshot_mode__name(sums->mode));
	metrics_text__label(text, "dbsp", sums->dbsp_version);
	metrics_text__label(text, "rustc", sums->rustc_version);
	metrics_text__label(text, "build_id", sums->build_id);
	value(text, family, 1);
}

static void of_losses(struct metrics_text *text, const struct family *family,
		      const struct metrics_sums *sums)
{
	const struct snapshot_losses *losses = &sums->losses;
	const struct {
		const char *kind;
		uint64_t count;
	} kinds[] = {
		{ "threads", losses->threads },	    { "circuits", losses->circuits },
		{ "operators", losses->operators }, { "reads", losses->reads },
		{ "slots", losses->slots },	    { "steps", losses->steps },
		{ "missed", losses->missed },	    { "torn", losses->torn },
		{ "workers", losses->workers },	    { "unresolved", losses->unresolved },
		{ "probes", losses->probes },	    { "series", sums->left_out },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		begin(text, sums);
		metrics_text__label(text, family->label, kinds[i].kind);
		value(text, family, kinds[i].count);
	}
}

static void of_worker(struct metrics_text *text, const struct family *family,
		      const struct metrics_sums *sums, const struct metrics_worker *worker)
{
	for (unsigned int i = 0; i < family->count || i == 0; i++) {
		begin(text, sums);
		metrics_text__label_uint(text, "worker", worker->index);
		if (family->label)
			metrics_text__label(text, family->label, family->value(i));
		value(text, family, number(worker, family->offset + i * sizeof(uint64_t)));
	}
}

static void of_workers(struct metrics_text *text, const struct family *family,
		       const struct metrics_sums *sums)
{
	for (size_t i = 0; i < sums->worker_count; i++)
		of_worker(text, family, sums, &sums->workers[i]);
}

/* Buckets add up: each has all that took no longer than its limit. */
static void of_latency(struct metrics_text *text, const struct family *family,
		       const struct metrics_sums *sums)
{
	static const uint64_t limits[DBPROF_LATENCIES - 1] = DBPROF_LATENCY_LIMITS;
	uint64_t steps = 0;
	char limit[32] = "+Inf";

	(void)family;
	for (size_t i = 0; i < DBPROF_LATENCIES; i++) {
		bool last = i == DBPROF_LATENCIES - 1;

		if (!last)
			snprintf(limit, sizeof(limit), "%.5g", (double)limits[i] / 1e9);
		metrics__grow(&steps, sums->latency.steps[i]);
		metrics_text__part(text, "_bucket");
		name_process(text, sums);
		metrics_text__label(text, "le", last ? "+Inf" : limit);
		metrics_text__uint(text, steps / DBPROF_PACE);
	}
	metrics_text__part(text, "_sum");
	name_process(text, sums);
	metrics_text__seconds(text, sums->latency.sum_ns);
	metrics_text__part(text, "_count");
	name_process(text, sums);
	metrics_text__uint(text, steps / DBPROF_PACE);
}

static void of_operators(struct metrics_text *text, const struct family *family,
			 const struct metrics_sums *sums)
{
	char id[NODE_ID_TEXT_MAX];

	for (size_t i = 0; i < sums->operator_count; i++) {
		const struct metrics_operator *sum = &sums->operators[i];

		if (!sum->shown)
			continue;
		node_path__format(&sum->id, id);
		begin(text, sums);
		metrics_text__label(text, "node", id);
		metrics_text__label(text, "operator", sum->name);
		value(text, family, number(sum, family->offset));
	}
}

/* Of the profiler itself, without labels. */
static void own(struct metrics_text *text, const struct metrics_cost *cost)
{
	metrics_text__family(text, "dbprof_build", METRIC_INFO, NULL, "Version of the profiler.");
	metrics_text__sample(text);
	metrics_text__label(text, "version", DBPROF_VERSION);
	metrics_text__uint(text, 1);
	metrics_text__family(text, "dbprof_profiler_traps", COUNT, "Probe hits.");
	metrics_text__sample(text);
	metrics_text__uint(text, cost->traps);
	metrics_text__family(text, "dbprof_profiler_trap_seconds", SECONDS,
			     "CPU time of probe hits around the programs that they run, at least.");
	metrics_text__sample(text);
	metrics_text__seconds(text, cost->trap_ns);
	metrics_text__family(text, "dbprof_profiler_program_seconds", SECONDS,
			     "CPU time of the profiler's programs in the kernel.");
	metrics_text__sample(text);
	metrics_text__seconds(text, cost->program_ns);
	metrics_text__family(text, "dbprof_profiler_cpu_seconds", SECONDS,
			     "CPU time of the profiler's own process.");
	metrics_text__sample(text);
	metrics_text__seconds(text, cost->own_cpu_ns);
}

static void own_numbers(struct metrics_text *text, const struct metrics_own *own)
{
	const char *family = "";

	for (size_t i = 0; i < own->count; i++) {
		const struct metrics_number *number = &own->numbers[i];

		if (strcmp(family, number->name) != 0)
			metrics_text__family(text, number->name, number->type, number->unit,
					     number->help);
		family = number->name;
		metrics_text__sample(text);
		if (number->label)
			metrics_text__label(text, number->label, number->value);
		if (number->unit && strcmp(number->unit, "seconds") == 0)
			metrics_text__seconds(text, number->number);
		else
			metrics_text__uint(text, number->number);
	}
}

/* Two processes with the same id would make two series with the same labels. */
static int check(const struct metrics_sums *const *processes, size_t count, struct fail *fail)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (processes[i]->pid == processes[j]->pid)
				return fail__set(fail, -EINVAL,
						 "there are two processes %d to write metrics of",
						 processes[i]->pid);
	return 0;
}

int openmetrics__write(FILE *out, enum metrics_dialect dialect,
		       const struct metrics_sums *const *processes, size_t count,
		       const struct metrics_cost *cost, const struct metrics_own *daemon,
		       struct fail *fail)
{
	struct metrics_text text;
	int err = check(processes, count, fail);

	if (err)
		return err;
	metrics_text__begin(&text, out, dialect);
	own(&text, cost);
	if (daemon)
		own_numbers(&text, daemon);
	/* All samples of a family stand together. */
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]) && count > 0; i++) {
		const struct family *family = &families[i];

		metrics_text__family(&text, family->name, family->type, family->unit, family->help);
		for (size_t j = 0; j < count; j++)
			family->write(&text, family, processes[j]);
	}
	return metrics_text__end(&text);
}
