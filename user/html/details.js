// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The numbers of the node that is selected.

function mainTable(profile, node) {
  const names = profile.mainNames();
  const cell = (name, worker) =>
    numeral("td", profile.main(name, node, worker), MAIN[name].unit, { "data-main": name });
  const row = (title, worker, attributes) =>
    element(
      "tr",
      attributes,
      element("th", { scope: "row", text: title }),
      ...names.map((name) => cell(name, worker)),
    );
  const head = names.map((name) =>
    element("th", { scope: "col", text: MAIN[name].title, title: MAIN_HELP[name] }),
  );
  return element(
    "table",
    { class: "numbers" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col", text: "worker" }), ...head)),
    element(
      "tbody",
      {},
      row("all", null, { class: "total", "data-worker": "all" }),
      ...profile.workers.map((worker) => row(worker.number, worker, { "data-worker": worker.number })),
    ),
  );
}

// Every other number that the profile has of the node, all workers together.
function readingTable(profile, node) {
  const rows = [...node.sums]
    .map(([key, sum]) => ({ key: profile.keys[key], sum }))
    .sort((a, b) => a.key.name.localeCompare(b.key.name))
    .map(({ key, sum }) =>
      element(
        "tr",
        { "data-key": key.name },
        element("th", {
          scope: "row",
          text: key.name.replace(/_/g, "_\u200b"),
          title: profile.metrics.get(key.metric)?.description ?? null,
        }),
        numeral("td", scalar(sum, key.unit), key.unit),
      ),
    );
  return rows.length > 0 ? element("table", { class: "readings" }, element("tbody", {}, ...rows)) : null;
}

function scrolling(label, ...children) {
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    ...children,
  );
}

function showDetails(profile, graph, node) {
  const panel = byId("details");
  panel.replaceChildren();
  if (!node) {
    panel.append(
      element("p", {
        class: "hint",
        text: "Select an operator in the graph or in the table to see its numbers.",
      }),
    );
    return;
  }
  const { name, place } = splitLabel(node.label);
  const kind = node.cluster ? (/_r\d/.test(node.id) ? "region" : "circuit") : "operator";
  panel.append(
    element("h3", {}, element("code", { text: node.id }), ` ${name}`),
    element("p", { class: "where", text: [kind, node.label.split(" @ ")[1] ?? place].filter((t) => t).join(", ") }),
  );
  if (node.cluster && node.parent && node.children.length > 0)
    panel.append(
      element("button", {
        text: graph.collapsed.has(node) ? "Open in the graph" : "Close in the graph",
        click: () => graph.toggle(node),
      }),
    );
  const part = profile.main("runtime", node);
  if (part !== null && !node.cluster)
    panel.append(
      element("p", { text: `${share(part, profile.operatorTime())} of the time in operators.` }),
    );
  if (profile.mainNames().some((main) => profile.main(main, node) !== null))
    panel.append(scrolling("Main numbers of each worker", mainTable(profile, node)));
  const readings = readingTable(profile, node);
  if (readings)
    panel.append(element("h4", { text: "All readings, of all workers together" }), readings);
}
