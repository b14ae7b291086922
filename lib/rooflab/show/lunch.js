// The free lunch: one's own dots, the roof above them, two bars. Python placed every pixel and wrote
// every sentence; here things only move from one placed spot to another.

function render({ model, el }) {
  const g = model.get('geometry'), [left, top, right, bottom] = g.plot;
  el.classList.add('rl-pic');
  el.innerHTML = `
  <div class="row" role="group" aria-label="what the picture shows">
    <button type="button" data-view="time">time</button><button type="button" data-view="rate">work per second</button>
    <button type="button" class="naming" hidden>names</button>
    <span class="key"><svg viewBox="0 0 26 12"><circle class="dot" cx="13" cy="6" r="5"/></svg>dots: measured <svg viewBox="0 0 26 12"><path class="roof carry" d="M2 6H13"/><path class="roof compute" d="M13 6H24"/></svg><span class="line-says"></span></span></div>
  <div class="stage" style="aspect-ratio:${g.width}/${g.height}"><img class="time" alt=""><img class="rate" alt="">
  <svg viewBox="0 0 ${g.width} ${g.height}" role="img"><clipPath id="${model.get('uid')}"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath>
    <g clip-path="url(#${model.get('uid')})"><path class="beyond carry"/><path class="beyond compute"/>
      <line class="ridge"/><path class="roof carry top"/><path class="roof compute top"/><path class="lead"/></g>
    <text class="halo carry" text-anchor="end"></text><text class="halo compute"></text><text class="halo small ridge-says" stroke="none"></text>
    <g class="dots">${g.views.time.dots.map(() => '<circle class="dot" r="4.2"/>').join('')}</g>
    <g class="guessed" hidden><circle class="mine" r="7.5"/><text class="halo mine-says" text-anchor="middle"></text></g>
    <circle class="now" r="9"/><text class="halo big at" text-anchor="middle"></text></svg><div class="cover" hidden>Covered until you have placed your guess above.</div></div>
  <svg class="bars" viewBox="0 0 ${g.width} 84" role="img">
    ${['carrying', 'computing', 'measured'].map((word, n) => `<text class="${n < 2 ? '' : 'small '}word" x="${left - 6}" y="${18 + 28 * n}" text-anchor="end">${word}</text>`).join('')}
    <rect class="bed" x="${left}" y="3" width="${right - left}" height="20" rx="3"/><rect class="bed" x="${left}" y="31" width="${right - left}" height="20" rx="3"/>
    <rect class="carry" x="${left}" y="3" height="20" rx="3"/><rect class="compute" x="${left}" y="31" height="20" rx="3"/>
    <path class="cut"/><line class="finish" y1="0" y2="74"/><circle class="dot" r="4.2" cy="70"/>
    <text class="value" y="18"></text><text class="value" y="46"></text><text class="small halo value" y="74"></text></svg>
  <p class="say"></p><p class="origin"></p><div class="aside" aria-live="polite"></div>`;
  const $ = s => el.querySelector(s), $$ = s => [...el.querySelectorAll(s)];
  const svg = $('.stage svg'), bars = $('.bars'), handles = () => [...(el.closest('.rl-lunch')?.querySelectorAll('.noUi-handle') ?? [])];
  const dots = $$('.dots .dot'), speak = speaker($('[aria-live]'));
  const line = p => `M${p[0]} ${p[1]}L${p[2]} ${p[3]}`;
  $('.origin').textContent = g.origin;
  let m = model.get('view') === 'rate' ? 1 : 0, stop = () => {};

  const mix = key => blend(g.views.time[key], g.views.rate[key], m);

  function roofs() {
    const roof = mix('roof');
    $('.roof.carry.top').setAttribute('d', line(roof)); $('.roof.compute.top').setAttribute('d', line(roof.slice(2)));
    for (const name of ['carry', 'compute']) {
      $(`.beyond.${name}`).setAttribute('d', line(mix(name)));
      const [x, y, turn] = blend(g.views.time.labels[name], g.views.rate.labels[name], m), text = $(`.stage text.${name}`);
      text.setAttribute('transform', `translate(${x} ${y}) rotate(${turn})`);
      // A label on the steep line sits in its middle, one on the flat line at the end of it.
      text.setAttribute('text-anchor', (name === 'carry') === (m > 0.5) ? 'middle' : m > 0.5 ? 'start' : 'end');
      text.textContent = (model.get('names') ? g.names : g.words)[name];
    }
    const ridge = $('.ridge'), says = $('.ridge-says'), named = model.get('names');
    for (const node of [ridge, says]) node.style.display = named ? '' : 'none';
    for (const [key, value] of Object.entries({ x1: roof[2], x2: roof[2], y1: roof[3], y2: bottom })) ridge.setAttribute(key, value);
    says.textContent = g.names.ridge; says.setAttribute('x', Math.min(roof[2] + 6, right - 305)); says.setAttribute('y', bottom - 28);
    dots.forEach((dot, n) => { const [x, y] = blend(g.views.time.dots[n], g.views.rate.dots[n], m);
      dot.setAttribute('cx', x); dot.setAttribute('cy', y); });
    const guess = model.get('guesses'), at = model.get('guess_at'), guessed = guess.says?.[at] !== undefined;
    $('.guessed').toggleAttribute('hidden', !guessed);
    if (guessed) {
      const [x, y] = blend(guess.time[at].slice(0, 2), guess.rate[at].slice(0, 2), m), text = $('.mine-says');
      $('.mine').setAttribute('cx', x); $('.mine').setAttribute('cy', y);
      text.setAttribute('x', x); text.setAttribute('y', y < bottom - 40 ? y + 24 : y - 14); 
      text.textContent = `your guess: ${guess.says[at]} ${guess[m > 0.5 ? 'rate' : 'time'][at][2]}`;
    }
    $('img.time').style.opacity = Math.max(0, 1 - 2.5 * m); $('img.rate').style.opacity = Math.max(0, 2.5 * m - 1.5);
    move();
  }

  function move() {
    const i = Math.min(model.get('i'), g.k.length - 1), x = g.x[i], view = g.views[m > 0.5 ? 'rate' : 'time'];
    const y = g.views.time.track[i] + (g.views.rate.track[i] - g.views.time.track[i]) * m;
    $('.now').setAttribute('cx', x); $('.now').setAttribute('cy', y);
    $('.lead').setAttribute('d', `M${x} ${bottom}V${y}H${left}`);
    const at = $('.at'); at.textContent = g.k[i]; at.setAttribute('x', x); at.setAttribute('y', bottom - 8);
    el.closest('.rl-lunch')?.style.setProperty('--rl-at', `${100 * (x - g.x[0]) / (g.x.at(-1) - g.x[0])}%`);
    const [carry, compute, seen] = g.bars[i], end = left + Math.max(carry, compute), values = $$('.value');
    for (const [name, size, other] of [['carry', carry, compute], ['compute', compute, carry]]) {
      const bar = bars.querySelector(`rect.${name}`);
      bar.setAttribute('width', size); bar.classList.toggle('short', size < other);
    }
    $('.finish').setAttribute('x1', end); $('.finish').setAttribute('x2', end);
    const room = right - left, dot = bars.querySelector('.dot');  // what is as long as the room runs on beyond it
    $('.finish').style.display = end >= right ? 'none' : '';
    dot.style.display = seen === null || seen >= room ? 'none' : '';
    if (seen !== null) dot.setAttribute('cx', left + seen);
    [carry, compute, seen ?? 0].forEach((size, n) => {
      const text = values[n], over = left + size > right - 92;
      let x = left + size + (n < 2 ? 8 : 10);
      if (n < 2 && x < end && x > end - 90) x = end + 8;  // keep clear of the finish line
      if (over) x = left + size - 10;
      text.textContent = g.bar_says[i][n] + (size >= room ? ' →' : '');  // it goes on, and the cut shows it
      text.setAttribute('x', x); text.setAttribute('text-anchor', over ? 'end' : 'start');
      text.classList.toggle('big', n < 2 && left + size === end); text.classList.toggle('inside', over && n < 2);
    });
    const cuts = [carry, compute].map((size, n) => (size < room ? '' : [140, 128].map(gap => `M${right - gap} ${1 + 28 * n}l-8 24`).join('')));
    $('.cut').setAttribute('d', cuts.join(''));
    $$('.word')[2].style.opacity = seen === null ? 0.35 : 1;
    const text = model.get('covered') ? 'Covered until you have placed your guess.' : view.says[i];
    $('.say').textContent = text; svg.setAttribute('aria-label', text); bars.setAttribute('aria-label', text);
    for (const handle of handles()) handle.setAttribute('aria-valuetext', `${g.k[i]} multiply-add${g.k[i] === 1 ? '' : 's'}`);
    svg.dataset.i = i; svg.dataset.k = g.k[i]; svg.dataset.v = i;
    speak(text);
  }

  function turn() {
    const goal = model.get('view') === 'rate' ? 1 : 0, from = m;
    $$('[data-view]').forEach(b => b.setAttribute('aria-pressed', b.dataset.view === model.get('view')));
    $('.line-says').textContent = `line: the ${goal ? 'lower' : 'longer'} of the two`;
    stop(); stop = from === goal ? () => {} : animate(900, t => { m = from + (goal - from) * t; svg.dataset.morph = m; roofs(); });
  }

  function cover() {
    const on = model.get('covered');
    for (const node of [svg, bars, $('.row')]) node.style.visibility = on ? 'hidden' : '';
    $('.cover').hidden = !on;
    el.closest('.rl-lunch')?.classList.toggle('rl-waiting', on);
    move();
  }

  function drag(event) {  // in the picture and on the slider: to the stop that lies nearest
    if (event.type === 'pointermove' && !event.buttons) return;
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * g.width / box.width;
    let near = 0; g.x.forEach((v, n) => { if (Math.abs(v - x) < Math.abs(g.x[near] - x)) near = n; });
    model.set('i', near); model.save_changes();
  }

  // The slider is another widget's view, drawn before or after this one.
  function slider(tries = 40) {
    const found = handles();
    found.forEach(h => { keepKeys(h); h.setAttribute('aria-label', 'multiply-adds on each number');
      const track = h.closest('.slider-container');
      track.addEventListener('pointerdown', event => { track.setPointerCapture(event.pointerId); drag(event); h.focus(); event.preventDefault(); });
      track.addEventListener('pointermove', drag); });
    const home = el.closest('.rl-lunch');
    home?.style.setProperty('--rl-left', `${100 * g.x[0] / g.width}%`); home?.style.setProperty('--rl-wide', `${100 * (g.x.at(-1) - g.x[0]) / g.width}%`);
    if (!found.length && tries) setTimeout(slider, 50, tries - 1); else cover();
  }

  const urls = ['time', 'rate'].map(view => { const url = pictureFrom(model.get(`axes_${view}`)); $(`img.${view}`).src = url; return url; });
  $$('button').forEach(keepKeys);
  $$('[data-view]').forEach(b => b.addEventListener('click', () => { model.set('view', b.dataset.view); model.save_changes(); }));
  const naming = $('.naming'); naming.hidden = !model.get('names');
  const names = () => { naming.setAttribute('aria-pressed', model.get('names')); roofs(); };
  naming.addEventListener('click', () => { model.set('names', !model.get('names')); model.save_changes(); });
  svg.style.cursor = 'ew-resize'; svg.style.touchAction = 'pan-y';
  svg.addEventListener('pointerdown', event => { svg.setPointerCapture(event.pointerId); drag(event); });
  svg.addEventListener('pointermove', drag);
  hush(model, model.get('hushed'));
  model.on('change:i', move); model.on('change:view', turn); model.on('change:names', names); model.on('change:covered', cover); model.on('change:guess_at', roofs);
  const forget = followTheme(el);
  svg.dataset.morph = m; turn(); names(); slider();
  return () => { stop(); forget(); urls.forEach(URL.revokeObjectURL); };
}
export default { render };
