// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What stands out, in words: the rules and sentences of user/export/summary_findings.c, from the
// readings of the root circuits.

// From which share of the step time on something stands out, in percent.
const LEAST = {
  runnable: 10, // could run, but did not
  party: 5, // who took the CPU
  peers: 25, // some waiting is natural: nobody waits for the slowest worker
  wait: 15, // for another reason that DBSP declares
  cause: 5, // for something in the kernel that DBSP does not declare
  unobserved: 5,
  operator: 10,
  operatorShare: 25, // of the time in operators
  slowest: 10, // more time of its own than the others have on average
  idle: 50, // of the time of all workers
};

const PARTIES = {
  other_worker: "other workers",
  merger: "mergers",
  io_thread: "other threads of the program",
  other_process: "other processes",
  kernel: "the kernel itself",
};

const REASONS = {
  unattributed: "something that DBSP does not name",
  merge_backpressure: "mergers to catch up",
  peers: "peers",
  operator_pending: "operators in flight",
  scheduler: "operators to become ready",
  storage_read: "reads from storage",
  storage_write: "writes to storage",
  storage_sync: "storage to sync",
  storage_metadata: "file creation and the like",
  network: "the network",
};

function reaches(part, all, percent) {
  return part > 0 && part * 100 >= all * percent;
}

function most(by) {
  return Object.entries(by).reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
}

// Root circuits of all workers together.
function rootTotals(profile) {
  const sum = (metric) =>
    profile.workers.reduce((all, worker) => all + profile.root(worker, metric), 0);
  const byLabel = (metric) => {
    const all = {};
    for (const worker of profile.workers)
      for (const [label, nanos] of profile.rootByLabel(worker, metric))
        all[label] = (all[label] ?? 0) + nanos;
    return all;
  };
  const steps = sum("circuit_runtime_seconds");
  return {
    steps,
    time: steps + sum("circuit_idle_time_seconds") + sum("circuit_edge_idle_seconds"),
    cpu: sum("circuit_cpu_time_seconds"),
    waits: byLabel("circuit_wait_by_reason_seconds"),
    runQueue: sum("run_queue_seconds"),
    preempted: sum("preempted_seconds"),
    preemptedBy: byLabel("preempted_by_seconds"),
    blocked: byLabel("blocked_seconds"),
    unobserved: sum("unobserved_seconds"),
  };
}

// The worker that the others wait for, null when none has clearly more to do than the rest.
function slowestWorker(profile) {
  const own = profile.workers.map((worker) =>
    Math.max(
      0,
      profile.root(worker, "circuit_runtime_seconds") -
        profile.root(worker, "circuit_wait_by_reason_seconds", "reason=peers"),
    ),
  );
  const longest = Math.max(...own);
  const rest = own.reduce((a, b) => a + b, 0) - longest;
  if (own.length < 2 || longest * (own.length - 1) * 100 < rest * (100 + LEAST.slowest))
    return null;
  return profile.workers[own.indexOf(longest)];
}

function runnableFinding(totals) {
  const nanos = totals.runQueue + totals.preempted;
  const [party, taken] = most(totals.preemptedBy);
  if (!reaches(nanos, totals.steps, LEAST.runnable)) return null;
  const taker = reaches(taken, totals.steps, LEAST.party)
    ? `; ${PARTIES[party] ?? party} took ${share(taken, totals.steps)}`
    : "";
  const text = `Workers were runnable but off CPU ${share(nanos, totals.steps)} of the step time`;
  return { nanos, text: `${text}${taker}.` };
}

function peersFinding(totals, profile) {
  const nanos = totals.waits.peers ?? 0;
  if (!reaches(nanos, totals.steps, LEAST.peers)) return null;
  const worker = slowestWorker(profile);
  const which = worker ? `: worker ${worker.number} was the slowest` : "; none was much slower";
  const text = `Workers waited for peers ${share(nanos, totals.steps)} of the step time`;
  return { nanos, text: `${text}${which}.` };
}

// The longest of the other waits that DBSP declares.
function declaredFinding(totals) {
  const [reason, nanos] = most({ ...totals.waits, peers: 0 });
  if (!reaches(nanos, totals.steps, LEAST.wait)) return null;
  const what = REASONS[reason] ?? reason;
  return {
    nanos,
    text: `Workers waited for ${what} ${share(nanos, totals.steps)} of the step time.`,
  };
}

// Waits that DBSP declares end in futexes, epoll and, for storage, in block I/O or other calls:
// only what goes beyond them is news.
function undeclaredFindings(totals, profile) {
  const by = { page_fault: 0, block_io: 0, sleep: 0, socket: 0, pipe: 0, other: 0, ...totals.blocked };
  let storage = Object.entries(totals.waits)
    .filter(([reason]) => reason.startsWith("storage_"))
    .reduce((sum, [, nanos]) => sum + nanos, 0);
  const disk = Math.min(storage, by.block_io);
  storage -= disk;
  const futex = profile.keys.find(
    (key) => key.metric === "blocked_seconds" && key.labels === "cause=futex",
  );
  const locks = profile.operators.reduce(
    (sum, node) => sum + ((futex && node.sums.get(futex.index)?.number) ?? 0),
    0,
  );
  return [
    [by.page_fault, "Page faults blocked workers"],
    [by.block_io - disk, "Disk I/O that DBSP does not declare blocked workers"],
    [by.sleep, "Workers slept in sleep calls"],
    [by.socket, "Sockets blocked workers"],
    [by.pipe, "Pipes blocked workers"],
    [by.other - Math.min(storage, by.other), "Other system calls blocked workers"],
    [locks, "Locks (futex) blocked operators"],
  ]
    .filter(([nanos]) => reaches(nanos, totals.steps, LEAST.cause))
    .map(([nanos, what]) => ({
      nanos,
      text: `${what} ${share(nanos, totals.steps)} of the step time.`,
    }));
}

function unobservedFinding(totals) {
  if (!reaches(totals.unobserved, totals.steps, LEAST.unobserved)) return null;
  const part = share(totals.unobserved, totals.steps);
  return {
    nanos: totals.unobserved,
    text: `What workers did in ${part} of the step time was not observed.`,
  };
}

// A costly operator is less of a surprise than time in which nothing was computed: half the weight.
function operatorFinding(totals, profile) {
  const time = (node) => profile.main("runtime", node) ?? 0;
  const worst = profile.operators.reduce((a, b) => (a && time(a) >= time(b) ? a : b), null);
  if (!worst || !reaches(time(worst), profile.operatorTime(), LEAST.operatorShare)) return null;
  if (!reaches(time(worst), totals.steps, LEAST.operator)) return null;
  const part = share(time(worst), profile.operatorTime());
  return {
    nanos: time(worst) / 2,
    node: worst,
    text: `Operator ${worst.id} ${worst.label} took ${part} of the operators' time.`,
  };
}

function idleFinding(totals) {
  const nanos = totals.time - totals.steps;
  if (!reaches(nanos, totals.time, LEAST.idle)) return null;
  return {
    nanos,
    text: `Workers were idle, outside of steps, ${share(nanos, totals.time)} of the time.`,
  };
}

// The heaviest first: [{text, node}].
function findings(profile) {
  const totals = rootTotals(profile);
  if (totals.steps === 0) {
    return totals.time > 0 ? [{ text: "No step in this window: the circuit was idle." }] : [];
  }
  const found = [
    runnableFinding(totals),
    peersFinding(totals, profile),
    declaredFinding(totals),
    ...undeclaredFindings(totals, profile),
    unobservedFinding(totals),
    operatorFinding(totals, profile),
    idleFinding(totals),
  ]
    .filter((finding) => finding)
    .sort((a, b) => b.nanos - a.nanos);
  if (found.length > 0) return found;
  const cpu = share(totals.cpu, totals.steps);
  return [{ text: `Nothing stands out: workers were on a CPU ${cpu} of the step time.` }];
}
