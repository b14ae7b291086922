// The live roofline. Python has counted and placed everything; this file interpolates a polyline
// at x, moves a marker there and fills a sentence. No FLOP, byte or roof formula belongs here.

const CACHE_WORDS = { cold: "cold: operands come from memory", warm: "warm: operands may still lie in a cache" };

function at(corners, x) {
  const [x0, y0, x1, y1, x2, y2] = corners;
  return x < x1 ? y0 + ((x - x0) / (x1 - x0)) * (y1 - y0) : y1 + ((x - x1) / (x2 - x1)) * (y2 - y1);
}

function render({ model, el }) {
  const data = model.get("data"), frame = data.frame, [, J, K] = data.shape;
  const machines = new Map(data.machines.map((m) => [m.id, m]));
  const text = (table, i) => data.texts[u16(table, i)];
  const card = make("div", { className: "rl-card" }, el);
  const ui = controls(card), stage = make("div", { className: "rl-stage" }, card);
  const url = pictureFrom(view(data.png));
  make("img", { src: url, alt: "", width: frame.width, height: frame.height }, stage);
  const svg = draw("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, class: "rl-live", role: "img" }, stage);
  const clip = `rl-clip-${Math.random().toString(36).slice(2)}`;
  draw("rect", { x: frame.x0, y: frame.y1, width: frame.x1 - frame.x0, height: frame.y0 - frame.y1 }, draw("clipPath", { id: clip }, svg));
  const roofLayer = draw("g", {}, svg), key = draw("g", {}, svg), trail = draw("g", { "clip-path": `url(#${clip})` }, svg);
  const dots = new Map(data.ops.map((op) => [op.name, dot(op)]));
  const words = make("div", { className: "rl-words" }, card);
  const lines = new Map(data.ops.map((op) => [op.name, sentence(op)]));
  const origin = make("p", { className: "rl-origin" }, words), why = make("p", { className: "rl-greyed" }, words);
  const live = make("div", { className: "rl-hidden" }, card);
  live.setAttribute("aria-live", "polite");
  const unfollow = followTheme(el);
  let shown = [], frames = 0, tags = new Map();
  const handles = nameHandles(el, (index) => ({ label: data.sliders[index].label, value: data.sliders[index].values[model.get("ijk"[index])] }));

  function controls(parent) {
    const bar = make("div", { className: "rl-bar" }, parent);
    const choose = (key) => {
      const label = make("label", { textContent: key + " " }, bar), select = make("select", { className: `rl-${key}` }, label);
      keepKeys(select);
      select.addEventListener("change", () => { model.set(key, select.value); model.save_changes(); });
      return select;
    };
    const machine = choose("machine"), groups = new Map();
    for (const m of data.machines) {
      if (!groups.has(m.group)) groups.set(m.group, make("optgroup", { label: m.group }, machine));
      make("option", { value: m.id, textContent: m.name }, groups.get(m.group));
    }
    const dtype = choose("dtype");
    for (const kind of data.dtypes) make("option", { value: kind, textContent: kind }, dtype);
    const button = (parent, label, press) => {
      const node = make("button", { type: "button", textContent: label }, parent);
      keepKeys(node);
      node.addEventListener("click", () => { press(); model.save_changes(); });
      return node;
    };
    const caches = make("span", { className: "rl-group" }, bar);
    caches.setAttribute("role", "group"); caches.setAttribute("aria-label", "where the operands come from");
    const cache = Object.fromEntries(Object.keys(CACHE_WORDS).map((key) => [key, button(caches, key, () => model.set("cache", key))]));
    for (const key in cache) cache[key].title = CACHE_WORDS[key];
    const chips = make("span", { className: "rl-group" }, bar);
    chips.setAttribute("role", "group"); chips.setAttribute("aria-label", "operations shown");
    const op = {};
    if (data.ops.length > 1) for (const o of data.ops) {
      op[o.name] = button(chips, o.label, () => {
        const now = model.get("ops"), next = now.includes(o.name) ? now.filter((n) => n !== o.name) : [...now, o.name];
        model.set("ops", next.length ? next : now); // at least one stays
      });
      op[o.name].style.setProperty("--rl-op", o.colour);
    }
    return { machine, dtype, cache, op };
  }

  function dot(op) {
    const group = draw("g", { class: "rl-dot", "data-op": op.name, stroke: op.colour }, svg), shape = SHAPES[op.shape];
    const gap = draw("path", { "stroke-width": 2, "stroke-dasharray": "2 3", fill: "none" }, group);
    const label = draw("text", { class: "rl-halo", fill: op.colour, "font-weight": 600 }, group);
    const bound = draw("path", { d: shape, fill: "#fff", "stroke-width": 3, class: "rl-bound" }, group);
    const predicted = draw("path", { d: shape, fill: "#fff", "stroke-width": 2, class: "rl-predicted" }, group);
    const measured = draw("path", { d: shape, fill: op.colour, "stroke-width": 1, class: "rl-measured" }, group);
    return { group, gap, label, bound, predicted, measured };
  }

  function sentence(op) {
    const p = make("p", {}, words), mark = draw("svg", { viewBox: "-11 -11 22 22", class: "rl-mark", "aria-hidden": "true" }, p);
    draw("path", { d: SHAPES[op.shape], fill: "#fff", stroke: op.colour, "stroke-width": 3 }, mark);
    return { p, span: make("span", {}, p) };
  }

  const roofs = () => machines.get(model.get("machine"))?.roofs[model.get("dtype")]?.[model.get("cache")];

  function reasons() { // grey what has no figure, and say why in words that need no mouse
    const m = machines.get(model.get("machine")), kind = model.get("dtype"), cache = model.get("cache"), said = [];
    for (const option of ui.machine.querySelectorAll("option")) {
      const other = machines.get(option.value), no = other.no[kind]?.cold ?? other.no.all;
      option.disabled = Boolean(no); option.title = no ?? ""; option.textContent = other.name + (no ? ` (${no})` : "");
    }
    for (const option of ui.dtype.options) {
      const no = m.no[option.value]?.cold ?? m.no.all;
      option.disabled = Boolean(no); option.title = no ?? ""; option.textContent = option.value + (no ? " (no figure)" : "");
      if (no) said.push(no);
    }
    for (const key in ui.cache) {
      const no = m.no[kind]?.[key];
      ui.cache[key].disabled = Boolean(no) && cache !== key;
      ui.cache[key].setAttribute("aria-pressed", cache === key);
      if (no && !said.includes(no)) said.push(`${key} (${no})`);
    }
    for (const name in ui.op) ui.op[name].setAttribute("aria-pressed", model.get("ops").includes(name));
    ui.machine.value = m.id; ui.dtype.value = kind;
    why.textContent = said.length ? `Greyed for ${m.name}: ${said.join(", ")}.` : "";
    origin.textContent = m.origin;
  }

  function drawRoofs() {
    roofLayer.replaceChildren();
    const m = machines.get(model.get("machine"));
    const active = new Set(model.get("ops").map((name) => level(name)));
    if (shown.length > 1) draw("text", { x: frame.x0 + 10, y: frame.y1 + 20, class: "rl-key" }, roofLayer, "roofs from the top");
    shown.forEach((line, index) => {
      const [x0, y0, x1, y1, x2] = line.corners, on = active.has(line.level);
      const g = draw("g", { "clip-path": `url(#${clip})`, class: on ? "rl-roof rl-on" : "rl-roof" }, roofLayer);
      draw("path", { d: `M${x0} ${y0}L${x1} ${y1}H${x2}` }, g);
      if (on) draw("path", { d: `M${x1} ${y1}V${frame.y0}`, class: "rl-ridge" }, g);
      if (on) { // caches crowd their roofs: only the active ones carry their label, all stand in the key
        const slope = (y1 - y0) / (x1 - x0), start = Math.max(x0, x0 + (frame.y0 - y0) / slope), x = start + (x1 - start) * 0.35;
        const turn = (Math.atan(slope) * 180) / Math.PI;
        if (x1 - start > 60) draw("text", { transform: `translate(${x} ${at(line.corners, x)}) rotate(${turn})`, dy: -13, "text-anchor": "middle", class: "rl-halo" }, g, line.slope);
      }
      if (shown.length > 1) draw("text", { x: frame.x0 + 10, y: frame.y1 + 40 + 20 * index, class: on ? "rl-key rl-on" : "rl-key" }, roofLayer, line.slope);
      if (on) draw("text", { x: x1 + 5, y: frame.y0 - 8, class: "rl-halo rl-small" }, g, `ridge ${line.ridge}`);
      if (index === 0) draw("text", { x: frame.x1, y: frame.y1 - 12, "text-anchor": "end", class: "rl-source" }, roofLayer, m.says);
      if (index === 0) draw("text", { x: frame.x1 - 6, y: y1 - 15, "text-anchor": "end", class: "rl-halo rl-flat" }, g, line.flat);
    });
  }

  function setRoofs() { // the roofs slide to a new machine or dtype, unless motion is unwelcome
    const next = roofs() ?? [], from = shown, turn = ++frames, begin = performance.now();
    const same = from.length === next.length && from.every((line, i) => line.level === next[i].level);
    const step = (now) => {
      if (turn !== frames) return;
      const t = same && !still() ? Math.min(1, (now - begin) / 280) : 1, e = t * (2 - t);
      shown = next.map((line, i) => (t < 1 ? { ...line, corners: line.corners.map((c, k) => from[i].corners[k] + e * (c - from[i].corners[k])) } : line));
      drawRoofs(); move();
      if (t < 1) requestAnimationFrame(step);
    };
    reasons(); drawTrail(); drawKey(); step(begin);
  }

  const flat = () => (model.get("i") * J + model.get("j")) * K + model.get("k");
  function level(name) {
    const home = machines.get(model.get("machine"))?.home?.[model.get("dtype")]?.[name];
    return model.get("cache") === "warm" && home ? data.levels[view(home).getUint8(flat())] : "dram";
  }
  const points = (what, name) => machines.get(model.get("machine"))?.[what]?.[model.get("dtype")]?.[model.get("cache")]?.[name];

  function drawTrail() { // every measured point stays as a small filled marker
    trail.replaceChildren();
    for (const op of data.ops) if (model.get("ops").includes(op.name)) for (const p of points("measured", op.name) ?? [])
      draw("path", { d: SHAPES[op.shape], transform: `translate(${p.x} ${p.y}) scale(.45)`, fill: op.colour, opacity: 0.55 }, trail);
  }

  function drawKey() { // what hollow and filled mean, once there is more than the bound
    const there = ["predicted", "measured"].filter((what) => model.get("ops").some((name) => points(what, name)));
    const rows = there.length ? ["the roof allows", ...there] : [];
    key.replaceChildren();
    rows.forEach((word, index) => {
      const y = frame.y0 - 16 - 22 * (rows.length - 1 - index), small = word === "the roof allows" ? 0.8 : 0.6;
      draw("path", { d: SHAPES.circle, transform: `translate(${frame.x1 - 140} ${y - 5}) scale(${small})`, fill: word === "measured" ? "#222" : "#fff", stroke: "#222", "stroke-width": 2.5 }, key);
      draw("text", { x: frame.x1 - 124, y, class: "rl-key rl-halo" }, key, word);
    });
  }

  function place(op, index) {
    const kind = model.get("dtype"), table = op.dtypes[kind], j = model.get("j"), spot = op.spread ? index : model.get("i") * K + model.get("k");
    const x = f32(table.x, spot), d = dots.get(op.name), where = level(op.name);
    const line = shown.find((l) => l.level === where), y = line ? at(line.corners, x) : frame.y0;
    d.bound.setAttribute("transform", `translate(${x} ${y})`);
    d.bound.style.display = line ? "" : "none";
    const values = { name: op.label, sizes: text(op.sizes, index), batch: op.batch[j], dtype: kind,
      flops: text(op.flops, index), bytes: text(table.bytes, index), intensity: text(table.intensity, spot) };
    let say = "none", more = "", low = y;
    if (line) {
      const peak = line.corners[3], side = x < line.corners[2] ? "memory" : "compute"; // the ridge is the polyline's corner
      say = side;
      Object.assign(values, { ridge: line.ridge, level: data.levelWords[where],
        rate: read(data.rulers.rate, (frame.y0 - y) / frame.yDecade + frame.yLo), share: read(data.rulers.share, (peak - y) / frame.yDecade) });
    }
    const speak = (marker, key, p) => {
      const outside = p > frame.y0; // below the axes: said, not drawn
      marker.style.display = p === undefined || outside ? "none" : "";
      if (p === undefined) return;
      marker.setAttribute("transform", `translate(${x} ${p}) scale(.8)`);
      const above = model.get("cache") === "warm" ? "above_warm" : "above";
      const word = outside ? "outside" : key === "measured" && p < y ? above : key;
      if (!outside) low = Math.max(low, p);
      more += fill(data.say[word], { what: key === "measured" ? "Measured" : "Predicted", rate: read(data.rulers.rate, (frame.y0 - p) / frame.yDecade + frame.yLo), gap: read(data.rulers.gap, Math.abs(p - y) / frame.yDecade) });
    };
    const estimate = j === 0 ? points("predicted", op.name) : null; // predict() is asked for single problems only
    speak(d.predicted, "predicted", estimate ? f32(estimate, model.get("i") * K + model.get("k")) : undefined);
    speak(d.measured, "measured", (points("measured", op.name) ?? []).find((p) => p.at === index)?.y);
    d.gap.setAttribute("d", low - y > 12 ? `M${x} ${y}V${low}` : "");
    const reason = op.why[j] ? " " + op.why[j] : "";
    return { x, y, low, d, label: op.tags[j], sentence: fill(data.say[say], values) + more + fill(reason, { n: data.sliders[0].values[model.get("i")] }) };
  }

  function move() {
    const index = flat(), placed = [], said = [], names = model.get("ops");
    for (const op of data.ops) {
      const visible = names.includes(op.name);
      dots.get(op.name).group.style.display = lines.get(op.name).p.style.display = visible ? "" : "none";
      if (!visible) continue;
      const spot = place(op, index);
      lines.get(op.name).span.textContent = spot.sentence;
      said.push(spot.sentence); placed.push(spot);
    }
    arrange(placed);
    svg.dataset.tick = index;
    if (model.get("cache") === "warm") { const now = names.map(level).join(); if (tags.get("levels") !== now) { tags.set("levels", now); drawRoofs(); } }
    rest(said); handles();
  }

  let resting;
  function rest(said) { // for readers of the screen: once the slider rests, not on every tick
    clearTimeout(resting);
    resting = setTimeout(() => { svg.setAttribute("aria-label", said.join(" ")); live.textContent = `${said.join(" ")} ${origin.textContent}`; }, 400);
  }

  function arrange(placed) { // right of and below their dot, or under all of its markers where a neighbour's gap is in the way
    const taken = [];
    for (const { x, y, low, d, label } of placed.sort((a, b) => a.y - b.y)) {
      const crossed = placed.some((p) => p.x > x && p.x < x + 70 && p.d.gap.getAttribute("d")); // by a neighbour's gap
      const left = x > frame.x1 - 100, under = crossed && low + 27 < frame.y0, lx = under ? x : left ? x - 14 : x + 14;
      let ly = under ? low + 27 : y + 21;
      for (const t of taken) if (Math.abs(t.x - lx) < 100 && Math.abs(t.y - ly) < 20) ly = t.y + 20;
      taken.push({ x: lx, y: ly });
      d.label.textContent = label;
      d.label.setAttribute("text-anchor", under ? "middle" : left ? "end" : "start");
      d.label.setAttribute("x", lx); d.label.setAttribute("y", ly);
    }
  }

  model.on("change:i change:j change:k", move);
  model.on("change:machine change:dtype change:cache change:ops", setRoofs);
  hush(model, model.get("hushed"));
  shown = roofs() ?? [];
  setRoofs();
  return () => { frames = -1; clearTimeout(resting); unfollow(); URL.revokeObjectURL(url); };
}
export default { render };
