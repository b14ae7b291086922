// The time of one step over the context, as stacked bars; and beside the roofline the numbers of
// this step and the share that each kind of operation has in it.

const write = (node, text) => { if (node.textContent !== text) node.textContent = text; }; // what stays costs no layout

function filmBars(parent, data, pick, go) {
  const g = data.bars, [, J] = data.shape, name = `rl-film-${Math.random().toString(36).slice(2)}`;
  const svg = draw("svg", { viewBox: `0 0 ${g.width} ${g.height}`, class: "rl-bars", role: "img", "aria-label": g.says }, parent);
  draw("rect", { x: g.x0, y: g.y1, width: g.x1 - g.x0, height: g.y0 - g.y1 }, draw("clipPath", { id: name }, svg));
  const rules = draw("g", {}, svg), inside = draw("g", { "clip-path": `url(#${name})` }, svg);
  const paths = Object.fromEntries(data.parts.map((p) => [p.name, draw("path", { fill: p.colour, "data-part": p.name }, inside)]));
  const torn = draw("path", { class: "rl-torn" }, svg), cross = draw("path", { class: "rl-cross" }, svg), crossing = draw("text", { class: "rl-halo rl-crossing" }, svg);
  const frame = draw("rect", { class: "rl-now", width: g.wide + 6 }, svg), value = draw("text", { class: "rl-halo rl-value", "text-anchor": "middle" }, svg);
  const timed = draw("g", {}, svg);
  for (const part of data.parts) { // the key, above the bars
    draw("rect", { x: part.left, y: 5, width: 13, height: 13, fill: part.colour }, svg);
    draw("text", { x: part.left + 18, y: 17, class: "rl-key" }, svg, part.label);
  }
  draw("path", { d: `M${g.x0} ${g.y0}H${g.x1}`, class: "rl-axis" }, svg);
  g.ticks.forEach(([x, label]) => draw("text", { x, y: g.y0 + 20, "text-anchor": "middle", class: "rl-key" }, svg, label));
  draw("text", { x: (g.x0 + g.x1) / 2, y: g.y0 + 40, "text-anchor": "middle", class: "rl-key" }, svg, g.axis);
  if (data.trained) draw("path", { d: `M${data.trained.x} ${g.y0 + 1}v5`, class: "rl-trained" }, svg);
  for (let j = 0; j < J; j++) {
    const hit = draw("rect", { x: g.xs[j] - g.pitch / 2, y: g.y1, width: g.pitch, height: g.y0 - g.y1, class: "rl-hit" }, svg);
    hit.addEventListener("click", () => go(j));
  }
  let ruled = "", drawn = "", tops = [], marked = null;

  function scale(place) { // the first of Python's scales that holds this bar, and the crossing
    const steady = data.kinds.filter((kind) => !kind.wide).reduce((sum, kind) => sum + pick.seconds(kind, place), 0);
    const most = Math.max(1.12 * total(place), Math.min(2.4 * steady, 1.12 * total({ ...place, j: J - 1 })), ...pick.timed().map((run) => 1.1 * run.seconds));
    return g.scales.find((one) => one.seconds >= most) ?? g.scales.at(-1);
  }
  const total = (place) => data.kinds.reduce((sum, kind) => sum + pick.seconds(kind, place), 0);

  function rule(one) {
    if (ruled === one) return;
    ruled = one; rules.replaceChildren();
    for (const [share, label] of one.ticks) {
      const y = g.y0 - share * (g.y0 - g.y1);
      draw("path", { d: `M${g.x0} ${y}H${g.x1}`, class: "rl-rule" }, rules);
      draw("text", { x: g.x0 - 8, y: y + 5, "text-anchor": "end", class: "rl-key" }, rules, label);
    }
  }

  function move() {
    const now = pick.at(), on = Boolean(pick.roof());
    for (const node of [frame, value, cross, crossing, torn, inside]) node.style.display = on ? "" : "none";
    timed.replaceChildren();
    svg.dataset.tick = `${now.i} ${now.j}`;
    if (!on) return;
    const one = scale(now), high = (g.y0 - g.y1) / one.seconds, same = [now.w, now.kv, now.i, pick.machine().id, one.seconds].join();
    rule(one);
    if (drawn !== same) { drawn = same; stack(now, high); crossed(); } // another context only moves the frame
    const x = g.xs[now.j], top = Math.max(tops[now.j], g.y1);
    frame.setAttribute("x", x - g.wide / 2 - 3); frame.setAttribute("y", top - 3); frame.setAttribute("height", g.y0 - top + 3);
    words(x, top, high);
  }

  // What stands in words over the bars keeps off each other, by the rule of live_names.js.
  function words(x, top, high) {
    const boxes = [], field = { x0: 0, x1: g.width, y0: g.y0 - 6, y1: 22 }, scene = { frame: field, boxes, lines: [], placed: [] };
    const put = (node, text, letter, own, spots) => { write(node, text); boxes.push(settle(node, text, letter, spots, scene, { ...own, marks: [own.y] })); };
    const runs = pick.timed().map((run) => ({ run, x: run.x, y: Math.max(g.y0 - run.seconds * high, g.y1) }));
    for (const own of runs) boxes.push({ x0: own.x - 10, x1: own.x + 10, y0: own.y - 10, y1: own.y + 10 });
    const middle = Math.min(Math.max(x, g.x0 + 44), g.x1 - 44);
    put(value, pick.text(pick.machine().total, pick.spot(pick.at())), 15.5, { x, y: top }, [
      ...[9, 31, 53].map((up) => [middle, top - up, "middle"]), ...[9, 31].flatMap((up) => [[x - 16, top - up, "end"], [x + 16, top - up, "start"]]),
    ]);
    if (marked) {
      const ends = [[marked.x - 4, "start"], [marked.x + 4, "end"]], sides = marked.x > (g.x0 + g.x1) / 2 ? ends.reverse() : ends;
      put(crossing, marked.text, 11.5, { x: marked.x, y: g.y1 }, [9, 27].flatMap((up) => sides.map(([at, anchor]) => [at, g.y1 - up, anchor])));
    }
    for (const { run, x: at, y } of runs) { // what a real decode loop took, where its context lies
      draw("path", { d: SHAPES.diamond, transform: `translate(${at} ${y})`, class: "rl-timed" }, timed);
      const right = [0, -24, 26].map((down) => [at + 14, y + 6 + down, "start"]), left = [0, -24, 26].map((down) => [at - 14, y + 6 + down, "end"]);
      const beside = at > (g.x0 + g.x1) / 2 ? [...left, ...right] : [...right, ...left];
      put(draw("text", { class: "rl-halo" }, timed), fill(g.measured, run), 13, { x: at, y }, [...beside, [at, y - 40, "middle"], [at, y + 44, "middle"]]);
    }
  }

  function stack(now, high) { // all bars of a part are one path
    const d = Object.fromEntries(data.parts.map((p) => [p.name, ""]));
    let tears = "";
    tops = g.xs.map((middle, j) => {
      const place = { ...now, j }, parts = {}, x = middle - g.wide / 2, w = g.wide / 4;
      let y = g.y0;
      for (const kind of data.kinds) { const part = pick.limited(kind, place); parts[part] = (parts[part] ?? 0) + pick.seconds(kind, place) * high; }
      for (const { name } of data.parts) if (parts[name] > 0) { d[name] += `M${x} ${y}v${-parts[name]}h${g.wide}v${parts[name]}z`; y -= parts[name]; }
      if (y < g.y1 - 0.5) tears += `M${x - 1} ${g.y1 + 7}l${w} -5 ${w} 5 ${w} -5 ${w + 2} 5`;
      return y;
    });
    for (const name in d) paths[name].setAttribute("d", d[name]);
    torn.setAttribute("d", tears);
  }

  function crossed() { // where the KV cache takes as long as everything else
    const m = pick.machine(), x = f32(m.crossings, pick.row()), label = x > 0 ? pick.text(m.crossing, pick.row()) : "";
    cross.setAttribute("d", label ? `M${x} ${g.y1 - 4}V${g.y0}` : "");
    marked = label ? { x, text: fill(g.crossing, { context: label }) } : null;
    if (!marked) write(crossing, "");
  }

  return { move };
}

function filmSide(parent, data, pick) {
  const big = make("p", { className: "rl-rate" }, parent), ran = make("p", { className: "rl-ran-rate" }, parent), lines = make("div", { className: "rl-facts" }, parent);
  const facts = Object.fromEntries(data.facts.map(([key, label]) => { const row = make("p", {}, lines); make("span", { textContent: label }, row); return [key, { row, value: make("b", {}, row) }]; }));
  const grid = make("div", { className: "rl-shares" }, parent);
  make("p", { className: "rl-head", textContent: data.heading }, grid);
  const rows = data.kinds.map((kind) => {
    const row = make("div", { className: "rl-share" }, grid), title = make("span", { className: "rl-title" }, row);
    const mark = draw("svg", { viewBox: "-12 -12 24 24", class: "rl-mark", "aria-hidden": "true" }, title);
    draw("path", { d: SHAPES[kind.shape], fill: "#fff", stroke: kind.colour, "stroke-width": 3 }, mark);
    title.append(kind.label);
    const time = make("b", {}, row), lane = make("span", { className: "rl-lane" }, row), bar = make("i", {}, lane), limit = make("span", { className: "rl-limit" }, row);
    return { kind, time, bar, limit };
  });
  const colour = Object.fromEntries(data.parts.map((p) => [p.name, p.colour]));

  function move() {
    const place = pick.at(), index = pick.spot(place), m = pick.machine(), on = Boolean(pick.roof());
    big.style.display = ran.style.display = lines.style.display = grid.style.display = on ? "" : "none";
    if (!on) return;
    write(big, pick.text(m.rate, index));
    write(ran, pick.timed().map((run) => run.rate).join(" "));
    write(facts.total.value, pick.text(m.total, index)); write(facts.moved.value, pick.text(data.moved, index));
    write(facts.each.value, pick.text(m.each, index)); write(facts.prompt.value, pick.text(m.prompt, pick.prompt(place)));
    const full = m.has && !pick.fits(place);
    write(facts.need.value, fill(data.say[!m.has ? "needs" : full ? "misfit" : "held"], { need: pick.text(data.need, index), has: m.has }));
    facts.need.row.classList.toggle("rl-full", Boolean(full));
    const total = data.kinds.reduce((sum, kind) => sum + pick.seconds(kind, place), 0);
    for (const { kind, time, bar, limit } of rows) {
      const part = pick.limited(kind, place);
      write(time, pick.time(kind, place));
      bar.style.width = `${(100 * pick.seconds(kind, place)) / total}%`; bar.style.background = colour[part];
      write(limit, data.limits[part]);
    }
  }

  return { move };
}
