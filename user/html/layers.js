// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Boxes of one level in layers: edges go down, neighbours stand near each other. After Sugiyama's
// scheme: cycles broken, longest paths, points where long edges pass a layer, medians, and then
// places by least squares.

const GAP_X = 18;
const GAP_Y = 28;
const PASS_WIDTH = 6; // of an edge on its way through a layer
const SWEEPS = 8;
const WIDE_MIN = 16; // boxes side by side
const POINTS_MAX = 40000; // beyond it, long edges go straight

// Edges without those that close a cycle: they are turned around.
function acyclic(count, edges) {
  const next = Array.from({ length: count }, () => []);
  edges.forEach(([from, to], index) => next[from].push({ to, index }));
  const state = new Uint8Array(count); // 0 new, 1 on the path, 2 done
  const turned = edges.map(([from, to]) => ({ from, to, turned: false }));
  for (let start = 0; start < count; start++) {
    const path = state[start] === 0 ? [{ node: start, at: 0 }] : [];
    state[start] = path.length > 0 ? 1 : state[start];
    while (path.length > 0) {
      const top = path[path.length - 1];
      const edge = next[top.node][top.at++];
      if (!edge) {
        state[top.node] = 2;
        path.pop();
      } else if (state[edge.to] === 1) {
        turned[edge.index] = { from: edge.to, to: top.node, turned: true };
      } else if (state[edge.to] === 0) {
        state[edge.to] = 1;
        path.push({ node: edge.to, at: 0 });
      }
    }
  }
  return turned;
}

// Nodes in an order in which all edges go forward.
function topological(count, next) {
  const open = new Int32Array(count);
  for (const list of next) for (const to of list) open[to]++;
  const order = [...open.keys()].filter((node) => open[node] === 0);
  for (const node of order) for (const to of next[node]) if (--open[to] === 0) order.push(to);
  return order;
}

// The layer of each node: just below all that lead to it, but for those that lead to more than
// comes to them: they stand just above what they lead to, or all inputs would be on top.
function layersOf(count, edges) {
  const layer = new Int32Array(count);
  const before = new Int32Array(count);
  const next = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) {
    next[from].push(to);
    before[to]++;
  }
  const order = topological(count, next);
  for (const node of order)
    for (const to of next[node]) layer[to] = Math.max(layer[to], layer[node] + 1);
  for (const node of order.reverse())
    if (next[node].length > 0 && next[node].length >= before[node])
      layer[node] = next[node].reduce((least, to) => Math.min(least, layer[to]), Infinity) - 1;
  return layer;
}

// Breaks layers that are much wider than the whole is high into several, one below the other.
function breakWide(layer) {
  const limit = Math.max(WIDE_MIN, Math.ceil(Math.sqrt(layer.length)));
  const size = [];
  for (const at of layer) size[at] = (size[at] ?? 0) + 1;
  const first = [];
  let rows = 0;
  for (let at = 0; at < size.length; at++) {
    first[at] = rows;
    rows += Math.max(1, Math.ceil((size[at] ?? 0) / limit));
  }
  const placed = new Int32Array(size.length);
  return layer.map((at) => first[at] + Math.floor(placed[at]++ / limit));
}

// Nodes and, for edges over several layers, points between them: {up, down, width, layer}.
function withPoints(boxes, edges, layer) {
  const nodes = boxes.map((box, i) => ({ up: [], down: [], width: box.w, layer: layer[i] }));
  const points = edges.reduce((sum, { from, to }) => sum + layer[to] - layer[from] - 1, 0);
  const paths = edges.map(({ from, to }) => {
    const path = [from];
    for (let at = layer[from] + 1; at < layer[to] && points <= POINTS_MAX; at++) {
      path.push(nodes.length);
      nodes.push({ up: [], down: [], width: PASS_WIDTH, layer: at });
    }
    path.push(to);
    for (let i = 1; i < path.length; i++) {
      nodes[path[i - 1]].down.push(path[i]);
      nodes[path[i]].up.push(path[i - 1]);
    }
    return path;
  });
  return { nodes, paths };
}

// Nodes of each layer in the order of a walk from above, so that chains begin untangled.
function firstOrder(nodes) {
  const rows = [];
  const seen = new Uint8Array(nodes.length);
  const walk = (start) => {
    const open = [start];
    while (open.length > 0) {
      const at = open.pop();
      if (seen[at]) continue;
      seen[at] = 1;
      (rows[nodes[at].layer] ??= []).push(at);
      for (let i = nodes[at].down.length - 1; i >= 0; i--) open.push(nodes[at].down[i]);
    }
  };
  nodes.forEach((node, index) => node.up.length === 0 && walk(index));
  return Array.from(rows, (row) => row ?? []);
}

// Sorts the layers by the mean place of the neighbours, from above and from below in turn.
function untangle(nodes, rows) {
  const place = new Float64Array(nodes.length);
  const number = (row) => row.forEach((node, i) => (place[node] = i));
  rows.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const side = sweep % 2 === 0 ? "up" : "down";
    for (const row of side === "up" ? rows : [...rows].reverse()) {
      const wish = new Map(row.map((node) => [node, mean(nodes[node][side], place, place[node])]));
      row.sort((a, b) => wish.get(a) - wish.get(b));
      number(row);
    }
  }
}

function mean(of, values, otherwise) {
  if (of.length === 0) return otherwise;
  return of.reduce((sum, i) => sum + values[i], 0) / of.length;
}

// Places for a row, as near to the wishes as order and widths allow (isotonic regression).
function settle(row, nodes, wish, x) {
  const blocks = [];
  let offset = 0;
  const offsets = row.map((node, i) => {
    if (i > 0) offset += (nodes[row[i - 1]].width + nodes[node].width) / 2 + GAP_X;
    return offset;
  });
  row.forEach((node, i) => {
    let block = { sum: wish[node] - offsets[i], count: 1, end: i };
    while (blocks.length > 0) {
      const before = blocks[blocks.length - 1];
      if (before.sum / before.count <= block.sum / block.count) break;
      blocks.pop();
      block = { sum: before.sum + block.sum, count: before.count + block.count, end: i };
    }
    blocks.push(block);
  });
  let at = 0;
  for (const block of blocks)
    for (; at <= block.end; at++) x[row[at]] = block.sum / block.count + offsets[at];
}

// The middle of each node, across.
function across(nodes, rows) {
  const x = new Float64Array(nodes.length);
  const wish = new Float64Array(nodes.length);
  for (const row of rows) settle(row, nodes, wish, x);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const side = sweep % 2 === 0 ? "up" : "down";
    for (const row of side === "up" ? rows : [...rows].reverse()) {
      for (const node of row) wish[node] = mean(nodes[node][side], x, x[node]);
      settle(row, nodes, wish, x);
    }
  }
  return x;
}

// Places boxes {w, h} of one connected part: {x, y} of their corners, `w` and `h` of all, and for
// each edge the points that it goes through.
function layered(boxes, edges) {
  const downward = acyclic(boxes.length, edges);
  const { nodes, paths } = withPoints(boxes, downward, breakWide(layersOf(boxes.length, downward)));
  const rows = firstOrder(nodes);
  untangle(nodes, rows);
  const middle = across(nodes, rows);
  const left = nodes.reduce((least, node, i) => Math.min(least, middle[i] - node.width / 2), 0);
  const y = new Float64Array(nodes.length);
  const high = rows.map((row) => row.reduce((h, node) => Math.max(h, boxes[node]?.h ?? 0), 0));
  let top = 0;
  rows.forEach((row, i) => {
    for (const node of row) y[node] = top + (boxes[node] ? (high[i] - boxes[node].h) / 2 : 0);
    top += high[i] + GAP_Y;
  });
  // Straight down through a layer, or it would cross the boxes there.
  const through = (node) => {
    const x = middle[node] - left;
    return [{ x, y: y[node] }, { x, y: y[node] + high[nodes[node].layer] }];
  };
  return {
    places: boxes.map((box, i) => ({ x: middle[i] - box.w / 2 - left, y: y[i] })),
    w: nodes.reduce((most, node, i) => Math.max(most, middle[i] + node.width / 2), 0) - left,
    h: top - GAP_Y,
    points: paths.map((path, i) => {
      const points = path.slice(1, -1).flatMap(through);
      return downward[i].turned ? points.reverse() : points;
    }),
  };
}
