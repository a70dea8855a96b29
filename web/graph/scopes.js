// SPDX-License-Identifier: Apache-2.0
// Graphs that are too large to draw: nodes that belong together are drawn as one box, which opens. They belong together
// by the scopes in their names ("/encoder/layer.0/attention/MatMul"); where names have none, by their place in the order.
//
// A picture is what is drawn: {boxes, lines}. A box is a node, a group of nodes, or an end (an input or output).
const DRAWN_AT_MOST = 300;  // boxes of one picture of groups
const GROUP_AT_MOST = 150;   // nodes of a group that could be split further
const STRETCH = 100;        // nodes of a group that has no name

const scopeParts = name => name.replace(/^[/]+/, "").split("/").slice(0, -1);

// Nodes by their scopes one level below `prefix` (a list of parts); those that have no further scope stand alone.
function splitScope(nodes, prefix) {
  const groups = new Map();
  for (const node of nodes) {
    const parts = scopeParts(node.name), scope = parts.slice(0, prefix.length + 1);
    const key = parts.length > prefix.length ? scope.join("/") : `\u0000${node.index}`;
    if (!groups.has(key)) groups.set(key, {label: scope.join("/"), prefix: scope, nodes: []});
    groups.get(key).nodes.push(node);
  }
  return [...groups.values()];
}

// Groups of `nodes` that all lie within the scope `prefix`: [{label, prefix, nodes}]. The largest are split as long as
// the picture has room.
function groupNodes(nodes, prefix) {
  const whole = {label: "", prefix, nodes};
  const open = [whole], done = [];
  while (open.length) {
    open.sort((a, b) => a.nodes.length - b.nodes.length);
    const group = open.pop();
    const parts = splitScope(group.nodes, group.prefix);
    const fits = open.length + done.length + parts.length <= DRAWN_AT_MOST;
    const helps = parts.length < group.nodes.length * 0.7 || group !== whole;
    if (!fits || !helps) {
      done.push(group);
      continue;
    }
    for (const part of parts) (part.nodes.length > GROUP_AT_MOST ? open : done).push(part);
  }
  if (done.length > 1 && done.length < 0.7 * nodes.length) return done.sort((a, b) => a.nodes[0].index - b.nodes[0].index);
  const stretches = [];
  const size = Math.max(STRETCH, Math.ceil(nodes.length / DRAWN_AT_MOST));
  for (let at = 0; at < nodes.length; at += size) {
    const part = nodes.slice(at, at + size);
    stretches.push({label: `nodes ${part[0].index + 1} to ${part[part.length - 1].index + 1}`, prefix, nodes: part});
  }
  return stretches;
}

// `view`: {graph, nodes (null: all), prefix, grouped}.
function pictureOf(view) {
  const {graph} = view, nodes = view.nodes || graph.nodes;
  const grouped = view.grouped && nodes.length > 12;
  const boxes = [], boxOf = new Map();  // by node index
  const add = box => boxes.push(box) - 1;
  const endOf = new Map();
  const end = (value, what) => {
    const key = what + value;
    if (!endOf.has(key)) endOf.set(key, add({end: what, value, w: 210, h: 38}));
    return endOf.get(key);
  };
  if (!view.nodes) graph.inputs.forEach(value => end(value, "input"));
  const list = grouped ? groupNodes(nodes, view.prefix) : nodes.map(node => ({nodes: [node]}));
  for (const group of list) {
    const box = group.nodes.length === 1 ? add({node: group.nodes[0], w: 232, h: 56}) : add({group, w: 232, h: 56});
    group.nodes.forEach(node => boxOf.set(node.index, box));
  }
  const lines = [], known = new Set();
  const connect = (from, to, value) => {
    const key = `${from} ${to} ${value}`;
    if (from === to || known.has(key)) return;
    known.add(key);
    lines.push([from, to, value]);
  };
  const inputs = new Set(graph.inputs);
  for (const node of nodes)
    for (const value of node.in) {
      if (value < 0) continue;
      const {producer, bytes} = graph.values[value];
      if (producer >= 0 && boxOf.has(producer)) connect(boxOf.get(producer), boxOf.get(node.index), value);
      else if (producer >= 0 || (inputs.has(value) && bytes === undefined)) connect(end(value, "input"), boxOf.get(node.index), value);
    }
  const outputs = new Set(graph.outputs);
  for (const node of nodes)
    for (const value of node.out)
      if (outputs.has(value) || graph.values[value].readers.some(reader => !boxOf.has(reader)))
        connect(boxOf.get(node.index), end(value, "output"), value);
  return {boxes, lines, boxOf};
}
