// SPDX-License-Identifier: Apache-2.0
// The sheets beside the graph: every layer as a row, what each pass did and refused, and what else is to be said.
const why = ({layer}) => layer.note || (layer.tactic ? `${layer.tactic}: ${layer.chosen_because || "by rule"}` : "");
const COLUMNS = [
  {title: "#", number: true, key: row => row.at},
  {title: "Layer", wide: true, key: row => row.layer.name, cell: (row, go) => row.node ? nodeLink(row.node, go, row.layer.name) : element("code", {}, row.layer.name)},
  {title: "Operator", key: row => row.layer.op},
  {title: "Kernel", key: row => row.layer.kernel, cell: row => row.layer.kernel === "reference" ? element("small", {}, "reference") : row.layer.kernel},
  {title: "Precision", key: row => row.layer.precision},
  {title: "Result", wide: true, key: row => row.layer.outputs[0] || "", cell: row => element("code", {class: (row.layer.outputs[0] || "").length < 30 ? "line" : null}, row.layer.outputs[0] || "")},
  {title: "Time", number: true, timed: true, key: row => row.layer.ms || 0, cell: row => row.layer.ms === undefined ? "" : formatMs(row.layer.ms)},
  {title: "Share", number: true, timed: true, key: row => row.layer.ms || 0, cell: row => row.layer.ms === undefined ? "" : `${(100 * row.layer.ms / totalMs()).toFixed(1)} %`},
  {title: "Work", number: true, key: row => row.layer.flops, cell: row => row.layer.flops ? formatCount(row.layer.flops, "FLOP") : ""},
  {title: "Moves", number: true, key: row => row.layer.bytes, cell: row => row.layer.bytes ? formatCount(row.layer.bytes, "B") : ""},
  {title: "Of the roof", number: true, timed: true, key: row => row.layer.roof_share || 0, cell: row => row.layer.roof_share === undefined ? "" : formatShare(row.layer.roof_share)},
  {title: "Why", wide: true, key: why, cell: why},
];

function fillLayers(sheet, go) {
  const timed = DATA.times.runs > 0, columns = COLUMNS.filter(column => timed || !column.timed);
  const nodes = new Map([...GRAPHS.after.values()].flatMap(graph => graph.nodes.map(node => [layerKey(graph.path, node.name), node])));
  const rows = DATA.layers.map((layer, at) => ({at: at + 1, layer, node: nodes.get(layerKey(layer.path, layer.name))}));
  let by = timed ? columns.findIndex(column => column.title === "Time") : 0, down = timed;
  const body = element("tbody", {}), heads = columns.map((column, i) => element("th", {class: column.number ? "number" : null, scope: "col"},
    element("button", {onclick: () => {
      down = by === i ? !down : Boolean(column.number) && i > 0;
      by = i;
      fill();
    }}, column.title)));
  const fill = () => {
    const {key} = columns[by];
    rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.at - b.at) * (down ? -1 : 1));
    heads.forEach((head, i) => i === by ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    body.replaceChildren(...rows.map(row => element("tr", {}, ...columns.map(column =>
      element("td", {class: column.number ? "number" : column.wide ? "wide" : null}, column.cell ? column.cell(row, go) : String(column.key(row)))))));
  };
  fill();
  sheet.replaceChildren(element("h2", {}, "Layers"),
    element("p", {}, timed ? `Medians of ${DATA.times.runs} runs with ${DATA.threads} thread${DATA.threads === 1 ? "" : "s"}. At best, a layer takes the longer of two times: its arithmetic at this machine's measured f32 peak, or its bytes at the measured speed of a buffer of that size. The share of the roof is that time over the one it took.`
      : DATA.not_run || "Kernels as chosen for these sizes. With --profile each layer is timed as well."),
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
}

// Names of values taken out, so that records that differ in names alone are counted together.
const withoutNames = text => text.replace(/%[^\s,()[\]{};'"]+?(?=:?(?:\s|$)|[,()[\]{};'"])/g, "%…");

function recordList(pass, select) {
  const kinds = new Map();
  for (const record of pass.records) {
    const key = `${record.fired} ${withoutNames(`${record.where}: ${record.what}`)}`;
    if (!kinds.has(key)) kinds.set(key, {record, count: 0, places: []});
    const kind = kinds.get(key);
    kind.count++;
    if (kind.places.length < 8) kind.places.push(record.where);
  }
  const sorted = [...kinds.values()].sort((a, b) => b.record.fired - a.record.fired || b.count - a.count);
  return element("div", {class: "records"}, ...sorted.slice(0, 60).map(({record, count, places}) => element("div", {class: record.fired ? "" : "refused"},
    `${record.fired ? "Did" : "Refused"}${count > 1 ? ` ${count} times, first` : ""}: `, ...places.slice(0, 1).map(place => select(place)), ` → ${record.what}`,
    count > 1 ? element("div", {}, "also ", ...places.slice(1).flatMap((place, i) => [i ? ", " : "", select(place)]), count > places.length ? `, and ${count - places.length} more` : "") : null)),
    sorted.length > 60 ? element("div", {}, `and ${sorted.length - 60} more kinds`) : null);
}

const isIdle = pass => pass.enabled && !pass.fired && !pass.refused && pass.nodes_before === pass.nodes_after;

function fillPasses(sheet, findByName) {
  const select = place => findByName(place) || element("code", {}, place);
  if (!DATA.passes.length) {
    sheet.replaceChildren(element("h2", {}, "Passes"), element("p", {}, "Nothing is known here of what the passes did."));
    return;
  }
  const fired = DATA.passes.reduce((sum, pass) => sum + pass.fired, 0), refused = DATA.passes.reduce((sum, pass) => sum + pass.refused, 0), known = DATA.passes.some(pass => pass.records.length);
  sheet.replaceChildren(element("h2", {}, "Passes"),
    element("p", {}, `In the order they ran: ${fired} rewrites, ${refused} refused${known ? " with a reason. Open a row to see where." : ". An engine keeps the numbers alone: the file it was built from tells where and why."}`),
    ...DATA.passes.filter(pass => !isIdle(pass)).map(pass => {
      const no = pass.refused;
      const head = element("summary", {}, element("b", {}, pass.name), element("span", {}, !pass.enabled ? "disabled" : pass.fired ? `${pass.fired} done` : "–"),
        element("span", {}, no ? `${no} refused` : ""), element("span", {}, pass.nodes_before === pass.nodes_after ? `${pass.nodes_after} nodes` : `${pass.nodes_before} → ${pass.nodes_after} nodes`), element("span", {}, pass.reason));
      const details = element("details", {}, head);
      details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1 && pass.records.length) details.append(recordList(pass, select));
      });
      return details;
    }), ...(DATA.passes.some(isIdle) ? [element("h3", {}, "Found nothing to do"), element("p", {}, DATA.passes.filter(isIdle).map(pass => pass.name).join(", "))] : []));
}

function fillNotes(sheet) {
  const list = (title, texts) => texts.length ? [element("h3", {}, title), element("ul", {class: "plain"}, ...texts.map(text => element("li", {}, text)))] : [];
  const roof = DATA.roof ? [`f32 arithmetic: ${formatCount(DATA.roof.flops_per_second, "FLOP/s")}`,
    ...DATA.roof.memory.map(reach => `reading a buffer of ${formatBytes(reach.bytes)}: ${formatCount(reach.bytes_per_second, "B/s")}`)] : [];
  const content = [...list("What to know", [...DATA.remarks, DATA.not_run].filter(Boolean)), ...list("On reference evaluators, and why", DATA.notes), ...list("The roof of this machine", roof)];
  sheet.replaceChildren(element("h2", {}, "Notes"), ...(content.length ? content : [element("p", {}, "Nothing to say: every layer has a kernel, and no size was guessed.")]));
}
