// SPDX-License-Identifier: Apache-2.0
// Asks for the numbers every second and shows them; rates are differences between two answers.
"use strict";

const EVERY_MS = 1000;
const POINTS = 120;  // of a line: two minutes
const byId = (id) => document.getElementById(id);
const models = new Map();  // name and version -> {row, cells, last, rates}

function number(value) {
  if (value >= 1e6) return (value / 1e6).toFixed(value >= 1e7 ? 0 : 1) + " M";
  if (value >= 1e4) return (value / 1e3).toFixed(value >= 1e5 ? 0 : 1) + " k";
  return String(Math.round(value));
}

function rateText(value) {
  return value === null ? "–" : value >= 100 ? number(value) : value.toFixed(value >= 10 ? 1 : value > 0 ? 2 : 0);
}

function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1) return Math.round(ms * 1000) + " µs";
  if (ms < 1000) return (ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : Math.round(ms)) + " ms";
  return (ms / 1000).toFixed(ms < 1e4 ? 2 : 1) + " s";
}

const KINDS = {READY: "good", LOADING: "warn", UNLOADING: "warn", UNAVAILABLE: "bad"};

function makeRow() {
  const row = document.createElement("tr");
  const cells = {};
  for (const [name, kind] of [["name", "name"], ["state", ""], ["backend", ""], ["rate", "n"], ["line", ""], ["pending", "n"],
                              ["p50", "n"], ["p99", "n"], ["queue", "n"], ["requests", "n"], ["failures", "n"]]) {
    cells[name] = row.appendChild(document.createElement("td"));
    cells[name].className = kind;
  }
  cells.chip = cells.state.appendChild(document.createElement("span"));
  cells.why = cells.state.appendChild(document.createElement("span"));
  cells.why.className = "why";
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", `0 0 ${POINTS} 22`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  cells.points = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "polyline"));
  cells.line.append(svg);
  return {row, cells, last: null, rates: []};
}

function drawLine(one) {
  const most = Math.max(...one.rates, 1e-9);
  const first = POINTS - one.rates.length;
  one.cells.points.setAttribute("points", one.rates.map((rate, i) => `${first + i},${(20.5 - 19 * rate / most).toFixed(1)}`).join(" "));
}

// Requests a second since the answer before; null where there was none, or the model was loaded anew.
function rateOf(one, figures, at) {
  const count = figures.requests + figures.failures;
  const rate = one.last && count >= one.last.count && at > one.last.at ? (count - one.last.count) * 1000 / (at - one.last.at) : null;
  one.last = {count, at};
  return rate;
}

function show(one, model, at) {
  const {cells} = one;
  cells.name.textContent = model.name;
  if (model.version) {
    const version = document.createElement("small");
    version.textContent = "v" + model.version;
    cells.name.append(version);
  }
  cells.chip.textContent = model.state.toLowerCase();
  cells.chip.className = "chip " + (KINDS[model.state] || "");
  cells.why.textContent = model.reason;
  cells.why.hidden = !model.reason;
  cells.backend.textContent = model.backend || "–";
  const figures = model.figures;
  const rate = figures ? rateOf(one, figures, at) : null;
  one.rate = rate;
  if (!figures) one.last = null;
  if (rate !== null) {
    one.rates.push(rate);
    if (one.rates.length > POINTS) one.rates.shift();
    drawLine(one);
  }
  cells.rate.textContent = rateText(rate);
  cells.pending.textContent = figures ? number(figures.pending) : "–";
  cells.pending.className = "n" + (figures && figures.pending > 0 ? "" : " zero");
  cells.p50.textContent = duration(figures && figures.last_minute.p50_ms);
  cells.p99.textContent = duration(figures && figures.last_minute.p99_ms);
  cells.queue.textContent = duration(figures && figures.last_minute.queue_p99_ms);
  cells.requests.textContent = figures ? number(figures.requests) : "–";
  cells.failures.textContent = figures ? number(figures.failures) : "–";
  cells.failures.className = "n" + (figures && figures.failures > 0 ? " bad" : " zero");
}

function applyFilter() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const onlyProblems = byId("problems").checked;
  let shown = 0;
  for (const one of models.values()) {
    const text = `${one.model.name} ${one.model.backend || ""} ${one.model.state}`.toLowerCase();
    one.row.hidden = !text.includes(wanted) || (onlyProblems && one.model.state === "READY");
    shown += !one.row.hidden;
  }
  byId("none").hidden = shown > 0 || models.size === 0;
  document.body.dataset.shown = shown;
}

function health(text, kind) {
  byId("health").textContent = text;
  byId("health").className = "chip " + kind;
}

function take(status) {
  const there = new Set();
  let ready = 0, pending = 0, failures = 0, rate = null;
  for (const model of status.models) {
    const key = model.name + "\n" + model.version;
    there.add(key);
    if (!models.has(key)) models.set(key, makeRow());
    const one = models.get(key);
    one.model = model;
    show(one, model, status.steady_ms);
    ready += model.state === "READY";
    if (model.figures) {
      pending += model.figures.pending;
      failures += model.figures.failures;
    }
    if (one.rate !== null) rate = (rate || 0) + one.rate;
  }
  for (const [key, one] of models)
    if (!there.has(key)) {
      one.row.remove();
      models.delete(key);
    }
  const rows = byId("rows");
  const sorted = [...models.keys()].sort();
  sorted.forEach((key, i) => {
    if (rows.children[i] !== models.get(key).row) rows.insertBefore(models.get(key).row, rows.children[i] || null);
  });
  byId("server").textContent = `${status.server} ${status.version}`;
  health(status.ready ? "ready" : "not ready", status.ready ? "good" : "warn");
  byId("ready").textContent = `${ready} of ${status.models.length}`;
  byId("rate").textContent = rateText(rate);
  byId("pending").textContent = number(pending);
  byId("failures").textContent = number(failures);
  applyFilter();
  document.body.dataset.ready = "yes";
  document.body.dataset.answers = Number(document.body.dataset.answers || 0) + 1;
}

async function ask() {
  try {
    const answer = await fetch("/status", {signal: AbortSignal.timeout(5000)});
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    take(await answer.json());
  } catch (error) {
    health("no answer", "bad");
  }
  setTimeout(ask, document.hidden ? 5 * EVERY_MS : EVERY_MS);
}

byId("filter").addEventListener("input", applyFilter);
byId("problems").addEventListener("change", applyFilter);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== byId("filter")) {
    event.preventDefault();
    byId("filter").focus();
  } else if (event.key === "Escape" && document.activeElement === byId("filter")) {
    byId("filter").value = "";
    applyFilter();
  }
});
ask();
