// The live roofline: ties the choices, the roofs and the dots of the files before it together.
// No FLOP, byte or roof formula belongs in any of them.

function render({ model, el }) {
  const data = model.get("data"), frame = data.frame, pick = chosen(model, data);
  const card = make("div", { className: "rl-card" }, el);
  const ui = controls(card, model, data), stage = make("div", { className: "rl-stage" }, card);
  const svg = draw("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, class: "rl-live", role: "img" }, stage);
  const lens = axes(svg, data), back = background(svg, data, pick, lens), front = dots(svg, data, pick, model, lens);
  let decades = pick.decades(), seen = decades; // where the axes rest, and what they show while they glide
  const lock = lockButton(ui.bar, model, data, () => decades);
  const words = make("div", { className: "rl-words" }, card);
  const lines = new Map(data.ops.map((op) => [op.name, sentence(op)]));
  const origin = make("p", { className: "rl-origin" }, words), why = make("p", { className: "rl-greyed" }, words);
  const live = make("div", { className: "rl-hidden" }, card);
  live.setAttribute("aria-live", "polite");
  const unfollow = followTheme(el);
  let shown = [], sheet = [], frames = 0, sides = pick.sides(), apart = 1, from = "cold", levels = "", column = -1;
  const handles = nameHandles(el, data.sliders.length, (index) => ({ label: data.sliders[index].label, value: data.sliders[index].values[model.get("ijk"[index])] }));

  function sentence(op) {
    const p = make("p", {}, words), mark = draw("svg", { viewBox: "-11 -11 22 22", class: "rl-mark", "aria-hidden": "true" }, p);
    draw("path", { d: SHAPES[op.shape], fill: "#fff", stroke: op.colour, "stroke-width": 3 }, mark);
    return { p, span: make("span", {}, p) };
  }

  function change() { // axes and roofs slide to a new machine or dtype, dots part or join, unless motion is unwelcome
    const target = pick.decades(), locked = model.get("decades");
    if (locked.length && String(target) !== String(locked)) { // which comes back here
      model.set("decades", target); model.save_changes();
      return;
    }
    const next = pick.roofs() ?? [], old = sheet, was = seen, before = sides, turn = ++frames, begin = performance.now();
    const glide = String(was) !== String(target);
    sides = next.length ? pick.sides() : ["cold"];
    const same = old.length === next.length && old.every((line, i) => line.level === next[i].level);
    const part = sides.length > before.length, join = sides.length < before.length;
    if (part) from = before[0];
    const step = (now) => {
      if (turn !== frames) return;
      const t = (same || part || join || glide) && !still() ? Math.min(1, (now - begin) / 280) : 1, e = t * (2 - t);
      sheet = next.map((line, i) => (same && t < 1 ? { ...line, corners: blend(old[i].corners, line.corners, e) } : line));
      seen = t < 1 ? blend(was, target, e) : target;
      lens.show(seen); shown = sheet.map(lens.roof);
      if (glide || t === 1) back.still(column);
      apart = part ? e : 1;
      back.roofs(shown); move();
      if (join) front.join(e, sides[0]);
      if (t < 1) requestAnimationFrame(step);
    };
    // Room for the longest sentence is kept, so that a tick moves nothing below it.
    words.classList.toggle("rl-tall", sides.length > 1 || Boolean(pick.machine().calls));
    why.textContent = grey(ui, model, pick); origin.textContent = `${data.band?.said ?? ""} ${pick.machine().origin}`.trim();
    column = model.get("j"); decades = target; lock();
    step(begin);
  }

  function move() {
    const index = pick.flat(), placed = [], said = [];
    for (const op of data.ops) {
      const visible = pick.shows(op.name);
      front.show(op.name, visible); lines.get(op.name).p.style.display = visible ? "" : "none";
      if (!visible) continue;
      const spot = front.place(op, index, shown, apart, from);
      lines.get(op.name).span.textContent = spot.sentence;
      said.push(spot.sentence); placed.push(spot);
    }
    arrange(placed, frame, back.lines(), back.fixed());
    svg.dataset.tick = index;
    if (column !== model.get("j")) { column = model.get("j"); back.legend(column); }
    if (sides.includes("warm")) { const now = pick.levels().join(); if (levels !== now) { levels = now; back.roofs(shown); } }
    rest(said); handles();
  }

  let resting;
  function rest(said) { // for readers of the screen: once the slider rests, not on every tick
    clearTimeout(resting);
    if (!svg.hasAttribute("aria-label")) svg.setAttribute("aria-label", said.join(" ")); // never without a name
    resting = setTimeout(() => { handles(); svg.setAttribute("aria-label", said.join(" ")); live.textContent = `${said.join(" ")} ${origin.textContent}`; }, 400);
  }

  model.on("change:i change:j change:k", move);
  model.on("change:machine change:dtype change:cache change:ops change:decades", change);
  hush(model, model.get("hushed"));
  sheet = pick.roofs() ?? [];
  change();
  return () => { frames = -1; clearTimeout(resting); unfollow(); };
}
export default { render };
