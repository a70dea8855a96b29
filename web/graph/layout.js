// SPDX-License-Identifier: Apache-2.0
// Where boxes and lines go: rows from the top down, boxes in a row ordered so that lines cross little and run straight.
// dagre lays out what is small enough for it; what follows here needs milliseconds where dagre needs minutes.
//
// Takes boxes [{w, h}] and lines [[from, to, value]]; gives box centres and, for each line, the points it passes between
// the boxes: {x: [], y: [], lines: [[{x, y}, ...]], width, height}.
const DAGRE_MOST = 260;  // boxes; dagre's time grows with the square: 0.4 s here, 6 s for 900
const GAP_X = 26, GAP_Y = 40;

function layOut(boxes, lines) {
  if (!boxes.length) return {x: [], y: [], lines: [], width: 1, height: 1};
  if (typeof dagre !== "undefined" && boxes.length <= DAGRE_MOST && lines.length <= 3 * DAGRE_MOST) {
    try {
      return layOutWithDagre(boxes, lines);
    } catch (error) {
      console.info(`dagre gave up (${error.message}); laid out without it`);
    }
  }
  return layOutInRows(boxes, lines);
}

function layOutWithDagre(boxes, lines) {
  const graph = new dagre.graphlib.Graph({multigraph: true});
  graph.setGraph({rankdir: "TB", nodesep: GAP_X, ranksep: GAP_Y, edgesep: 14});
  boxes.forEach((box, i) => graph.setNode(String(i), {width: box.w, height: box.h}));
  lines.forEach(([from, to], i) => graph.setEdge(String(from), String(to), {}, String(i)));
  dagre.layout(graph);
  const at = boxes.map((_, i) => graph.node(String(i)));
  return {x: at.map(p => p.x), y: at.map(p => p.y), width: graph.graph().width, height: graph.graph().height,
          lines: lines.map(([from, to], i) => graph.edge({v: String(from), w: String(to), name: String(i)}).points.slice(1, -1))};
}

// ---- rows ----------------------------------------------------------------------------------------------------------
// Longest path from above, then everything that has more below than above it moves down to what it feeds. Lines that
// would close a circle are turned round.
function rowsOf(count, lines) {
  const next = Array.from({length: count}, () => []), back = new Set();
  lines.forEach(([from, to], i) => next[from].push([to, i]));
  const state = new Uint8Array(count);
  for (let root = 0; root < count; ++root) {
    const stack = state[root] ? [] : [[root, 0]];
    if (stack.length) state[root] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top[1] === next[top[0]].length) {
        state[top[0]] = 2;
        stack.pop();
        continue;
      }
      const [to, line] = next[top[0]][top[1]++];
      if (state[to] === 1) back.add(line);
      else if (state[to] === 0) {
        state[to] = 1;
        stack.push([to, 0]);
      }
    }
  }
  const forward = lines.map(([from, to], i) => back.has(i) ? [to, from] : [from, to]);
  const below = Array.from({length: count}, () => []), above = new Int32Array(count), open = new Int32Array(count);
  for (const [from, to] of forward) {
    if (from === to) continue;
    below[from].push(to);
    ++above[to];
  }
  open.set(above);
  const rows = new Int32Array(count), order = [];
  for (let i = 0; i < count; ++i) if (!open[i]) order.push(i);
  for (let at = 0; at < order.length; ++at)
    for (const to of below[order[at]]) {
      rows[to] = Math.max(rows[to], rows[order[at]] + 1);
      if (!--open[to]) order.push(to);
    }
  for (let at = order.length; at-- > 0;) {
    const i = order[at];
    if (below[i].length > above[i]) rows[i] = Math.min(...below[i].map(to => rows[to])) - 1;
  }
  return {rows, forward, back};
}

function layOutInRows(boxes, lines) {
  const {rows, forward, back} = rowsOf(boxes.length, lines);
  const count = 1 + rows.reduce((most, row) => Math.max(most, row), 0);
  // Points: the boxes, then a bend for each row that a line passes. Lines that carry the same value share their bends.
  const width = boxes.map(box => box.w), row = Array.from(rows), weight = boxes.map(() => 1);
  const up = boxes.map(() => []), down = boxes.map(() => []);
  const join = (from, to) => {
    if (down[from].includes(to)) return;
    down[from].push(to);
    up[to].push(from);
  };
  const bends = new Map(), runs = new Map();  // runs: the bends of one line, from the top down
  const passed = forward.map(([from, to], i) => {
    const path = [];
    if (from === to) return path;
    let last = from;
    for (let r = rows[from] + 1; r < rows[to]; ++r) {
      const key = `${from} ${lines[i][2]} ${r}`;
      let bend = bends.get(key);
      if (bend === undefined) {
        bend = width.length;
        bends.set(key, bend);
        const run = `${from} ${lines[i][2]}`;
        runs.has(run) ? runs.get(run).push(bend) : runs.set(run, [bend]);
        width.push(10);
        row.push(r);
        weight.push(4);
        up.push([]);
        down.push([]);
      }
      join(last, bend);
      path.push(bend);
      last = bend;
    }
    join(last, to);
    return path;
  });

  const layers = Array.from({length: count}, () => []);
  const seen = new Uint8Array(width.length);
  const visit = root => {  // neighbours in depth first order start side by side
    const stack = [root];
    while (stack.length) {
      const i = stack.pop();
      if (seen[i]) continue;
      seen[i] = 1;
      layers[row[i]].push(i);
      for (let k = down[i].length; k-- > 0;) stack.push(down[i][k]);
    }
  };
  for (let i = 0; i < width.length; ++i) if (!up[i].length) visit(i);
  for (let i = 0; i < width.length; ++i) visit(i);
  orderLayers(layers, up, down, width.length);
  const x = placeLayers(layers, up, down, width, weight);
  straighten([...runs.values()], layers, x, width);

  const tall = new Float64Array(count);
  boxes.forEach((box, i) => { tall[rows[i]] = Math.max(tall[rows[i]], box.h); });
  const top = [];
  let at = 0;
  for (let r = 0; r < count; ++r) {
    top.push(at);
    at += tall[r] + GAP_Y;
  }
  const middle = i => top[row[i]] + tall[row[i]] / 2;
  const paths = passed.map((path, i) => {
    const points = [];
    for (const bend of path) points.push({x: x[bend], y: top[row[bend]]}, {x: x[bend], y: top[row[bend]] + tall[row[bend]]});
    return back.has(i) ? points.reverse() : points;
  });
  let right = 0;
  for (let i = 0; i < width.length; ++i) right = Math.max(right, x[i] + width[i] / 2);
  return {x: boxes.map((_, i) => x[i]), y: boxes.map((_, i) => middle(i)), lines: paths, width: right, height: at - GAP_Y};
}

// Sweeps down and up, each row sorted by where its neighbours are; the order with the fewest crossings stays.
function orderLayers(layers, up, down, count) {
  const place = new Float64Array(count), wish = new Float64Array(count);
  const number = layer => { for (let k = 0; k < layer.length; ++k) place[layer[k]] = k; };
  layers.forEach(number);
  const widest = layers.reduce((most, layer) => Math.max(most, layer.length), 0), tree = new Int32Array(widest + 2);
  let best = null, least = Infinity, stale = 0;
  const sweeps = count > 20000 ? 4 : 14;
  for (let sweep = 0; sweep <= sweeps; ++sweep) {
    let crossings = 0;
    for (let r = 0; r + 1 < layers.length; ++r) crossings += crossingsBelow(layers[r], layers[r + 1].length, down, place, tree);
    stale = crossings < least ? 0 : stale + 1;
    if (crossings < least) {
      least = crossings;
      best = layers.map(layer => layer.slice());
    }
    if (least === 0 || stale > 3 || sweep === sweeps) break;
    const downwards = sweep % 2 === 0, near = downwards ? up : down;
    for (let k = 1; k < layers.length; ++k) {
      const layer = layers[downwards ? k : layers.length - 1 - k];
      for (const i of layer) {
        let sum = 0;
        for (const j of near[i]) sum += place[j];
        wish[i] = near[i].length ? sum / near[i].length : place[i];
      }
      layer.sort((a, b) => wish[a] - wish[b] || place[a] - place[b]);
      number(layer);
    }
  }
  best.forEach((layer, r) => { layers[r] = layer; });
}

// Pairs of lines between two rows that cross: of each line, those before it that end further right (a Fenwick tree of
// the ends so far).
function crossingsBelow(layer, wide, down, place, tree) {
  tree.fill(0, 0, wide + 1);
  let crossings = 0, added = 0;
  for (const i of layer) {
    const ends = down[i];
    for (const j of ends) {
      let left = 0;
      for (let k = place[j] + 1; k > 0; k -= k & -k) left += tree[k];
      crossings += added - left;
    }
    for (const j of ends) for (let k = place[j] + 1; k <= wide; k += k & -k) ++tree[k];
    added += ends.length;
  }
  return crossings;
}

// Each row in turn: as near as possible to where the neighbours would have it, in its order and without overlaps. Least
// squares under these bounds is pooling neighbours that push each other.
function placeLayers(layers, up, down, width, weight) {
  const x = new Float64Array(width.length);
  for (const layer of layers) {
    let at = 0;
    for (const i of layer) {
      x[i] = at + width[i] / 2;
      at += width[i] + GAP_X;
    }
  }
  const offset = new Float64Array(width.length), wish = new Float64Array(width.length), pull = new Float64Array(width.length);
  for (const layer of layers)
    for (let k = 1; k < layer.length; ++k) {
      const i = layer[k], before = layer[k - 1], thin = weight[i] > 1 && weight[before] > 1;
      offset[i] = offset[before] + (width[before] + width[i]) / 2 + (thin ? 4 : GAP_X);
    }
  const settle = layer => {
    const sums = [], weights = [], counts = [];
    for (const i of layer) {
      let sum = (wish[i] - offset[i]) * pull[i], total = pull[i], count = 1;
      while (sums.length && sums[sums.length - 1] * total >= sum * weights[weights.length - 1]) {
        sum += sums.pop();
        total += weights.pop();
        count += counts.pop();
      }
      sums.push(sum);
      weights.push(total);
      counts.push(count);
    }
    let k = 0;
    for (let b = 0; b < sums.length; ++b)
      for (let n = 0; n < counts[b]; ++n, ++k) x[layer[k]] = sums[b] / weights[b] + offset[layer[k]];
  };
  const rounds = width.length > 20000 ? 8 : 24;
  for (let round = 0; round < rounds; ++round) {
    const downwards = round % 2 === 0, both = round >= rounds - 4;
    for (let k = 0; k < layers.length; ++k) {
      const layer = layers[downwards ? k : layers.length - 1 - k];
      for (const i of layer) {
        let sum = 0, total = 0;
        const near = list => {
          for (const j of list) {
            sum += weight[i] * weight[j] * x[j];
            total += weight[i] * weight[j];
          }
        };
        if (both || downwards) near(up[i]);
        if (both || !downwards) near(down[i]);
        wish[i] = total ? sum / total : x[i];
        pull[i] = total || 0.01;
      }
      settle(layer);
    }
  }
  let left = Infinity;
  for (let i = 0; i < x.length; ++i) left = Math.min(left, x[i] - width[i] / 2);
  for (let i = 0; i < x.length; ++i) x[i] -= left;
  return x;
}

// Lines that pass rows run straight down as far as the boxes beside them let them.
function straighten(runs, layers, x, width) {
  const before = new Int32Array(width.length).fill(-1), after = new Int32Array(width.length).fill(-1);
  for (const layer of layers)
    for (let k = 1; k < layer.length; ++k) {
      before[layer[k]] = layer[k - 1];
      after[layer[k - 1]] = layer[k];
    }
  const least = i => before[i] < 0 ? -Infinity : x[before[i]] + (width[before[i]] + width[i]) / 2 + 4;
  const most = i => after[i] < 0 ? Infinity : x[after[i]] - (width[after[i]] + width[i]) / 2 - 4;
  for (let round = 0; round < 3; ++round)
    for (const run of runs) {
      for (let at = 0; at < run.length;) {
        let low = -Infinity, high = Infinity, end = at;
        while (end < run.length && Math.max(low, least(run[end])) <= Math.min(high, most(run[end]))) {
          low = Math.max(low, least(run[end]));
          high = Math.min(high, most(run[end]));
          ++end;
        }
        const piece = run.slice(at, Math.max(end, at + 1)), sorted = piece.map(i => x[i]).sort((a, b) => a - b);
        const middle = Math.max(low, Math.min(high, sorted[sorted.length >> 1]));
        if (end > at) for (const i of piece) x[i] = middle;
        at += piece.length;
      }
    }
}
