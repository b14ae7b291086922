// The markers that move, and their sentences. Python has counted and placed everything; this file
// interpolates a polyline at x, moves markers there and fills templates.

function dots(svg, data, pick, model, lens) {
  const frame = data.frame, top = draw("g", {}); // texts, above every ring
  const made = new Map(data.ops.map((op) => [op.name, dot(op)]));
  svg.append(top);
  const text = (table, i) => data.texts[u16(table, i)], decades = lens.decades;
  const rate = (y) => read(data.rulers.rate, lens.height(y)), gap = (pixels) => read(data.rulers.gap, decades(Math.abs(pixels)));

  function dot(op) {
    const group = draw("g", { class: "rl-dot", "data-op": op.name, stroke: op.colour }, svg), shape = SHAPES[op.shape];
    const path = draw("path", { "stroke-width": 2, "stroke-dasharray": "2 3", fill: "none" }, group);
    const join = draw("path", { "stroke-width": 6, opacity: 0.3, class: "rl-join" }, group);
    const texts = draw("g", { "data-op": op.name }, top);
    const label = draw("text", { class: "rl-halo", fill: op.ink, "font-weight": 600 }, texts), note = draw("text", { class: "rl-halo rl-over", fill: op.ink }, texts);
    const bound = draw("path", { d: shape, fill: "#fff", "stroke-width": 3, class: "rl-bound" }, group);
    const predicted = draw("path", { d: shape, fill: "#fff", "stroke-width": 2, class: "rl-predicted" }, group);
    const measured = draw("path", { d: shape, fill: op.colour, "stroke-width": 1, class: "rl-measured" }, group);
    const sides = {};
    for (const [side, look] of Object.entries(data.sides.looks)) {
      const g = draw("g", { class: `rl-side rl-${side}` }, group);
      draw("circle", { r: look.radius, fill: "none", stroke: look.colour, "stroke-width": 4.5 }, g);
      sides[side] = { g, mark: draw("path", { d: shape }, g), how: "", y: 0 };
      g.style.display = "none";
    }
    return { group, texts, gap: path, join, label, note, bound, predicted, measured, sides, x: 0, parted: false, noted: "" };
  }

  function called(op, side) { // the cost of the call, where it is most of a predicted time
    const call = pick.call(op.name, side);
    return call && model.get("i") <= call.until ? fill(data.say[`call_${side}`], { call: call.call }) : "";
  }
  // predict() is asked for single problems only.
  const estimated = (op, side) => { const rows = model.get("j") === 0 ? pick.points("predicted", op.name, side) : null; return rows ? lens.y(f32(rows, pick.row())) : undefined; };
  const timed = (op, side, index) => { const p = (pick.points("measured", op.name, side) ?? []).find((one) => one.at === index); return p && lens.y(p.y); };

  function lone(op, index, d, x, line, side, values) { // one side: the bound, and how far below it the rest lies
    const y = line ? at(line.corners, x) : frame.y0;
    d.bound.setAttribute("transform", `translate(${x} ${y})`);
    d.bound.style.display = line ? "" : "none";
    if (d.parted) whole(d);
    let say = "none", more = "", low = y;
    const marks = line ? [y] : [];
    if (line) {
      say = x < line.corners[2] ? "memory" : "compute"; // the ridge is the polyline's corner
      Object.assign(values, { ridge: line.ridge, level: data.levelWords[line.level], rate: rate(y), share: read(data.rulers.share, decades(line.corners[3] - y)) });
    }
    const speak = (marker, key, p) => {
      const outside = p > frame.y0; // below the axes: said, not drawn
      marker.style.display = p === undefined || outside ? "none" : "";
      if (p === undefined) return;
      marker.setAttribute("transform", `translate(${x} ${p}) scale(${key === "predicted" ? 0.55 : 0.8})`);
      const above = side === "warm" ? "above_warm" : "above";
      const word = outside ? "outside" : key === "measured" && p < y ? above : key;
      if (!outside) { low = Math.max(low, p); marks.push(p); }
      more += fill(data.say[word], { what: key === "measured" ? "Measured" : "Predicted", rate: rate(p), gap: gap(p - y) });
    };
    const estimate = estimated(op, side);
    speak(d.predicted, "predicted", estimate);
    if (estimate !== undefined) more += called(op, side);
    speak(d.measured, "measured", timed(op, side, index));
    d.gap.setAttribute("d", low - y > 12 ? `M${x} ${y}V${low}` : "");
    return { y, low, top: Math.min(y, ...marks), marks, room: 0, said: fill(data.say[say], values) + more };
  }

  function whole(d) {
    for (const one of Object.values(d.sides)) one.g.style.display = "none";
    d.join.setAttribute("d", ""); annotate(d, "");
    d.parted = false;
  }

  function annotate(d, text) { // texts that did not change cost nothing
    if (d.noted !== text) d.note.textContent = d.noted = text;
  }

  const LOOKS = { measured: { scale: 0.8, width: 1 }, predicted: { scale: 0.8, width: 2 }, bound: { scale: 0.8, width: 3 } };

  // Both sides: each shows what is best known of it. `apart` goes from 0, where both lie on side `from`, to 1.
  function split(op, index, d, x, lines, apart, from, values) {
    if (!d.parted) for (const key of ["bound", "predicted", "measured"]) d[key].style.display = "none";
    d.parted = true;
    const told = {};
    for (const side in lines) {
      const roof = at(lines[side].corners, x), m = timed(op, side, index), p = m ?? estimated(op, side);
      told[side] = { roof, y: p ?? roof, how: m !== undefined ? "measured" : p !== undefined ? "predicted" : "bound" };
    }
    let said = "", low = 0;
    for (const side in told) {
      const { roof, y, how } = told[side], one = d.sides[side], line = lines[side], outside = y > frame.y0;
      one.y = told[from].y + apart * (y - told[from].y); d.x = x;
      if (one.how !== how) {
        one.how = how;
        one.mark.setAttribute("fill", how === "measured" ? op.colour : "#fff");
        one.mark.setAttribute("stroke-width", LOOKS[how].width);
        one.mark.setAttribute("transform", `scale(${LOOKS[how].scale})`);
      }
      one.g.setAttribute("transform", `translate(${x} ${one.y})`);
      one.g.style.display = one.y > frame.y0 ? "none" : "";
      if (!outside) low = Math.max(low, one.y);
      said += fill(data.say[how === "bound" ? "side_bound" : outside ? "side_outside" : "side"], {
        side: data.sides.looks[side].name, how, rate: rate(y), gap: gap(y - roof), where: y < roof ? "above" : "below",
        roof: data.sides.roof[x < line.corners[2] ? line.level : "peak"] });
      if (side === "warm") said += trap(d, x, y, told.cold.roof, line.level, apart);
      if (how === "predicted") said += called(op, side);
    }
    const top = Math.min(...Object.values(d.sides).map((one) => one.y)), bottom = Math.min(frame.y0, Math.max(...Object.values(d.sides).map((one) => one.y)));
    d.join.setAttribute("d", bottom > top ? `M${x} ${top}V${bottom}` : "");
    const warm = told.warm;
    d.gap.setAttribute("d", d.sides.warm.y - warm.roof > 20 ? `M${x} ${warm.roof}V${d.sides.warm.y - 17}` : "");
    const marks = Object.values(d.sides).map((one) => one.y).filter((place) => place <= frame.y0);
    return { y: low || bottom, low: bottom, top, marks, room: 8, said: fill(data.say.none, values) + said };
  }

  function trap(d, x, y, memory, level, apart) { // warm above the DRAM roof: said, and marked at the dot
    const much = y < memory ? gap(memory - y) : data.rulers.gap.labels[0], over = much !== data.rulers.gap.labels[0];
    annotate(d, over && apart === 1 ? fill(data.say.trap_label, { gap: much, place: data.sides.place[level] }) : "");
    return over ? fill(data.say.trap, { gap: much, source: data.sides.source[level] }) : "";
  }

  function place(op, index, shown, apart, from) {
    const kind = pick.kind(), table = op.dtypes[kind], j = model.get("j"), spot = op.spread ? index : pick.row(), sides = pick.sides();
    const x = f32(table.x, spot), d = made.get(op.name), roof = (side) => shown.find((l) => l.level === pick.level(op.name, side));
    const values = { name: op.label, sizes: text(op.sizes, index), batch: op.batch[j], dtype: kind,
      flops: text(op.flops, index), bytes: text(table.bytes, index), intensity: text(table.intensity, spot) };
    const told = sides.length > 1 ? split(op, index, d, x, Object.fromEntries(sides.map((side) => [side, roof(side)])), apart, from, values)
      : lone(op, index, d, x, roof(sides[0]), sides[0], values);
    const reason = op.why[j] ? " " + op.why[j] : "";
    return { x, ...told, d, label: op.tags[j], sentence: told.said + fill(reason, { n: data.sliders[0].values[model.get("i")] }) };
  }

  function join(e, stays) { // one side again: the other's marker glides into it and is gone
    for (const d of made.values()) for (const side in d.sides) if (side !== stays) {
      const one = d.sides[side], y = one.y + e * (d.sides[stays].y - one.y);
      one.g.style.display = e < 1 && y < frame.y0 ? "" : "none";
      one.g.setAttribute("transform", `translate(${d.x} ${y})`);
      d.parted = e < 1;
    }
  }

  const show = (name, visible) => { for (const part of ["group", "texts"]) made.get(name)[part].style.display = visible ? "" : "none"; };
  return { place, join, show };
}
