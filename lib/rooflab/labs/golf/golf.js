// Byte golf: blocks cross the bus and stay in the ledger. Python placed every block for every chunk
// size and wrote every sentence; here things move from one placed spot to another.

function render({ model, el }) {
  const g = model.get('geometry'), { left, right } = g, [top, foot] = g.ledger, lane = Object.fromEntries(g.lanes.map(l => [l[0], l]));
  el.classList.add('rl-pic');
  el.innerHTML = `
  <div class="code"><button type="button" class="run"></button><code></code><b class="often"></b></div>
  <div class="stage"><svg viewBox="0 0 ${g.width} ${g.height}" role="img"><g class="lanes"></g><g class="homes"></g><g class="flows"></g><g class="trips"></g>
    <g class="processor"><text class="big call" x="${(left + right) / 2}" text-anchor="middle" y="${(lane.CPU[1] + lane.CPU[2]) / 2 + 6}"></text></g>
    <text class="big count" x="${left}" y="${top - 14}"></text><text x="${left - 10}" y="${(top + foot) / 2 + 6}" text-anchor="end">crossed</text>
    <rect class="bed" x="${left}" y="${top}" width="${right - left}" height="${foot - top}"/><g class="entries"></g><path class="axis"/><g class="ticks"></g>
    <line class="least" y1="${top - 7}" y2="${foot + 5}"/><text class="least-says halo" text-anchor="middle" y="${foot + 45}"></text>
    <g class="bars"></g><rect class="flyer" style="display:none" rx="2" stroke="#222"/></svg><div class="cover" style="aspect-ratio:${g.width}/${g.height / 2}" hidden>Covered until you have placed your guess above.</div></div>
  <p class="say"></p><p class="origin"></p><div class="aside" aria-live="polite"></div>`;
  const $ = s => el.querySelector(s), svg = $('svg'), speak = speaker($('[aria-live]'));
  const set = (node, values) => { for (const key in values) node.setAttribute(key, values[key]); return node; };
  const add = (parent, tag, values = {}, text = null) => {
    const node = set(document.createElementNS('http://www.w3.org/2000/svg', tag), values);
    if (text !== null) node.textContent = text;
    parent.append(node); return node;
  };
  const last = () => g.stories[model.get('c')], steps = () => last().says.length - 1, step = () => Math.min(model.get('i'), steps());
  let from = step(), chunk = model.get('c'), shown, stop = () => {}, playing = false;

  for (const [name, y0, y1] of g.lanes) {
    add($('.lanes'), 'rect', { class: `lane ${name}`, x: 0, y: y0, width: right + 6, height: y1 - y0 });
    add($('.lanes'), 'text', { class: name === 'bus' ? 'small' : '', x: left - 10, y: (y0 + y1) / 2 + 6, 'text-anchor': 'end' }, name);
  }
  for (let x = left; x <= right; x += 22) add($('.lanes'), 'line', { class: 'wire', x1: x, x2: x, y1: lane.bus[1], y2: lane.bus[2] });
  const group = (parent, cls, c) => { const node = add($(parent), 'g', { class: cls }); node.style.setProperty('--own', c.colour);
    const rect = add(node, 'rect', { fill: c.colour }), text = add(node, 'text', { 'text-anchor': 'middle', style: `fill:${c.ink}` }); return { node, rect, text }; };
  const homes = g.columns.map(c => group('.homes', 'home', c));
  const trips = g.keys.map(([, c]) => group('.trips', 'trip', g.columns[c])), entries = g.keys.map(([, c]) => group('.entries', 'entry', g.columns[c]));
  const flows = g.keys.map(([, c]) => { const node = add($('.flows'), 'g'); node.style.setProperty('--own', g.columns[c].colour);
    return { node, line: add(node, 'path', { class: 'flow' }), head: add(node, 'path', { class: 'flown' }) }; });
  for (const [x, says] of g.ticks) { add($('.ticks'), 'path', { class: 'axis', d: `M${x} ${foot}v6` }); add($('.ticks'), 'text', { x, y: foot + 23, 'text-anchor': 'middle' }, says); }
  set($('path.axis'), { d: `M${left} ${foot}H${right}` });
  const bars = (g.bars?.rows ?? []).map(([name, y0, y1], n) => { const parent = $('.bars'), kind = ['measured', 'counted'][n];
    add(parent, 'text', { x: left - 10, y: (y0 + y1) / 2 + 6, 'text-anchor': 'end' }, name);
    add(parent, 'rect', { class: 'bed', x: left, y: y0, width: right - left, height: y1 - y0 });
    const rect = add(parent, 'rect', { class: kind, x: left, y: y0, width: 0, height: y1 - y0 });
    return { rect, text: add(parent, 'text', { class: `value ${n ? '' : 'big'}`, y: (y0 + y1) / 2 + 6 }) }; });

  const box = ({ rect, text }, [x, y, w, h], says, letters) => {
    set(rect, { x, y, width: w, height: h, rx: 2 }); set(text, { x: x + w / 2, y: y + h / 2 + 6 });
    text.textContent = says.find(s => s.length * letters + 6 <= w) ?? '';
  };
  const now = c => ({ homes: g.stories[c].homes[Math.min(model.get('i'), g.stories[c].says.length - 1)], blocks: g.stories[c].blocks, bars: g.bars?.lengths[c] ?? [] });
  const between = (a, b, t) => ({ homes: a.homes.map((v, n) => blend(v, b.homes[n], t)), blocks: a.blocks.map((v, n) => blend(v, b.blocks[n], t)), bars: blend(a.bars, b.bars, t) });

  // Everything as it stands; `flying`: which trip is under way, and how far (0…1).
  function paint(flying = -1, t = 1) {
    const s = last(), i = step();
    const order = g.keys.map((_, n) => n).filter(n => g.keys[n][0] <= i && s.there[n]), landed = flying < 0 ? order.at(-1) ?? -1 : t < 0.5 ? flying - 1 : flying;
    homes.forEach((home, n) => {
      const { name, x } = g.columns[n], [y, w] = shown.homes[n], made = g.keys.findIndex(k => k[0] === i && k[1] === n && k[2] === 'write');
      const fresh = flying >= 0 && made > landed && (!s.alive[i - 1][n] || s.homes[i - 1][n][0] !== y);
      box(home, [x - w / 2, y, w, g.slot], [name], g.letter);
      home.node.setAttribute('class', `home${s.alive[i][n] < 0 ? ' away' : ''}${fresh || !s.alive[i][n] ? ' unborn' : ''}`);
    });
    g.keys.forEach(([at, column, way], n) => {
      const [x, y, w, h, lx, lw] = shown.blocks[n], here = at === i && s.there[n] && n <= landed, crossed = at <= i && s.there[n] && n <= landed;
      trips[n].node.style.display = flows[n].node.style.display = here ? '' : 'none';
      entries[n].node.style.display = crossed ? '' : 'none';
      if (here) {
        const arrow = way === 'read' ? '↓' : '↑', free = s.free[n];
        trips[n].node.classList.toggle('free', free);
        const label = `${arrow} ${free ? 'free' : s.per[n]}`, beside = w < 20 && label.length * 8 + 16 < g.pitch / 2;
        box(trips[n], [x, y, w, h], beside ? [] : [label, arrow], g.letter);
        if (beside) { trips[n].text.textContent = label; set(trips[n].text, { x: x + w + 12, y: y + h / 2 + 6 }); }
        trips[n].node.classList.toggle('beside', beside);
        flow(n, column, way);
      }
      if (crossed) box(entries[n], [lx, top, n === flying ? lw * Math.max(0, 2 * t - 1) : lw, foot - top], lw > 0 ? [g.columns[column].name] : [], g.letter);
      entries[n].node.classList.toggle('newest', at === i);
    });
    shown.bars.forEach((size, n) => {
      const { rect, text } = bars[n], inside = left + size > right - 100;
      set(rect, { width: size }); set(text, { x: left + size + (inside ? -8 : 8), 'text-anchor': inside ? 'end' : 'start' });
      text.classList.toggle('inside', inside); text.classList.toggle('halo', !inside); text.textContent = g.bars.says[model.get('c')][n];
    });
    $('.count').textContent = s.counters[landed + 1];
    svg.dataset.landed = landed; svg.dataset.flying = flying;
  }

  function flow(n, column, way) {  // an arrow between the array's home and the processor
    const [x, , w] = shown.blocks[n], middle = x + w / 2, up = way === 'write';
    const start = shown.homes[column][0] + g.slot, end = lane.CPU[1];
    set(flows[n].line, { d: `M${middle} ${up ? start + 10 : start}V${up ? end : end - 10}` });
    set(flows[n].head, { d: up ? `M${middle} ${start}l-8 12h16z` : `M${middle} ${end}l-8 -12h16z` });
  }

  function words() {
    const s = last(), i = step();
    $('code').textContent = s.codes[i] || g.begin; $('.often').textContent = s.rounds[i]; $('.call').textContent = s.calls[i];
    const text = model.get('covered') ? 'Covered until you have placed your guess.' : [s.says[i], ...(g.bars ? [g.bars.sentences[model.get('c')]] : [])].join(' ');
    $('.say').textContent = text; svg.setAttribute('aria-label', text); speak(text);
    const [x, says] = s.least;
    set($('.least'), { x1: x, x2: x }); set($('.least-says'), { x: Math.min(Math.max(x, left + 48), right - 48) }).textContent = says;
    $('.run').textContent = playing ? '❚❚ stop' : i === steps() ? '↺ again' : '▶ run';
    svg.dataset.i = i; svg.dataset.c = model.get('c');
    handles();
  }

  // One step on: its blocks fly over the bus one after the other. Anything else: stand there at once.
  function move() {
    const i = step(), s = last(), ahead = i === from + 1;
    stop(); from = i; shown = now(model.get('c')); words();
    const flights = ahead && !still() ? g.keys.map((_, n) => n).filter(n => g.keys[n][0] === i && s.there[n]) : [];
    const next = () => {
      if (!flights.length) { hideFlyer(); paint(); if (playing) onward(); return; }
      const n = flights.shift();
      stop = animate(g.flight, t => { fly(n, t); if (t >= 1) next(); });
    };
    next();
  }
  const hideFlyer = () => { $('.flyer').style.display = 'none'; };
  function fly(n, t) {
    const [, column, way] = g.keys[n], [x, , w, h] = shown.blocks[n];
    const ends = [shown.homes[column][0] + g.slot - h, lane.CPU[1] - h / 2], [a, b] = way === 'read' ? ends : ends.reverse();
    paint(n, t);
    set($('.flyer'), { x, y: a + (b - a) * t, width: w, height: h, fill: g.columns[column].colour }); $('.flyer').style.display = '';
  }
  function onward() {
    if (step() >= steps()) { playing = false; words(); return; }
    model.set('i', step() + 1); model.save_changes();
  }
  function run() {
    playing = !playing;
    if (!playing) { stop(); hideFlyer(); paint(); words(); return; }
    if (step() >= steps()) { from = -1; model.set('i', 0); }
    if (still()) { playing = false; model.set('i', steps()); model.save_changes(); } else onward();
  }

  function turn() {  // another chunk size: homes, blocks and bars slide to where they now belong
    stop(); hideFlyer(); playing = false;
    const a = shown;
    if (!step()) { from = steps(); model.set('i', from); model.save_changes(); } // what it changes is seen when all has crossed
    stop();
    const b = now(model.get('c'));
    from = step(); words();
    stop = animate(g.drop, t => { shown = between(a, b, t); paint(); svg.dataset.settled = t >= 1; });
  }

  function cover() {
    const on = model.get('covered');
    $('.cover').hidden = !on; el.classList.toggle('rl-covered', on);
    el.closest('.rl-golf')?.classList.toggle('rl-waiting', on); words();
  }

  // The sliders are other widgets' views, drawn before or after this one.
  function handles() {
    const found = [...(el.closest('.rl-golf')?.querySelectorAll('.noUi-handle') ?? [])];
    found.forEach((h, n) => { keepKeys(h); h.setAttribute('aria-label', g.sliders[n]); h.setAttribute('aria-valuetext', n ? g.chunks[model.get('c')] : `${step()} of ${steps()}`); });
    return found.length;
  }
  function await_handles(tries = 60) { if (handles() < g.sliders.length && tries) setTimeout(await_handles, 50, tries - 1); else cover(); }

  keepKeys($('.run')); $('.run').addEventListener('click', run);
  $('.origin').textContent = g.origin; $('.origin').hidden = !g.origin;
  hush(model, model.get('hushed'));
  model.on('change:i', move); model.on('change:c', turn); model.on('change:covered', cover);
  const forget = followTheme(el);
  shown = now(chunk); words(); paint(); svg.dataset.settled = true; await_handles();
  return () => { stop(); forget(); };
}
export default { render };
