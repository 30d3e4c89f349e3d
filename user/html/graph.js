// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The circuit graph: what is open, what is seen of it, and what the hand does.

const ZOOM_MIN = 0.002;
const ZOOM_MAX = 3;
const ZOOM_STEP = 1.25;
const PAN_STEP = 80; // pixels
const OPEN_MAX = 400; // larger graphs begin with their circuits and regions closed
const CLICK_MOVE_MAX = 4; // pixels; who moves further drags

class GraphView {
  constructor(profile, onSelect) {
    this.profile = profile;
    this.onSelect = onSelect;
    this.canvas = byId("canvas");
    this.painter = new Painter(this.canvas);
    this.view = { scale: 1, x: 0, y: 0 };
    this.selected = null;
    this.found = new Set();
    this.clusters = profile.nodes.filter((node) => node.cluster && node.parent && node.children.length);
    const many = profile.nodes.length > OPEN_MAX;
    this.collapsed = new Set(many ? this.clusters : []);
    this.colours = styleColours();
    this.listen();
  }

  // Colours the graph by a metric, of one worker or of all.
  colourBy(metric, worker) {
    this.shades = new Shades(metric, worker);
    this.rescale();
    this.redraw();
  }

  rescale() {
    const values = this.layout.boxes.filter((box) => !box.open).map((box) => this.value(box.node));
    this.scale = new Scale(values, this.colours);
    showLegend(this.shades.metric, this.scale);
  }

  value(node) {
    return this.shades.value(node);
  }

  // Lays out what is open. The view stays where `anchor` is, or shows all.
  relayout(anchor = null) {
    const before = anchor && this.layout?.boxOfNode?.get(anchor);
    const start = performance.now();
    this.layout = layoutGraph(this.profile, this.collapsed);
    const box = before && this.layout.boxOfNode.get(anchor);
    if (box) {
      this.view.x += (before.x - box.x) * this.view.scale;
      this.view.y += (before.y - box.y) * this.view.scale;
    } else {
      this.fit();
    }
    if (this.shades) this.rescale();
    this.tell(performance.now() - start);
    this.redraw();
  }

  tell(milliseconds) {
    const { boxes, edges } = this.layout;
    const drawn = boxes.filter((box) => !box.node.cluster).length;
    const closed = boxes.filter((box) => box.node.cluster && !box.open).length;
    const { dataset } = this.canvas;
    dataset.operators = drawn;
    dataset.clusters = boxes.length - drawn;
    dataset.edges = edges.length;
    dataset.layoutMs = Math.round(milliseconds);
    byId("graph-status").textContent =
      `${whole(drawn)} of ${whole(this.profile.operators.length)} operators shown` +
      (closed > 0 ? `, ${whole(closed)} closed ${closed > 1 ? "boxes" : "box"}` : "");
  }

  fit() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const { w, h } = this.layout;
    const scale = Math.min((width - 24) / w, (height - 24) / h, 1.2);
    this.view.scale = Math.max(ZOOM_MIN, scale);
    this.view.x = (width - w * this.view.scale) / 2;
    this.view.y = Math.max(12, (height - h * this.view.scale) / 2);
    this.redraw();
  }

  // Zooms so that what is at (x, y) of the canvas stays there.
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const { view } = this;
    const scale = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    this.redraw();
  }

  pan(x, y) {
    this.view.x += x;
    this.view.y += y;
    this.redraw();
  }

  // Opens what `node` is in, moves it to the middle and selects it.
  reveal(node) {
    const closed = lineage(node).slice(0, -1).filter((around) => this.collapsed.delete(around));
    if (closed.length > 0) this.relayout();
    const box = this.layout.boxOfNode?.get(node);
    if (box) {
      this.view.scale = Math.min(ZOOM_MAX, Math.max(0.9, this.view.scale));
      this.view.x = this.canvas.clientWidth / 2 - (box.x + box.w / 2) * this.view.scale;
      const middle = box.open ? HEADER / 2 : box.h / 2;
      this.view.y = this.canvas.clientHeight / 2 - (box.y + middle) * this.view.scale;
    }
    this.select(node);
  }

  select(node) {
    this.selected = node;
    this.onSelect(node);
    byId("selected-status").textContent = node ? `${node.id} ${node.label}: ${this.text(node)}` : "";
    this.redraw();
  }

  mark(nodes) {
    this.found = new Set(nodes.map((node) => standIn(node, this.collapsed)));
    this.redraw();
  }

  // Opens or closes a cluster.
  toggle(node) {
    if (!node?.cluster || !node.parent || node.children.length === 0) return;
    if (!this.collapsed.delete(node)) this.collapsed.add(node);
    this.relayout(node);
    this.select(node);
  }

  toggleAll(open) {
    this.collapsed = new Set(open ? [] : this.clusters);
    this.relayout();
    if (this.selected) this.selected = standIn(this.selected, this.collapsed);
  }

  // The box at a place of the canvas, the innermost one.
  at(x, y) {
    const [left, top] = [(x - this.view.x) / this.view.scale, (y - this.view.y) / this.view.scale];
    const inside = (box) =>
      left >= box.x && left <= box.x + box.w && top >= box.y && top <= box.y + box.h;
    return this.layout.boxes.findLast(inside) ?? null;
  }

  // Selects the nearest box in a direction, of those that are no frames around others.
  step(dx, dy) {
    const from = this.layout.boxOfNode?.get(this.selected);
    const closed = this.layout.boxes.filter((box) => !box.open);
    if (!from) return closed.length > 0 ? this.reveal(closed[0].node) : undefined;
    const far = (box) => {
      const [x, y] = [box.x + box.w / 2 - from.x - from.w / 2, box.y - from.y];
      const along = x * dx + y * dy;
      return along > 1 ? along + 3 * Math.abs(x * dy + y * dx) : Infinity;
    };
    const nearest = closed.reduce((a, b) => (far(b) < far(a) ? b : a), from);
    if (nearest !== from && far(nearest) < Infinity) this.reveal(nearest.node);
  }

  title(box) {
    const { name } = splitLabel(box.node.label);
    if (!box.node.cluster) return `${box.node.id}  ${name}`;
    return `${box.open ? "▾" : "▸"} ${name || box.node.id}`;
  }

  text(node) {
    return withUnit(this.value(node), this.shades.metric.unit);
  }

  subtitle(box) {
    const text = this.text(box.node);
    if (box.node.cluster) return `${text}, ${whole(box.node.children.length)} inside`;
    const { place } = splitLabel(box.node.label);
    return place ? `${text} · ${place}` : text;
  }

  // Draws once before the next frame, however often it is asked to.
  redraw() {
    if (this.waiting || !this.layout || !this.shades) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    this.painter.paint({
      layout: this.layout,
      view: this.view,
      scale: this.scale,
      colours: this.colours,
      selected: this.selected,
      found: this.found,
      value: (node) => this.value(node),
      title: (box) => this.title(box),
      subtitle: (box) => this.subtitle(box),
    });
    this.canvas.dataset.drawn = "true";
  }

  // Colours change with the scheme, and on paper.
  recolour() {
    this.colours = styleColours();
    if (!this.shades) return;
    this.rescale();
    this.paint();
  }

  // Paper shows all of the graph; the screen then goes on where it was.
  print(begins) {
    if (begins) {
      this.onScreen = { ...this.view };
      this.fit();
    } else if (this.onScreen) {
      this.view = this.onScreen;
    }
    this.recolour();
  }

  listen() {
    const { canvas } = this;
    listenToPointer(this);
    canvas.addEventListener("keydown", (event) => graphKey(this, event));
    new ResizeObserver(() => this.redraw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    matchMedia("print").addEventListener("change", ({ matches }) => this.print(matches));
    const buttons = {
      "zoom-in": () => this.zoom(ZOOM_STEP),
      "zoom-out": () => this.zoom(1 / ZOOM_STEP),
      fit: () => this.fit(),
      "open-all": () => this.toggleAll(true),
      "close-all": () => this.toggleAll(false),
    };
    for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
    byId("open-all").hidden = byId("close-all").hidden = this.clusters.length === 0;
  }
}
