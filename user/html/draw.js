// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Draws a layout on a canvas: only what is in view, and no text that nobody could read.

const FONT = '"Inter", "Segoe UI", system-ui, "DejaVu Sans", sans-serif';
const TEXT_SCALE_MIN = 0.42; // below it, one line in larger letters
const NAME_SCALE_MIN = 0.2; // below it, no text
const BORDER_SCALE_MIN = 0.15; // below it, borders would be most of what is seen
const EDGE_POINTS_MAX = 6000; // drawn at once as curves; more of them as lines

function inView(box, view) {
  return (
    box.x < view.right && box.x + box.w > view.left && box.y < view.bottom &&
    box.y + box.h > view.top
  ); // prettier-ignore
}

// Text cut to a width, measured once for each box.
function cut(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [least, most] = [0, text.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) least = middle;
    else most = middle - 1;
  }
  return `${text.slice(0, least)}…`;
}

// "JoinTrace @ s/o/d/join.rs:722:21": the name, and the place without its folders.
function splitLabel(label) {
  const [name, place] = label.split(" @ ");
  return { name, place: place ? place.split("/").pop() : "" };
}

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  // `scene`: {layout, scale, view, colours, selected, found, texts(box)}.
  paint(scene) {
    const { canvas, context } = this;
    const { view, colours, layout } = scene;
    const dense = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, width, height);
    context.transform(view.scale, 0, 0, view.scale, view.x, view.y);
    const port = {
      left: -view.x / view.scale,
      top: -view.y / view.scale,
      right: (width - view.x) / view.scale,
      bottom: (height - view.y) / view.scale,
    };
    const boxes = layout.boxes.filter((box) => inView(box, port));
    for (const box of boxes) if (box.open) this.cluster(box, scene);
    this.edges(scene, port);
    for (const box of boxes) if (!box.open) this.box(box, scene);
  }

  cluster(box, scene) {
    const { context } = this;
    const { colours, view } = scene;
    context.fillStyle = colours.cluster;
    context.strokeStyle = scene.selected === box.node ? colours.accent : colours["cluster-line"];
    context.lineWidth = (scene.selected === box.node ? 2.5 : 1) / Math.min(1, view.scale);
    this.outline(box, 6);
    context.fill();
    context.stroke();
    if (scene.found.has(box.node)) this.ring(box, scene);
    if (view.scale < TEXT_SCALE_MIN) return;
    context.fillStyle = colours.faint;
    context.font = `600 11px ${FONT}`;
    context.fillText(cut(context, scene.title(box), box.w - 20), box.x + 10, box.y + 17);
  }

  box(box, scene) {
    const { context } = this;
    const { colours, view } = scene;
    const { fill, ink } = scene.scale.shade(scene.value(box.node));
    const selected = scene.selected === box.node;
    context.fillStyle = fill;
    context.strokeStyle = selected ? colours.accent : colours.line;
    context.lineWidth = (selected ? 3 : 1) / Math.min(1, view.scale);
    this.outline(box, 4);
    context.fill();
    if (selected || view.scale >= BORDER_SCALE_MIN) context.stroke();
    if (box.node.cluster && box.node.children.length > 0) {
      context.strokeRect(box.x + 3.5, box.y + 3.5, box.w - 7, box.h - 7);
    }
    if (scene.found.has(box.node)) this.ring(box, scene);
    if (view.scale < NAME_SCALE_MIN) return;
    context.fillStyle = ink ?? colours.ink;
    if (view.scale < TEXT_SCALE_MIN) return this.nameOnly(box, view.scale);
    context.font = `600 12px ${FONT}`;
    box.name ??= cut(context, scene.title(box), box.w - 20);
    context.fillText(box.name, box.x + 10, box.y + 19);
    context.font = `11px ${FONT}`;
    context.fillText(cut(context, scene.subtitle(box), box.w - 20), box.x + 10, box.y + 36);
  }

  nameOnly(box, scale) {
    const { context } = this;
    const size = Math.min(28, 10.5 / scale);
    const { name } = splitLabel(box.node.label);
    context.font = `${size}px ${FONT}`;
    context.fillText(cut(context, name || box.node.id, box.w - 12), box.x + 7, box.y + 23 + size / 3);
  }

  // What a search has found.
  ring(box, { colours, view }) {
    const { context } = this;
    const far = 4 / Math.min(1, view.scale);
    context.strokeStyle = colours.found;
    context.lineWidth = 3 / Math.min(1, view.scale);
    context.strokeRect(box.x - far, box.y - far, box.w + 2 * far, box.h + 2 * far);
  }

  outline(box, radius) {
    this.context.beginPath();
    this.context.roundRect(box.x, box.y, box.w, box.h, radius);
  }

  edges(scene, port) {
    const { context } = this;
    const { colours, view, layout, selected } = scene;
    const chosen = (edge) => selected && (edge.from.node === selected || edge.to.node === selected);
    const seen = layout.edges.filter((edge) => this.edgeInView(edge, port));
    const curved = seen.length < EDGE_POINTS_MAX && view.scale > 0.1;
    context.strokeStyle = colours.edge;
    context.lineWidth = 1.2 / Math.max(0.4, Math.min(1, view.scale));
    context.beginPath();
    for (const edge of seen) if (!chosen(edge)) this.trace(edge, curved);
    context.stroke();
    context.strokeStyle = colours.accent;
    context.lineWidth = 2.2 / Math.min(1, view.scale);
    context.beginPath();
    for (const edge of seen) if (chosen(edge)) this.trace(edge, curved);
    context.stroke();
    if (view.scale < TEXT_SCALE_MIN) return;
    for (const edge of seen) this.arrow(edge, chosen(edge) ? colours.accent : colours.edge);
  }

  edgeInView({ from, to, points }, port) {
    const xs = [from.x, from.x + from.w, to.x, to.x + to.w, ...points.map(({ x }) => x)];
    const ys = [from.y, from.y + from.h, to.y, to.y + to.h];
    return (
      Math.min(...xs) < port.right && Math.max(...xs) > port.left &&
      Math.min(...ys) < port.bottom && Math.max(...ys) > port.top
    ); // prettier-ignore
  }

  // From the lower side of one box to the upper side of the other.
  trace({ from, to, points }, curved) {
    const { context } = this;
    let at = { x: from.x + from.w / 2, y: from.y + from.h };
    context.moveTo(at.x, at.y);
    for (const next of [...points, { x: to.x + to.w / 2, y: to.y }]) {
      const bend = Math.max(14, Math.abs(next.y - at.y) / 2);
      if (curved && next.x !== at.x) {
        context.bezierCurveTo(at.x, at.y + bend, next.x, next.y - bend, next.x, next.y);
      } else {
        context.lineTo(next.x, next.y);
      }
      at = next;
    }
  }

  arrow({ to }, colour) {
    const { context } = this;
    const x = to.x + to.w / 2;
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(x, to.y);
    context.lineTo(x - 4, to.y - 7);
    context.lineTo(x + 4, to.y - 7);
    context.fill();
  }
}
