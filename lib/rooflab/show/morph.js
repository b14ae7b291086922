// The morph: one's own points from time against work to the roofline, on one slider. Python placed
// everything at three layouts and wrote every sentence; here things move from one to the next.

function render({ model, el }) {
  const g = model.get('geometry'), [left, top, right, bottom] = g.plot, last = 100 * (g.stops.length - 1), clip = model.get('uid');
  el.classList.add('rl-pic', 'rl-morph');
  el.innerHTML = `<div class="row" role="group" aria-label="named stops of the slider"></div>
  <div class="stage"><div class="cover" style="aspect-ratio:${g.width}/${g.height / 2}" hidden></div><svg viewBox="0 0 ${g.width} ${g.height}" role="group"><clipPath id="${clip}"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath></svg></div>
  <div class="glide"><input type="range" min="0" max="${last}" step="1" aria-label="from time against work to the roofline"><div class="notches">${g.stops.map(() => '<i></i>').join('')}</div></div>
  <p class="say"></p><p class="origin"></p><div class="aside" aria-live="polite"></div>`;
  const $ = s => el.querySelector(s), svg = $('svg'), slider = $('input'), say = $('.say'), speak = speaker($('.aside'));
  const clamp = v => Math.max(0, Math.min(1, v)), movers = [];
  const others = new Map(); // the widgets that it waits for, and those on which guesses are placed
  let kept = false, held = null, covered = model.get('covered'), stop = () => {};
  $('.origin').textContent = g.origin; $('.cover').textContent = model.get('cover');

  // Where u lies between two layouts: [the lower one, how far on].
  const between = u => { const k = Math.min(1, Math.floor(u)); return [k, u - k]; };
  const along = (spots, u) => { const [k, t] = between(u); return blend(spots[k], spots[k + 1], t); };
  const polyline = points => `M${points.map(p => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join('L')}`;
  // Time and rate are never both there; a scale that turns into decades is seen while it turns.
  const near = (k, u) => clamp(1 - (k && u > 1 ? 1.6 : 2.5) * Math.abs(u - k));

  // Ticks travel along their axis while one scale turns into the other; between time and rate they cross-fade.
  g.axes.forEach((axis, k) => {
    const group = draw('g', { class: 'axis' }, svg), moving = [];
    for (const [name, ticks] of [['x', axis.x], ['y', axis.y]]) for (const [text, here, other] of ticks) {
      const mark = draw('g', {}, group);
      if (name === 'x') { draw('path', { class: 'grid', d: `M0 ${top}V${bottom}` }, mark); draw('text', { y: bottom + 20, 'text-anchor': 'middle' }, mark, text); }
      else { draw('path', { class: 'grid', d: `M${left} 0H${right}` }, mark); draw('text', { x: left - 7, y: 5, 'text-anchor': 'end' }, mark, text); }
      moving.push([mark, name, here, other]);
    }
    draw('text', { x: right, y: bottom + 44, 'text-anchor': 'end' }, group, axis.names[0]);
    draw('text', { x: left - 60, y: top - 14 }, group, axis.names[1]);
    movers.push(u => {
      const shown = near(k, u); group.style.opacity = shown; group.style.visibility = shown ? '' : 'hidden';
      if (!shown) return;
      const t = k ? clamp(k === 1 ? u - 1 : 2 - u) : 0;
      for (const [mark, name, here, other] of moving) { const v = here + (other - here) * t; mark.setAttribute('transform', name === 'x' ? `translate(${v} 0)` : `translate(0 ${v})`); }
    });
  });
  draw('path', { class: 'frame', d: `M${left} ${top}V${bottom}H${right}` }, svg);

  // A label has a place in a layout or none; between two places it travels, between one and none it fades.
  function label(text, spots, parent) {
    const node = draw('text', { class: 'halo', 'text-anchor': 'middle' }, parent, text);
    return u => {
      const [k, t] = between(u), a = spots[k], b = spots[k + 1], shown = a && b ? 1 : a ? clamp(1 - 2.5 * t) : b ? clamp(2.5 * t - 1.5) : 0;
      node.style.opacity = shown; node.style.display = shown ? '' : 'none';
      const [x, y] = a && b ? blend(a, b, t) : a ?? b ?? [0, 0];
      node.setAttribute('x', x); node.setAttribute('y', y);
    };
  }

  const roofs = draw('g', { class: 'roofs' }, svg);
  for (const line of g.roofs) {
    const path = draw('path', { 'clip-path': `url(#${clip})`, class: line.main ? 'main' : '' }, roofs);
    for (const [text, at] of line.labels) if (at) draw('text', { class: 'halo', 'text-anchor': 'middle', x: at[0], y: at[1], ...(at[2] && { transform: `rotate(${at[2]} ${at[0]} ${at[1]})` }) }, roofs, text);
    movers.push(u => { const [k, t] = between(u); path.setAttribute('d', polyline(line.path[k].map((p, n) => blend(p, line.path[k + 1][n], t)))); });
  }
  movers.push(u => { roofs.style.opacity = clamp(2 * u - 3); });

  const calls = draw('g', { class: 'calls' }, svg);
  for (const line of g.calls) {
    const one = draw('g', { class: `look-${line.look}`, style: `--op:${line.colour}` }, calls), path = draw('path', { 'clip-path': `url(#${clip})` }, one);
    if (line.label) movers.push(label(line.says, [null, null, line.label], one));
    movers.push(u => { const [k, t] = between(u); path.setAttribute('d', polyline(line.path[k].map((p, n) => blend(p, line.path[k + 1][n], t)))); });
  }
  const floor = g.notes[0].floor;
  if (floor?.[1]) movers.push(label(floor[0], [floor[1], null, null], calls));
  movers.push((u, s) => { calls.style.opacity = s > 100 ? clamp((s - 205) / 80) : kept ? clamp(1 - s / 40) : 0; calls.style.visibility = +calls.style.opacity ? '' : 'hidden'; });

  g.notes.forEach((note, k) => note.marks.forEach(one => {
    const group = draw('g', { class: `note look-${one.look}`, style: one.colour ? `--op:${one.colour}` : '' }, svg);
    const lead = draw('path', { class: 'leader', d: polyline(one.lead) }, group);
    movers.push(label(one.text, [0, 1, 2].map(n => (n === k ? one.at : null)), group), u => { lead.style.opacity = clamp(1 - 2.5 * Math.abs(u - k)); });
  }));

  // A guess that was made before this picture, or the place where it lies on its axis by now.
  function guess_of(p) {
    if (p.guess) return p.guess;
    const axis = others.get(p.asked?.id), n = axis && !axis.get('covered') ? axis.get('guess_at') : -1, y = p.asked?.y[n];
    return y && { at: p.at.map(([x], k) => [x, y[k]]), says: p.asked.says[n], told: p.asked.told[n], label: [null, null, p.asked.label[n]] };
  }
  const says = p => p.says + (guess_of(p)?.told ?? '');

  function hang(p, group) {
    const own = draw('g', {}, group), gap = draw('path', { class: 'gap' }, own), hollow = draw('path', { class: 'guess', d: SHAPES[p.shape] }, own), words = draw('g', { class: 'off' }, own);
    let write = () => {}, shown = null;
    movers.push(u => {
      const guess = guess_of(p);
      own.style.display = guess ? '' : 'none';
      if (!guess) return;
      if (shown !== guess.says) { words.replaceChildren(); write = label(guess.says, guess.label, words); shown = guess.says; }
      const [x, y] = along(guess.at, u), [px, py] = along(p.at, u);
      hollow.setAttribute('transform', `translate(${x} ${y})`); gap.setAttribute('d', `M${x} ${y}L${px} ${py}`);
      write(u);
    });
  }

  for (const p of g.points) {
    const group = draw('g', { class: `point look-${p.look}`, style: `--op:${p.colour}`, 'data-name': p.name }, svg);
    if (p.guess || p.asked) hang(p, group);
    const mark = draw('g', { class: 'mark', tabindex: 0, role: 'img', 'aria-label': says(p) }, group);
    draw('circle', { r: 15, class: 'hit' }, mark); draw('circle', { r: 12, class: 'ring' }, mark); draw('path', { d: SHAPES[p.shape] }, mark);
    keepKeys(mark);
    movers.push(u => { const [x, y] = along(p.at, u); mark.setAttribute('transform', `translate(${x.toFixed(2)} ${y.toFixed(2)})`); });
    movers.push(label(p.name, p.label, group));
    const hold = () => { held = p; words(); }, release = () => { if (held === p && document.activeElement !== mark) { held = null; words(); } };
    mark.addEventListener('pointerenter', hold); mark.addEventListener('focus', hold); mark.addEventListener('click', () => mark.focus());
    mark.addEventListener('pointerleave', release); mark.addEventListener('blur', () => { if (held === p) { held = null; words(); } });
  }

  function words() {
    const s = model.get('at'), nearest = s >= 100 && s < g.decades ? 1 : Math.round(s / 100), text = held ? says(held) : g.says[nearest];
    if (say.textContent !== text) { say.textContent = text; if (!held && !covered) speak(text); }
    el.querySelectorAll('.point').forEach((node, n) => node.classList.toggle('held', g.points[n] === held));
    slider.setAttribute('aria-valuetext', `${g.stops[nearest]}${s % 100 ? ', on the way' : ''}`);
    el.querySelectorAll('.row button').forEach((button, n) => button.setAttribute('aria-pressed', s === 100 * n));
  }

  function move() {
    const s = model.get('at'), u = Math.min(2, s / 100);
    kept ||= s >= last - 5;  // once seen, the call line comes back as a floor under the times
    if (+slider.value !== s) slider.value = s;
    slider.style.setProperty('--done', `${100 * s / last}%`);
    for (const mover of movers) mover(u, s);
    words(); svg.dataset.at = s;
  }

  function go(goal) {
    const from = model.get('at'), far = Math.abs(goal - from) / 100;
    stop(); stop = animate(700 + 500 * far, t => { model.set('at', Math.round(from + (goal - from) * t)); if (t === 1) model.save_changes(); });
  }

  // It opens once everything that it waits for lies open; what cannot be found keeps nothing covered.
  function look() {
    covered = model.get('waits').some(id => others.get(id)?.get('covered'));
    cover();
    g.points.forEach((p, n) => { if (p.asked) svg.querySelectorAll('.mark')[n].setAttribute('aria-label', says(p)); });
    move(); apart();
  }
  function cover() { $('.cover').hidden = !covered; el.classList.toggle('rl-covered', covered); }
  function apart() { // words that another guess's words cover: a click on the point says them, too
    const taken = g.points.map(p => p.asked && guess_of(p)).map(guess => guess?.label[2] && [...guess.label[2], 4.2 * guess.says.length]);
    let n = 0;
    g.points.forEach((p, i) => { if (!p.guess && !p.asked) return;
      const node = svg.querySelectorAll('.off')[n++], own = taken[i];
      node.style.visibility = own && taken.slice(0, i).some(other => other && Math.abs(own[0] - other[0]) < own[2] + other[2] && Math.abs(own[1] - other[1]) < 18) ? 'hidden' : ''; });
  }
  async function attend() {
    const ids = new Set([...model.get('waits'), ...g.points.flatMap(p => p.asked?.id ?? [])]);
    for (const id of ids) { const other = await findModel(model, id); if (other) { others.set(id, other); other.on('change:covered change:guess_at', look); } }
    if (ids.size) look();
  }

  const row = $('.row');
  g.stops.forEach((name, n) => { const button = make('button', { type: 'button', textContent: name }, row); keepKeys(button); button.addEventListener('click', () => go(100 * n)); });
  keepKeys(slider);
  slider.addEventListener('input', () => { stop(); model.set('at', +slider.value); });
  slider.addEventListener('change', () => model.save_changes());
  slider.addEventListener('keydown', event => {
    const way = { PageUp: 1, PageDown: -1 }[event.key], s = model.get('at');
    if (way) { event.preventDefault(); go(Math.max(0, Math.min(last, 100 * (way > 0 ? Math.floor(s / 100) + 1 : Math.ceil(s / 100) - 1)))); }
    event.stopPropagation();
  });
  model.on('change:at', move);
  const forget = followTheme(el);
  cover(); move(); attend();
  return () => { stop(); forget(); model.off('change:at', move); for (const other of others.values()) other.off('change:covered change:guess_at', look); };
}
export default { render };
