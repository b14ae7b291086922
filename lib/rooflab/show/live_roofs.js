// What stands still while the sliders move: roofs, the thumb rule's band, overhead lines, old
// measurements, the key.

function at(corners, x) {
  const [x0, y0, x1, y1, x2, y2] = corners;
  return x < x1 ? y0 + ((x - x0) / (x1 - x0)) * (y1 - y0) : y1 + ((x - x1) / (x2 - x1)) * (y2 - y1);
}

function background(svg, data, pick) {
  const frame = data.frame, clip = `rl-clip-${Math.random().toString(36).slice(2)}`, inside = { "clip-path": `url(#${clip})` };
  draw("rect", { x: frame.x0, y: frame.y1, width: frame.x1 - frame.x0, height: frame.y0 - frame.y1 }, draw("clipPath", { id: clip }, svg));
  const band = draw("g", {}, svg), roofLayer = draw("g", {}, svg), callLayer = draw("g", inside, svg), names = draw("g", {}, svg);
  const key = draw("g", {}, svg), trail = draw("g", inside, svg);
  const calls = data.ops.map((op) => ({ name: op.name, spread: op.spread, path: draw("path", { class: "rl-call", stroke: op.colour }, callLayer) }));
  const callLabel = draw("text", { class: "rl-halo rl-small" }, callLayer);
  if (data.band) { // it stays while the ridge moves: drawn once
    const { x0, x1, colour, shade, labels } = data.band, y = frame.y0 - 58, look = { y, class: "rl-halo rl-thumb" };
    draw("rect", { x: x0, y: frame.y1, width: x1 - x0, height: frame.y0 - frame.y1, fill: colour, opacity: shade, class: "rl-band" }, band);
    draw("text", { ...look, x: x0 - 6, "text-anchor": "end" }, names, labels[0]);
    draw("text", { ...look, x: x1 + 6 }, names, labels[1]);
  }

  function slope(line, g, crowded) { // caches crowd their roofs: only the active ones carry their label, if it fits
    const [x0, y0, x1, y1] = line.corners, rise = (y1 - y0) / (x1 - x0), turn = (Math.atan(rise) * 180) / Math.PI;
    const start = Math.max(x0, x0 + (frame.y0 - y0) / rise), half = (line.slope.length * 5.6) / Math.hypot(1, rise);
    const x = Math.max(start + (x1 - start) * 0.35, Math.min(start + half, x1 - half));
    if (x1 - start > (crowded ? 2 * half : 60)) draw("text", { transform: `translate(${x} ${at(line.corners, x)}) rotate(${turn})`, dy: -13, "text-anchor": "middle", class: "rl-halo" }, g, line.slope);
  }

  function roofs(shown) {
    roofLayer.replaceChildren();
    const active = new Set(pick.levels()), named = [];
    for (const { level, corners: [, , x] } of [...shown].reverse()) // the farthest level's ridge first: it counts
      if (active.has(level) && named.every((other) => Math.abs(other - x) > 120)) named.push(x);
    // The names stand above the roofs, or in the empty corner below them where the roofs are high.
    const high = shown[0]?.corners[3] < frame.y1 + 50 + 20 * shown.length, names = high ? { x: frame.x1 - 190, y: frame.y0 - 236 } : { x: frame.x0 + 10, y: frame.y1 + 20 };
    if (shown.length > 1) draw("text", { ...names, class: "rl-key rl-halo" }, roofLayer, "roofs from the top");
    shown.forEach((line, index) => {
      const [x0, y0, x1, y1, x2] = line.corners, on = active.has(line.level);
      const g = draw("g", { ...inside, class: on ? "rl-roof rl-on" : "rl-roof" }, roofLayer);
      draw("path", { d: `M${x0} ${y0}L${x1} ${y1}H${x2}` }, g);
      if (on) draw("path", { d: `M${x1} ${y1}V${frame.y0}`, class: "rl-ridge" }, g);
      if (on && pick.sides().length === 1) slope(line, g, shown.length > 1); // split dots need the place
      if (shown.length > 1) draw("text", { x: names.x, y: names.y + 20 * (index + 1), class: on ? "rl-key rl-halo rl-on" : "rl-key rl-halo" }, roofLayer, line.slope);
      if (on && named.includes(x1)) draw("text", { x: x1 + 5, y: frame.y0 - 8, class: "rl-halo rl-small" }, g, `ridge ${line.ridge}`);
      if (index === 0) draw("text", { x: frame.x1, y: frame.y1 - 12, "text-anchor": "end", class: "rl-source" }, roofLayer, pick.machine().says);
      if (index === 0) draw("text", { x: frame.x1 - 6, y: y1 - 15, "text-anchor": "end", class: "rl-halo rl-flat" }, g, line.flat);
    });
  }

  function old() { // every measured point stays as a small filled marker, its rim says which side
    trail.replaceChildren();
    const sides = pick.sides();
    for (const side of sides) for (const op of data.ops) if (pick.shows(op.name)) for (const p of pick.points("measured", op.name, side) ?? []) {
      const rim = sides.length > 1 ? { stroke: data.sides.looks[side].colour, "stroke-width": 5 } : {};
      draw("path", { d: SHAPES[op.shape], transform: `translate(${p.x} ${p.y}) scale(.45)`, fill: op.colour, opacity: 0.55, ...rim }, trail);
    }
  }

  function legend() { // what hollow, filled and ringed mean, once there is more than the bound
    const sides = pick.sides(), rings = sides.length > 1 ? sides : [];
    const there = ["predicted", "measured"].filter((what) => sides.some((side) => pick.names().some((name) => pick.points(what, name, side))));
    const rows = [...(there.length ? ["the roof allows", ...there] : []), ...rings];
    key.replaceChildren();
    rows.forEach((word, index) => {
      const y = frame.y0 - 16 - 22 * (rows.length - 1 - index), small = word === "the roof allows" ? 0.8 : 0.6;
      const spot = { transform: `translate(${frame.x1 - 140} ${y - 5}) scale(${rings.includes(word) ? 0.9 : small})`, d: SHAPES.circle };
      if (rings.includes(word)) draw("path", { ...spot, fill: "none", stroke: data.sides.looks[word].colour, "stroke-width": 4 }, key);
      else draw("path", { ...spot, fill: word === "measured" ? "#222" : "#fff", stroke: "#222", "stroke-width": 2.5 }, key);
      draw("text", { x: frame.x1 - 124, y, class: "rl-key rl-halo" }, key, word);
    });
  }

  function overhead(j) { // FLOP ÷ call time, as far as the roof; a batch that shares moves it
    let label = null;
    for (const { name, spread, path } of calls) {
      const call = pick.shows(name) ? pick.call(name, pick.sides().at(-1)) : null, row = spread ? j : 0;
      path.setAttribute("d", call?.paths[row] ?? "");
      if (call?.spots[row].length) label = { at: call.spots[row], text: call.label };
    }
    callLabel.textContent = label?.text ?? "";
    if (label) { callLabel.setAttribute("x", label.at[0] + 9); callLabel.setAttribute("y", label.at[1] + 6); }
  }

  return { roofs, overhead, still(j) { old(); legend(); overhead(j); } };
}
