// The waterfall. Python has worked out, placed and formatted every step; this file looks up the row
// of the sliders' values and puts bars where it says. No formula of a time belongs here.

function render({ model, el }) {
  const data = model.get("data"), say = data.say, I = data.many;
  const text = (i) => data.texts[i];
  const card = make("div", { className: "rl-card rl-fall" }, el), bar = make("div", { className: "rl-bar" }, card);
  const buttons = new Map();
  if (data.ops.length > 1) {
    const group = make("span", { className: "rl-group" }, bar);
    group.setAttribute("role", "group"); group.setAttribute("aria-label", "operation in the waterfall");
    for (const op of data.ops) {
      const node = make("button", { type: "button", textContent: op.label }, group);
      keepKeys(node); node.style.setProperty("--rl-op", op.ink);
      node.addEventListener("click", () => { model.set("op", op.name); model.save_changes(); });
      buttons.set(op.name, node);
    }
  }
  const key = make("span", { className: "rl-fall-key" }, bar);
  for (const [look, word] of [["rl-slower", say.slower], ["rl-faster", say.faster], ["rl-slower rl-rest", say.rest]]) {
    const item = make("span", {}, key), swatch = make("i", { className: `rl-step ${look}` }, item);
    swatch.style.position = "static"; item.append(word);
  }
  make("span", { textContent: say.rule }, key);
  const jumps = make("div", { className: "rl-bar rl-jumps" }, card);
  const sentence = make("p", { className: "rl-says" }, card), grid = make("div", { className: "rl-fall-grid" }, card);
  const rules = make("div", { className: "rl-fall-ticks" }, grid);
  const rows = [say.bound, ...data.steps, say.rest, ""].map(row);
  const axis = make("div", { className: "rl-fall-axis" }, grid);
  const live = make("div", { className: "rl-hidden" }, card);
  live.setAttribute("aria-live", "polite");
  const announce = speaker(live), unfollow = followTheme(el);
  let wide = 400, marks = [], target = null, lo = 0, hi = 1, stop = () => {}, shown = null;

  function row(title, index, all) {
    const last = index === all.length - 1, stops = last || index === 0, cell = (name) => {
      const node = make("div", { className: name + (last ? " rl-last" : index ? "" : " rl-first") }, grid);
      node.style.gridRow = index + 1;
      return node;
    };
    const name = cell("rl-fall-name"), lane = cell("rl-fall-lane"), time = cell("rl-fall-time");
    name.style.gridColumn = 1; lane.style.gridColumn = 2; time.style.gridColumn = 3; time.style.position = "relative";
    const title_ = make("b", { textContent: title }, name), note = make("span", {}, name);
    const link = last ? null : make("u", {}, lane);
    const body = make("div", { className: stops ? "rl-stop" : "rl-step" }, lane), factor = stops ? null : make("b", {}, lane);
    if (link && index === all.length - 2) link.style.height = "calc(50% + 18px)"; // the last row is lower
    return { cells: [name, lane, time], lane, title: title_, note, link, body, factor, time };
  }

  const place = (code) => code / data.perDecade + data.lowest;
  const time = (at) => read(data.seconds, at);

  function look() { // what stands in the tables for the sliders and choices as they are
    const m = data.machines[model.get("machine")], kind = m.kinds.indexOf(model.get("dtype")), i = model.get("i");
    const s = data.ops.findIndex((op) => op.name === model.get("op")), op = data.ops[s];
    if (kind < 0) return { says: `${m.name}: ${m.no}.`, steps: [] };
    if (model.get("j")) return { says: say.single, steps: [] };
    const at = (kind * data.ops.length + s) * I + i, [carried, low, high] = m.bound[kind * data.ops.length + s];
    const curves = op.curves[m.kinds[kind]], start = i < carried ? f32(curves.carry, i) + low : f32(curves.compute, i) + high;
    const [cache, timed] = side(m, m.kinds[kind], op.name, i), steps = [];
    const note = text(m.notes[kind * data.ops.length + s]);
    const what = fill(say.what, { name: op.label, sizes: text(u16(op.sizes, i)), batch: "", dtype: m.kinds[kind] });
    const values = { what, machine: m.name, bound: time(start) };
    if (!m.rows || !(m.predicts || timed)) return { start, note, steps, says: `${fill(say.allowed, values)} ${m.why}` };
    const entry = (column) => u16(m.rows[cache], 10 * at + column);
    for (let n = 0; n < 3; n++) steps.push({ to: place(entry(n)), factor: text(entry(3 + n)), note: text(entry(6 + n)) });
    if (timed) {
      const [to, factor, total, says, why] = timed;
      steps.push({ to: place(to), factor: text(factor), note: text(why) });
      return { start, note, steps, says: text(says) + which(cache), reached: "measured", total: text(total) };
    }
    Object.assign(values, { end: time(steps[2].to), factor: text(entry(9)).slice(1) });
    return { start, note, steps, says: fill(say.expected, values) + which(cache), reached: "predicted", total: text(entry(9)) };
  }

  function side(m, kind, name, i) { // where the roofline shows both: the side that was measured, cold before warm
    const cache = model.get("cache"), timed = (one) => m.measured?.[one]?.[kind]?.[name]?.[i];
    const found = cache !== "both" ? cache : !timed("cold") && timed("warm") ? "warm" : "cold";
    return [found, timed(found)];
  }

  function offer() { // buttons for the sizes that were measured: they move the slider
    const m = data.machines[model.get("machine")], cache = model.get("cache"), name = model.get("op");
    const sides = cache === "both" ? ["cold", "warm"] : [cache], key = [m.name, model.get("dtype"), cache, name].join();
    if (jumps.dataset.key !== key) {
      jumps.dataset.key = key;
      const sizes = [...new Set(sides.flatMap((one) => Object.keys(m.measured?.[one]?.[model.get("dtype")]?.[name] ?? {})))].map(Number).sort((a, b) => a - b);
      jumps.replaceChildren(...(sizes.length ? [say.jumps] : []));
      for (const i of sizes) {
        const node = make("button", { type: "button", textContent: data.sizes[i], value: i }, jumps);
        keepKeys(node); node.setAttribute("aria-label", `${say.jump} ${data.sizes[i]}`);
        node.addEventListener("click", () => { model.set("i", i); model.set("j", 0); model.save_changes(); });
      }
    }
    for (const node of jumps.children) node.setAttribute("aria-pressed", !model.get("j") && Number(node.value) === model.get("i"));
  }

  function choose() { // the narrowest window that holds every bar
    const places = [0, ...shown.steps.map((step) => step.to - shown.start)];
    const least = Math.min(...places), most = Math.max(...places);
    const found = data.windows.find((w) => { const free = 0.06 * (w.hi - w.lo); return w.lo + free <= least && most <= w.hi - free; }) ?? data.windows.at(-1);
    if (found === target) return paint();
    const from = [lo, hi], first = target === null;
    target = found; stop();
    rules.replaceChildren(); axis.replaceChildren();
    marks = found.ticks.map(([at, label]) => {
      const className = at === 0 ? "rl-one" : "";
      return { at, nodes: [make("i", { className }, rules), make("span", { className, textContent: label }, axis)] };
    });
    make("small", { textContent: "times the bound (equal factors, equal lengths)" }, axis);
    const glide = (t) => { [lo, hi] = blend(from, [found.lo, found.hi], t); paint(); };
    if (first) glide(1); else stop = animate(250, glide);
  }

  function paint() {
    const x = (at) => (100 * (at - lo)) / (hi - lo), put = (node, at) => { node.style.left = `${at}%`; };
    for (const { at, nodes } of marks) for (const node of nodes) { put(node, x(at)); node.style.display = x(at) < -1 || x(at) > 101 ? "none" : ""; }
    thin(marks.map(({ at, nodes: [, node] }) => ({ node, at: x(at), half: (100 * (4 + 5 * node.textContent.length)) / wide, one: at === 0 })));
    let here = 0;
    put(rows[0].body, x(0));
    rows.forEach(({ link, body, factor }, index) => {
      const step = index > 0 && index < 5 ? shown.steps[index - 1] : null;
      if (step) {
        const to = step.to - shown.start, left = Math.min(x(here), x(to)), right = Math.max(x(here), x(to));
        const width = Math.max(right - left, 300 / wide); // at least 3 pixels
        put(body, (left + right - width) / 2); body.style.width = `${width}%`;
        label(factor, step, left, right);
        here = to;
      }
      if (link) put(link, x(here));
    });
    put(rows[5].body, x(here));
  }

  function thin(labels) { // in a narrow lane some labels would lie on each other: the bound's stays
    const kept = labels.filter(({ one }) => one);
    for (const label of labels) if (!label.one) {
      const apart = kept.every((other) => Math.abs(other.at - label.at) > other.half + label.half);
      if (apart) kept.push(label); else label.node.style.display = "none";
    }
  }

  function label(node, step, left, right) { // beyond the tip, else at the other end, else on the bar
    const need = (100 * (18 + 10 * step.factor.length)) / wide, gap = 700 / wide;
    const after = right + need < 102, before = left - need > -2, ends = step.kind === "rl-faster" ? [before && "before", after && "after"] : [after && "after", before && "before"];
    const where = ends.find(Boolean) ?? "on", rest = step.rest ? " rl-rest" : "";
    node.className = `${step.kind} rl-${where}${rest}`;
    node.style.left = `${where === "after" ? right + gap : where === "before" ? left - gap : (left + right) / 2}%`;
  }

  const which = (cache) => (model.get("cache") === "both" ? ` ${say[cache]}` : "");

  function move() {
    shown = look(); offer();
    let here = shown.start;
    shown.steps.forEach((step, index) => {
      step.kind = step.factor === "×1" ? "rl-same" : step.to > here ? "rl-slower" : "rl-faster";
      step.rest = index === 3; here = step.to;
    });
    rows.forEach((r, index) => {
      const step = shown.steps[index - 1], there = index === 0 ? shown.start !== undefined : index === 5 ? Boolean(shown.reached) : Boolean(step);
      for (const cell of r.cells) { cell.classList.toggle("rl-none", !there); cell.style.display = there || shown.reached ? "" : "none"; }
      r.body.style.display = there ? "" : "none";
      if (r.link) r.link.style.display = shown.reached ? "" : "none";
      if (r.factor) { r.factor.textContent = step?.factor ?? ""; r.body.className = `rl-step ${step?.kind ?? ""}${index === 4 ? " rl-rest" : ""}`; }
      r.note.textContent = step?.note ?? (index === 0 ? shown.note ?? "" : "");
      r.time.textContent = !there ? "" : time(index === 0 ? shown.start : index === 5 ? here : step.to);
    });
    if (shown.reached === "predicted") rows[4].note.textContent = "nothing was measured at this size";
    rows[5].title.textContent = shown.reached ? `${shown.reached}: ${shown.total} the bound` : "measured";
    rows[5].body.classList.toggle("rl-hollow", shown.reached === "predicted");
    grid.style.display = shown.start === undefined ? "none" : "";
    sentence.textContent = shown.says;
    grid.dataset.tick = `${model.get("i")} ${model.get("j")}`;
    choose();
    announce([shown.says, ...shown.steps.map((step, index) => `${rows[index + 1].title.textContent} ${step.factor}, ${time(step.to)}.`)].join(" "));
  }

  const mark = () => { for (const [name, node] of buttons) node.setAttribute("aria-pressed", model.get("op") === name); };
  const sized = new ResizeObserver(() => { wide = rows[0].lane.clientWidth || wide; if (shown) paint(); });
  sized.observe(rows[0].lane);
  model.on("change:i change:j change:machine change:dtype change:cache", move);
  model.on("change:op", () => { mark(); move(); });
  mark(); move();
  return () => { stop(); sized.disconnect(); unfollow(); };
}
export default { render };
