// SPDX-License-Identifier: Apache-2.0
// What the program wrote into the page, with the links between its parts: who makes a value, who reads it, which layer
// a node is, which nodes became which.
"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);

const KINDS = [
  ["product", "products", /^(conv|dense|matmul|gemm|linear|gated_linear|qlinear|einsum|lstm|gru|rnn|.*attention)/],
  ["quant", "quantisation", /quantize/],
  ["norm", "norms, softmax, reductions", /(norm|softmax|reduce|arg_|top_k|cumulative)/],
  ["pool", "pooling, resizing", /(pool|resize|upsample)/],
  ["control", "graphs inside", /^(if|loop|scan|sequence_map)$/],
  ["move", "moves", /^(transpose|reshape|flatten|squeeze|unsqueeze|concat|split|slice|gather|scatter|expand|pad|tile|cast|identity|shape|size|space|depth|select|embedding|one_hot|nonzero|compress|range)/],
  ["elementwise", "elementwise", /^(program|add|sub|mul|div|pow|sqrt|exp|log|neg|abs|relu|sigmoid|tanh|gelu|silu|swish|hard_|clip|min|max|erf|where|not|and|or|equal|less|greater|scale|softcap|gated|leaky|elu|selu|prelu|softplus|mish|round|floor|ceil|sign|sin|cos|mod)/],
  ["other", "other", /^/],
];
const kindOf = op => KINDS.find(([, , pattern]) => pattern.test(op))[0];

// Graphs by stage ("before", "after") and path ("" the model's own).
const GRAPHS = {};
const layerKey = (path, name) => path + "\u0000" + name;
const LAYERS = new Map(DATA.layers.map(layer => [layerKey(layer.path, layer.name), layer]));

function link(stage, json) {
  const graph = {stage, path: json.path, name: json.name, values: json.values, inputs: json.inputs, outputs: json.outputs};
  for (const value of graph.values) {
    value.producer = -1;
    value.readers = [];
  }
  graph.nodes = json.nodes.map((node, index) => {
    const name = node.out.length ? graph.values[node.out[0]].name : "";
    const result = {graph, index, op: node.op, name, in: node.in, out: node.out, attrs: node.attrs || {}, regions: node.regions || [],
                    from: node.from || [], became: [], source: node.source === undefined ? null : DATA.sources[node.source],
                    kind: kindOf(node.op), layer: null, bytes: 0};
    node.out.forEach(value => { graph.values[value].producer = index; });
    for (const value of new Set(node.in)) {
      if (value < 0) continue;
      graph.values[value].readers.push(index);
      result.bytes += graph.values[value].bytes || 0;
    }
    if (stage === "after") result.layer = LAYERS.get(layerKey(json.path, name)) || null;
    return result;
  });
  return graph;
}

for (const [stage, list] of Object.entries(DATA.graphs))
  GRAPHS[stage] = new Map(list.map(json => [json.path, link(stage, json)]));
for (const graph of GRAPHS.after.values()) {
  const earlier = GRAPHS.before && GRAPHS.before.get(graph.path);
  if (!earlier) continue;
  for (const node of graph.nodes) node.from.forEach(index => earlier.nodes[index].became.push(node.index));
}

// The layer that a node is, or that it became part of.
function layerOf(node) {
  if (node.layer || node.graph.stage === "after" || !node.became.length) return node.layer;
  return GRAPHS.after.get(node.graph.path).nodes[node.became[0]].layer;
}

// ---- text ----------------------------------------------------------------------------------------------------------
function formatCount(value, unit) {
  for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (value >= size) return `${(value / size).toPrecision(3)} ${letter}${unit}`;
  return `${Math.round(value)} ${unit}`;
}
function formatBytes(bytes) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (bytes >= size) return `${(bytes / size).toPrecision(3)} ${unit}`;
  return `${bytes} B`;
}
function formatMs(ms) {
  if (ms === 0) return "0 ms";
  if (ms < 0.001) return `${Math.max(1, Math.round(ms * 1e6))} ns`;
  if (ms < 1) return `${(ms * 1000).toPrecision(ms < 0.01 ? 2 : 3)} µs`;
  return `${ms.toPrecision(3)} ms`;
}
const formatShare = share => share < 0.01 && share > 0 ? "<1 %" : `${Math.round(share * 100)} %`;

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") made.style.cssText = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}
