// A guess on an empty log axis. Places, words and verdicts come ready from Python; here a place is
// chosen, moved and confirmed, and what was covered is uncovered. A page without any kernel does the same,
// unrecorded. In a notebook whose cells were not run, nothing is uncovered: what it holds was measured
// another day, perhaps on another computer.

function render({ model, el }) {
  const g = model.get('geometry'), [left, top, right, base] = g.plot, edge = 150;
  el.classList.add('rl-pic', 'rl-guess');
  el.innerHTML = `<p class="title"></p>
  <div class="stage axis" style="aspect-ratio:${g.width}/${g.height}"><img alt="">
  <svg viewBox="0 0 ${g.width} ${g.height}" tabindex="0"><rect x="0" y="0" width="${g.width}" height="${g.height}" fill="transparent"/>
    <line class="gap" y1="${base}" y2="${base}"/>
    <g class="truth-mark" hidden><line class="stem" y1="${base}" y2="${base - 26}"/><circle class="truth" cy="${base}" r="6.5"/><text class="halo big" y="${base - 32}"></text></g>
    <g class="mark" hidden><line class="stem" y1="${base}" y2="${base - 46}"/><circle class="mine" cy="${base}" r="7.5"/><text class="halo mine-says" y="${base - 52}"></text></g></svg></div>
  <div class="row controls"><button type="button" class="mine-is" disabled>this is my guess</button><button type="button" class="skip">skip: show me</button><span class="hint"></span></div>
  <p class="say" hidden></p><div class="result" hidden><img alt=""><details><summary>the picture in words</summary><p class="more"></p></details><p class="alone"></p></div>
  <div class="row after" hidden><button type="button" class="again">guess again</button></div><div class="aside" aria-live="polite"></div>`;
  const $ = s => el.querySelector(s), svg = $('svg'), mark = $('.mark'), truth = $('.truth-mark'), gap = $('.gap');
  const HINT = ['Click where you think it is. On the keyboard: Tab to the axis, then ← →.', 'You can still move it. Enter confirms it, too.'];
  let placed = -1, done = false, stop = () => {};
  $('.title').textContent = model.get('question');

  // The words stay inside the picture: near an end they grow inwards.
  function put(group, x, words) {
    group.querySelectorAll('line').forEach(l => { l.setAttribute('x1', x); l.setAttribute('x2', x); });
    group.querySelector('circle').setAttribute('cx', x);
    const text = group.querySelector('text');
    text.textContent = words; text.setAttribute('x', x < edge ? x - 7 : x > g.width - edge ? x + 7 : x);
    text.setAttribute('text-anchor', x < edge ? 'start' : x > g.width - edge ? 'end' : 'middle');
    group.removeAttribute('hidden');
  }

  function show(place, ghost) {
    put(mark, g.x[place], `your guess: ${g.says[place]}`);
    mark.classList.toggle('ghost', ghost);
  }

  function awake() {
    const is = !asleep(model, el);
    if (!is) $('.hint').textContent = $('[aria-live]').textContent = RUN_FIRST;
    return is;
  }

  function point(place) {
    if (!awake()) return;
    placed = Math.max(0, Math.min(g.places - 1, place));
    show(placed, false);
    svg.setAttribute('aria-valuenow', placed); svg.setAttribute('aria-valuetext', g.says[placed]);
    $('.mine-is').disabled = false; $('.hint').textContent = HINT[1];
  }

  function nearest(event) {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * g.width / box.width;
    let near = 0;
    for (let n = 1; n < g.places; n++) if (Math.abs(g.x[n] - x) < Math.abs(g.x[near] - x)) near = n;
    return near;
  }

  function uncover(motion) {
    if (done || model.get('covered')) return;
    done = true;
    const at = model.get('guess_at'), mine = at >= 0 && at < g.x.length, verdict = mine ? g.verdicts[at] : g.shown;
    if (mine) { put(mark, g.x[at], `your guess: ${g.says[at]}`); mark.classList.remove('ghost'); } else mark.setAttribute('hidden', '');
    const from = mine ? g.x[at] : g.truth[0];
    const walk = t => { const x = from + (g.truth[0] - from) * t; put(truth, x, g.truth[1]);
      gap.setAttribute('x1', from); gap.setAttribute('x2', x); };
    if (motion) stop = animate(700, walk); else walk(1);
    el.dataset.at = at; $('.say').textContent = verdict;
    $('[aria-live]').textContent = verdict; // the picture's own words are its alternative text
    svg.removeAttribute('tabindex'); svg.setAttribute('role', 'img'); svg.setAttribute('aria-label', verdict);
    open();
  }

  // What stands below the axis: the buttons before, the verdict and the result after.
  function open() {
    const picture = model.get('picture'), more = model.get('sentence'), drawn = picture.byteLength > 0;
    el.classList.toggle('done', done);
    $('.controls').hidden = done; $('.say').hidden = $('.after').hidden = !done;
    $('.result').hidden = !done || (!drawn && !more);
    $('.result img').hidden = !drawn; $('details').hidden = !drawn || !more; $('.alone').hidden = drawn;
    if (done) {
      $('.more').textContent = $('.alone').textContent = more;
      if (drawn && !$('.result img').src) { $('.result img').src = pictureFrom(picture); $('.result img').alt = more || $('.say').textContent; }
    }
  }

  function cover() {
    stop(); done = false; placed = -1;
    for (const group of [mark, truth]) group.setAttribute('hidden', '');
    gap.setAttribute('x1', 0); gap.setAttribute('x2', 0);
    delete el.dataset.at; $('.say').textContent = $('[aria-live]').textContent = '';
    $('.mine-is').disabled = true; $('.hint').textContent = HINT[0];
    for (const [name, value] of Object.entries({ tabindex: 0, role: 'slider', 'aria-label': g.asked, 'aria-valuemin': 0,
      'aria-valuemax': g.places - 1, 'aria-valuenow': 0, 'aria-valuetext': 'no guess yet' })) svg.setAttribute(name, value);
    open();
  }

  function again() {
    if (!awake()) return;
    model.set('guess_at', -1); model.set('covered', true); model.save_changes();
    svg.focus({ preventScroll: true });
  }

  function skip() {
    if (!awake()) return;
    model.set('covered', false); model.save_changes(); uncover(true);
  }

  function turn() {
    if (!model.get('covered')) uncover(true);
    else if (done) cover();
  }

  function commit() {
    if (done || placed < 0 || !awake()) return;
    model.set('guess_at', placed); model.set('covered', false); model.save_changes(); uncover(true);
  }

  function key(event) {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20 }[event.key];
    if (done) return;
    if (step) point(placed < 0 ? (g.places - 1) / 2 : placed + step);
    else if (event.key === 'Home') point(0);
    else if (event.key === 'End') point(g.places - 1);
    else if (event.key === 'Enter' && placed >= 0) commit();
    else return;
    event.preventDefault(); event.stopPropagation();
  }

  keepKeys(svg); for (const button of el.querySelectorAll('button')) keepKeys(button);
  svg.addEventListener('pointermove', event => { if (done || asleep(model, el)) return; if (event.buttons) point(nearest(event)); else if (placed < 0) show(nearest(event), true); });
  svg.addEventListener('pointerleave', () => { if (!done && placed < 0) mark.setAttribute('hidden', ''); });
  svg.addEventListener('click', event => { if (!done) point(nearest(event)); });
  svg.addEventListener('keydown', key);
  $('.mine-is').addEventListener('click', commit);
  $('.skip').addEventListener('click', skip); $('.again').addEventListener('click', again);
  model.on('change:covered', turn);
  const url = pictureFrom(model.get('axis_png')); $('.axis img').src = url;
  const forget = followTheme(el);
  cover(); uncover(false);
  return () => { stop(); forget(); model.off('change:covered', turn); URL.revokeObjectURL(url); };
}
export default { render };
