// SPDX-License-Identifier: Apache-2.0
// Draws a picture that has been laid out: what is in sight as SVG, all of it as a small map; pans and zooms.
const SVG = "http://www.w3.org/2000/svg";
const TEXT_FROM = 0.38;  // scale below which names are too small to read
const MOST_SCALE = 2.5;

function svg(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const shortened = (text, most) => text.length <= most ? text : text.slice(0, Math.ceil(most * 0.4) - 1) + "…" + text.slice(-Math.floor(most * 0.6));

class Canvas {
  constructor({onSelect, onOpen, paint}) {
    this.root = document.getElementById("canvas");
    this.world = document.getElementById("world");
    this.map = document.getElementById("map");
    this.paint = paint;  // box -> {heat, side, classes}
    this.onSelect = onSelect;
    this.onOpen = onOpen;
    this.view = {x: 0, y: 0, scale: 1};
    this.picture = null;
    this.listen();
    new ResizeObserver(() => this.picture && this.moved(true)).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.picture && this.repaint());
  }

  show(picture, places) {
    this.picture = picture;
    this.places = places;
    this.paths = picture.lines.map((_, i) => this.pathOf(i));
    this.touching = picture.boxes.map(() => []);
    picture.lines.forEach(([from, to], i) => {
      this.touching[from].push(i);
      this.touching[to].push(i);
    });
    this.repaint();
  }

  get size() {
    return {w: this.root.clientWidth || 1, h: this.root.clientHeight || 1};
  }

  pathOf(i) {
    const [from, to] = this.picture.lines[i], {x, y, lines} = this.places, {boxes} = this.picture;
    const up = y[to] < y[from];
    const start = {x: x[from], y: y[from] + (up ? -1 : 1) * boxes[from].h / 2};
    const end = {x: x[to], y: y[to] + (up ? 1 : -1) * (boxes[to].h / 2 + 1)};
    let d = `M${start.x.toFixed(1)} ${start.y.toFixed(1)}`, at = start;
    let left = Math.min(start.x, end.x), right = Math.max(start.x, end.x);
    for (const p of [...lines[i], end]) {
      const half = (at.y + p.y) / 2;
      d += Math.abs(at.x - p.x) < 0.5 ? `L${p.x.toFixed(1)} ${p.y.toFixed(1)}`
        : `C${at.x.toFixed(1)} ${half.toFixed(1)} ${p.x.toFixed(1)} ${half.toFixed(1)} ${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
      left = Math.min(left, p.x);
      right = Math.max(right, p.x);
      at = p;
    }
    const tip = up ? "" : `M${(end.x - 4).toFixed(1)} ${(end.y - 6).toFixed(1)}L${end.x.toFixed(1)} ${end.y.toFixed(1)}L${(end.x + 4).toFixed(1)} ${(end.y - 6).toFixed(1)}Z`;
    return {d, tip, left, right, top: Math.min(start.y, end.y), bottom: Math.max(start.y, end.y)};
  }

  // ---- what is in sight ----
  repaint() {
    this.drawn = null;
    this.paintMap();
    this.moved(true);
  }

  moved(now) {
    const {x, y, scale} = this.view;
    this.world.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(4)})`);
    if (this.waiting) return;
    this.waiting = true;
    const draw = () => {
      this.waiting = false;
      this.draw();
      this.paintFrame();
    };
    if (now) draw();
    else requestAnimationFrame(draw);
  }

  // In the picture's coordinates.
  sight(margin) {
    const {x, y, scale} = this.view, {w, h} = this.size;
    return {left: (-x - margin * w) / scale, right: (w - x + margin * w) / scale, top: (-y - margin * h) / scale, bottom: (h - y + margin * h) / scale};
  }

  draw() {
    const near = this.sight(0), texts = this.view.scale >= TEXT_FROM;
    const d = this.drawn;
    if (d && d.texts === texts && near.left >= d.left && near.right <= d.right && near.top >= d.top && near.bottom <= d.bottom) return;
    const area = this.sight(0.5), {boxes} = this.picture, {x, y} = this.places;
    const inside = b => b.right >= area.left && b.left <= area.right && b.bottom >= area.top && b.top <= area.bottom;
    const fragment = document.createDocumentFragment();
    let plain = "", tips = "", near1 = "";
    const chosen = this.selected === undefined || this.selected < 0 ? new Set() : new Set(this.touching[this.selected]);
    this.paths.forEach((path, i) => {
      if (!inside(path)) return;
      if (chosen.has(i)) near1 += path.d;
      else plain += path.d;
      tips += path.tip;
    });
    fragment.append(svg("path", {class: "edge", d: plain}));
    if (near1) fragment.append(svg("path", {class: "edge near", d: near1}));
    if (texts) fragment.append(svg("path", {class: "tip", d: tips}));
    const neighbours = new Set();
    chosen.forEach(i => this.picture.lines[i].slice(0, 2).forEach(box => neighbours.add(box)));
    boxes.forEach((box, i) => {
      const w = box.w / 2, h = box.h / 2;
      if (inside({left: x[i] - w, right: x[i] + w, top: y[i] - h, bottom: y[i] + h}))
        fragment.append(this.boxElement(box, i, texts, neighbours.has(i)));
    });
    this.world.classList.toggle("far", !texts);
    this.world.replaceChildren(fragment);
    this.drawn = {...area, texts};
  }

  boxElement(box, i, texts, near) {
    const {heat, side, classes, label, name, type, kind, note} = this.paint(box, i);
    const g = svg("g", {class: `node ${classes}${near ? " near" : ""}${i === this.selected ? " selected" : ""}`, "data-box": i,
                        transform: `translate(${(this.places.x[i] - box.w / 2).toFixed(1)} ${(this.places.y[i] - box.h / 2).toFixed(1)})`});
    g.style.setProperty("--heat", heat.toFixed(3));
    g.style.setProperty("--kind", `var(--${kind})`);
    if (box.group) g.append(svg("rect", {class: "card", x: 4, y: 4, width: box.w, height: box.h, rx: 7}));
    g.append(svg("rect", {class: "card", width: box.w, height: box.h, rx: box.end ? box.h / 2 : 7}));
    if (!box.end) g.append(svg("rect", {class: "stripe", x: 1, y: 8, width: 3.5, height: box.h - 16, rx: 1.75}));
    if (note && texts) g.append(svg("circle", {class: "corner", cx: box.w - 12, cy: 31, r: 3}));
    if (!texts) return g;
    g.append(svg("title", {}, [label, name, type, note].filter(Boolean).join("\n")));
    const left = box.end ? 18 : 13;
    if (box.end) {
      g.append(svg("text", {class: "name", x: left, y: 16}, shortened(name, 28)), svg("text", {class: "type", x: left, y: 29}, shortened(type, 28)));
      return g;
    }
    g.append(svg("text", {class: "op", x: left, y: 19}, shortened(label, side ? Math.floor((box.w - 30 - 6.5 * side.length) / 7.9) : 24)));
    if (side) g.append(svg("text", {class: "side", x: box.w - 10, y: 19}, side));
    g.append(svg("text", {class: "name", x: left, y: 34}, shortened(name, note ? 30 : 33)), svg("text", {class: "type", x: left, y: 48}, shortened(type, 33)));
    return g;
  }

  // ---- the map ----
  paintMap() {
    const {width, height} = this.places, {boxes} = this.picture;
    const room = {w: 96, h: Math.max(60, Math.min(420, this.size.h - 170))};
    const scale = Math.min(room.w / (width + 60), room.h / (height + 60));
    this.mapScale = scale;
    const w = Math.max(24, Math.round((width + 60) * scale)), h = Math.max(24, Math.round((height + 60) * scale));
    const ratio = devicePixelRatio || 1;
    this.map.width = w * ratio;
    this.map.height = h * ratio;
    this.map.style.width = `${w}px`;
    this.map.style.height = `${h}px`;
    const style = getComputedStyle(document.documentElement);
    const cool = style.getPropertyValue("--edge"), hot = style.getPropertyValue("--hot");
    this.mapImage = document.createElement("canvas");
    this.mapImage.width = this.map.width;
    this.mapImage.height = this.map.height;
    const c = this.mapImage.getContext("2d");
    c.scale(ratio * scale, ratio * scale);
    c.translate(30, 30);
    boxes.forEach((box, i) => {
      const {heat} = this.paint(box, i);
      const tall = Math.max(box.h, 1.4 / scale), wide = Math.max(box.w, 2 / scale);
      c.globalAlpha = heat > 0 ? 1 : 0.75;
      c.fillStyle = heat > 0.25 ? hot : cool;
      c.fillRect(this.places.x[i] - wide / 2, this.places.y[i] - tall / 2, wide, tall);
    });
  }

  paintFrame() {
    const c = this.map.getContext("2d"), ratio = devicePixelRatio || 1, s = this.mapScale, sight = this.sight(0);
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.map.width, this.map.height);
    c.drawImage(this.mapImage, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent");
    c.strokeStyle = accent;
    c.lineWidth = 1.5;
    const w = this.map.width / ratio, h = this.map.height / ratio;
    const left = Math.max(1, (sight.left + 30) * s), top = Math.max(1, (sight.top + 30) * s);
    c.strokeRect(left, top, Math.max(4, Math.min(w - 1, (sight.right + 30) * s) - left), Math.max(4, Math.min(h - 1, (sight.bottom + 30) * s) - top));
  }

  // ---- moving ----
  fit() {
    const {w, h} = this.size, {width, height} = this.places;
    const scale = Math.min(1, (w - 48) / width, (h - 140) / height);
    this.view = {scale, x: (w - width * scale) / 2, y: 80 + Math.max(0, (h - 140 - height * scale) / 2)};
    this.moved(true);
  }

  // All of it where that can be read, else its beginning.
  begin() {
    const {w, h} = this.size, {width, height, x, y} = this.places;
    if (Math.min((w - 48) / width, (h - 140) / height) >= 0.62) return this.fit();
    let first = 0;
    y.forEach((value, i) => { if (value < y[first]) first = i; });
    const scale = 0.9;
    this.view = {scale, x: w / 2 - (y.length ? x[first] : width / 2) * scale, y: 84};
    this.moved(true);
  }

  zoom(factor, cx, cy) {
    const {x, y, scale} = this.view, {w, h} = this.size, {width, height} = this.places;
    const least = Math.min(0.3, (w - 48) / width, (h - 140) / height) * 0.8;
    const next = Math.max(least, Math.min(MOST_SCALE, scale * factor)), grown = next / scale;
    this.view = {scale: next, x: cx - (cx - x) * grown, y: cy - (cy - y) * grown};
    this.moved();
  }

  pan(dx, dy) {
    this.view.x += dx;
    this.view.y += dy;
    this.moved();
  }

  reveal(box) {
    const {w, h} = this.size, scale = Math.max(this.view.scale, 0.75);
    const sight = this.sight(-0.12), x = this.places.x[box], y = this.places.y[box];
    if (this.view.scale >= TEXT_FROM && x > sight.left && x < sight.right && y > sight.top && y < sight.bottom) return this.moved(true);
    this.view = {scale, x: w / 2 - x * scale, y: h / 2 - y * scale};
    this.moved(true);
  }

  listen() {
    const point = event => {
      const r = this.root.getBoundingClientRect();
      return [event.clientX - r.left, event.clientY - r.top];
    };
    this.root.addEventListener("wheel", event => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY))
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : event.ctrlKey ? 0.01 : 0.0016)), ...point(event));
      else this.pan(-event.deltaX - (event.deltaX ? 0 : event.deltaY), 0);
    }, {passive: false});
    let from = null;
    const boxAt = event => {
      const g = event.target.closest && event.target.closest("[data-box]");
      return g ? Number(g.dataset.box) : -1;
    };
    this.root.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      from = {x: event.clientX, y: event.clientY, far: false, box: boxAt(event)};
      this.root.setPointerCapture(event.pointerId);
    });
    this.root.addEventListener("pointermove", event => {
      if (!from) return;
      if (!from.far && Math.hypot(event.clientX - from.x, event.clientY - from.y) < 4) return;
      from.far = true;
      this.root.classList.add("dragging");
      this.pan(event.clientX - from.x, event.clientY - from.y);
      from.x = event.clientX;
      from.y = event.clientY;
    });
    const end = event => {
      if (from && !from.far && event.type === "pointerup") this.onSelect(from.box);
      from = null;
      this.root.classList.remove("dragging");
    };
    this.root.addEventListener("pointerup", end);
    this.root.addEventListener("pointercancel", end);
    this.root.addEventListener("dblclick", event => {
      const box = boxAt(event);
      if (box >= 0) this.onOpen(box);
    });
    const jump = event => {
      const r = this.map.getBoundingClientRect(), {w, h} = this.size;
      const x = (event.clientX - r.left) / this.mapScale - 30, y = (event.clientY - r.top) / this.mapScale - 30;
      this.view.x = w / 2 - x * this.view.scale;
      this.view.y = h / 2 - y * this.view.scale;
      this.moved();
    };
    this.map.addEventListener("pointerdown", event => {
      this.map.setPointerCapture(event.pointerId);
      jump(event);
    });
    this.map.addEventListener("pointermove", event => { if (event.buttons) jump(event); });
  }
}
