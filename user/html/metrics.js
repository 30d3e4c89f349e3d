// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The metrics that a graph can be coloured by: {id, title, group, unit, help, of(node, worker)},
// where of() gives {number, whole} or null.

function mainMetric(profile, name) {
  return {
    id: name,
    title: MAIN[name].title,
    group: "Operators",
    unit: MAIN[name].unit,
    fold: "sum",
    help: MAIN_HELP[name],
    perWorker: true,
    of: (node, worker) => {
      const number = profile.main(name, node, worker);
      return number === null ? null : { number, whole: null };
    },
  };
}

function skewMetric(profile) {
  return {
    id: "skew",
    title: "skew: slowest worker to mean",
    group: "Operators",
    unit: "ratio",
    fold: "max",
    help: "Wall time of the slowest worker as a multiple of the workers' mean.",
    of: (node) => {
      const number = profile.skew(node);
      return number === null ? null : { number, whole: null };
    },
  };
}

// Readings of `keys` together: one of them, or all labels of a metric.
function readingMetric(profile, keys, title) {
  const described = profile.metrics.get(keys[0].metric);
  return {
    id: title,
    title,
    group: described?.category ?? "Other",
    unit: keys[0].unit,
    fold: keys[0].fold,
    help: described?.description ?? "",
    of: (node) => {
      const sums = keys.map((key) => node.sums.get(key.index)).filter((sum) => sum);
      return sums.length > 0 ? sums.reduce((a, b) => together(a, b, keys[0].fold)) : null;
    },
  };
}

function together(a, b, fold) {
  if (fold === "max") return a.number >= b.number ? a : b;
  if (fold === "min") return a.number <= b.number ? a : b;
  return {
    number: a.number + b.number,
    whole: a.whole === null || b.whole === null ? null : a.whole + b.whole,
  };
}

// A percentage as such; NaN when nothing is there to take it of.
function scalar(sum, unit) {
  if (!sum) return NaN;
  if (unit !== "percent") return sum.number;
  return sum.whole > 0 ? (sum.number / sum.whole) * 100 : NaN;
}

// All numbers that some node has, but those that the main metrics show already.
function allMetrics(profile) {
  const shown = profile.nodes.filter((node) => node.parent !== null || !node.inGraph);
  const used = new Set(shown.flatMap((node) => [...node.sums.keys()]));
  const metrics = profile.mainNames().map((name) => mainMetric(profile, name));
  const groups = new Map();
  if (profile.workers.length > 1) metrics.push(skewMetric(profile));
  for (const key of profile.keys) {
    if (!used.has(key.index)) continue;
    const name = [key.metric, key.part && `.${key.part}`, ` ${key.unit}`].join("");
    groups.set(name, [...(groups.get(name) ?? []), key]);
  }
  const mains = new Set(["runtime", "run_queue", "preempted", "unobserved"]);
  for (const keys of groups.values()) {
    const plain = keys[0].name.replace(/ \(.*/, "");
    const main = mains.has(plain.replace(/_seconds$/, "")) || plain === "invocations_count";
    if (keys.length > 1 && plain !== "blocked_seconds")
      metrics.push(readingMetric(profile, keys, `${plain}, all`));
    if (!main) for (const key of keys) metrics.push(readingMetric(profile, [key], key.name));
  }
  return metrics;
}

// The value of a node as the graph shows it: a region's is that of what is in it.
class Shades {
  constructor(metric, worker) {
    this.metric = metric;
    this.worker = metric.perWorker ? worker : null;
    this.made = new Map();
  }

  sum(node) {
    if (!this.made.has(node)) this.made.set(node, this.make(node));
    return this.made.get(node);
  }

  make(node) {
    const own = this.metric.of(node, this.worker);
    if (own || !node.cluster) return own;
    const inside = node.children.map((child) => this.sum(child)).filter((sum) => sum);
    return inside.length > 0
      ? inside.reduce((a, b) => together(a, b, this.metric.fold))
      : null;
  }

  value(node) {
    return scalar(this.sum(node), this.metric.unit);
  }
}
