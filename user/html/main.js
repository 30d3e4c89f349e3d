// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

function start() {
  const profile = new Profile(JSON.parse(byId("profile").textContent));
  const graph = new GraphView(profile, (node) => showDetails(profile, graph, node));
  const reveal = (node) => {
    graph.reveal(node);
    byId("graph").scrollIntoView({ block: "start" });
    byId("canvas").focus({ preventScroll: true });
  };
  showHead(profile, reveal);
  showBars(profile);
  graph.relayout();
  setUpMetrics(profile, graph);
  setUpSearch(profile, graph);
  showDetails(profile, graph, null);
  byId("graph").hidden = graph.layout.boxes.length === 0;
  graph.fit();
  new OperatorTable(profile, reveal);
  document.body.dataset.ready = "true";
}

try {
  start();
} catch (error) {
  byId("broken").hidden = false;
  throw error;
}
