// Where names stand: beside their markers, not on them, on a roof or on another name. Widths are
// reckoned from the letters: to ask the page for them would cost a layout on every tick.

const NAME = 13.5, NOTE = 10.4; // pixels of a letter, rather more than less

function overlap(a, b) {
  const wide = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0), high = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0);
  return wide > 0 && high > 0 ? wide * high : 0;
}

function boxOf([x, y, anchor], wide) {
  const x0 = anchor === "start" ? x : anchor === "end" ? x - wide : x - wide / 2;
  return { x0, x1: x0 + wide, y0: y - 15, y1: y + 5 };
}

function crosses(box, corners) {
  const left = at(corners, box.x0), right = at(corners, box.x1);
  return Math.min(left, right) < box.y1 && Math.max(left, right) > box.y0;
}

// Puts a text at the first of its `spots` ([x, y, anchor]) that costs the least, and returns its box.
function settle(node, text, letter, spots, { frame, boxes, lines }) {
  let best = null, least = Infinity;
  spots.forEach((spot, index) => {
    const box = boxOf(spot, letter * text.length);
    let cost = 12 * index;
    cost += 60 * (Math.max(0, frame.x0 - box.x0) + Math.max(0, box.x1 - frame.x1) + Math.max(0, frame.y1 - box.y0) + Math.max(0, box.y1 - frame.y0));
    for (const other of boxes) cost += 2 * overlap(box, other);
    for (const { corners, thick } of lines) if (crosses(box, corners)) cost += thick ? 160 : 40;
    if (cost < least) { least = cost; best = { box, spot }; }
  });
  const [x, y, anchor] = best.spot;
  node.setAttribute("text-anchor", anchor); node.setAttribute("x", x); node.setAttribute("y", y);
  return best.box;
}

// placed: { x, y, top, low, room, d, label }, y where the name belongs, top and low of all its markers.
function arrange(placed, frame, lines, fixed) {
  const boxes = [...fixed];
  for (const { x, top, low, room, marks } of placed) {
    for (const y of marks) boxes.push({ x0: x - 10 - room, x1: x + 10 + room, y0: y - 10 - room, y1: y + 10 + room });
    if (low > top) boxes.push({ x0: x - 4, x1: x + 4, y0: top, y1: low });
  }
  const scene = { frame, boxes, lines };
  for (const { x, y, top, low, room, d, label } of [...placed].sort((a, b) => a.y - b.y)) {
    const r = 14 + room, below = y + 21 + room / 2;
    if (d.label.textContent !== label) d.label.textContent = label;
    boxes.push(settle(d.label, label, NAME, [
      [x + r, below, "start"], [x, low + 27 + room, "middle"], [x - r, below, "end"], [x + r, y + 6, "start"], [x + r, y - 12, "start"],
      [x - r, y + 6, "end"], [x - r, y - 12, "end"], [x, top - 16 - room, "middle"], [x + r, below + 20, "start"],
    ], scene));
  }
  for (const { x, d } of placed) if (d.noted) {
    const y = d.sides.warm.y;
    boxes.push(settle(d.note, d.noted, NOTE, [
      [x + 24, y + 6, "start"], [x + 24, y - 14, "start"], [x + 24, y + 26, "start"], [x, y - 27, "middle"], [x - 24, y + 6, "end"],
      [x - 24, y - 14, "end"], [x + 24, y - 38, "start"], [x + 24, y + 46, "start"], [x, y - 50, "middle"], [x - 24, y - 40, "end"],
    ], scene));
  }
}
