// What stands still while the sliders move: roofs, the thumb rule's band, overhead lines, old
// measurements, the key.

function at(corners, x) {
  const [x0, y0, x1, y1, x2, y2] = corners;
  return x < x1 ? y0 + ((x - x0) / (x1 - x0)) * (y1 - y0) : y1 + ((x - x1) / (x2 - x1)) * (y2 - y1);
}

const ALLOWED = "the roof allows";

function background(svg, data, pick, lens = { y: (place) => place }) {
  const frame = data.frame, clip = `rl-clip-${Math.random().toString(36).slice(2)}`, inside = { "clip-path": `url(#${clip})` };
  draw("rect", { x: frame.x0, y: frame.y1, width: frame.x1 - frame.x0, height: frame.y0 - frame.y1 }, draw("clipPath", { id: clip }, svg));
  const band = draw("g", {}, svg), roofLayer = draw("g", {}, svg), callLayer = draw("g", inside, svg), names = draw("g", {}, svg);
  const key = draw("g", {}, svg), trail = draw("g", inside, svg);
  const calls = data.ops.map((op) => ({ name: op.name, spread: op.spread, colour: op.colour, path: draw("path", { class: "rl-call", stroke: op.colour }, callLayer) }));
  const thumbs = [];
  let many = 0, keyBox = [], nameBox = [], ceilings = [], dashed = []; // rows of the key; what labels keep off
  if (data.band) { // it stays while the ridge moves: drawn once
    const { x0, x1, colour, shade, labels } = data.band, look = { class: "rl-halo rl-thumb" };
    draw("rect", { x: x0, y: frame.y1, width: x1 - x0, height: frame.y0 - frame.y1, fill: colour, opacity: shade, class: "rl-band" }, band);
    thumbs.push(draw("text", { ...look, x: x0 - 6, "text-anchor": "end" }, names, labels[0]), draw("text", { ...look, x: x1 + 6 }, names, labels[1]));
  }

  function slope(line, g) { // what a lone roof carries; several are named in the key
    const [x0, y0, x1, y1] = line.corners, rise = (y1 - y0) / (x1 - x0), turn = (Math.atan(rise) * 180) / Math.PI;
    const steep = Math.hypot(1, rise), lean = (-19 * rise) / steep; // text above a slope stands to its left
    const start = Math.max(x0, x0 + (frame.y0 - y0) / rise), half = (line.slope.length * 6.4) / steep;
    if (x1 - start <= 60) return;
    // Clear of the left edge, if need be beyond the ridge; only the upper edge keeps it back.
    const most = Math.max(x1 - half, x1 + (frame.y1 + 30 - y1) / rise - half), x = Math.min(Math.max(start + (x1 - start) * 0.35, start + half + lean), most);
    const y = y0 + rise * (x - x0), middle = y - 19 / steep, left = x - lean;
    draw("text", { transform: `translate(${x} ${y}) rotate(${turn})`, dy: -13, "text-anchor": "middle", class: "rl-halo" }, g, line.slope);
    for (let s = -half; s <= half; s += 9) nameBox.push({ x0: left + s - 9, x1: left + s + 9, y0: middle + rise * s - 9, y1: middle + rise * s + 9 });
  }

  function thumbRule(shown) { // at the top, or at the foot where a roof is in the way
    if (!thumbs.length) return;
    const roof = shown.some(({ corners }) => [-60, 0, 100].some((aside) => Math.abs(at(corners, data.band.x0 + aside) - frame.y1 - 14) < 18));
    const y = roof ? frame.y0 - 58 : frame.y1 + 20;
    for (const text of thumbs) text.setAttribute("y", y);
    nameBox.push({ x0: data.band.x0 - 120, x1: data.band.x1 + 140, y0: y - 16, y1: y + 6 });
  }

  function roofs(shown) {
    roofLayer.replaceChildren();
    const active = new Set(pick.levels()), named = [];
    for (const { level, corners: [, , x] } of [...shown].reverse()) // the farthest level's ridge first: it counts
      if (active.has(level) && named.every((other) => Math.abs(other - x) > 120)) named.push(x);
    // The names stand above the roofs, or in the empty corner below them where the roofs are high.
    const high = shown[0]?.corners[3] < frame.y1 + 50 + 20 * shown.length, names = high ? { x: frame.x1 - 195, y: frame.y0 - 30 - 20 * many - 20 * shown.length } : { x: data.band ? frame.x1 - 195 : frame.x0 + 10, y: frame.y1 + 20 };
    ceilings = shown.flatMap(({ level, corners: [x0, y0, x1, y1, x2, y2] }) => {
      const on = active.has(level), weight = on ? 3 : 1;
      return [[x0, y0, x1, y1, weight], [x1, y1, x2, y2, weight], ...(on ? [[x1, y1, x1, frame.y0, 1]] : [])];
    });
    nameBox = shown.length > 1 ? [{ x0: names.x - 4, x1: names.x + 190, y0: names.y - 16, y1: names.y + 20 * shown.length + 5 }] : [];
    thumbRule(shown);
    if (shown.length > 1) draw("text", { ...names, class: "rl-key rl-halo" }, roofLayer, "roofs from the top");
    shown.forEach((line, index) => {
      const [x0, y0, x1, y1, x2] = line.corners, on = active.has(line.level);
      const g = draw("g", { ...inside, class: on ? "rl-roof rl-on" : "rl-roof" }, roofLayer);
      draw("path", { d: `M${x0} ${y0}L${x1} ${y1}H${x2}` }, g);
      if (on) draw("path", { d: `M${x1} ${y1}V${frame.y0}`, class: "rl-ridge" }, g);
      if (shown.length === 1) slope(line, g);
      if (shown.length > 1) draw("text", { x: names.x, y: names.y + 20 * (index + 1), class: on ? "rl-key rl-halo rl-on" : "rl-key rl-halo" }, roofLayer, line.slope);
      if (on && named.includes(x1)) nameBox.push({ x0: x1 - 4, x1: x1 + 15 + 11 * (6 + line.ridge.length), y0: frame.y0 - 22, y1: frame.y0 });
      const lift = pick.sides().length > 1 ? 25 : 15; // clear of the rings, too
      const flat = y1 - lift - 15 < frame.y1 ? y1 + lift + 12 : y1 - lift; // below the roof where there is no room above it
      if (index === 0) nameBox.push({ x0: frame.x1 - 6 - 12.5 * line.flat.length, x1: frame.x1, y0: flat - 17, y1: flat + 7 });
      if (on && named.includes(x1)) draw("text", { x: x1 + 5, y: frame.y0 - 8, class: "rl-halo rl-small" }, g, `ridge ${line.ridge}`);
      if (index === 0) source(pick.machine().says);
      if (index === 0) draw("text", { x: frame.x1 - 6, y: flat, "text-anchor": "end", class: "rl-halo rl-flat" }, g, line.flat);
    });
  }

  function source(says) { // right of the axis's name, small enough not to reach it
    const size = Math.min(16, (frame.x1 - frame.x0 - 165) / (0.6 * says.length));
    draw("text", { x: frame.x1, y: frame.y1 - 12, "text-anchor": "end", class: "rl-source", style: `font-size: ${size}px` }, roofLayer, says);
  }

  function old() { // every measured point stays as a small filled marker, its rim says which side
    trail.replaceChildren();
    const sides = pick.sides();
    for (const side of sides) for (const op of data.ops) if (pick.shows(op.name)) for (const p of pick.points("measured", op.name, side) ?? []) {
      const rim = sides.length > 1 ? { stroke: data.sides.looks[side].colour, "stroke-width": 5 } : {};
      draw("path", { d: SHAPES[op.shape], transform: `translate(${p.x} ${lens.y(p.y)}) scale(.45)`, fill: op.colour, opacity: 0.55, ...rim }, trail);
    }
  }

  function legend(j) { // what hollow, filled, ringed and dashed mean: only what is drawn
    const sides = pick.sides(), rings = sides.length > 1 ? sides : [], reads = dashes(j);
    const any = (what) => sides.some((side) => pick.names().some((name) => pick.points(what, name, side)));
    const timed = any("measured") && "measured", foreseen = j === 0 && any("predicted") && "predicted";
    // Two sides show what is best known of each; one shows the bound and what lies below it.
    const marks = (rings.length ? [timed, foreseen || ALLOWED] : timed || foreseen ? [ALLOWED, foreseen, timed] : []).filter(Boolean);
    const rows = [...marks, ...rings, ...reads], left = frame.x1 - (reads.length ? 205 : 160);
    key.replaceChildren();
    rows.forEach((row, index) => {
      const y = frame.y0 - 12 - 20 * (rows.length - 1 - index), ring = rings.includes(row);
      const spot = { transform: `translate(${left} ${y - 5}) scale(${ring ? 0.9 : row === "predicted" && marks.includes(ALLOWED) ? 0.5 : 0.8})`, d: SHAPES.circle };
      if (row.label) draw("path", { d: `M${left - 14} ${y - 5}h24`, class: "rl-call", stroke: row.colour, style: "stroke-width: 2.5" }, key);
      else if (ring) draw("path", { ...spot, fill: "none", stroke: data.sides.looks[row].colour, "stroke-width": 4 }, key);
      else draw("path", { ...spot, fill: row === "measured" ? "#222" : "#fff", stroke: "#222", "stroke-width": 2.5 }, key);
      draw("text", { x: left + 16, y, class: "rl-key rl-halo" }, key, row.label ?? row);
    });
    many = rows.length;
    keyBox = many ? [{ x0: left - 16, x1: frame.x1, y0: frame.y0 - 12 - 20 * many, y1: frame.y0 }] : [];
  }

  function dashes(j) { // FLOP ÷ call time, as far as the roof; a batch that shares moves it
    const reads = [];
    dashed = [];
    for (const { name, spread, colour, path } of calls) {
      const call = pick.shows(name) ? pick.call(name, pick.sides().at(-1)) : null, row = spread ? j : 0;
      const points = placed(call?.paths[row]);
      path.setAttribute("d", points.length ? `M${points.map((p) => p.join(" ")).join("L")}` : "");
      if (points.length) { reads.push({ label: call.labels[row], colour }); dashed.push(...pieces(points)); }
    }
    return reads;
  }

  function placed(path) { // the corners of a path, as high as they lie on the axes now
    return path ? path.slice(1).split("L").map((corner) => corner.split(" ").map(Number)).map(([x, y]) => [x, lens.y(y)]) : [];
  }

  function pieces(path) { // every third point is near enough for a label
    const points = path.filter((_, n, all) => n % 3 === 0 || n === all.length - 1);
    return points.slice(1).map((end, n) => [...points[n], ...end, 1]);
  }

  return { roofs, legend, lines: () => [...ceilings, ...dashed], fixed: () => [...keyBox, ...nameBox], still(j) { old(); legend(j); } };
}
