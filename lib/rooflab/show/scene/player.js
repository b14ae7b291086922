// Plays a scene of scene.py: looks its marks up for the state that a hand has set, and moves them.
// Nothing is counted, placed or formatted here.

const FRAME = 24; // pixels of a slider's thumb, which reaches half of them beyond its ends
const MISSING = -32768; // as in scene.py: what is not there

// The tables of a scene, in the buffer of all its sheets. A place is a position along a dimension; between two, numbers are blended.
function tables(g) {
  const own = (b) => (b.buffer ?? b).slice(b.byteOffset ?? 0, (b.byteOffset ?? 0) + b.byteLength);
  const codes = new Int16Array(own(g.buffer)), exact = g.exact && new Float32Array(own(g.exact));

  function near(track, axis, p) { // [entry along the axis, how far on to the next one]
    const keys = track.keys?.[axis];
    if (!keys) {
      const low = track.words ? Math.round(p) : Math.floor(p);
      return [low, track.words ? 0 : p - low];
    }
    let low = keys.length - 1;
    while (low && keys[low] > p + 1e-6) low--;
    return [low, track.words || low === keys.length - 1 ? 0 : (p - keys[low]) / (keys[low + 1] - keys[low])];
  }

  function entry(track, places) { // the numbers that stand there, null for what is missing
    let flat = 0;
    const last = track.shape.length - 1;
    for (let axis = 0; axis < (track.rows === undefined ? last + 1 : last); axis++) flat = flat * track.shape[axis] + places[axis];
    if (track.rows !== undefined) flat = (codes[track.rows + flat] & 0xffff) * track.shape[last] + places[last];
    if (track.exact !== undefined) { const from = track.exact + flat * track.n, found = Array.from(exact.subarray(from, from + track.n)); return found.some(Number.isNaN) ? null : found; }
    const from = track.at + flat * track.n;
    if (track.words) return g.texts[codes[from] & 0xffff];
    const found = new Array(track.n);
    for (let i = 0; i < track.n; i++) { if (codes[from + i] === MISSING) return null; found[i] = codes[from + i] / track.scale; }
    return found;
  }

  function value(track, spots) {
    const axis = spots.findIndex(([, t]) => t > 0);
    if (axis < 0) return entry(track, spots.map(([low]) => low));
    const [low, t] = spots[axis], on = (place) => value(track, spots.with(axis, [place, 0])), a = on(low), c = on(low + 1);
    return a && c ? blend(a, c, t) : t < 0.5 ? a : c;
  }

  return function read(track, positions) {
    if (typeof track === 'string' || Array.isArray(track)) return track;
    if (track.parts) { const found = track.parts.map((part) => read(part, positions)); return found.includes(null) ? null : track.of.map((n) => found[n][0]); }
    if (track.template !== undefined) return read(track.template, positions).replace(/\{(\w+)\}/g, (_, hole) => read(track.holes[hole], positions));
    if (track.made) { const parts = track.from.map((part) => read(part, positions)); return track.made === 'above' || track.made === 'either' || !parts.includes(null) ? WORK[track.made](parts, g.rulers?.[track.ruler]) : track.ruler ? '' : null; }
    if (track.sum) return track.sum.map((part) => read(part, positions)).reduce((a, b) => a && b && a.map((v, i) => v + b[i]));
    if (track.matrix) {
      const m = read(track.matrix, positions), v = read(track.vector, positions);
      return m && v && Array.from({ length: m.length / v.length }, (_, row) => v.reduce((sum, x, i) => sum + x * m[row * v.length + i], 0));
    }
    const places = track.dims.map((dim) => positions[dim]);
    if (!track.keys && places.every(Number.isInteger)) return entry(track, places); // nearly always: nothing to blend
    return value(track, places.map((p, axis) => near(track, axis, p)));
  };
}

// What values are worked out of others: graph.py says what each means.
const WORK = {
  along: ([[x], line]) => { let n = 0; while (n < line.length - 4 && line[n + 2] <= x) n += 2; return [line[n + 1] + ((x - line[n]) / (line[n + 2] - line[n])) * (line[n + 3] - line[n + 1])]; },
  axes: ([[left, low, across, foot, floor, up], ...points]) => points.flat().map((v, i) => (i % 2 ? foot - (v - floor) * up : left + (v - low) * across)),
  less: ([a, b]) => a.map((v, i) => v - b[i]),
  either: ([[which], ...options]) => options[Math.round(which)],
  above: ([value]) => [value && value[0] > 0 ? 1 : 0],
  reading: ([[decades]], ruler) => {
    const { scale, low, suffixes } = ruler, { marks } = scale, labels = (scale.all ??= scale.labels.split('|'));
    let decade = Math.floor(decades), at = 0, end = marks.length;
    while (at < end) { const middle = (at + end) >> 1; if (marks[middle] <= decades - decade) at = middle + 1; else end = middle; }
    if (at === marks.length) { decade += 1; at = 0; }
    const period = labels.length / marks.length, row = decade - low, turn = Math.floor(row / period);
    if (row < 0 || turn >= suffixes.length) return ruler.ends[row < 0 ? 0 : 1];
    return labels[(row % period) * marks.length + at] + suffixes[turn];
  },
};

// What a scene says more than once is kept once: it is put back where it is referred to.
function unpooled(node, pool) {
  if (Array.isArray(node)) return node.map((one) => unpooled(one, pool));
  if (node === null || typeof node !== 'object' || node instanceof DataView || ArrayBuffer.isView(node)) return node;
  if (node.ref !== undefined) return (pool[node.ref].whole ??= unpooled(pool[node.ref].part, pool));
  return Object.fromEntries(Object.entries(node).map(([key, one]) => [key, unpooled(one, pool)]));
}

const made = (track) => [track.template, ...(track.from ?? []), ...Object.values(track.holes ?? {}), ...(track.sum ?? []), ...(track.parts ?? []), track.matrix, track.vector];
const depends = (track) => (!track || typeof track !== 'object' || Array.isArray(track) ? [] : track.dims ?? made(track).flatMap(depends));

const same = (a, b) => a === b || (Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => v === b[i]));
const ink = (name) => `var(--${name})`;
const put = { // a channel's value → attributes of its node
  points: (node, v, look) => node.setAttribute('d', `M${v.map((x, i) => (i && i % 2 === 0 ? `L${x.toFixed(2)}` : x.toFixed(2))).join(' ')}${look.closed ? 'Z' : ''}`),
  box: (node, v) => ['x', 'y', 'width', 'height'].forEach((name, i) => node.setAttribute(name, i > 1 ? Math.max(0, v[i]) : v[i])),
  at: (node, v) => node.setAttribute('transform', `translate(${v[0].toFixed(2)} ${v[1].toFixed(2)})${v[2] ?? node.rlTurn ? ` rotate(${v[2] ?? node.rlTurn})` : ''}`),
  turn: (node, [v]) => { node.rlTurn = v; },
  opacity: (node, [v]) => { node.style.opacity = v; node.dataset.clear = v < 0.004 ? 1 : ''; },
  text: (node, v) => { node.textContent = v; },
  fill: (node, v) => { node.style.fill = ink(v); },
  ink: (node, v) => { node.style.stroke = ink(v); },
  dash: (node, v) => (v ? node.setAttribute('stroke-dasharray', v) : node.removeAttribute('stroke-dasharray')),
  anchor: (node, v) => node.setAttribute('text-anchor', v),
};
const SVG = 'http://www.w3.org/2000/svg';
const TAGS = { line: 'path', rect: 'rect', dot: 'path', text: 'text' };

function svgNode(tag, attributes, parent) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  parent?.append(node);
  return node;
}

function dress(node, on, attributes) { // they stand there, or none of them does
  for (const [name, value] of Object.entries(attributes)) {
    if (!on) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value); // a tabindex set again would cost a layout
  }
}

function reword(node, text) { // a text that is set again would cost a layout
  if (node.textContent !== text) node.textContent = text;
}

function htmlNode(tag, properties, parent) {
  const node = Object.assign(document.createElement(tag), properties);
  parent?.append(node);
  return node;
}

// A mark as a node with what never changes of its look.
function markNode({ kind, look, name, channels }, svg, clip) {
  let home = svg;
  if (look.clip) home = svgNode('g', { 'clip-path': clip(look.clip) }, svg);
  if (kind === 'dot' && look.point) { // a finger is wider than a marker: a group of both is moved
    home = svgNode('g', { class: `dot ${name}` }, home);
    const shape = svgNode('path', { d: look.outline, 'stroke-width': look.width }, home);
    if (!('fill' in channels)) shape.style.fill = 'none';
    svgNode('circle', { r: 13, class: 'hit' }, home);
    return home;
  }
  const node = svgNode(TAGS[kind], { class: `${kind} ${name}`, d: look.outline, rx: look.radius, 'stroke-width': look.width, 'stroke-dasharray': look.dash?.join(' ') }, home);
  if (!('fill' in channels)) node.style.fill = 'none';
  if (kind === 'text') { node.style.fontSize = `${look.size}px`; if (look.bold) node.style.fontWeight = 600; if (look.halo) node.classList.add('halo'); if (look.mono) node.classList.add('mono'); }
  return node;
}

function play(model, el, g) {
  const read = tables(g), names = g.dims.map((dim) => dim.name);
  const stage = htmlNode('div', { className: 'stage' }), holds = g.presses.length || g.grips.some((grip) => grip.label) || g.marks.some((m) => m.look.point);
  const svg = svgNode('svg', { viewBox: `0 0 ${g.width} ${g.height}`, role: holds ? 'group' : 'img' }, stage);
  const place = (dim, stop) => { // of a stop, which may be a fraction where a hand is free
    if (!dim.keys) return stop;
    const low = Math.min(Math.floor(stop), dim.keys.length - 2);
    return dim.keys.length < 2 ? 0 : dim.keys[low] + (stop - low) * (dim.keys[low + 1] - dim.keys[low]);
  };
  const standing = (d) => { // the stop, or how far between two, at which the picture is shown
    const { keys, free } = g.dims[d], p = positions[d];
    if (!free || !keys) return free ? p : stops[d];
    const low = Math.max(0, Math.min(keys.length - 2, keys.findLastIndex((key) => key <= p)));
    return low + (p - keys[low]) / (keys[low + 1] - keys[low]);
  };
  const stopOf = (d) => { const dim = g.dims[d], v = model.get(dim.name); return dim.of ? 0 : dim.names ? Math.max(0, dim.names.indexOf(v)) : Math.max(0, Math.min(dim.stops.length - 1, v)); };
  const stops = g.dims.map((_, d) => stopOf(d)), positions = stops.map((stop, d) => place(g.dims[d], stop));
  const derive = (dims) => { // these, and the dimensions that follow from them
    const all = [...dims];
    g.dims.forEach(({ of }, d) => {
      const on = of ? depends(of) : [];
      if (!of || (on.length && !on.some((one) => all.includes(one)))) return;
      stops[d] = positions[d] = Math.round(read(of, positions)?.[0] ?? 0); all.push(d);
      if (g.dims[d].names) model.set(names[d], g.dims[d].names[stops[d]]);
    });
    return all;
  };
  derive(names.map((_, d) => d));
  const stopping = new Map(), timers = { save: 0 };
  let held = null, byButton = false, playing = -1;

  // Marks: every channel with where its node is, and which dimensions it depends on.
  const clips = new Map(), defs = svgNode('defs', {}, svg);
  const clip = (box) => {
    const key = box.join(' ');
    if (!clips.has(key)) {
      const id = `rl-${Math.random().toString(36).slice(2)}`, [x, y, right, bottom] = box;
      svgNode('rect', { x, y, width: right - x, height: bottom - y }, svgNode('clipPath', { id }, defs));
      clips.set(key, `url(#${id})`);
    }
    return clips.get(key);
  };
  const nodes = g.marks.map((mark) => markNode(mark, svg, clip)), channels = [];
  g.marks.forEach((mark, m) => {
    nodes[m].dataset.mark = m;
    for (const [name, track] of Object.entries(mark.channels)) {
      const one = { node: nodes[m], name, track, look: mark.look, dims: depends(track), shown: undefined };
      write(one, read(track, positions));
      if (one.dims.length) channels.push(one);
    }
  });
  function write(one, value) {
    if (same(one.shown, value) && (one.name !== 'at' || one.node.rlTurn === undefined)) return; // what stands there need not be drawn again
    const spot = one.name === 'points' || one.name === 'box' || one.name === 'at';
    if (spot) one.node.dataset.gone = value === null ? 1 : '';
    if (value !== null) put[one.name](one.node, one.name === 'opacity' && !Array.isArray(value) ? [value] : value, one.look);
    one.shown = value;
  }

  // Words.
  const room = htmlNode('div', { className: 'rl-says' }), say = htmlNode('p', { className: 'say', ariaHidden: true }, room), notes = g.notes.map(([kind, track, above]) => ({ node: htmlNode('p', { className: kind }), track, above }));
  const aside = htmlNode('div', { className: 'aside' }), speak = speaker(aside);
  aside.setAttribute('aria-live', 'polite'); // the sentence is the picture's name, and spoken when it changes: read once
  for (const text of g.longest) htmlNode('p', { className: 'ghost', textContent: text, ariaHidden: true }, room); // it keeps room for them
  function words(loud = true) {
    const text = read(held ?? g.says, positions);
    if (say.textContent !== text) { say.textContent = text; if (loud) speak(text); }
    dress(svg, true, { 'aria-label': read(g.says, positions) });
    for (const { node, track } of notes) { reword(node, read(track, positions)); node.hidden = !node.textContent; }
  }

  // Moving: `show` looks up all that depends on some dimensions; a glide takes its time.
  function show(changed) {
    const dims = derive(changed);
    for (const one of channels) if (one.dims.some((d) => dims.includes(d))) if (one.from) one.to = undefined; else write(one, read(one.track, positions));
    tell(dims);
  }

  function tell(dims) { // all but the marks
    for (const d of dims) svg.dataset[names[d]] = stops[d];
    const tick = stops.join(' ');
    if (svg.dataset.tick !== tick) svg.dataset.tick = tick; // once for each change: who watches it is told
    controls.forEach((control) => control.look());
    for (const [name, track] of Object.entries(g.classes)) el.parentElement.classList.toggle(name, Boolean(number(track)));
    words();
  }

  function go(d, stop, hand = false) {
    const dim = g.dims[d], before = stops[d], goal = place(dim, stop), ahead = stop === before + 1;
    if (stop === before && positions[d] === goal) return;
    g.dims.forEach((one, t) => { if (one.trail === names[d]) set(t, before, true); });
    stopping.get(d)?.(); stopping.delete(d);
    stops[d] = stop;
    if (dim.glide && !hand && (dim.keys || dim.free) && (byButton || playing === d || ahead)) walk(d, goal, dim);
    else if (dim.glide && !hand && !dim.keys && !dim.free) glide(d, goal, dim.glide);
    else { positions[d] = goal; show([d]); arrived(d); }
  }

  function walk(d, goal, dim) { // along the places between
    const from = positions[d];
    stopping.set(d, animate(dim.glide * Math.abs(goal - from), (t) => {
      positions[d] = from + (goal - from) * t; show([d]);
      if (t === 1) { stopping.delete(d); arrived(d); }
    }, dim.even));
  }

  function glide(d, goal, time) { // straight from what is shown to what is next
    positions[d] = goal;
    const dims = derive([d]), moved = [];
    for (const one of channels) {
      if (!one.dims.some((v) => dims.includes(v))) continue;
      const to = read(one.track, positions);
      if (!Array.isArray(one.shown) || same(one.shown, to)) { one.to = undefined; write(one, to); }
      else { Object.assign(one, { from: one.shown, to }); moved.push(one); }
    }
    tell(dims);
    const rest = () => { for (const one of moved) one.from = undefined; };
    const stop = animate(time, (t) => {
      for (const one of moved) { one.to ??= read(one.track, positions); write(one, one.to && one.from ? blend(one.from, one.to, t) : one.to); }
      if (t === 1) { stopping.delete(d); rest(); show([d]); arrived(d); }
    });
    stopping.set(d, () => { stop(); rest(); });
  }

  function arrived(d) {
    g.dims.forEach((dim, e) => { if (dim.once === names[d] && stops[d] > g.dims[d].stops.length - 1.05) set(e, dim.stops.length - 1, true); });
    svg.dataset.rests = names[d];
    if (playing !== d) return;
    if (stops[d] < g.dims[d].stops.length - 1) setTimeout(() => playing === d && set(d, Math.floor(stops[d]) + 1)); else { playing = -1; show([d]); }
  }

  function set(d, stop, hand = false) {
    const dim = g.dims[d];
    if (hand) go(d, stop, true); // before the others hear of it, so that it does not glide
    model.set(dim.name, dim.names ? dim.names[stop] : stop);
    clearTimeout(timers.save);
    timers.save = setTimeout(() => model.save_changes(), 150); // once the hand rests
  }
  const touch = (sets) => { for (const [name, stop] of Object.entries(sets ?? {})) set(names.indexOf(name), stop, true); };
  const number = (track) => Math.round(read(track, positions)?.[0] ?? 0);
  function bring(sets) { // all stops are looked up before the first one changes; an answer is kept at once
    const goals = Object.entries(sets).map(([name, track]) => [names.indexOf(name), number(track)]);
    for (const [d, stop] of goals) if (stops[d] !== stop) press(d, stop);
    if (model.get('asks')) { clearTimeout(timers.save); model.save_changes(); }
  }
  const press = (d, stop) => { byButton = true; set(d, stop); byButton = false; };

  // Controls, each with what it shows of the state.
  const bars = { true: htmlNode('div', { className: 'row' }), false: htmlNode('div', { className: 'rl-sliders' }) };
  const fold = htmlNode('details', { className: 'rl-more' }); htmlNode('summary', { textContent: 'more' }, fold); keepKeys(fold.firstChild);
  bars.fold = htmlNode('div', { className: 'rl-sliders' }, fold);
  const keyed = []; // what a key presses, wherever in the picture the focus is
  const leaving = new AbortController(), here = { signal: leaving.signal }; // another sheet may take this one's place
  const build = { slider: sliderOf, choice: choiceOf, menu: menuOf, switch: switchOf, play: playOf, button: buttonOf };
  const controls = g.controls.map((one) => build[one.kind](one, bars[one.more ? 'fold' : one.above], names.indexOf(one.dim)));
  const off = (one, d, n) => Math.round(read(one.off, positions.with(d, n))?.[0] ?? 0) === 1;

  function sliderOf(one, parent, d) {
    const dim = g.dims[d], last = dim.stops.length - 1, home = htmlNode('div', { className: `rl-slider${one.at ? ' rl-inside' : ''}` }, one.at ? stage : parent);
    const label = one.at ? null : htmlNode('span', { textContent: one.label }, home), input = htmlNode('input', { type: 'range', min: 0, max: last, step: dim.free ? 0.01 : 1 }, home);
    const output = one.at ? null : htmlNode('output', {}, home), longest = Math.max(...dim.stops.map((text) => text.length)), at = one.at ?? dim.stops.map((_, n) => n), span = at.at(-1) - at[0];
    input.setAttribute('aria-label', one.label); keepKeys(input); label?.setAttribute('aria-hidden', true);
    if (!one.at) {
      home.style.setProperty('--value', `${longest}ch`); // its track keeps its length
      if (one.label.length >= 20) parent.classList.add('rl-long');
    } else {
      Object.assign(input, { max: span, step: 'any' });
      home.style.left = `calc(${(100 * at[0]) / g.width}% - ${FRAME / 2}px)`; home.style.top = `${(100 * one.y) / g.height}%`; home.style.width = `calc(${(100 * span) / g.width}% + ${FRAME}px)`;
    }
    const spot = (stop) => { const n = Math.min(Math.floor(stop), last - 1); return at[n] - at[0] + (stop - n) * (at[n + 1] - at[n]); };
    const stopAt = (x) => { const n = Math.max(0, Math.min(last - 1, at.findLastIndex((v) => v - at[0] <= x))); return n + (x - at[n] + at[0]) / (at[n + 1] - at[n]); };
    const nearest = (x) => dim.free ? Math.round(100 * stopAt(x)) / 100 : at.reduce((best, v, n) => (Math.abs(v - at[0] - x) < Math.abs(at[best] - at[0] - x) ? n : best), 0);
    input.addEventListener('input', () => { playing = -1; set(d, one.at ? nearest(+input.value) : +input.value, dim.free); look(); });
    input.addEventListener('keydown', (event) => {
      event.stopPropagation();
      const page = Math.max(1, Math.round(last / 10)), slow = dim.free && event.key.startsWith('Arrow'), step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: page, PageDown: -page }[event.key];
      const to = event.key === 'Home' ? 0 : event.key === 'End' ? last : step && (slow ? stops[d] + step / 50 : step > 0 ? Math.floor(stops[d]) + step : Math.ceil(stops[d]) + step);
      if (to === undefined) return;
      event.preventDefault(); playing = -1;
      (dim.free && !slow ? press : set)(d, Math.max(0, Math.min(last, to)), slow);
    });
    function look() {
      const stop = stops[d], now = standing(d), said = dim.stops[Math.round(stop)] + (stop % 1 ? ', on the way' : '');
      input.value = one.at ? spot(now) : now;
      if (output) reword(output, said);
      dress(input, true, { 'aria-valuetext': said, 'aria-valuenow': stop });
    }
    return { look };
  }

  function buttons(parent, legend) {
    const group = htmlNode('span', { className: 'rl-group' }, parent);
    if (legend) { group.setAttribute('role', 'group'); group.setAttribute('aria-label', legend); }
    return (text, act) => { const node = htmlNode('button', { type: 'button', textContent: text }, group); keepKeys(node); node.addEventListener('click', act); return node; };
  }

  function choiceOf(one, parent, d) {
    const add = buttons(parent, one.label), all = one.labels.map((text, n) => add(text, () => press(d, n)));
    return { look: () => all.forEach((node, n) => { dress(node, true, { 'aria-pressed': stops[d] === n }); node.disabled = off(one, d, n); }) };
  }

  function menuOf(one, parent, d) {
    const row = htmlNode('label', { className: 'rl-menu', textContent: `${one.label} ` }, parent), select = htmlNode('select', { ariaLabel: one.label }, row), groups = new Map();
    const options = one.labels.map((_, n) => {
      const group = one.groups[n];
      if (group && !groups.has(group)) groups.set(group, htmlNode('optgroup', { label: group }, select));
      return htmlNode('option', { value: n }, groups.get(group) ?? select);
    });
    keepKeys(select);
    select.addEventListener('change', () => { press(d, +select.value); for (const [name, track] of Object.entries(one.also)) press(names.indexOf(name), number(track)); });
    return { look: () => { options.forEach((node, n) => { reword(node, read(one.labels[n], positions)); node.disabled = !number(one.enabled[n]); }); select.value = stops[d]; } };
  }

  function switchOf(one, parent, d) {
    const node = buttons(parent)(one.label, () => press(d, stops[d] ? 0 : 1));
    return { look: () => dress(node, true, { 'aria-pressed': Boolean(stops[d]) }) };
  }

  function playOf(one, parent, d) {
    const last = g.dims[d].stops.length - 1, node = buttons(parent)('', act);
    node.classList.add('rl-play');
    function act() {
      if (playing === d && g.dims[d].free) { playing = -1; set(d, Math.round(100 * standing(d)) / 100, true); return; } // it rests where it is
      if (playing === d) { playing = -1; stopping.get(d)?.(); stopping.delete(d); positions[d] = place(g.dims[d], stops[d]); show([d]); return; }
      if (stops[d] === last) { stops[d] = 0; positions[d] = place(g.dims[d], 0); model.set(g.dims[d].name, 0); show([d]); }
      if (still()) { press(d, last); return; }
      playing = d; set(d, Math.floor(stops[d]) + 1);
    }
    return { look: () => reword(node, one.labels[playing === d ? 1 : stops[d] === last ? 2 : 0]) };
  }

  function buttonOf(one, parent) {
    const node = buttons(parent)('', act);
    if (one.class) node.classList.add(...one.class.split(' '));
    function act() {
      const focused = document.activeElement === node;
      if (!awake()) return;
      bring(one.sets);
      if (focused && node.hidden) svg.querySelector('.rl-grip[tabindex]')?.focus({ preventScroll: true }); // the next to take hold of
    }
    if (one.key) keyed.push({ key: one.key, open: () => !node.hidden && !node.disabled, act });
    return { look: () => { reword(node, read(one.label, positions)); node.hidden = !number(one.shown); node.disabled = !number(one.enabled); } };
  }

  // An answer that nobody would keep is not taken.
  function awake() {
    const is = !model.get('asks') || !asleep(model, el);
    if (!is) { say.textContent = RUN_FIRST; aside.textContent = RUN_FIRST; }
    return is;
  }

  // Places to pull at: the stops at which the grip lies nearest to the pointer.
  const grips = g.grips.map((grip) => {
    const node = typeof grip.area === 'number' ? nodes[grip.area] : svgNode('rect', { x: grip.area[0], y: grip.area[1], width: grip.area[2] - grip.area[0], height: grip.area[3] - grip.area[1] }, svg);
    node.classList.add(grip.hover ? 'rl-hover' : 'rl-grip');
    if (typeof grip.area === 'number') node.classList.add('rl-held');
    const dims = grip.dims.map((name) => names.indexOf(name));
    const spot = (event) => {
      const box = svg.getBoundingClientRect();
      return [((event.clientX - box.left) * g.width) / box.width, ((event.clientY - box.top) * g.height) / box.height];
    };
    const pull = (event) => {
      const found = nearestStops(grip.at, dims, ...spot(event));
      dims.forEach((d, n) => { if (stops[d] !== found[n]) { playing = -1; set(d, found[n], true); } });
      if (grip.glide) { positions[dims[0]] = between(grip.at, dims[0], ...spot(event)); show(dims); }
    };
    if (grip.hover) {
      node.addEventListener('pointermove', (event) => { if (!event.buttons) pull(event); });
      node.addEventListener('pointerleave', () => dims.forEach((d) => set(d, 0, true)));
      return node;
    }
    if (grip.label && dims.length) byKeys(node, grip, dims[0]);
    const ghost = names.indexOf(grip.ghost);
    const haunt = (stop) => { if (ghost >= 0 && stops[ghost] !== stop) { go(ghost, stop, true); model.set(grip.ghost, stop); } }; // no kernel hears of it
    controls.push({ look: () => { node.dataset.off = number(grip.enabled) ? '' : 1; } });
    let from = [0, 0]; // where the hand took hold of it
    const give = (event, back) => {
      const by = (v, start) => (back ? 0 : 24 * Math.tanh((v - start) / 60));
      node.style.transition = back && !still() ? 'translate .3s cubic-bezier(.3, 1.8, .5, 1)' : '';
      node.style.translate = `${by(event.clientX, from[0])}px ${by(event.clientY, from[1])}px`;
    };
    const move = (event) => (grip.spring ? give(event) : pull(event));
    node.addEventListener('pointerdown', (event) => { if (!awake()) return; node.setPointerCapture(event.pointerId); node.dataset.pulled = 1; from = [event.clientX, event.clientY]; haunt(0); touch(grip.sets); move(event); });
    node.addEventListener('pointermove', (event) => {
      if (event.buttons && node.dataset.pulled) move(event);
      else if (ghost >= 0 && !event.buttons && !asleep(model, el)) haunt(nearestStops(grip.at, dims, ...spot(event))[0]);
    });
    node.addEventListener('pointerleave', () => haunt(0));
    for (const end of ['pointerup', 'pointercancel']) node.addEventListener(end, (event) => { node.dataset.pulled = ''; if (grip.spring) give(event, true); if (grip.glide) go(dims[0], stops[dims[0]]); });
    return node;
  });

  function byKeys(node, grip, d) { // a grip as a slider: one step, ten steps, the ends, and what confirms
    const dim = g.dims[d], last = dim.stops.length - 1, there = (stop) => read(grip.at, positions.with(d, place(dim, stop))) !== null;
    const open = [...dim.stops.keys()].filter(there);
    keepKeys(node);
    const same = { tabindex: 0, role: 'slider', 'aria-label': grip.label, 'aria-valuemin': 0, 'aria-valuemax': last };
    const look = () => dress(node, number(grip.enabled), { ...same, 'aria-valuenow': stops[d], 'aria-valuetext': dim.stops[stops[d]] });
    controls.push({ look });
    node.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20, Home: -Infinity, End: Infinity }[event.key];
      if (event.key === 'Enter') el.querySelector('button.confirm:enabled:not([hidden])')?.click();
      else if (!step || !awake()) return;
      else if (touch(grip.sets), there(stops[d]) || !open.length) { const to = Math.max(open[0], Math.min(open.at(-1), stops[d] + step)); if (there(to)) set(d, to, !grip.glide); }
      else set(d, open[Math.round((open.length - 1) / 2)], true); // it begins in the middle
      event.preventDefault(); event.stopPropagation();
    });
  }

  function between(track, d, x, y) { // where it follows the hand from stop to stop
    let best = positions[d], least = Infinity;
    for (let stop = 0; stop < g.dims[d].stops.length - 1; stop += 1 / 16) {
      const spot = read(track, positions.with(d, stop)), far = spot ? Math.hypot(spot[0] - x, spot[1] - y) : Infinity;
      if (far < least) { least = far; best = stop; }
    }
    return best;
  }

  function nearestStops(track, dims, x, y) {
    const tried = [...positions], best = { far: Infinity, stops: dims.map((d) => stops[d]) }, now = [];
    const walkAll = (n) => {
      if (n === dims.length) {
        const spot = read(track, tried), far = spot ? Math.hypot(spot[0] - x, spot[1] - y) : Infinity;
        if (far < best.far) Object.assign(best, { far, stops: [...now] });
        return;
      }
      const dim = g.dims[dims[n]];
      for (let stop = 0; stop < dim.stops.length; stop++) { now[n] = stop; tried[dims[n]] = place(dim, stop); walkAll(n + 1); }
    };
    walkAll(0);
    return best.stops;
  }

  // Marks that are pressed like buttons, and keys that press from anywhere in the picture.
  for (const one of g.presses) {
    const node = nodes[one.mark], open = () => number(one.enabled) && node.dataset.gone !== '1';
    const act = () => {
      if (!open() || !awake()) return;
      const told = read(one.says, positions);
      bring(one.sets);
      if (told) speak(`${told} ${say.textContent}`);
      const lost = document.activeElement === node || !el.contains(document.activeElement);
      if (!open() && lost) svg.focus({ preventScroll: true });
    };
    node.classList.add('rl-press'); keepKeys(node);
    node.addEventListener('click', act);
    node.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      act(); event.preventDefault(); event.stopPropagation();
    });
    const look = () => {
      dress(node, open(), { tabindex: 0, role: 'button', 'aria-label': read(one.label, positions) });
      node.dataset.off = open() ? '' : 1;
    };
    controls.push({ look });
    if (one.key) keyed.push({ key: one.key, open, act });
  }
  if (keyed.length) {
    const waits = () => keyed.some((one) => one.open()), come = () => svg.focus({ preventScroll: true });
    keepKeys(svg); controls.push({ look: () => dress(svg, waits(), { tabindex: 0 }) });
    el.addEventListener('keydown', (event) => {
      const found = keyed.find((one) => one.key === event.key && one.open());
      if (!found || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Enter' && event.target !== svg) return; // it presses what has the focus
      found.act(); event.preventDefault(); event.stopPropagation();
    }, here);
    // A click anywhere in here brings the keys here, also where a notebook would keep the focus on its cell.
    el.addEventListener('mousedown', (event) => {
      if (!waits() || event.target.closest('button, [tabindex]')) return;
      event.preventDefault(); come();
    }, here);
    el.addEventListener('click', () => { if (waits() && !el.contains(document.activeElement)) come(); }, here);
  }

  // Marks that can be pointed at: they say their own sentence.
  g.marks.forEach((mark, m) => {
    const says = mark.look.point, node = nodes[m];
    if (!says) return;
    svg.append(node.parentNode === svg ? node : node.parentNode); // above the places to pull at
    node.setAttribute('tabindex', 0); node.setAttribute('role', 'img'); node.classList.add('rl-point'); keepKeys(node);
    const name = () => dress(node, true, { 'aria-label': read(says, positions) });
    const hold = () => { held = says; name(); node.classList.add('held'); words(); };
    const leave = () => { if (held === says) { held = null; words(false); } node.classList.remove('held'); };
    node.addEventListener('pointerenter', hold); node.addEventListener('focus', hold); node.addEventListener('click', () => node.focus());
    node.addEventListener('pointerleave', () => { if (document.activeElement !== node) leave(); }); node.addEventListener('blur', leave);
    name(); controls.push({ look: name });
  });

  fold.append(...notes.filter(({ node }) => node.classList.contains('more')).map(({ node }) => node));
  const lines = (above) => notes.filter((one) => one.above === above && !one.node.classList.contains('more')).map(({ node }) => node);
  el.append(...lines(true), bars.true, stage, bars.false, room, ...lines(false), aside);
  for (const bar of Object.values(bars)) bar.hidden = !bar.children.length;
  if (!bars.fold.hidden || fold.children.length > 2) room.after(fold);
  el.style.setProperty('--ratio', g.width / g.height); el.style.setProperty('--drawn', `${g.width}px`);
  const heard = g.dims.flatMap((dim, d) => (dim.of ? [] : [[`change:${dim.name}`, () => go(d, stopOf(d))]]));
  for (const [name, call] of heard) model.on(name, call);
  show(names.map((_, d) => d));
  return () => { leaving.abort(); for (const stop of stopping.values()) stop(); clearTimeout(timers.save); for (const [name, call] of heard) model.off(name, call); };
}

// What another widget holds, this one follows: a guess on its axis, a slider beside it.
function follow(model) {
  const heard = [];
  let save = 0;
  for (const [dim, all] of Object.entries(model.get('follows'))) for (const [id, trait, shift] of all) findModel(model, id).then((other) => {
    if (!other) return;
    const take = () => {
      const now = typeof other.get(trait) === 'number' ? other.get(trait) + shift : other.get(trait);
      if (model.get(dim) === now) return;
      model.set(dim, now);
      clearTimeout(save); save = setTimeout(() => model.save_changes(), 150);
    };
    heard.push([other, `change:${trait}`, take]); other.on(`change:${trait}`, take); take();
  });
  return () => { clearTimeout(save); for (const [other, name, call] of heard) other.off(name, call); };
}

// A picture that was drawn already, uncovered with the answer: below the scene, its words on demand.
function below(model, el) {
  const bytes = model.get('picture'), more = model.get('more') ?? '', drawn = Boolean(bytes?.byteLength);
  if (!drawn && !more) return () => {};
  const box = htmlNode('div', { className: 'result' }, el), url = drawn && URL.createObjectURL(new Blob([bytes], { type: 'image/png' }));
  const image = drawn && htmlNode('img', { src: url, alt: more }, box);
  const home = drawn && more ? htmlNode('details', {}, box) : box;
  if (drawn && more) htmlNode('summary', { textContent: 'the picture in words' }, home);
  if (more) htmlNode('p', { className: 'more', textContent: more }, home);
  const look = () => {
    box.hidden = model.get('covered');
    if (image && !more) setTimeout(() => { image.alt = el.querySelector('.say').textContent; });
  };
  model.on('change:covered', look); look();
  return () => { model.off('change:covered', look); if (url) URL.revokeObjectURL(url); };
}

function render({ model, el }) {
  el.rooflab = model; // for the page around it: an address with a state, a lecture, a test
  el.classList.add('rl-pic', 'rl-scene', ...model.get('classes').split(' ').filter(Boolean));
  const cover = htmlNode('div', { className: 'cover', hidden: true }, el), home = htmlNode('div', { className: 'rl-play-home' }, el);
  const sheets = JSON.parse(model.get('scenes')), [{ texts, rulers, pool }] = sheets, buffer = model.get('numbers'), exact = model.get('exact'), parts = pool.map((part) => ({ part })), shared = { texts, buffer, exact, rulers: unpooled(rulers ?? {}, parts) };
  const scenes = sheets.map((g) => ({ ...unpooled(g, parts), ...shared })); // the first has those of all
  let shown = -1, end = () => {};
  function fit(wide) { // the widest sheet whose letters stay large enough there: 12 pixels where the window is low
    const smaller = innerHeight < 479 ? 1.17 : 1.35, fits = scenes.findIndex((g) => g.width <= smaller * wide), next = !wide ? 0 : fits < 0 ? scenes.length - 1 : fits;
    if (next === shown) return;
    shown = next; end(); home.replaceChildren(); end = play(model, home, scenes[next]);
  }
  const sized = new ResizeObserver(([entry]) => { if (entry.contentRect.width) fit(entry.contentRect.width); });
  fit(el.clientWidth); sized.observe(el);
  const [[, sheet] = [], ...marks] = model.get('sketch'), sketch = sheet && svgNode('svg', { ...sheet, 'aria-hidden': true }, cover);
  for (const [tag, attributes, words] of marks) svgNode(tag, attributes, sketch).textContent = words;
  htmlNode('p', { textContent: model.get('cover') }, cover);
  const undrawn = below(model, el), forget = followTheme(el), stop = follow(model), waited = !model.get('cover') ? () => {} : waitForGuesses(model, (covered) => { cover.hidden = !covered; el.classList.toggle('rl-covered', covered); });
  return () => { end(); sized.disconnect(); forget(); stop(); waited(); undrawn(); };
}
export default { render };
