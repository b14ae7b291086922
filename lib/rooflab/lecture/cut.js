// Cuts a lesson into steps that fit a stage of 1280 × 720. No number of a lesson is touched here:
// blocks of text, code and outputs that stand in the page are shown or not shown, and pictures are scaled.

const WIDE = 1180, HIGH = 610, GAP = 14;  // room for a step, and between two blocks, in stage pixels
const LINE = 115;  // two lines of code with their frame are lower than this
const WIDER = [1180, 1300, 1420, 1540, 1640, 1740];  // of words that stand beside a table
const WIDTHS = [560, 640, 730, 790, 960, 1060, 1110, 1180];
const PICTURE = '.rl-sort, .jupyter-widgets:not(.rl-said, :has(.rl-said)), .jp-RenderedImage, .jp-OutputArea-output :is(img, svg)';
const IMPORTS = /^\s*((import|from) .*\s*)*$/;
const HEADING = /^H[1-3]$/;
const TO_READERS = 'h1 + p:has(> em:only-child)';  // italics under the title: how to work through the notebook
const SAYS = /\bconclude\(/;  // code whose output is a sentence on what was measured

const PAUSE = '.celltag_pause';  // its output answers the question above it: the room thinks first

// How many CSS pixels a stage pixel has now.
const unit = () => Math.min(innerWidth / 1280, innerHeight / 720);

// A block is what stays together: { nodes: shown together, kind, high: its height in stage pixels }.
function block(kind, ...nodes) {
  for (const node of nodes) node.classList.add('lec-cut');
  return { kind, nodes, high: nodes.at(-1).getBoundingClientRect().height / unit() + GAP };
}

// Text falls into its paragraphs; a list that is higher than half a stage falls into its points.
function textBlocks(text) {
  const found = [];
  for (const node of text.children) {
    if (/^(STYLE|SCRIPT)$/.test(node.tagName)) continue;
    if (node.matches(TO_READERS) && node.firstElementChild.textContent === node.textContent.trim()) { node.classList.add('lec-away'); continue; }
    if (HEADING.test(node.tagName)) { found.push(block('heading', node)); continue; }
    const whole = block(node.tagName === 'DETAILS' ? 'details' : 'text', node);
    if (/^[UO]L$/.test(node.tagName) && whole.high > HIGH / 2) {
      [...node.children].forEach((point, n) => {
        if (node.tagName === 'OL') point.value = (node.start || 1) + n;  // hidden points are not counted
        found.push(block('text', node, point));
      });
    } else found.push(whole);
  }
  return found;
}

// The lines of a cell's code: of an editor, or of a page.
function code(cell) {
  const area = cell.querySelector('.jp-InputArea-editor'), lines = [...area?.querySelectorAll('.cm-line') ?? []];
  return lines.length ? lines.map(line => line.textContent).join('\n') : area?.textContent ?? '';
}

function codeBlocks(cell) {
  const [input, output] = ['.jp-Cell-inputWrapper', '.jp-Cell-outputWrapper'].map(s => cell.querySelector(`:scope > ${s}`));
  const bar = output?.querySelector('.widget-hprogress') && !output.querySelector('.rl-pic, img');
  const shown = !bar && output?.querySelector('.jp-OutputArea-output');
  if (!shown && IMPORTS.test(code(cell))) return [];  // nothing to see from a wall
  const kind = output?.querySelector(PICTURE) ? 'picture' : SAYS.test(code(cell)) ? 'said' : 'output';
  return [input && block('code', input), shown && block(kind, output)].filter(Boolean);
}

// A vote stays in one piece, from its heading to its last answer: they are only read together. What is
// said after it would give the answer away.
function cellBlocks(cell) {
  const text = cell.classList.contains('jp-MarkdownCell') && cell.querySelector('.jp-RenderedMarkdown');
  const blocks = text ? textBlocks(text) : codeBlocks(cell);
  const last = blocks.findLastIndex(one => one.kind === 'details');
  const vote = last < 0 ? Infinity : blocks.findLastIndex((one, n) => one.kind === 'heading' && n < last);
  return blocks.map((one, n) => ({ ...one, cell, vote: n >= vote && n <= last }));
}

const height = blocks => blocks.reduce((sum, one) => sum + (one.kind === 'details' ? 50 : one.high), 0);

// Blocks to steps. A heading begins a step and never ends one; a picture has a step to itself (one line
// of code goes into the bar, two are left out, more have their own step); text leaves air; code waits for its output.
// A sentence on what was measured is longer on one computer than on another: it has a step to itself and its code,
// so that the numbers of the steps are the same on all.
function steps(cells) {
  const done = [];
  let now = [];
  const end = () => { if (now.length) done.push(now); now = []; };
  const open = () => now.some(one => one.kind !== 'heading');
  for (const one of cells.flatMap(cellBlocks)) {
    const last = now.at(-1), full = height(now) + one.high;
    if (one.vote) { if (!last?.vote || one.cell !== last.cell) end(); now.push(one); continue; }
    if (last?.vote) end();
    if (one.kind === 'heading' && open()) end();
    else if (one.kind === 'picture') {
      const input = last?.kind === 'code' && last.cell === one.cell ? now.pop() : null;
      if (input && input.high > LINE) { if (open() && height(now) + input.high > HIGH) end(); now.push(input); end(); }
      if (open()) end();
      now.push(one); end(); continue;
    } else if (one.kind === 'said') {
      const input = last?.kind === 'code' && last.cell === one.cell ? now.pop() : null;
      if (open()) end();
      if (input) now.push(input);
      if (height(now) > HIGH / 2) end();
      now.push(one); end(); continue;
    } else if (one.kind === 'output' && one.cell.matches(PAUSE)) end();
    else if (one.kind === 'code' && open() && full + 90 > HIGH) end();
    else if (one.kind === 'text' && open() && full > 0.8 * HIGH) end();
    else if (full > HIGH && last?.kind !== 'heading') end();
    now.push(one);
    if (one.kind === 'output') end();
  }
  end();
  return done.reduce(conclude, []);
}

// The last words of a section go with what they speak about, if there is room.
function conclude(done, step, at, all) {
  const before = done.at(-1), after = all[at + 1]?.[0];
  const last = step.every(one => one.kind === 'text') && (!after || after.kind === 'heading');
  const plain = before && !before.some(one => /^(picture|said)$/.test(one.kind) || one.vote || one.nodes[0].querySelector('details'));
  if (last && plain && height(before) + height(step) < HIGH) before.push(...step);
  else done.push(step);
  return done;
}

// How far to the right anything in a picture's output reaches, in CSS pixels.
function reach(node) {
  const { left } = node.getBoundingClientRect();
  return [...node.querySelectorAll(':scope *:not(svg *, .aside, .rl-hidden, details:not([open]) *, .jp-OutputArea, .jp-OutputArea-child, .jp-OutputArea-output)')]
    .reduce((far, one) => Math.max(far, one.getBoundingClientRect().right - left), 200);
}

// Of sorted cards the bins are shown as far as they are filled: the room is for what is said of each.
function crop(cards) {
  const svg = cards.querySelector('.stage svg:has(rect.bin)'), wide = svg?.viewBox.baseVal.width;
  if (!svg) return false;  // not drawn yet
  const of = name => [...svg.querySelectorAll(`rect.${name}`)].map(node => [+node.getAttribute('y'), +node.getAttribute('height')]);
  const top = Math.min(...of('bin').map(([y]) => y)) - 2, low = Math.max(...of('card').map(([y, high]) => y + high)) + 14;
  const before = cards.style.getPropertyValue('--lec-low');
  cards.style.setProperty('--lec-top', top / wide); cards.style.setProperty('--lec-low', low / wide);
  return cards.style.getPropertyValue('--lec-low') !== before;
}

// How far down a step reaches, in stage pixels from the top of its room.
function lowest(step, page) {
  const end = page.getBoundingClientRect().top;
  return Math.max(...step.map(({ nodes }) => (nodes.at(-1).getClientRects().length ? nodes.at(-1).getBoundingClientRect().bottom - end : 0) / unit()));
}

// As large as it fits: a picture gets the width at which its letters come out largest; text that is
// printed (or a text or code higher than the stage) keeps its size, unless it would not fit. A table
// with words beside it may be set wider first: then its words take fewer lines.
function fit(step, page) {
  const u = unit(), end = page.getBoundingClientRect().top;
  const low = () => Math.max(...step.map(({ nodes }) => (nodes.at(-1).getBoundingClientRect().bottom - end) / u));
  page.classList.add('lec-large');  // few words are set larger
  if (step.some(one => one.kind === 'picture') || low() > HIGH) page.classList.remove('lec-large');
  const tall = node => node.getBoundingClientRect().height / u;
  for (const { nodes: [node], kind } of step) {
    if (!(kind === 'picture' || /^(output|said)$/.test(kind) || tall(node) > HIGH)) continue;
    const others = step.flatMap(one => (one.nodes[0] === node ? [] : [tall(one.nodes.at(-1)) + GAP]));
    const room = Math.max(HIGH - others.reduce((a, b) => a + b, 0), 150);
    node.style.transform = node.style.marginBottom = '';
    let best = { scale: 0 };
    for (const width of kind === 'picture' ? WIDTHS : kind === 'said' ? WIDER : [WIDE]) {
      node.style.width = `${width}px`;
      const high = tall(node), wide = kind === 'picture' ? reach(node) / u : Math.max(width, node.scrollWidth);
      if (wide > width + 2 && width < WIDTHS.at(-1)) continue;  // it would be cut off
      const scale = Math.min(WIDE / wide, room / high, kind === 'picture' ? 2 : 1);
      if (scale > best.scale * 1.02) best = { scale, width, high, wide };
    }
    node.style.width = `${best.width}px`;
    const left = kind === 'picture' ? (WIDE - best.scale * best.wide) / 2 : 0;
    node.style.transform = `translateX(${left}px) scale(${best.scale})`;
    node.style.marginBottom = `${(best.scale - 1) * best.high + GAP}px`;
  }
}

// Undo everything that was done to the blocks.
function mend(steps) {
  for (const { nodes } of steps.flat()) for (const node of nodes) {
    node.classList.remove('lec-cut', 'lec-on');
    for (const name of ['width', 'transform', 'marginBottom']) node.style[name] = '';
  }
}
