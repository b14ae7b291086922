// The dots of a request film: one for each kind of operation, and one for reading the prompt.

function filmDots(svg, data, pick, lens) {
  const top = draw("g", {});
  const all = [...data.kinds, data.prefill].sort((a, b) => b.scale - a.scale), made = all.map((kind) => dot(kind));
  const trail = draw("g", {}, svg);
  svg.append(top);

  function dot(kind) { // hollow: what the roof allows; what the clock said is solid
    const mark = draw("path", { d: SHAPES[kind.shape], class: "rl-dot", "data-op": kind.name, stroke: kind.colour, "stroke-width": 3 / kind.scale, fill: "#fff" }, svg);
    const label = draw("text", { class: "rl-halo", fill: kind.ink, "font-weight": 600 }, top);
    return { mark, label, noted: "" };
  }

  const away = (d, hidden) => { d.mark.style.display = d.label.style.display = hidden ? "none" : ""; };

  // Puts every dot on the roof; returns what the names are arranged from.
  function place(line) {
    const at_ = pick.at(), placed = [];
    trail.replaceChildren();
    for (const d of made) away(d, !line);
    if (!line) return placed;
    all.forEach((kind, n) => {
      const d = made[n], x = kind === data.prefill ? f32(kind.x, pick.prompt(at_)) : pick.x(kind, at_), y = at(line.corners, x);
      const outside = y > data.frame.y0 || x < data.frame.x0;
      away(d, outside);
      d.mark.setAttribute("transform", `translate(${x} ${y}) scale(${kind.scale})`);
      if (!outside) placed.push({ x, y, top: y, low: y, room: 0, marks: [y], d, kind, label: kind.label, part: kind.part });
    });
    for (const run of pick.runs()) measured(run, run.i === at_.i, line, placed);
    return merged(placed);
  }

  function measured(run, now, line, placed) { // all runs stay small, the one of this batch hangs from its roof
    for (const kind of data.kinds) {
      const [x, place] = run.dots[kind.name] ?? [0, Infinity], y = lens.y(place);
      if (y > data.frame.y0) continue;
      if (now) draw("path", { d: `M${x} ${at(line.corners, x)}V${y}`, stroke: kind.colour, "stroke-width": 2, "stroke-dasharray": "2 3" }, trail);
      draw("path", { d: SHAPES[kind.shape], transform: `translate(${x} ${y}) scale(${now ? 0.8 : 0.4})`, fill: kind.colour, opacity: now ? 1 : 0.5, class: "rl-ran" }, trail);
      const spot = now && placed.find((one) => one.kind === kind);
      if (spot) { spot.marks.push(y); spot.low = Math.max(spot.low, y); }
    }
  }

  function merged(placed) { // dots of one part that lie on each other share one name
    const firsts = [];
    for (const spot of placed) {
      const near = firsts.find((other) => other.part === spot.part && Math.abs(other.x - spot.x) < 12 && Math.abs(other.y - spot.y) < 12);
      if (!near) { firsts.push({ ...spot, names: [spot.label] }); continue; }
      near.names.push(spot.label); spot.d.label.style.display = "none";
    }
    for (const spot of firsts) spot.label = spot.names.length === data.whole[spot.part]?.many ? data.whole[spot.part].label : spot.names.join(", ");
    return firsts;
  }

  return { place };
}
