// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What stands out, in words.
 */
#include <stdarg.h>
#include <string.h>

#include "export/summary_parts.h"

#define FINDINGS_MAX 3

/* From which share of the step time on something stands out, in percent. */
#define RUNNABLE_MIN   10 /* could run, but did not */
#define PARTY_MIN      5  /* who took the CPU */
#define PEERS_MIN      25 /* some waiting is natural: nobody waits for the slowest worker */
#define WAIT_MIN       15 /* for another reason that DBSP declares */
#define CAUSE_MIN      5  /* for something in the kernel that DBSP does not declare */
#define UNOBSERVED_MIN 5
#define OPERATOR_MIN   10
/* And of other wholes. */
#define OPERATOR_SHARE_MIN 25 /* of the time in operators */
#define SLOWEST_MIN	   10 /* more time of its own than the others have on average */
#define IDLE_MIN	   50 /* of the time of all workers */
/* A costly operator is less of a surprise than time in which nothing was computed. */
#define OPERATOR_WEIGHT 0.5

/* Root circuits of all workers together. */
struct totals {
	uint64_t time_ns; /* in steps and between them */
	uint64_t steps_ns;
	uint64_t cpu_ns;
	uint64_t wait_ns[PARK_REASONS];
	struct dbprof_kernel_share share;
	uint64_t unobserved_ns;
};

struct finding {
	double weight;
	char text[256];
};

struct findings {
	const struct summary *summary;
	struct totals totals;
	struct finding worst[FINDINGS_MAX];
	size_t count;
};

static void grow(uint64_t *sum, uint64_t by)
{
	*sum = summary__add(*sum, by);
}

static void add_root(struct totals *totals, const struct snapshot_circuit *root)
{
	grow(&totals->time_ns, root->runtime_ns);
	grow(&totals->time_ns, root->idle_ns);
	grow(&totals->time_ns, root->edge_idle_ns);
	grow(&totals->steps_ns, root->runtime_ns);
	grow(&totals->cpu_ns, root->cpu_ns);
	for (unsigned int i = 0; i < PARK_REASONS; i++)
		grow(&totals->wait_ns[i], root->wait_ns[i]);
	totals->share.run_queue_ns =
		summary__add(totals->share.run_queue_ns, root->share.run_queue_ns);
	for (unsigned int i = 0; i < DBPROF_CAUSES; i++)
		totals->share.blocked_ns[i] =
			summary__add(totals->share.blocked_ns[i], root->share.blocked_ns[i]);
	for (unsigned int i = 0; i < DBPROF_PARTIES; i++)
		totals->share.preempted_ns[i] =
			summary__add(totals->share.preempted_ns[i], root->share.preempted_ns[i]);
	grow(&totals->unobserved_ns, root->unobserved_ns);
}

/* Whether @part is at least @percent of @whole, and something at all. */
static bool reaches(uint64_t part, uint64_t whole, unsigned int percent)
{
	return part > 0 && (double)part * 100 >= (double)whole * percent;
}

/* Keeps the heaviest; of equal ones, the earlier. */
__attribute__((format(printf, 3, 4))) static void found(struct findings *findings, double weight,
							const char *format, ...)
{
	struct finding finding = { .weight = weight };
	size_t at = findings->count;
	va_list args;

	va_start(args, format);
	vsnprintf(finding.text, sizeof(finding.text), format, args);
	va_end(args);
	if (findings->count < FINDINGS_MAX)
		findings->count++;
	else if (findings->worst[--at].weight >= weight)
		return;
	for (; at > 0 && findings->worst[at - 1].weight < weight; at--)
		findings->worst[at] = findings->worst[at - 1];
	findings->worst[at] = finding;
}

static double part_of_time(const struct findings *findings, uint64_t nanos)
{
	return (double)nanos / (double)findings->totals.time_ns;
}

static void idle(struct findings *findings)
{
	const struct totals *totals = &findings->totals;
	uint64_t nanos = totals->time_ns - totals->steps_ns;
	char percent[TEXT_NUMBER_MAX];

	if (!reaches(nanos, totals->time_ns, IDLE_MIN))
		return;
	text__percent(nanos, totals->time_ns, percent);
	found(findings, part_of_time(findings, nanos),
	      "Workers were idle, outside of steps, %s of the time.", percent);
}

static void runnable(struct findings *findings)
{
	static const char *const parties[DBPROF_PARTIES] = {
		[DBPROF_PARTY_WORKER] = "other workers",
		[DBPROF_PARTY_MERGER] = "mergers",
		[DBPROF_PARTY_THREAD] = "other threads of the program",
		[DBPROF_PARTY_OTHER] = "other processes",
		[DBPROF_PARTY_KERNEL] = "the kernel itself",
	};
	const struct totals *totals = &findings->totals;
	const __u64 *by = totals->share.preempted_ns;
	uint64_t nanos =
		summary__add(totals->share.run_queue_ns, summary__preempted(&totals->share));
	char percent[TEXT_NUMBER_MAX], taken[TEXT_NUMBER_MAX], taker[80] = "";
	unsigned int most = 0;

	if (!reaches(nanos, totals->steps_ns, RUNNABLE_MIN))
		return;
	for (unsigned int i = 1; i < DBPROF_PARTIES; i++)
		if (by[i] > by[most])
			most = i;
	text__percent(nanos, totals->steps_ns, percent);
	text__percent(by[most], totals->steps_ns, taken);
	if (reaches(by[most], totals->steps_ns, PARTY_MIN))
		snprintf(taker, sizeof(taker), "; %s took %s", parties[most], taken);
	found(findings, part_of_time(findings, nanos),
	      "Workers were runnable but off CPU %s of the step time%s.", percent, taker);
}

/* The worker that the others wait for, NULL when none has clearly more to do than the rest. */
static const struct snapshot_worker *slowest(const struct snapshot *snapshot)
{
	const struct snapshot_worker *slowest = NULL;
	uint64_t sum = 0, most = 0;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		uint64_t own = summary__own_time(&snapshot->workers[i]);

		grow(&sum, own);
		if (own > most) {
			most = own;
			slowest = &snapshot->workers[i];
		}
	}
	if (snapshot->worker_count < 2 ||
	    (double)most * (double)(snapshot->worker_count - 1) * 100 <
		    (double)(sum - most) * (100 + SLOWEST_MIN))
		return NULL;
	return slowest;
}

static void peers(struct findings *findings)
{
	const struct totals *totals = &findings->totals;
	uint64_t nanos = totals->wait_ns[DBPROF_PEERS];
	const struct snapshot_worker *worker;
	char percent[TEXT_NUMBER_MAX], which[80] = "; none was much slower";

	if (!reaches(nanos, totals->steps_ns, PEERS_MIN))
		return;
	text__percent(nanos, totals->steps_ns, percent);
	worker = slowest(findings->summary->snapshot);
	if (worker)
		snprintf(which, sizeof(which), ": worker %u was the slowest", worker->index);
	found(findings, part_of_time(findings, nanos),
	      "Workers waited for peers %s of the step time%s.", percent, which);
}

/* The longest of the other waits that DBSP declares. */
static void declared(struct findings *findings)
{
	static const char *const reasons[PARK_REASONS] = {
		[DBPROF_UNATTRIBUTED] = "something that DBSP does not name",
		[DBPROF_MERGE_BACKPRESSURE] = "mergers to catch up",
		[DBPROF_PEERS] = "peers",
		[DBPROF_OPERATOR_PENDING] = "operators in flight",
		[DBPROF_SCHEDULER] = "operators to become ready",
		[DBPROF_STORAGE_READ] = "reads from storage",
		[DBPROF_STORAGE_WRITE] = "writes to storage",
		[DBPROF_STORAGE_SYNC] = "storage to sync",
		[DBPROF_STORAGE_METADATA] = "file creation and the like",
		[DBPROF_NETWORK] = "the network",
	};
	const struct totals *totals = &findings->totals;
	unsigned int most = DBPROF_UNATTRIBUTED;
	char percent[TEXT_NUMBER_MAX];

	for (unsigned int i = 0; i < PARK_REASONS; i++)
		if (i != DBPROF_PEERS && totals->wait_ns[i] > totals->wait_ns[most])
			most = i;
	if (!reaches(totals->wait_ns[most], totals->steps_ns, WAIT_MIN))
		return;
	text__percent(totals->wait_ns[most], totals->steps_ns, percent);
	found(findings, part_of_time(findings, totals->wait_ns[most]),
	      "Workers waited for %s %s of the step time.", reasons[most], percent);
}

static void blocked(struct findings *findings, uint64_t nanos, const char *what)
{
	char percent[TEXT_NUMBER_MAX];

	if (!reaches(nanos, findings->totals.steps_ns, CAUSE_MIN))
		return;
	text__percent(nanos, findings->totals.steps_ns, percent);
	found(findings, part_of_time(findings, nanos), "%s %s of the step time.", what, percent);
}

/*
 * Waits that DBSP declares end in futexes, epoll and, for storage, in block I/O or other calls:
 * only what goes beyond them is news.
 */
static void undeclared(struct findings *findings)
{
	const struct totals *totals = &findings->totals;
	const __u64 *by = totals->share.blocked_ns;
	uint64_t storage = 0, io = by[DBPROF_CAUSE_BLOCK_IO], other = by[DBPROF_CAUSE_OTHER];
	uint64_t part;

	for (unsigned int i = DBPROF_STORAGE_READ; i <= DBPROF_STORAGE_METADATA; i++)
		grow(&storage, totals->wait_ns[i]);
	part = storage < io ? storage : io;
	io -= part;
	storage -= part;
	other -= storage < other ? storage : other;
	blocked(findings, by[DBPROF_CAUSE_PAGE_FAULT], "Page faults blocked workers");
	blocked(findings, io, "Disk I/O that DBSP does not declare blocked workers");
	blocked(findings, by[DBPROF_CAUSE_SLEEP], "Workers slept in sleep calls");
	blocked(findings, by[DBPROF_CAUSE_SOCKET], "Sockets blocked workers");
	blocked(findings, by[DBPROF_CAUSE_PIPE], "Pipes blocked workers");
	blocked(findings, other, "Other system calls blocked workers");
	blocked(findings, findings->summary->ranking->futex_ns, "Locks (futex) blocked operators");
}

static void costly_operator(struct findings *findings)
{
	const struct operator_ranking *ranking = findings->summary->ranking;
	const struct operator_total *worst = &ranking->worst[0];
	char id[NODE_ID_TEXT_MAX], name[64], percent[TEXT_NUMBER_MAX];

	if (ranking->count == 0 ||
	    !reaches(worst->runtime_ns, ranking->runtime_ns, OPERATOR_SHARE_MIN) ||
	    !reaches(worst->runtime_ns, findings->totals.steps_ns, OPERATOR_MIN) ||
	    operator_total__name(worst, 40, name, sizeof(name)))
		return;
	node_path__format(&worst->id, id);
	text__percent(worst->runtime_ns, ranking->runtime_ns, percent);
	found(findings, OPERATOR_WEIGHT * part_of_time(findings, worst->runtime_ns),
	      "Operator %s%s%s took %s of the operators' time.", id, *name ? " " : "", name,
	      percent);
}

static void unobserved(struct findings *findings)
{
	const struct totals *totals = &findings->totals;
	char percent[TEXT_NUMBER_MAX];

	if (!reaches(totals->unobserved_ns, totals->steps_ns, UNOBSERVED_MIN))
		return;
	text__percent(totals->unobserved_ns, totals->steps_ns, percent);
	found(findings, part_of_time(findings, totals->unobserved_ns),
	      "What workers did in %s of the step time was not observed.", percent);
}

void summary__findings(const struct summary *summary)
{
	const struct snapshot *snapshot = summary->snapshot;
	struct findings findings = { .summary = summary };
	char percent[TEXT_NUMBER_MAX];

	for (size_t i = 0; i < snapshot->worker_count; i++)
		if (summary__root(&snapshot->workers[i]))
			add_root(&findings.totals, summary__root(&snapshot->workers[i]));
	if (findings.totals.steps_ns == 0)
		return;
	runnable(&findings);
	peers(&findings);
	declared(&findings);
	undeclared(&findings);
	unobserved(&findings);
	costly_operator(&findings);
	idle(&findings);
	for (size_t i = 0; i < findings.count; i++)
		summary__say(summary, STYLE_PLAIN, "%s", findings.worst[i].text);
	text__percent(findings.totals.cpu_ns, findings.totals.steps_ns, percent);
	if (findings.count == 0)
		summary__say(summary, STYLE_PLAIN,
			     "Nothing stands out: workers were on a CPU %s of the step time.",
			     percent);
	fputc('\n', summary->out);
}
