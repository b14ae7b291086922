// Where names stand, by the rule of labels.py: never on another text or a marker while there is any
// other place; of the places left the one that covers the least of the lines, comes early, and is
// nearer to its own marker than to any other. Widths are reckoned from the letters: to ask the page
// for them would cost a layout on every tick.

const NAME = 16.5, NOTE = 12; // pixels of a letter, rather too many than too few
// What makes a place worse, in points:
const LATER = 12; // every place that comes earlier in the list
const CROSSED = 3; // a pixel of a line under the text
const ASTRAY = 400; // another marker is nearer than its own
const COVERED = 1e5; // it lies on another text or on a marker
const OUT = 1000; // a pixel outside the picture

function overlap(a, b) {
  const wide = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0), high = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0);
  return wide > 0 && high > 0 ? wide * high : 0;
}

function boxOf([x, y, anchor], wide) {
  const x0 = anchor === "start" ? x : anchor === "end" ? x - wide : x - wide / 2;
  return { x0, x1: x0 + wide, y0: y - 15, y1: y + 5 };
}

// Pixels of the line from (x0, y0) to (x1, y1) that lie inside `box`.
function crossed(box, [x0, y0, x1, y1]) {
  let from = 0, to = 1;
  for (const [start, step, low, high] of [[x0, x1 - x0, box.x0, box.x1], [y0, y1 - y0, box.y0, box.y1]]) {
    if (step === 0) { if (start < low || start > high) return 0; continue; }
    const a = (low - start) / step, b = (high - start) / step;
    from = Math.max(from, Math.min(a, b)); to = Math.min(to, Math.max(a, b));
  }
  return to > from ? (to - from) * Math.hypot(x1 - x0, y1 - y0) : 0;
}

const apart = (box, x, y) => Math.hypot(Math.max(box.x0 - x, 0, x - box.x1), Math.max(box.y0 - y, 0, y - box.y1));
const nearest = (box, x, marks) => Math.min(...marks.map((y) => apart(box, x, y)));

// Puts a text at the first of its `spots` ([x, y, anchor]) that costs the least, and returns its box.
function settle(node, text, letter, spots, { frame, boxes, lines, placed }, own) {
  let best = null, least = Infinity;
  spots.forEach((spot, index) => {
    const box = boxOf(spot, letter * text.length);
    let cost = LATER * index;
    if (cost >= least) return;
    cost += OUT * (Math.max(0, frame.x0 - box.x0) + Math.max(0, box.x1 - frame.x1) + Math.max(0, frame.y1 - box.y0) + Math.max(0, box.y1 - frame.y0));
    for (const other of boxes) { const under = overlap(box, other); if (under) cost += COVERED + under; }
    for (const line of lines) cost += CROSSED * line[4] * crossed(box, line);
    const far = nearest(box, own.x, own.marks) - 2;
    if (placed.some((other) => other !== own && nearest(box, other.x, other.marks) < far)) cost += ASTRAY;
    if (cost < least) { least = cost; best = { box, spot }; }
  });
  const [x, y, anchor] = best.spot;
  node.setAttribute("text-anchor", anchor); node.setAttribute("x", x); node.setAttribute("y", y);
  return best.box;
}

// placed: { x, y, top, low, room, marks, d, label }, y where the name belongs, top and low of all its markers.
// lines: [x0, y0, x1, y1, weight]; fixed: boxes of the words that stand still.
function arrange(placed, frame, lines, fixed) {
  const boxes = [...fixed], scene = { frame, boxes, lines: [...lines], placed };
  for (const { x, top, low, room, marks } of placed) {
    for (const y of marks) boxes.push({ x0: x - 10 - room, x1: x + 10 + room, y0: y - 10 - room, y1: y + 10 + room });
    if (low > top) scene.lines.push([x, top, x, low, 2]);
  }
  for (const one of [...placed].sort((a, b) => a.y - b.y)) {
    const { x, y, top, low, room, d, label } = one, r = 14 + room, below = y + 21 + room / 2;
    if (d.label.textContent !== label) d.label.textContent = label;
    boxes.push(settle(d.label, label, NAME, [
      [x + r, below, "start"], [x, low + 27 + room, "middle"], [x - r, below, "end"], [x + r, y + 6, "start"], [x + r, y - 12, "start"],
      [x - r, y + 6, "end"], [x - r, y - 12, "end"], [x, top - 16 - room, "middle"], [x + r, below + 20, "start"], [x - r, below + 20, "end"],
      [x + r, y - 34, "start"], [x - r, y - 34, "end"], [x + r, below + 42, "start"], [x - r, below + 42, "end"], [x, top - 38 - room, "middle"],
    ], scene, one));
  }
  for (const one of placed) if (one.d.noted) {
    const { x, d } = one, y = d.sides.warm.y;
    boxes.push(settle(d.note, d.noted, NOTE, [
      [x + 24, y + 6, "start"], [x + 24, y - 14, "start"], [x + 24, y + 26, "start"], [x, y - 27, "middle"], [x - 24, y + 6, "end"],
      [x - 24, y - 14, "end"], [x + 24, y - 38, "start"], [x + 24, y + 46, "start"], [x, y - 50, "middle"], [x - 24, y - 40, "end"],
      [x + 24, y - 62, "start"], [x + 24, y + 70, "start"], [x + 24, y + 94, "start"], [x + 24, y - 86, "start"], [x + 24, y + 118, "start"],
      [x + 24, y + 142, "start"], [x + 24, y - 110, "start"], [x + 24, y + 166, "start"],
      ...[-34, 34, -58, 58, -82, 82, -106, 106, 130, 154, 178].map((down) => [frame.x0 + 6, y + 6 + down, "start"]),
    ], scene, one));
  }
}
