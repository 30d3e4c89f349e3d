// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Places for the whole graph: each circuit and region is laid out by itself and is then a box on
// the level around it.

const BOX = { w: 184, h: 46 };
const PADDING = 14;
const HEADER = 26;

// What stands for `node`: itself, or the outermost collapsed cluster around it.
function standIn(node, collapsed) {
  let shown = node;
  for (let at = node; at; at = at.parent) if (collapsed.has(at)) shown = at;
  return shown;
}

// The clusters around a node, from the outside in, and itself.
function lineage(node) {
  const line = [];
  for (let at = node; at; at = at.parent) line.push(at);
  return line.reverse();
}

// Edges between what is shown, each once, with the two boxes of the level where they part.
function visibleEdges(edges, collapsed) {
  const seen = new Set();
  const visible = [];
  for (const edge of edges) {
    const from = standIn(edge.from, collapsed);
    const to = standIn(edge.to, collapsed);
    const name = `${from.index} ${to.index}`;
    if (from === to || !from.inGraph || !to.inGraph || seen.has(name)) continue;
    seen.add(name);
    const [a, b] = [lineage(from), lineage(to)];
    let level = 0;
    while (level < a.length && level < b.length && a[level] === b[level]) level++;
    if (level === 0 || level >= a.length || level >= b.length) continue;
    visible.push({ from, to, level: a[level - 1], ends: [a[level], b[level]], points: [] });
  }
  return visible;
}

// The items by what `key` says of each.
function grouped(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

// Boxes that edges connect, as lists of their numbers.
function connected(count, pairs) {
  const group = Array.from({ length: count }, (_, i) => i);
  const find = (i) => {
    while (group[i] !== i) i = group[i] = group[group[i]];
    return i;
  };
  for (const [a, b] of pairs) group[find(a)] = find(b);
  return [...grouped([...group.keys()], find).values()];
}

// Puts rectangles into rows of about the shape of a screen; returns the size of all.
function pack(parts) {
  const area = parts.reduce((sum, { w, h }) => sum + (w + GAP_X) * (h + GAP_Y), 0);
  const widest = parts.reduce((most, { w }) => Math.max(most, w), 0);
  const limit = Math.max(widest, Math.sqrt(area * 1.6));
  const size = { w: 0, h: 0 };
  let [x, y, high] = [0, 0, 0];
  for (const part of [...parts].sort((a, b) => b.h - a.h)) {
    if (x > 0 && x + part.w > limit) [x, y, high] = [0, y + high + GAP_Y, 0];
    [part.x, part.y] = [x, y];
    x += part.w + GAP_X;
    high = Math.max(high, part.h);
    size.w = Math.max(size.w, part.x + part.w);
    size.h = Math.max(size.h, part.y + part.h);
  }
  return size;
}

// Places `children` by the edges between them. Sets x and y of each, points of the edges, and
// returns the size of all.
function arrange(children, edges) {
  const number = new Map(children.map((box, i) => [box.node, i]));
  const name = ({ ends }) => ends.map((node) => number.get(node)).join(" ");
  const all = [...grouped(edges, name).values()].map((same) => ({
    ends: same[0].ends.map((node) => number.get(node)),
    edges: same,
  }));
  const groups = connected(
    children.length,
    all.map(({ ends }) => ends),
  );
  const part = new Map(groups.flatMap((members) => members.map((member) => [member, members])));
  const edgesOf = grouped(all, ({ ends }) => part.get(ends[0]));
  const parts = groups.map((members) => {
    const place = new Map(members.map((member, i) => [member, i]));
    const inside = edgesOf.get(members) ?? [];
    const local = inside.map(({ ends }) => ends.map((end) => place.get(end)));
    return { members, inside, ...layered(members.map((i) => children[i]), local) };
  });
  const size = pack(parts);
  for (const { members, inside, places, points, x, y } of parts) {
    members.forEach((member, i) => {
      children[member].x = places[i].x + x;
      children[member].y = places[i].y + y;
    });
    inside.forEach(({ edges: same }, i) => {
      for (const edge of same) edge.points = points[i].map((p) => ({ x: p.x + x, y: p.y + y }));
    });
  }
  return size;
}

// The box of `node` with those inside it, places relative to it.
function boxOf(node, collapsed, edgesOf) {
  const box = { node, x: 0, y: 0, ...BOX, open: false, inside: [] };
  if (!node.cluster || collapsed.has(node) || node.children.length === 0) return box;
  box.open = true;
  box.inside = node.children.map((child) => boxOf(child, collapsed, edgesOf));
  const size = arrange(box.inside, edgesOf.get(node) ?? []);
  box.w = Math.max(BOX.w, size.w + 2 * PADDING);
  box.h = size.h + HEADER + PADDING;
  return box;
}

// From relative places to those in the whole: boxes from the outside in.
function flatten(root, edgesOf) {
  const boxes = [];
  const place = (box, x, y) => {
    box.x += x;
    box.y += y;
    boxes.push(box);
    const [left, top] = [box.x + PADDING, box.y + HEADER];
    for (const edge of edgesOf.get(box.node) ?? [])
      for (const point of edge.points) [point.x, point.y] = [point.x + left, point.y + top];
    for (const inner of box.inside) place(inner, left, top);
  };
  place(root, 0, 0);
  return boxes;
}

// {boxes, edges, w, h}: edges have `from` and `to`, boxes, and `points` on their way.
function layoutGraph(profile, collapsed) {
  const root = profile.nodes.find((node) => node.inGraph && node.cluster);
  if (!root) return { boxes: [], edges: [], w: 1, h: 1 };
  const edges = visibleEdges(profile.edges, collapsed);
  const edgesOf = grouped(edges, ({ level }) => level);
  const boxes = flatten(boxOf(root, collapsed, edgesOf), edgesOf);
  const boxOfNode = new Map(boxes.map((box) => [box.node, box]));
  return {
    boxes,
    w: boxes[0].w,
    h: boxes[0].h,
    boxOfNode,
    edges: edges.map(({ from, to, points }) => ({
      from: boxOfNode.get(from),
      to: boxOfNode.get(to),
      points,
    })),
  };
}
