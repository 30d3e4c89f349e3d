// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the time of each worker went into, as bars that add up to the window.

const MANY = 16; // workers; their bars are thinner, without words

const TONES = {
  CPU: "cpu",
  peers: "wait-1",
  merge_backpressure: "wait-2",
  operator_pending: "wait-3",
  scheduler: "wait-4",
  network: "wait-5",
  unattributed: "wait-6",
  storage_read: "disk-1",
  storage_write: "disk-2",
  storage_sync: "disk-3",
  storage_metadata: "disk-4",
  "off CPU": "run-queue",
  "run queue": "run-queue",
  preempted: "preempted",
  futex: "wait-1",
  epoll: "wait-3",
  block_io: "disk-1",
  page_fault: "disk-3",
  socket: "wait-5",
  pipe: "wait-6",
  sleep: "wait-4",
  other: "wait-2",
  "not observed": "unobserved",
  idle: "idle",
};

// Steps and pauses of a worker, which its window consists of.
function stepTimes(profile, worker) {
  const root = (metric) => profile.root(worker, metric);
  return {
    steps: root("circuit_runtime_seconds"),
    cpu: root("circuit_cpu_time_seconds"),
    idle: root("circuit_idle_time_seconds") + root("circuit_edge_idle_seconds"),
  };
}

// By the reasons that DBSP declares. What it measures may exceed the step by clock granularity;
// the bar shows what is there then, and is so much longer.
function byReason(profile, worker) {
  const { steps, cpu, idle } = stepTimes(profile, worker);
  const waits = profile.rootByLabel(worker, "circuit_wait_by_reason_seconds");
  const known = waits.reduce((sum, [, nanos]) => sum + nanos, cpu);
  return [["CPU", cpu], ...waits, ["off CPU", Math.max(0, steps - known)], ["idle", idle]];
}

// By what the kernel saw in steps: these parts are exactly the step.
function byCause(profile, worker) {
  const { cpu, idle } = stepTimes(profile, worker);
  return [
    ["CPU", cpu],
    ["run queue", profile.root(worker, "run_queue_seconds")],
    ["preempted", profile.root(worker, "preempted_seconds")],
    ...profile.rootByLabel(worker, "blocked_seconds"),
    ["not observed", profile.root(worker, "unobserved_seconds")],
    ["idle", idle],
  ];
}

// The books of a thread, for a worker whose circuit is not known.
function byBooks(profile, worker) {
  const books = profile.about?.workers?.[worker.index];
  if (!books?.observed) return [];
  return [
    ["CPU", nanosOf(books.on_cpu)],
    ["run queue", nanosOf(books.run_queue)],
    ["preempted", nanosOf(books.preempted)],
    ...Object.entries(books.blocked ?? {}).map(([cause, time]) => [cause, nanosOf(time)]),
    ["not observed", nanosOf(books.unobserved)],
  ];
}

const CHARTS = [
  {
    title: "By DBSP: what steps waited for",
    note: "CPU time and declared waits in steps; off CPU is what no declared wait explains.",
    parts: byReason,
    needs: "circuit_wait_by_reason_seconds",
  },
  {
    title: "By the kernel: who had the CPU, what blocked",
    note: "Run queue: woken, not running yet. Preempted: another thread ran in its place.",
    parts: (profile, worker) =>
      worker.root.size > 0 ? byCause(profile, worker) : byBooks(profile, worker),
    needs: "run_queue_seconds",
  },
];

function segment(name, nanos, total) {
  const percent = (nanos / total) * 100;
  const part = share(nanos, total);
  const full = `${words(name)} ${part}`;
  // A letter takes some one and a half percent of a bar on a screen of usual width.
  const fits = percent > full.length * 1.5 ? full : percent > 8 ? part : "";
  const made = element("span", {
    class: `segment tone-${TONES[name] ?? "wait-6"}`,
    title: `${words(name)}: ${duration(nanos)}, ${part}`,
    "data-part": name,
    "data-value": nanos,
    text: fits,
  });
  made.style.flexGrow = String(nanos);
  return made;
}

// One worker. `longest` is the sum of the longest bar, which takes the whole width.
function bar(worker, parts, longest) {
  const total = parts.reduce((sum, [, nanos]) => sum + nanos, 0);
  const said = parts.map(([name, nanos]) => `${words(name)} ${share(nanos, total)}`).join(", ");
  const strip = element(
    "div",
    { class: "strip", role: "img", "aria-label": said, "data-value": total },
    ...parts.map(([name, nanos]) => segment(name, nanos, total)),
  );
  strip.style.width = `${(total / longest) * 100}%`;
  return element(
    "div",
    { class: "bar" },
    element("span", { class: "who", text: `worker ${worker.number}` }),
    element("div", { class: "track" }, strip),
    element("span", { class: "sum", text: duration(total), title: exact(total, "ns") }),
  );
}

function legend(names) {
  return element(
    "ul",
    { class: "legend" },
    ...names.map((name) =>
      element(
        "li",
        {},
        element("span", { class: `swatch tone-${TONES[name] ?? "wait-6"}` }),
        words(name),
      ),
    ),
  );
}

// The same as numbers, for who cannot or will not read bars.
function barTable(workers, names) {
  const head = element("tr", {}, element("th", { scope: "col", text: "worker" }));
  head.append(...names.map((name) => element("th", { scope: "col", text: words(name) })));
  const rows = workers.map(({ worker, parts }) => {
    const row = element("tr", {}, element("th", { scope: "row", text: worker.number }));
    for (const name of names)
      row.append(numeral("td", parts.find(([part]) => part === name)?.[1] ?? 0, "ns"));
    return row;
  });
  return element(
    "details",
    {},
    element("summary", { text: "Numbers" }),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Numbers of the bars" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)),
    ),
  );
}

function chart(profile, { title, note, parts: make }) {
  const workers = profile.workers
    .map((worker) => ({ worker, parts: make(profile, worker).filter(([, nanos]) => nanos > 0) }))
    .filter(({ parts }) => parts.length > 0);
  const sum = (parts) => parts.reduce((all, [, nanos]) => all + nanos, 0);
  const longest = Math.max(...workers.map(({ parts }) => sum(parts)));
  const used = new Set(workers.flatMap(({ parts }) => parts.map(([name]) => name)));
  const names = Object.keys(TONES).filter((name) => used.has(name));
  names.push(...[...used].filter((name) => !(name in TONES)));
  if (workers.length === 0) return null;
  for (const { parts } of workers) parts.sort((a, b) => names.indexOf(a[0]) - names.indexOf(b[0]));
  return element(
    "figure",
    { class: workers.length > MANY ? "chart many" : "chart" },
    element("figcaption", {}, element("h3", { text: title }), element("p", { text: note })),
    legend(names),
    ...workers.map(({ worker, parts }) => bar(worker, parts, longest)),
    barTable(workers, names),
  );
}

function showBars(profile) {
  const has = (metric) =>
    profile.about || profile.keys.some((key) => key.metric === metric);
  const charts = CHARTS.filter(({ needs }) => has(needs)).map((what) => chart(profile, what));
  const made = charts.filter((figure) => figure);
  byId("bars").append(...made);
  byId("workers").hidden = made.length === 0;
}
