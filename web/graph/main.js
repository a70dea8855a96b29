// SPDX-License-Identifier: Apache-2.0
// The page's state: which graph is shown, what is selected, found and coloured. Kept in the address after '#', so that
// a link shows the same (#stage=before&select=NAME&search=TEXT&tab=layers&colour=time&graph=PATH).
const $ = id => document.getElementById(id);
const TABS = [["graph", "Graph"], ["layers", "Layers"], ["passes", "Passes"], ["notes", "Notes"]];
const STAGES = [["before", "Before"], ["after", "After passes"]];
const COLOURS = [
  ["kind", "Kind of work", () => true],
  ["time", "Time", () => DATA.times.runs > 0, layer => layer.ms || 0, formatMs],
  ["roof", "Distance from the roof", () => DATA.times.runs > 0, layer => layer.roof_share === undefined ? 0 : Math.max(0, layer.ms - layer.roof_ms), formatMs],
  ["flops", "Arithmetic", () => DATA.layers.some(layer => layer.flops > 0), layer => layer.flops, value => formatCount(value, "FLOP")],
  ["bytes", "Bytes moved", () => DATA.layers.some(layer => layer.bytes > 0), layer => layer.bytes, value => formatCount(value, "B")],
];
const GROUPED_FROM = 3000;   // nodes of a graph that is drawn in groups at first
const GROUPABLE_FROM = 60;  // and of one that can be

window.addEventListener("error", event => {
  document.body.dataset.errors = `${document.body.dataset.errors || ""}${event.message}; `;
});

const state = {stage: "after", views: [], selected: null, search: "", hits: [], hit: -1, colour: DATA.times.runs > 0 ? "time" : "kind", tab: "graph"};
const view = () => state.views[state.views.length - 1];
const graph = () => view().graph;

const canvas = new Canvas({
  onSelect: box => select(box < 0 ? null : view().picture.boxes[box], false),
  onOpen: box => {
    const {group, node} = view().picture.boxes[box];
    if (group) openGroup(group);
    else if (node && node.regions.length) openGraph(node.regions[0]);
  },
  paint: paintBox,
});

// ---- what a box looks like -----------------------------------------------------------------------------------------
let scale = {of: () => 0, most: 0};
function chooseScale() {
  const [, , , measure] = COLOURS.find(([key]) => key === state.colour);
  if (!measure) {
    scale = {of: () => 0, most: 0};
    return;
  }
  const own = node => {
    const layer = layerOf(node);
    return layer ? measure(layer) : 0;
  };
  const of = box => box.node ? own(box.node) : box.group ? box.group.nodes.reduce((sum, node) => sum + own(node), 0) : 0;
  scale = {of, most: Math.max(0, ...view().picture.boxes.map(of))};
}

function paintBox(box, i) {
  if (box.end) {
    const value = graph().values[box.value];
    return {heat: 0, side: "", classes: `ends${hitClass(box)}`, label: box.end, name: `${box.end} ${value.name}`, type: value.type, kind: "other"};
  }
  const amount = scale.of(box), heat = scale.most > 0 ? Math.sqrt(amount / scale.most) * 0.85 : 0;
  const classes = `${heat > 0.35 ? "warm" : ""}${hitClass(box)}`;
  const format = COLOURS.find(([key]) => key === state.colour)[4];
  const side = format && amount > 0 ? format(amount) : "";
  if (box.group) return {heat, side, classes: `group ${classes}`, label: box.group.label.split("/").pop() || "group", name: box.group.label, type: `${box.group.nodes.length} nodes`, kind: "other"};
  const {node} = box, layer = node.layer;
  const result = node.out.length ? graph().values[node.out[0]].type : "";
  const type = layer && layer.outputs[0] ? layer.outputs[0] : result;
  return {heat, side: side || (state.colour === "kind" && node.bytes >= 1024 ? formatBytes(node.bytes) : ""), classes, label: node.op + (node.regions.length ? " ▸" : ""),
          name: node.name, type, kind: node.kind, note: layer && layer.kernel === "reference" ? `reference evaluator: ${layer.note}` : ""};
}
const hitClass = box => {
  if (!state.search) return "";
  return isHit(box) ? " hit" : " dim";
};
const isHit = box => box.node ? state.hitSet.has(box.node) : box.group ? box.group.nodes.some(node => state.hitSet.has(node)) : false;

// ---- which graph ---------------------------------------------------------------------------------------------------
const nextFrame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));

async function showView(where) {
  const v = view();
  if (!v.picture) {
    v.picture = pictureOf(v);
    const many = v.picture.boxes.length;
    if (many > 200) {
      $("busy").hidden = false;
      $("busy").firstElementChild.textContent = `Laying out ${many} boxes…`;
      await nextFrame();
    }
    const start = performance.now();
    v.places = layOut(v.picture.boxes, v.picture.lines);
    document.body.dataset.layoutMs = Math.round(performance.now() - start);
    $("busy").hidden = true;
  }
  if (v !== view()) return;
  canvas.selected = -1;
  chooseScale();
  paintControls();
  canvas.show(v.picture, v.places);
  if (v.at) {
    canvas.view = {...v.at};
    canvas.moved(true);
  } else canvas.begin();
  document.body.dataset.nodes = graph().nodes.length;
  document.body.dataset.boxes = v.picture.boxes.length;
  document.body.dataset.stage = state.stage;
  if (where) select(where, true);
  else paintDetails();
}

function newView(g, more) {
  return {graph: g, nodes: null, prefix: [], grouped: g.nodes.length > GROUPED_FROM, label: g.path ? g.name : "model", ...more};
}
const keepPlace = () => { if (view() && view().picture) view().at = {...canvas.view}; };

function openStage(stage, path) {
  keepPlace();
  state.stage = stage;
  // The graphs around it are those whose paths begin as its own does.
  const around = GRAPHS[stage].has(path) ? [...GRAPHS[stage].keys()].filter(one => path.startsWith(one)).sort((a, b) => a.length - b.length) : [""];
  const views = around.map(one => newView(GRAPHS[stage].get(one)));
  const last = views[views.length - 1];
  if (state.grouped !== undefined) last.grouped = state.grouped;
  const known = state.kept && state.kept[`${stage} ${last.graph.path} ${last.grouped}`];
  state.views = views;
  if (known) state.views[state.views.length - 1] = known;
  (state.kept = state.kept || {})[`${stage} ${last.graph.path} ${last.grouped}`] = view();
  state.selected = null;
  search(state.search);
  return showView();
}

const openGraph = path => openStage(state.stage, path);

function openGroup(group) {
  keepPlace();
  state.selected = null;
  state.views.push(newView(graph(), {nodes: group.nodes, prefix: group.prefix, label: group.label.split("/").pop(), grouped: group.nodes.length > GROUPED_FROM}));
  return showView();
}

function back(depth) {
  state.views.length = depth;
  state.selected = null;
  return showView();
}

// The box of a node in the view, opened through groups as far as it must be.
async function goTo(node) {
  showTab("graph");
  if (node.graph !== graph()) await openStage(node.graph.stage, node.graph.path);
  else if (view().nodes && !view().nodes.includes(node)) await back(state.views.findIndex(v => v.graph === node.graph) + 1);
  for (;;) {
    const box = view().picture.boxOf.get(node.index), {group} = view().picture.boxes[box];
    if (!group) return select(view().picture.boxes[box], true);
    await openGroup(group);
  }
}

// ---- selection -----------------------------------------------------------------------------------------------------
function select(box, reveal) {
  state.selected = box;
  canvas.selected = box ? view().picture.boxes.indexOf(box) : -1;
  canvas.drawn = null;
  if (reveal && box) canvas.reveal(canvas.selected);
  else canvas.moved(true);
  paintDetails();
  writeAddress();
}

function paintDetails() {
  const actions = {go: goTo, open: openGraph, openGroup, clear: () => select(null, false)}, box = state.selected;
  const content = !box ? modelDetails(graph(), actions) : box.node ? nodeDetails(box.node, actions) : box.group ? groupDetails(box.group, actions) : endDetails(graph(), box, actions);
  $("details").replaceChildren(...content);
  $("details").scrollTop = 0;
  document.body.dataset.selected = box && box.node ? box.node.name : "";
}

// ---- search --------------------------------------------------------------------------------------------------------
function search(text) {
  state.search = text.trim();
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const g = GRAPHS[state.stage];
  const holds = node => {
    const layer = node.layer;
    const all = [node.op, node.name, ...node.in.concat(node.out).filter(value => value >= 0).map(value => node.graph.values[value].name),
                 layer ? layer.kernel : "", node.source ? node.source.join(" ") : ""].join("\n").toLowerCase();
    return words.every(word => all.includes(word));
  };
  const rank = node => node.op.toLowerCase() === words[0] || node.name.toLowerCase() === state.search.toLowerCase() ? 0 : node.name.toLowerCase().includes(words[0]) || node.op.toLowerCase().includes(words[0]) ? 1 : 2;
  state.hits = words.length ? [...g.values()].flatMap(one => one.nodes.filter(holds)) : [];
  state.hits = state.hits.map((node, i) => [rank(node), i, node]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , node]) => node);
  state.hitSet = new Set(state.hits);
  state.hit = -1;
  document.body.dataset.found = state.search ? state.hits.length : "";
  paintHits();
}

function paintHits() {
  const many = state.hits.length;
  $("found").textContent = !state.search ? "" : many ? state.hit >= 0 ? `${state.hit + 1} of ${many}` : `${many} found` : "none";
  $("hits").hidden = !state.search || !many || document.activeElement !== $("search");
  const first = Math.max(0, Math.min(state.hit - 5, many - 40));
  $("hits").replaceChildren(...state.hits.slice(first, first + 40).map((node, i) => element("li", {"aria-selected": first + i === state.hit ? "true" : null, onmousedown: event => {
    event.preventDefault();
    showHit(first + i);
  }}, element("b", {}, node.op), element("span", {}, node.name))));
}

function showHit(at) {
  if (!state.hits.length) return;
  state.hit = (at + state.hits.length) % state.hits.length;
  paintHits();
  return goTo(state.hits[state.hit]);
}

// ---- controls ------------------------------------------------------------------------------------------------------
function showTab(tab) {
  state.tab = tab;
  for (const [key] of TABS) $(key).hidden = key !== tab;
  $("details").hidden = tab !== "graph";
  for (const button of $("tabs").children) button.setAttribute("aria-selected", button.dataset.tab === tab);
  const sheet = $(tab);
  if (tab === "layers" && !sheet.children.length) fillLayers(sheet, goTo);
  if (tab === "passes" && !sheet.children.length) fillPasses(sheet, linkTo);
  if (tab === "notes" && !sheet.children.length) fillNotes(sheet);
  document.body.dataset.tab = tab;
  writeAddress();
}

// "conv %y": a link to it, before the passes if it is there, else after them; null: it is in neither.
const namesByStage = {};
function linkTo(place) {
  const found = /^(\S+) %(.*)$/s.exec(place);
  for (const [stage] of found ? STAGES : []) {
    if (!GRAPHS[stage]) continue;
    namesByStage[stage] = namesByStage[stage] || new Map([...GRAPHS[stage].values()].flatMap(g => g.nodes.map(node => [node.name, node])));
    const node = namesByStage[stage].get(found[2]);
    if (node) return nodeLink(node, goTo, place);
  }
  return null;
}

// The other graph, where what is selected is now: what it became, or the last of what it was made from.
function switchTo(stage) {
  const node = state.selected && state.selected.node, there = GRAPHS[stage].get(graph().path);
  const places = !node || node.graph.stage === stage ? [] : stage === "after" ? node.became.slice(0, 1) : node.from.slice(-1);
  return there && places.length ? goTo(there.nodes[places[0]]) : openStage(stage, there ? graph().path : "");
}

function paintControls() {
  $("stages").replaceChildren(...STAGES.map(([key, label]) => {
    const there = GRAPHS[key] !== undefined, count = there ? GRAPHS[key].get("").nodes.length : 0;
    return element("button", {"aria-pressed": String(key === state.stage), "data-stage": key, disabled: !there, title: there ? `${count} nodes` : "An engine holds the graph after the passes alone",
                              onclick: () => switchTo(key)}, there ? `${label} (${count})` : label);
  }));
  $("colour").replaceChildren(...COLOURS.filter(([, , there]) => there()).map(([key, label]) => element("option", {value: key, selected: key === state.colour}, label)));
  const groupable = !view().nodes && graph().nodes.length >= GROUPABLE_FROM;
  $("group").hidden = !groupable;
  $("group").setAttribute("aria-pressed", String(view().grouped));
  $("crumbs").replaceChildren(...(state.views.length < 2 ? [] : state.views.flatMap((v, i) => [i ? "›" : "",
    element("button", {disabled: i === state.views.length - 1, onclick: () => back(i + 1)}, v.label)])));
  paintLegend();
}

function paintLegend() {
  const [key, label, , , format] = COLOURS.find(([one]) => one === state.colour);
  const used = new Set(view().picture.boxes.filter(box => box.node).map(box => box.node.kind));
  const kinds = element("div", {class: "kinds"}, ...KINDS.filter(([kind]) => used.has(kind)).map(([kind, text]) => element("span", {}, element("i", {style: `background: var(--${kind})`}), text)));
  const what = state.stage === "before" ? `${label} of the layer that a node became part of` : key === "roof" ? "Time above what the roof allows" : `${label} of a layer`;
  $("legend").replaceChildren(...(format ? [element("div", {class: "scale"}, "0", element("div", {}), format(scale.most), element("em", {}, what))] : []), kinds);
}

function recolour(key) {
  state.colour = key;
  chooseScale();
  paintLegend();
  canvas.repaint();
  writeAddress();
}

function writeAddress() {
  const parts = new URLSearchParams();
  if (state.tab !== "graph") parts.set("tab", state.tab);
  if (state.stage !== "after") parts.set("stage", state.stage);
  if (view() && graph().path) parts.set("graph", graph().path);
  if (state.grouped !== undefined) parts.set("grouped", state.grouped ? "yes" : "no");
  if (state.selected && state.selected.node) parts.set("select", state.selected.node.name);
  if (state.search) parts.set("search", state.search);
  if (state.colour !== (DATA.times.runs > 0 ? "time" : "kind")) parts.set("colour", state.colour);
  try {
    history.replaceState(null, "", `#${parts}`);
  } catch (error) {
    // Pages that a viewer embeds may not change their address.
  }
}

function onKey(event) {
  if (event.target === $("search")) {
    if (event.key === "Enter") showHit(state.hit + (event.shiftKey ? -1 : 1));
    else if (event.key === "Escape") {
      $("search").value = "";
      search("");
      canvas.repaint();
      canvas.root.focus();
    } else return;
    event.preventDefault();
    return;
  }
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  const {w, h} = canvas.size, step = 90;
  const acts = {"/": () => $("search").focus(), "+": () => canvas.zoom(1.25, w / 2, h / 2), "=": () => canvas.zoom(1.25, w / 2, h / 2), "-": () => canvas.zoom(0.8, w / 2, h / 2),
                "0": () => canvas.fit(), Escape: () => select(null, false), ArrowUp: () => walk(-1) || canvas.pan(0, step), ArrowDown: () => walk(1) || canvas.pan(0, -step),
                ArrowLeft: () => canvas.pan(step, 0), ArrowRight: () => canvas.pan(-step, 0), n: () => showHit(state.hit + 1), N: () => showHit(state.hit - 1)};
  if (state.tab !== "graph" || !acts[event.key] || event.target.tagName === "BUTTON") return;
  event.preventDefault();
  acts[event.key]();
}

// From the selected box to one it feeds, or one that feeds it.
function walk(direction) {
  if (canvas.selected < 0) return false;
  const line = view().picture.lines.find(([from, to]) => (direction > 0 ? from : to) === canvas.selected);
  if (line) select(view().picture.boxes[line[direction > 0 ? 1 : 0]], true);
  return true;
}

async function begin() {
  const facts = [DATA.kind, DATA.nodes_imported === null ? `${DATA.nodes_optimised} nodes` : `${DATA.nodes_imported} nodes, ${DATA.nodes_optimised} after the passes`, DATA.precision, DATA.isa,
                 DATA.threads ? `${DATA.threads} thread${DATA.threads === 1 ? "" : "s"}` : "", DATA.times.runs > 0 ? formatMs(DATA.times.run_ms) : ""];
  $("model").textContent = DATA.model;
  $("facts").textContent = facts.filter(Boolean).join(" · ");
  $("tabs").append(...TABS.map(([key, label]) => element("button", {role: "tab", "data-tab": key, onclick: () => showTab(key)}, label)));
  $("search").addEventListener("input", () => {
    search($("search").value);
    canvas.repaint();
    writeAddress();
  });
  $("search").addEventListener("focus", paintHits);
  $("search").addEventListener("blur", () => { $("hits").hidden = true; });
  $("colour").addEventListener("change", () => recolour($("colour").value));
  $("group").addEventListener("click", () => {
    state.grouped = !view().grouped;
    openStage(state.stage, graph().path);
  });
  $("zoom-in").addEventListener("click", () => canvas.zoom(1.25, canvas.size.w / 2, canvas.size.h / 2));
  $("zoom-out").addEventListener("click", () => canvas.zoom(0.8, canvas.size.w / 2, canvas.size.h / 2));
  $("zoom-fit").addEventListener("click", () => canvas.fit());
  document.addEventListener("keydown", onKey);

  const asked = new URLSearchParams(location.hash.slice(1));
  const pick = (key, among, otherwise) => among.includes(asked.get(key)) ? asked.get(key) : otherwise;
  state.colour = pick("colour", COLOURS.filter(([, , there]) => there()).map(([key]) => key), state.colour);
  if (asked.has("grouped")) state.grouped = asked.get("grouped") === "yes";
  await openStage(pick("stage", Object.keys(GRAPHS), "after"), asked.get("graph") || "");
  if (asked.get("search")) {
    $("search").value = asked.get("search");
    search(asked.get("search"));
    canvas.repaint();
    if (state.hits.length && !asked.get("select")) await showHit(0);
  }
  const wanted = asked.get("select") && [...GRAPHS[state.stage].values()].flatMap(g => g.nodes).find(node => node.name === asked.get("select"));
  if (wanted) await goTo(wanted);
  if (asked.get("fit")) canvas.fit();
  showTab(pick("tab", TABS.map(([key]) => key), "graph"));
  document.body.dataset.ready = "yes";
}
begin();
