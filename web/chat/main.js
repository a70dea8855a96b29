// SPDX-License-Identifier: Apache-2.0
// The page's state: turns, settings, keys. `data-*` of the body says what it is at, which tests read.
"use strict";

const $ = id => document.getElementById(id);
const body = document.body;
const DEFAULTS = {system: "", temperature: "0.7", top_p: "0.95", max_tokens: "", seed: "", key: ""};
const IDEAS = ["Explain how rainbows form, in three sentences.", "Write a haiku about the sea.",
               "Give me five names for a small sailing boat.", "What is a prime number? Show it with an example."];

const turns = [];      // {role, content, thought?, note?, problem?, item}
let running = null;    // the AbortController of the answer that is being written
let models = [];

// ---- settings, kept where the browser allows it
function stored() {
  try {
    return {...JSON.parse(localStorage.getItem("nereid.chat") || "{}"), key: sessionStorage.getItem("nereid.key") || ""};
  } catch {
    return {};
  }
}
function readSettings() {
  return Object.fromEntries(Object.keys(DEFAULTS).map(name => [name, $(name).value]));
}
function showSettings(values) {
  for (const [name, value] of Object.entries({...DEFAULTS, ...values})) if ($(name)) $(name).value = value;
  for (const name of ["temperature", "top_p"]) $(`${name}-shown`).textContent = Number($(name).value).toFixed(2);
}
function keepSettings() {
  showSettings(readSettings());
  try {
    const {key, ...set} = readSettings();
    localStorage.setItem("nereid.chat", JSON.stringify({...set, model: $("model").value}));
    sessionStorage.setItem("nereid.key", key);  // no longer than the window
  } catch { /* a private window: they last as long as the page */ }
}

function request() {
  const set = readSettings();
  const messages = turns.filter(turn => turn.content).map(({role, content}) => ({role, content}));
  if (set.system.trim()) messages.unshift({role: "system", content: set.system});
  const out = {model: $("model").value, messages, temperature: Number(set.temperature), top_p: Number(set.top_p)};
  if (Number(set.max_tokens) >= 1) out.max_tokens = Math.floor(Number(set.max_tokens));
  if (set.seed !== "") out.seed = Math.trunc(Number(set.seed));
  return out;
}

// ---- turns
function small(text, action) {
  const button = element("button", "", text);
  button.type = "button";
  button.addEventListener("click", () => action(button));
  return button;
}
function draw(turn) {
  const words = turn.item.querySelector(".words"), foot = turn.item.querySelector(".foot");
  if (turn.role === "user") words.replaceChildren(turn.content);
  else words.replaceChildren(...blocks(turn.content));
  if (turn.thought) drawThought(turn, words);
  turn.item.querySelector(".problem")?.remove();
  if (turn.problem) foot.before(element("div", "problem", turn.problem));
  const isWriting = running && turn === turns[turns.length - 1];
  turn.item.classList.toggle("waiting", Boolean(isWriting && !turn.content && !turn.thought && turn.role === "assistant"));
  turn.item.classList.toggle("writing", Boolean(isWriting && turn.content && turn.role === "assistant"));
  foot.replaceChildren();
  if (isWriting && turn.role === "assistant") return;
  if (turn.content) foot.append(small("Copy", button => copyText(turn.content, button)));
  if (turn.role === "user") foot.append(small("Edit", () => edit(turn)));
  else foot.append(small("Again", () => again(turn)));
  if (turn.note) foot.append(element("span", "", turn.note));
}
// Open while there is nothing else to read; then as the reader has it.
function drawThought(turn, words) {
  let thought = turn.item.querySelector(".thought");
  if (!thought) {
    thought = element("details", "thought", element("summary", "", "Thoughts"), element("div", ""));
    thought.open = true;
    words.before(thought);
  }
  thought.lastChild.textContent = turn.thought;
  if (turn.content && !turn.hasAnswered) thought.open = false;
  turn.hasAnswered = Boolean(turn.content);
}
function add(role, content) {
  const turn = {role, content, item: element("li", `turn ${role}`, element("div", "words"), element("div", "foot"))};
  turns.push(turn);
  $("turns").append(turn.item);
  draw(turn);
  state();
  return turn;
}
function cut(turn) {
  for (const gone of turns.splice(turns.indexOf(turn))) gone.item.remove();
  state();
}
function state() {
  body.dataset.turns = turns.length;
  body.dataset.busy = running ? "yes" : "no";
  $("empty").hidden = turns.length > 0;
  $("send").disabled = !running && !$("input").value.trim();
  $("send").title = running ? "Stop (Esc)" : "Send (Enter)";
  $("send").setAttribute("aria-label", running ? "Stop" : "Send");
}

// The newest line stays in sight unless the reader has scrolled up.
function follow(act) {
  const pane = $("scroll"), isAtEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 60;
  act();
  if (isAtEnd) pane.scrollTop = pane.scrollHeight;
}

// ---- an answer
async function reply() {
  const asked = request();
  running = new AbortController();
  const turn = add("assistant", "");
  $("scroll").scrollTop = $("scroll").scrollHeight;
  const begin = performance.now();
  let first = 0, pieces = 0, isDrawn = true;
  const rate = count => {  // of the tokens after the first, where it took long enough to be one
    const seconds = (performance.now() - first) / 1000;
    return first && count > 1 && seconds > 0.05 ? (count - 1) / seconds : 0;
  };
  const show = () => {
    isDrawn = true;
    if (!running) return;  // the end was quicker
    follow(() => draw(turn));
    const speed = rate(pieces);
    $("status").textContent = speed ? `${pieces} tokens, ${speed.toFixed(1)} tokens/s` : "Writing…";
  };
  const onText = (text, isThought) => {
    if (!first) first = performance.now();
    ++pieces;
    if (isThought) turn.thought = (turn.thought || "") + text;
    else turn.content += text;
    if (isDrawn) requestAnimationFrame(show);
    isDrawn = false;
  };
  $("status").textContent = "Reading the prompt…";
  try {
    const said = await answer(asked, $("key").value, running.signal, onText);
    const tokens = said.tokens || pieces, speed = rate(tokens);
    const parts = [`${tokens} tokens`];
    if (speed) parts.push(`${speed.toFixed(1)} tokens/s`);
    if (first) parts.push(`first after ${((first - begin) / 1000).toFixed(2)} s`);
    if (said.finish === "length") parts.push("cut at its greatest length");
    turn.note = parts.join(" · ");
    body.dataset.rate = speed.toFixed(1);
  } catch (error) {
    if (error.name === "AbortError") turn.note = `stopped after ${pieces} tokens`;
    else problem(turn, error);
  }
  running = null;
  $("status").textContent = "\u00a0";
  follow(() => draw(turn));
  state();
  $("input").focus();
}
function problem(turn, error) {
  turn.problem = error instanceof ApiError ? error.message : "The server cannot be reached.";
  body.dataset.problem = turn.problem;
  if (error.status === 401) toggleSettings(true, "key");
}

function send(text) {
  if (running || !text.trim()) return;
  add("user", text.trim());
  $("input").value = "";
  grow();
  reply();
}
function stop() {
  if (running) running.abort();
}
function again(turn) {
  if (running) return;
  cut(turn);
  reply();
}
function edit(turn) {
  if (running) return;
  $("input").value = turn.content;
  cut(turn);
  grow();
  $("input").focus();
}
function fresh() {
  stop();
  if (turns.length) cut(turns[0]);
  $("input").focus();
}

// ---- the frame
function grow() {
  const input = $("input");
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
  state();
}
function toggleSettings(open = $("settings").hidden, field = "system") {
  $("settings").hidden = !open;
  $("tune").setAttribute("aria-expanded", String(open));
  body.dataset.settings = open ? "open" : "closed";
  if (open) $(field).focus();
  else $("input").focus();
}
function showModel() {
  const model = models.find(one => one.id === $("model").value);
  $("about").textContent = model ? `${model.id} answers here, with a context of ${(model.max_model_len || 0).toLocaleString("en")} tokens.` : "\u00a0";
}
async function loadModels() {
  try {
    models = (await listModels($("key").value)).filter(one => !one.capabilities || one.capabilities.includes("chat"));
    $("model").replaceChildren(...models.map(one => new Option(one.id, one.id)));
    const wanted = stored().model;
    if (models.some(one => one.id === wanted)) $("model").value = wanted;
    $("status").textContent = models.length ? "\u00a0" : "None of the server's models can chat.";
    body.dataset.models = models.length;
  } catch (error) {
    $("status").textContent = error instanceof ApiError ? error.message : "The server cannot be reached.";
    body.dataset.problem = $("status").textContent;
    if (error.status === 401) toggleSettings(true, "key");
    else setTimeout(loadModels, 2000);  // it may still be loading
  }
  showModel();
}

$("compose").addEventListener("submit", event => {
  event.preventDefault();
  if (running) stop();
  else send($("input").value);
});
$("input").addEventListener("input", grow);
$("input").addEventListener("keydown", event => {
  if (event.isComposing) return;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    send($("input").value);
  }
  const last = turns.findLast(turn => turn.role === "user");
  if (event.key === "ArrowUp" && !$("input").value && last && !running) {
    event.preventDefault();
    edit(last);
  }
});
document.addEventListener("keydown", event => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
  if (event.key === "Escape") {
    if (running) stop();
    else if (!$("settings").hidden) toggleSettings(false);
  } else if (event.key === "/" && !isTyping) {
    event.preventDefault();
    $("input").focus();
  } else if (event.key === "," && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    toggleSettings();
  } else if (event.code === "KeyN" && event.altKey && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    fresh();
  }
});
$("fresh").addEventListener("click", fresh);
$("tune").addEventListener("click", () => toggleSettings());
$("defaults").addEventListener("click", () => { showSettings(DEFAULTS); keepSettings(); });
$("settings").addEventListener("input", keepSettings);
$("key").addEventListener("change", loadModels);
$("model").addEventListener("change", () => { keepSettings(); showModel(); });
for (const idea of IDEAS) $("ideas").append(small(idea, () => send(idea)));

showSettings(stored());
state();
loadModels().then(() => { body.dataset.ready = "yes"; });
