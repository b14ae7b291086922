// Shared by the live roofline and the box, after overlay.js: packed tables, sentences, sliders.

const SVG = "http://www.w3.org/2000/svg";

// Buffers arrive as DataView from a kernel and from saved state, as typed arrays from tests.
const view = (b) => (b instanceof DataView ? b : new DataView(b.buffer ?? b, b.byteOffset ?? 0, b.byteLength));
const f32 = (b, i) => view(b).getFloat32(4 * i, true);
const u16 = (b, i) => view(b).getUint16(2 * i, true);

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

// Read a distance in decades off a ruler made by scene.py.
function read(ruler, decades) {
  const marks = ruler.marks.byteLength / 4;
  let decade = Math.floor(decades), lo = 0, hi = marks;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (f32(ruler.marks, mid) <= decades - decade) lo = mid + 1; else hi = mid;
  }
  if (lo === marks) { decade += 1; lo = 0; }
  const period = ruler.labels.length / marks, row = decade - ruler.lo;
  if (row < 0) return "less than " + ruler.labels[0] + ruler.suffixes[0];
  const turn = Math.floor(row / period);
  if (turn >= ruler.suffixes.length) return "more than " + ruler.labels.at(-1) + ruler.suffixes.at(-1);
  return ruler.labels[(row % period) * marks + lo] + ruler.suffixes[turn];
}

function draw(tag, attributes = {}, parent = null, text = null) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  parent?.append(node);
  return node;
}

function make(tag, properties = {}, parent = null) {
  const node = Object.assign(document.createElement(tag), properties);
  parent?.append(node);
  return node;
}

const SHAPES = {
  circle: "M-8 0a8 8 0 1 0 16 0a8 8 0 1 0 -16 0z", square: "M-7 -7H7V7H-7z",
  diamond: "M0 -9.5L9.5 0L0 9.5L-9.5 0z", triangle: "M0 -9L8.5 7H-8.5z", down: "M0 9L8.5 -7H-8.5z",
};

// Sliders are sibling widgets that may appear later than this view: look for their handles until
// they are there, name them for screen readers, and give them back their arrow keys.
function nameHandles(el, count, says) {
  let tries = 0, handles = [];
  const say = () => handles.forEach((handle, index) => handle.setAttribute("aria-valuetext", says(index).value));
  const look = () => {
    const rows = [...(el.closest(".rooflab-live")?.querySelectorAll(".rooflab-slider") ?? [])];
    handles = rows.map((row) => row.querySelector(".noUi-handle")).filter(Boolean);
    handles.forEach((handle, index) => { keepKeys(handle); handle.setAttribute("aria-label", says(index).label); });
    say();
    if (handles.length < Math.max(rows.length, count) && tries++ < 100) setTimeout(look, 100);
  };
  look();
  return say;
}
