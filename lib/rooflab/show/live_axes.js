// The axes of a live roofline, and how high a place of the tables lies on them.
//
// Python places everything on one tall sheet that has room for every machine on offer. What is seen
// is a strip of that sheet, a few decades high: it glides to those of the machine chosen, or stays
// where it is locked. Decades and their labels are Python's; here a height is only moved and scaled.

function axes(svg, data) {
  const { frame, ticks } = data, high = frame.y0 - frame.y1, g = draw("g", { class: "rl-axes" }, svg);
  let lo = 0, decade = 1; // the lowest decade seen, and the pixels of one
  const line = (x1, y1, x2, y2, name) => draw("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: name }, g);
  for (const [x, label] of ticks.x) {
    line(x, frame.y0, x, frame.y1, "rl-grid"); line(x, frame.y0, x, frame.y0 + 4, "rl-axis");
    draw("text", { x, y: frame.y0 + 21, "text-anchor": "middle" }, g, label);
  }
  const rows = ticks.y.map(([place, label]) => {
    const row = draw("g", {}, g), across = { class: "rl-grid", d: `M${frame.x0} 0H${frame.x1}` };
    draw("path", across, row); draw("path", { class: "rl-axis", d: `M${frame.x0} 0h-4` }, row);
    draw("text", { x: frame.x0 - 8, y: 6, "text-anchor": "end" }, row, label);
    return { row, place };
  });
  line(frame.x0, frame.y1, frame.x0, frame.y0, "rl-axis"); line(frame.x0, frame.y0, frame.x1, frame.y0, "rl-axis");
  draw("text", { x: (frame.x0 + frame.x1) / 2, y: frame.height - 8, "text-anchor": "middle" }, g, ticks.names[0]);
  draw("text", { x: frame.x0 + 5, y: frame.y1 - 11 }, g, ticks.names[1]);

  const y = (sheet) => frame.y0 - ((frame.y0 - sheet) / frame.yDecade + frame.yLo - lo) * decade;

  function show([from, to]) { // the lowest and highest decade seen, while it glides between whole ones
    lo = from; decade = high / (to - from);
    for (const { row, place } of rows) {
      const at = y(place);
      row.setAttribute("transform", `translate(0 ${at})`);
      row.style.display = at > frame.y0 + 1 || at < frame.y1 - 1 ? "none" : "";
    }
  }

  return {
    show, y,
    roof: (line) => ({ ...line, corners: line.corners.map((place, k) => (k % 2 ? y(place) : place)) }),
    decades: (pixels) => pixels / decade, // of a distance
    height: (place) => (frame.y0 - place) / decade + lo, // of a place: its decade
  };
}

// The button that keeps the axes where they are, so that machines are compared on the same ones.
// They still grow to hold a machine that would lie outside.
function lockButton(bar, model, data, shown) {
  if (data.machines.every((m) => String(m.decades) === String(data.machines[0].decades))) return () => {};
  const button = make("button", { type: "button", textContent: "lock axes", className: "rl-lock" }, bar);
  button.title = "keep these axes when the machine changes, to compare machines";
  keepKeys(button);
  button.addEventListener("click", () => { model.set("decades", model.get("decades").length ? [] : shown()); model.save_changes(); });
  return () => button.setAttribute("aria-pressed", model.get("decades").length > 0);
}
