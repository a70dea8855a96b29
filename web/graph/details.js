// SPDX-License-Identifier: Apache-2.0
// The column on the right: of a node what it is, takes, gives, became and costs; of nothing selected, the whole model.
const lines = (...pairs) => element("dl", {}, ...pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
  .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
const section = (title, ...content) => content.some(Boolean) ? [element("h3", {}, title), ...content.filter(Boolean)] : [];

function nodeLink(node, go, text) {
  return element("button", {class: "link", onclick: () => go(node)}, text || `${node.op} ${node.name}`);
}

function valueItem(graph, index, argument, go) {
  if (index < 0) return null;
  const value = graph.values[index];
  const maker = value.producer >= 0 ? graph.nodes[value.producer] : null;
  const constant = value.bytes !== undefined;
  return element("li", {},
    maker && argument === "in" ? nodeLink(maker, go, value.name) : element("code", {}, value.name), " ",
    constant ? element("span", {class: "tag"}, `constant, ${formatBytes(value.bytes)}`) : null,
    !constant && value.producer < 0 ? element("span", {class: "tag"}, "input") : null,
    element("span", {class: "type"}, value.type), value.data ? element("small", {}, value.data) : null,
    argument === "out" && value.readers.length ? element("span", {}, "read by ", ...value.readers.slice(0, 12)
      .flatMap((reader, i) => [i ? ", " : "", nodeLink(graph.nodes[reader], go)]), value.readers.length > 12 ? `, and ${value.readers.length - 12} more` : "") : null);
}

function costLines(layer) {
  const rate = layer.ms > 0 && layer.flops > 0 ? formatCount(layer.flops / layer.ms * 1e3, "FLOP/s") : "";
  const speed = layer.ms > 0 && layer.bytes > 0 ? formatCount(layer.bytes / layer.ms * 1e3, "B/s") : "";
  return lines(["Time", layer.ms === undefined ? "" : formatMs(layer.ms)],
    ["Share of the run", layer.ms === undefined || !totalMs() ? "" : formatShare(layer.ms / totalMs())],
    ["Share of the roof", layer.roof_share === undefined ? "" : `${formatShare(layer.roof_share)} (at best ${formatMs(layer.roof_ms)})`],
    ["Work", layer.flops ? `${formatCount(layer.flops, "FLOP")}${rate ? `, ${rate}` : ""}` : ""],
    ["Moves", layer.bytes ? `${formatCount(layer.bytes, "B")}${speed ? `, ${speed}` : ""}` : ""]);
}
const totalMs = () => DATA.times.layers_ms + (DATA.times.between_ms || 0);

function kernelLines(layer) {
  if (DATA.not_run) return lines();
  const table = layer.candidates && element("table", {class: "candidates"}, ...layer.candidates.map(one => element("tr", {},
    element("td", {}, element("code", {}, one.tactic)), element("td", {}, `${formatMs(one.ms)}${one.given_up ? ", given up" : ""}`))));
  return lines(["Kernel", layer.kernel || "none: known from sizes, or another name for its input"], ["Because", layer.note ? element("span", {class: "note"}, layer.note) : ""],
    ["Precision", layer.precision], ["Tactic", layer.tactic ? element("code", {}, layer.tactic) : ""], ["Chosen", layer.tactic ? layer.chosen_because || "by rule" : ""],
    ["Problem", layer.problem ? element("code", {}, layer.problem) : ""], ["Measured", table || ""]);
}

function nodeDetails(node, {go, open, clear}) {
  const {graph} = node, layer = node.layer, earlier = GRAPHS.before && GRAPHS.before.get(graph.path), later = GRAPHS.after.get(graph.path);
  const sizes = layer && layer.outputs.filter(Boolean).join(", "), declared = node.out.map(value => graph.values[value].type).join(", ");
  const part = graph.stage === "before" ? node.became.map(index => later.nodes[index]) : [];
  const attributes = Object.entries(node.attrs);
  const made = earlier && graph.stage === "after" ? node.from.map(index => earlier.nodes[index]) : [];
  const sources = new Map([node, ...made].filter(one => one.source).map(one => [one.source.join(" "), one.source]));
  const shown = made.slice(0, 40);
  return [
    element("button", {class: "close", onclick: clear, title: "Close (Esc)"}, "Close"),
    element("h2", {}, node.op), element("p", {class: "sub"}, node.name),
    ...section("Cost", layer && costLines(layer).children.length ? costLines(layer) : null),
    ...section("Kernel", layer && kernelLines(layer).children.length ? kernelLines(layer) : null),
    ...section("Sizes in this run", sizes && sizes !== declared ? element("code", {}, sizes) : null),
    ...section("Graphs inside", ...node.regions.map(path => element("p", {}, element("button", {class: "link", onclick: () => open(path)}, `Open ${GRAPHS[graph.stage].get(path).name || path}`)))),
    ...section("Attributes", attributes.length ? lines(...attributes.map(([name, text]) => [name, element("code", {}, text)])) : null),
    ...section("Inputs", element("ul", {}, ...node.in.map(value => valueItem(graph, value, "in", go)).filter(Boolean))),
    ...section("Results", element("ul", {}, ...node.out.map(value => valueItem(graph, value, "out", go)).filter(Boolean))),
    ...section(`Made from ${made.length} node${made.length === 1 ? "" : "s"}`, shown.length ? element("ul", {}, ...shown.map(one => element("li", {}, nodeLink(one, go))),
      made.length > shown.length ? element("li", {}, `and ${made.length - shown.length} more`) : null) : null),
    ...section("Became", graph.stage === "before" && later ? element("ul", {}, ...part.map(one => element("li", {}, nodeLink(one, go))),
      part.length ? null : element("li", {}, "nothing: its result is constant, or nobody needs it")) : null),
    ...section("In the file", sources.size ? element("ul", {}, ...[...sources.values()].slice(0, 40).map(([name, op]) => element("li", {}, element("b", {}, op), element("small", {}, name)))) : null),
  ];
}

function groupDetails(group, {go, openGroup, clear}) {
  const ms = group.nodes.reduce((sum, node) => sum + ((layerOf(node) || {}).ms || 0), 0), kinds = new Map();
  group.nodes.forEach(node => kinds.set(node.op, (kinds.get(node.op) || 0) + 1));
  return [
    element("button", {class: "close", onclick: clear}, "Close"),
    element("h2", {}, group.label || "group"), element("p", {class: "sub"}, `${group.nodes.length} nodes`),
    element("p", {}, element("button", {class: "link", onclick: () => openGroup(group)}, "Open this group")),
    ...section("Cost", ms > 0 ? lines(["Time", formatMs(ms)]) : null),
    ...section("Operators", lines(...[...kinds].sort((a, b) => b[1] - a[1]).map(([op, count]) => [op, String(count)]))),
    ...section("Nodes", element("ul", {}, ...group.nodes.slice(0, 60).map(node => element("li", {}, nodeLink(node, go))))),
  ];
}

function endDetails(graph, box, actions) {
  const value = graph.values[box.value];
  return [element("button", {class: "close", onclick: actions.clear}, "Close"), element("h2", {}, box.end), element("p", {class: "sub"}, value.name),
    ...section("Type", element("code", {}, value.type)),
    ...section("Made by", value.producer >= 0 ? nodeLink(graph.nodes[value.producer], actions.go) : null),
    ...section("Read by", value.readers.length ? element("ul", {}, ...value.readers.slice(0, 60).map(reader => element("li", {}, nodeLink(graph.nodes[reader], actions.go)))) : null)];
}

function ranking(rows, most) {
  return element("div", {class: "rank"}, ...rows.flatMap(({label, value, text, act}) => [
    act ? element("button", {class: "link", onclick: act, title: label}, label) : element("code", {}, label),
    element("div", {class: "meter"}, element("div", {style: `width: ${(100 * value / most).toFixed(1)}%`})), element("span", {class: "value"}, text)]));
}

function modelDetails(graph, {go}) {
  const timed = DATA.times.runs > 0, after = GRAPHS.after.get("");
  const weights = graph.values.reduce((sum, value) => sum + (value.bytes || 0), 0);
  const byName = new Map([...GRAPHS.after.values()].flatMap(g => g.nodes.map(node => [layerKey(g.path, node.name), node])));
  const slow = timed ? DATA.layers.filter(layer => layer.ms > 0).sort((a, b) => b.ms - a.ms).slice(0, 12) : [];
  const sums = new Map();
  for (const layer of DATA.layers) {
    const key = timed || !DATA.not_run ? layer.kernel : layer.op;
    if (key) sums.set(key, {ms: ((sums.get(key) || {}).ms || 0) + (layer.kernel === "control" ? 0 : layer.ms || 0), count: ((sums.get(key) || {}).count || 0) + 1});
  }
  const sorted = [...sums].sort((a, b) => b[1].ms - a[1].ms || b[1].count - a[1].count).slice(0, 14);
  const most = Math.max(...sorted.map(([, sum]) => timed ? sum.ms : sum.count), 1e-9);
  const roof = DATA.roof;
  return [
    element("h2", {}, DATA.model), element("p", {class: "sub"}, graph.path ? `inside ${graph.path}` : DATA.kind),
    ...section("Inputs and outputs", element("ul", {}, ...graph.inputs.map(value => valueItem(graph, value, "", go)), ...graph.outputs.map(value => element("li", {},
      graph.values[value].producer >= 0 ? nodeLink(graph.nodes[graph.values[value].producer], go, graph.values[value].name) : element("code", {}, graph.values[value].name), " ", element("span", {class: "tag"}, "output"), element("span", {class: "type"}, graph.values[value].type))))),
    ...section("Numbers", lines(["Nodes", DATA.nodes_imported === null ? `${after.nodes.length}` : `${DATA.nodes_imported}, ${after.nodes.length} after the passes`],
      ["Weights", formatBytes(weights)], ["Run", timed ? `${formatMs(DATA.times.run_ms)}, median of ${DATA.times.runs}` : ""],
      ["Between layers", timed ? formatMs(DATA.times.between_ms) : ""], ["Memory", DATA.plan_bytes ? `${formatBytes(DATA.plan_bytes)} between the layers` : ""],
      ["Roof", roof ? `${formatCount(roof.flops_per_second, "FLOP/s")}, ${formatCount(roof.memory.length ? roof.memory[roof.memory.length - 1].bytes_per_second : 0, "B/s")}` : ""])),
    ...(DATA.not_run ? section("Not run", element("p", {class: "note"}, DATA.not_run)) : []),
    ...section("Slowest layers", slow.length ? ranking(slow.map(layer => {
      const node = byName.get(layerKey(layer.path, layer.name));
      return {label: `${layer.op} ${layer.name}`, value: layer.ms, text: formatMs(layer.ms), act: node && (() => go(node))};
    }), slow[0].ms) : null),
    ...section(timed ? "Time by kernel" : DATA.not_run ? "Operators" : "Layers by kernel", sorted.length ? ranking(sorted.map(([key, sum]) => ({label: timed ? `${key} × ${sum.count}` : key, value: timed ? sum.ms : sum.count, text: timed ? formatMs(sum.ms) : String(sum.count)})), most) : null),
  ];
}
