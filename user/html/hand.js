// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What pointer and keys do to the graph.

const KEYS = {
  "+": (graph) => graph.zoom(ZOOM_STEP),
  "=": (graph) => graph.zoom(ZOOM_STEP),
  "-": (graph) => graph.zoom(1 / ZOOM_STEP),
  0: (graph) => graph.fit(),
  ArrowLeft: (graph, shift) => (shift ? graph.step(-1, 0) : graph.pan(PAN_STEP, 0)),
  ArrowRight: (graph, shift) => (shift ? graph.step(1, 0) : graph.pan(-PAN_STEP, 0)),
  ArrowUp: (graph, shift) => (shift ? graph.step(0, -1) : graph.pan(0, PAN_STEP)),
  ArrowDown: (graph, shift) => (shift ? graph.step(0, 1) : graph.pan(0, -PAN_STEP)),
  Enter: (graph) => graph.toggle(graph.selected),
  Escape: (graph) => graph.select(null),
};

function graphKey(graph, event) {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(graph, event.shiftKey);
}

function listenToPointer(graph) {
  const { canvas } = graph;
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.offsetX, y: event.offsetY, moved: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) {
      const box = graph.at(event.offsetX, event.offsetY);
      canvas.title = box ? `${box.node.id} ${box.node.label}` : "";
      canvas.style.cursor = box && !box.open ? "pointer" : "grab";
      return;
    }
    const [x, y] = [event.offsetX - drag.x, event.offsetY - drag.y];
    drag = { x: event.offsetX, y: event.offsetY, moved: drag.moved + Math.hypot(x, y) };
    if (drag.moved > CLICK_MOVE_MAX) graph.pan(x, y);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && drag.moved <= CLICK_MOVE_MAX)
      graph.select(graph.at(event.offsetX, event.offsetY)?.node ?? null);
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("dblclick", (event) =>
    graph.toggle(graph.at(event.offsetX, event.offsetY)?.node),
  );
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      graph.zoom(Math.exp(-event.deltaY * lines * 0.0015), event.offsetX, event.offsetY);
    },
    { passive: false },
  );
}
