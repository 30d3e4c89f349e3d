// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The profile: what user/export/html_data.h describes, made easy to ask.

// Metrics that are there for each worker. Those "from" others are made here.
const MAIN = {
  runtime: { title: "wall time", unit: "ns" },
  cpu: { title: "CPU time", unit: "ns" },
  off_cpu: { title: "off CPU", unit: "ns", from: (main) => minus(main("runtime"), main("cpu")) },
  run_queue: { title: "run queue", unit: "ns" },
  preempted: { title: "preempted", unit: "ns" },
  blocked: { title: "blocked", unit: "ns" },
  unobserved: { title: "not observed", unit: "ns" },
  invocations: { title: "evaluations", unit: "count" },
};

const MAIN_HELP = {
  runtime: "Wall time in evaluations of the operator, runtime_seconds.",
  cpu: "CPU time in them, as the engine has it in nonblocking_percent: to the microsecond.",
  off_cpu: "Wall time less CPU time.",
  run_queue: "Woken, but not running yet: its CPU was taken.",
  preempted: "Able to run, while another thread ran in its place.",
  blocked: "Waiting in the kernel, for whatever cause.",
  unobserved: "Not known whether it ran or waited.",
  invocations: "How often the operator was evaluated.",
};

function minus(a, b) {
  return a === null || b === null ? null : Math.max(0, a - b);
}

// The rows of one worker, as one array of numbers; NaN is what is not known.
function unpackRows(rows, nodes, columns) {
  const numbers = new Float64Array(nodes * columns).fill(NaN);
  for (const row of rows)
    for (let i = 1; i < row.length && i <= columns; i++)
      if (row[i] !== null) numbers[row[0] * columns + i - 1] = row[i];
  return numbers;
}

// The rows of all workers together.
function addRows(workers, length) {
  const totals = new Float64Array(length).fill(NaN);
  for (const { rows } of workers)
    for (let i = 0; i < length; i++)
      if (!Number.isNaN(rows[i])) totals[i] = (Number.isNaN(totals[i]) ? 0 : totals[i]) + rows[i];
  return totals;
}

// "key, number, ..." as a map from key to {number, whole}.
function unpackSums(flat, keys) {
  const sums = new Map();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const key = flat[i];
    const sum = { number: flat[i + 1], whole: null };
    if (keys[key].unit === "percent") sum.whole = flat[++i + 1];
    sums.set(key, sum);
  }
  return sums;
}

// Parents by depth: a cluster comes before what it holds.
function unpackNodes(raw, keys) {
  const open = [];
  return raw.map(([id, label, depth, cluster, sums], index) => {
    const node = { index, id, label, cluster: cluster === 1, parent: null, children: [] };
    node.inGraph = depth !== null;
    node.sums = unpackSums(sums, keys);
    if (!node.inGraph) return node;
    open.length = Math.min(open.length, depth);
    node.parent = open.length > 0 ? open[open.length - 1] : null;
    node.parent?.children.push(node);
    node.depth = open.length;
    if (node.cluster) open.push(node);
    return node;
  });
}

function unpackEdges(flat, nodes) {
  const edges = [];
  for (let i = 0; i + 1 < flat.length; i += 2)
    edges.push({ from: nodes[flat[i]], to: nodes[flat[i + 1]] });
  return edges;
}

class Profile {
  constructor(raw) {
    this.program = raw.program;
    this.source = raw.source;
    this.about = raw.members.dbprof ?? null;
    const numbers = raw.workers.map((_, index) => this.about?.workers?.[index]?.worker);
    const numbered = numbers.every((number) => Number.isInteger(number));
    this.columns = raw.main;
    this.metrics = new Map(raw.metrics.map((metric) => [metric.name, metric]));
    this.keys = raw.keys.map(([metric, part, labels, unit, fold], index) => {
      const name = [metric, part && `.${part}`, labels && ` (${labels})`].join("");
      return { index, metric, part, labels, unit, fold, name };
    });
    this.nodes = unpackNodes(raw.nodes, this.keys);
    this.edges = unpackEdges(raw.edges, this.nodes);
    this.workers = raw.workers.map(({ rows, root }, index) => ({
      index,
      number: numbered ? numbers[index] : raw.source.first_worker + index,
      rows: unpackRows(rows, this.nodes.length, this.columns.length),
      root: unpackSums(root, this.keys),
    }));
    this.totals = addRows(this.workers, this.nodes.length * this.columns.length);
    this.leftOut = raw.left_out;
    // Nested circuits are operators, too, but their time is that of the operators inside.
    this.operators = this.nodes.filter((node) => !node.cluster);
  }

  // A main number of a node: of one worker, or of all together when `worker` is null.
  main(name, node, worker = null) {
    const made = MAIN[name].from;
    if (made) return worker ? made((other) => this.main(other, node, worker)) : this.sum(name, node);
    const column = this.columns.indexOf(name);
    const at = node.index * this.columns.length + column;
    if (column < 0) return null;
    if (worker) return Number.isNaN(worker.rows[at]) ? null : worker.rows[at];
    return Number.isNaN(this.totals[at]) ? null : this.totals[at];
  }

  // A main number that is made from others, of all workers together.
  sum(name, node) {
    const numbers = this.workers.map((worker) => this.main(name, node, worker));
    return numbers.reduce((sum, number) => (number === null ? sum : (sum ?? 0) + number), null);
  }

  // The main metrics that this profile has.
  mainNames() {
    this.known ??= Object.keys(MAIN).filter((name) =>
      this.nodes.some((node) => this.main(name, node) !== null),
    );
    return this.known;
  }

  // A reading of a worker's root circuit, 0 when there is none; `labels` as in "reason=peers".
  root(worker, metric, labels = "") {
    const key = this.keys.find((key) => key.metric === metric && key.labels === labels);
    return (key && worker.root.get(key.index)?.number) ?? 0;
  }

  // The same by the value of its label: [["peers", 12], ...].
  rootByLabel(worker, metric) {
    return this.keys
      .filter((key) => key.metric === metric && key.labels)
      .map((key) => [key.labels.replace(/^\w+=/, ""), worker.root.get(key.index)?.number ?? 0]);
  }

  // What the time of operators adds up to, each once.
  operatorTime() {
    this.time ??= this.operators.reduce((sum, node) => sum + (this.main("runtime", node) ?? 0), 0);
    return this.time;
  }

  // How much longer the slowest worker took for a node than the workers on average.
  skew(node) {
    const times = this.workers.map((worker) => this.main("runtime", node, worker) ?? 0);
    const sum = times.reduce((a, b) => a + b, 0);
    return times.length > 1 && sum > 0 ? (Math.max(...times) * times.length) / sum : null;
  }
}
