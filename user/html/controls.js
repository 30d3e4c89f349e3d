// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Around the graph: the metric that it is coloured by, its legend, and the search.

function showLegend(metric, scale) {
  const at = (part) => withUnit(scale.max * part, metric.unit);
  byId("scale-least").textContent = withUnit(0, metric.unit);
  byId("scale-middle").textContent = at(0.25); // the colours go by the square root
  byId("scale-most").textContent = at(1);
  byId("metric-help").textContent = metric.help;
}

// Choices of the metric, by group, and of the worker.
function setUpMetrics(profile, graph) {
  const metrics = allMetrics(profile);
  const select = byId("metric");
  const worker = byId("worker");
  const groups = new Map();
  metrics.forEach((metric, index) => {
    if (!groups.has(metric.group))
      groups.set(metric.group, element("optgroup", { label: metric.group }));
    groups.get(metric.group).append(element("option", { value: index, text: metric.title }));
  });
  select.append(...groups.values());
  worker.append(
    element("option", { value: "", text: "all together" }),
    ...profile.workers.map(({ index, number }) => element("option", { value: index, text: number })),
  );
  const none = { unit: "count", fold: "sum", help: "This profile has no numbers of operators.", of: () => null };
  const choose = () => {
    const metric = metrics[select.value] ?? none;
    worker.disabled = !metric.perWorker;
    const chosen = worker.value === "" ? null : profile.workers[worker.value];
    graph.colourBy(metric, metric.perWorker ? chosen : null);
  };
  select.addEventListener("change", choose);
  worker.addEventListener("change", choose);
  choose();
}

// Nodes whose id is `text`, then those whose id or label holds it.
function matches(profile, text) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const isId = (node) => node.id === wanted;
  const holds = (node) =>
    node.id.toLowerCase().includes(wanted) || node.label.toLowerCase().includes(wanted);
  const shown = profile.nodes.filter((node) => node.inGraph);
  return [...shown.filter(isId), ...shown.filter((node) => !isId(node) && holds(node))];
}

function setUpSearch(profile, graph) {
  const input = byId("search");
  const status = byId("search-status");
  let found = [];
  let at = 0;
  const go = (to) => {
    if (found.length === 0) return;
    at = (to + found.length) % found.length;
    graph.reveal(found[at]);
    graph.mark(found);
    status.textContent = `${whole(at + 1)} of ${whole(found.length)}`;
  };
  input.addEventListener("input", () => {
    found = matches(profile, input.value);
    graph.mark(found);
    status.textContent = input.value.trim() && found.length === 0 ? "nothing found" : "";
    go(0);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? at - 1 : at + 1);
  });
}
