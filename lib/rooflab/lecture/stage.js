// The stage: one step of a lesson at a time, by keys, mouse, touch or a presenter's remote.

const KEYS = [['→  Space  Page Down', 'next step'], ['←  Page Up', 'back'], ['R', 'uncover: the result of a guess, all cards of a sorting, what a vote\'s answers mean'],
  ['L', 'live output ↔ recorded output'], ['23 Enter', 'to step 23 (where cards take the digits: G first)'], ['G', 'the list of headings'],
  ['Z', 'two pictures: the first alone, the second, both'], ['1 2 3  Backspace', 'where cards are sorted: put the card there, take the last one back'], ['Home  End', 'first and last step'], ['?', 'these keys']];
const GO = { ArrowRight: 1, ArrowDown: 1, ' ': 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
const TYPING = 'input:not([type=range]), textarea, select, [contenteditable=true], .cm-content';
// What a finger moves or presses: a swipe that begins there is not for the page.
const HELD = '.rl-grip, .rl-hover, .rl-press, .rl-point, .noUi-target, .widget-slider, input, select, button, a, summary';
const SLIDING = '[role=slider], [role=listbox], [role=radiogroup], [role=option], [type=range], [data-rl-keys]';

// root: what fills the window; page: the cells' container, which becomes the stage; recorded: { of:
// sentence, cells: { id: [output] } }; id(cell): a cell's id. live: there is a kernel. Returns { leave }.
function openStage({ root, page, cells, recorded, id, live, at = 0, onStep = () => {}, onLeave }) {
  const bar = document.createElement('div'), help = document.createElement('div');
  let plan = [], place = 0, timer;

  function cut() {
    root.classList.add('lec-cutting'); page.classList.remove('lec-large');
    const all = cells();
    for (const cell of root.querySelectorAll('.lec-in')) cell.classList.remove('lec-in');
    for (const cell of all) cell.classList.add('lec-in');
    page.style.setProperty('--lec-k', unit());
    plan = steps(all);
    root.classList.remove('lec-cutting');
  }

  function show(to, anew = true) {
    if (jump.open()) jump.toggle(false);
    help.hidden = true;
    root.classList.remove('lec-lower');
    place = Math.max(0, Math.min(plan.length - 1, to));
    for (const node of root.querySelectorAll('.lec-on')) node.classList.remove('lec-on');
    for (const one of plan[place] ?? []) for (const node of [one.cell, ...one.nodes]) node.classList.add('lec-on');
    if (anew) begin();
    bar.querySelector('output').textContent = `${place + 1} / ${plan.length}`;
    const pictured = plan[place]?.find(one => one.kind === 'picture');
    const line = pictured ? code(pictured.cell).trim() : '';
    bar.querySelector('code').textContent = line.includes('\n') ? '' : line;
    root.scrollTop = page.scrollTop = 0;
    refit();
    onStep(place, cellsOn());
    root.dispatchEvent(new CustomEvent('rl-step', { detail: place }));
  }

  // Tab goes on from the step's first block, which keeps no focus itself.
  function begin() {
    const first = plan[place]?.[0]?.nodes[0];
    if (!first) return;
    first.tabIndex = -1; first.focus({ preventScroll: true }); first.blur();
    first.removeAttribute('tabindex');
  }

  function refit() {
    page.style.setProperty('--lec-k', unit());
    const step = plan[place] ?? [];
    // A solution takes the place of its stub; the options of a vote stay above what they mean.
    const open = one => step.some(other => other.cell === one.cell && other.nodes[0].matches('details[open], :has(details[open])'));
    for (const one of step) one.nodes[0].classList.toggle('lec-away', one.kind === 'code' && open(one));
    makeRoom(step, open);
    for (const one of step) for (const cards of one.cell.querySelectorAll('.rl-sort.done')) if (crop(cards)) setTimeout(later, 400);  // they glide
    fit(step, page);
    // What does not fit below them takes the place of the heading, then that of the question.
    const spare = step.filter(one => one.vote && open(one) && !/^([UO]L|DETAILS)$/.test(one.nodes[0].tagName));
    for (const one of spare) {
      if (lowest(step, page) <= HIGH) break;
      one.nodes[0].classList.add('lec-away');
      fit(step, page);
    }
    seen.disconnect();
    for (const one of step) if (/^(picture|output|said)$/.test(one.kind)) for (const node of one.nodes[0].children) seen.observe(node);
  }

  // A solution that does not fit below its question takes the question's place.
  function makeRoom(step, open) {
    const asked = step.filter(one => one.kind === 'text' && !one.vote), solved = step.find(one => one.kind === 'output' && open(one));
    for (const { nodes: [node] } of asked) node.classList.remove('lec-away');
    if (!solved) return;
    solved.nodes[0].style.transform = solved.nodes[0].style.marginBottom = '';
    page.classList.remove('lec-large');
    if (lowest(step, page) > HIGH) for (const { nodes: [node] } of asked) node.classList.add('lec-away');
  }

  // What grows while it is shown (an uncovered result, a cell that runs) is scaled again.
  const later = () => { cancelAnimationFrame(timer); timer = requestAnimationFrame(refit); };
  const seen = new ResizeObserver(later);

  function tell(words) {
    const node = bar.querySelector('.lec-told');
    node.textContent = words;
    clearTimeout(tell.timer); tell.timer = setTimeout(() => { node.textContent = ''; }, 5000);
  }

  const cellsOn = () => [...new Set((plan[place] ?? []).map(one => one.cell))];

  // Enter edits the code on show; where there is none it would open the text.
  const runs = () => live && cellsOn().some(cell => cell.classList.contains('jp-CodeCell'));

  const inSight = (cell, what) => [...cell.querySelectorAll(what)].filter(node => node.getClientRects().length);
  const COVERED = 'button.mine-is:enabled, button.skip, [data-rl-reveal]';

  // A picture that waits for guesses: the nearest ones above it are shown until it opens.
  function openPicture(cover) {
    const guesses = [...page.querySelectorAll('.rl-guess:not(.done), .rl-sort:not(.done)')]
      .filter(node => node.compareDocumentPosition(cover) & Node.DOCUMENT_POSITION_FOLLOWING);
    while (cover.getClientRects().length && guesses.length) guesses.pop().querySelector('button.skip').click();
  }

  function uncover() {
    const on = cellsOn(), notes = on.flatMap(cell => inSight(cell, 'details:not(.rl-pic *)'));
    const under = on.flatMap(cell => inSight(cell, '.lec-recorded')).filter(node => node.querySelector('.lec-under'));
    const covered = on.flatMap(cell => inSight(cell, COVERED))[0], cover = on.flatMap(cell => inSight(cell, '.cover'))[0];
    if (under.length) under.forEach(node => node.classList.toggle('lec-open'));
    else if (covered) covered.click();
    else if (cover) openPicture(cover);
    else if (notes.length) { const shut = notes.some(node => !node.open); notes.forEach(node => { node.open = shut; }); }
    else tell('Nothing is covered here.');
    later();
  }

  // What is still covered live is covered in the recording, too; so is the end of a way nobody has gone.
  function tooEarly(cell) {
    if (inSight(cell, `.cover, ${COVERED}`).length) return 'Covered: R uncovers it, then L shows the recorded one.';
    const way = cell.querySelector('.rl-morph svg[data-at="0"]');
    if (!way || swap.warned === cell) return '';
    swap.warned = cell;
    return 'The recording shows the end of the way. Drag first, or press L again.';
  }

  function nothing() {
    const words = cellsOn().flatMap(cell => [...cell.querySelectorAll('.rl-said')]);
    if (!words.length) return 'Nothing is recorded for this step.';
    if (words.some(node => !node.matches('.done'))) return 'These words wait for a guess and are never recorded: R shows the live ones.';
    return `These words are never recorded: they come from ${live ? 'this computer' : 'the run for this page'}.`;
  }

  // Where the output of a cell is shown, if this step shows only its code; else -1.
  function elsewhere(cell) {
    const has = step => step.some(one => one.cell === cell && one.nodes[0].matches('.jp-Cell-outputWrapper'));
    return has(plan[place]) ? -1 : plan.findIndex(has);
  }

  function swap() {
    const mine = cellsOn().filter(cell => recorded.cells[id(cell)]);
    if (!mine.length) { tell(recorded.none || nothing()); return; }
    if (mine.every(cell => elsewhere(cell) >= 0)) {
      const there = elsewhere(mine[0]);
      tell(there === place + 1 ? 'The output is on the next step.' : `The output is on step ${there + 1}.`);
      return;
    }
    const on = !mine[0].classList.contains('lec-swapped'), early = on && mine.map(tooEarly).find(Boolean);
    if (early) { tell(early); return; }
    for (const cell of mine) {
      const output = cell.querySelector(':scope > .jp-Cell-outputWrapper');
      if (!cell.querySelector('.lec-recorded')) output.append(replay(recorded.cells[id(cell)], recorded.of));
      // What was uncovered live lies open in the recording.
      if (cell.querySelector('.rl-guess.done, .rl-sort.done, .rl-golf, .rl-scene:not(.rl-guess, .rl-sort, .rl-covered)')) cell.querySelector('.lec-recorded').classList.add('lec-open');
      cell.classList.toggle('lec-swapped', on);
    }
    const two = on && mine.some(cell => inSight(cell, '.lec-half').length);
    tell(on ? `the output ${recorded.of}${two ? '; Z shows the other half' : ''}` : live ? 'live: this computer' : 'as it ran for this page');
    later();
  }

  // A recorded picture in two states is high: Z shows its upper half, then its lower one.
  function zoom() {
    if (cellsOn().some(cell => inSight(cell, '.lec-half').length)) { root.classList.toggle('lec-lower'); later(); } else tell('There is one picture here.');
  }

  // Cards that are being sorted get their keys wherever the focus is.
  function toCards(event) {
    const cards = jump.open() ? null : cellsOn().flatMap(cell => inSight(cell, '.rl-sort:not(.done) svg'))[0];
    if (!cards || !/^([1-9]|Backspace)$/.test(event.key)) return false;
    cards.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: true, cancelable: true }));
    return true;
  }

  function key(event) {
    if (!event.isTrusted || event.ctrlKey || event.altKey || event.metaKey) return;
    const at = event.composedPath()[0], typing = at.closest?.(TYPING), sliding = at.closest?.(SLIDING);
    const remote = /^Page/.test(event.key);
    if (event.key === 'Escape' && !help.hidden) help.hidden = true;
    else if (!typing && (toCards(event) || jump.key(event))) { event.preventDefault(); event.stopImmediatePropagation(); return; }
    else if (jump.open() && /^(Enter|Tab|Shift)$/.test(event.key)) return;
    else if (jump.open() && !remote) jump.walk(GO[event.key] ?? 0);
    else if (event.key === 'Escape' && onLeave && !typing) leave();
    else if (event.key === 'Escape' && typing) at.blur();
    else if (typing && !remote || event.key === 'Enter' && (runs() || at.closest?.(`${SLIDING}, button, summary, a`)) || event.key === 'Tab' || event.key === 'Shift') return;
    else if (sliding && GO[event.key] && !remote && event.key !== ' ') { at.setAttribute('data-lm-suppress-shortcuts', 'true'); return; }
    else if (event.key === ' ' && at.closest?.('button, summary')) return;
    else if (GO[event.key]) show(place + (event.shiftKey ? -1 : 1) * GO[event.key]);
    else if (sliding && /^(Home|End)$/.test(event.key)) return;
    else if (event.key === 'Home') show(0);
    else if (event.key === 'End') show(plan.length - 1);
    else if (/^r$/i.test(event.key)) uncover();
    else if (/^l$/i.test(event.key)) swap();
    else if (/^z$/i.test(event.key)) zoom();
    else if (event.key === '?' || event.key === 'h') help.hidden = !help.hidden;
    // Every other letter would reach the notebook, where D D deletes a cell.
    event.preventDefault(); event.stopImmediatePropagation();
  }

  function touch(event) {
    const from = event.changedTouches[0];
    if (event.target.closest(`${HELD}, ${TYPING}`)) return;
    addEventListener('touchend', to => {
      const far = to.changedTouches[0].clientX - from.clientX;
      if (Math.abs(far) > 60 && Math.abs(to.changedTouches[0].clientY - from.clientY) < 60) show(place + (far < 0 ? 1 : -1));
    }, { once: true });
  }

  function leave() {
    removeEventListener('keydown', key, true); removeEventListener('resize', later);
    removeEventListener('touchstart', touch); removeEventListener('toggle', later, true);
    seen.disconnect(); mend(plan);
    root.querySelectorAll('.lec-recorded').forEach(node => node.remove());
    root.querySelectorAll('.lec-swapped, .lec-away, .lec-on, .lec-in').forEach(node => node.classList.remove('lec-swapped', 'lec-away', 'lec-on', 'lec-in'));
    root.classList.remove('lec-root', 'lec-lower'); page.classList.remove('lec-page', 'lec-large');
    bar.remove(); help.remove(); jump.node.remove();
    onLeave?.();
  }

  function furnish() {
    bar.className = 'lec-bar'; help.className = 'lec-keys'; help.hidden = true;
    help.innerHTML = `<table>${[...KEYS, ...(onLeave ? [['Esc', 'leave the lecture']] : [])].map(([k, what]) => `<tr><th>${k}</th><td>${what}</td></tr>`).join('')}</table>`;
    bar.innerHTML = '<button type="button" aria-label="back">←</button><output aria-live="polite"></output><button type="button" aria-label="next step">→</button>'
      + '<code></code><span class="lec-told" role="status"></span><button type="button" title="uncover">R</button><button type="button" title="live or recorded">L</button><button type="button" title="headings">G</button><button type="button" title="keys">?</button>'
      + (onLeave ? '<button type="button" title="leave the lecture">Esc</button>' : '');
    const acts = [() => show(place - 1), () => show(place + 1), uncover, swap, () => jump.toggle(), () => { help.hidden = !help.hidden; }, leave];
    bar.querySelectorAll('button').forEach((button, n) => button.addEventListener('click', acts[n]));
    help.addEventListener('click', () => { help.hidden = true; });
    root.append(bar, help, jump.node);
  }

  const jump = jumper({ plan: () => plan, place: () => place, show, tell });
  root.classList.add('lec-root'); page.classList.add('lec-page');
  furnish(); cut(); show(at, false);
  addEventListener('keydown', key, true); addEventListener('resize', later);
  addEventListener('touchstart', touch, { passive: true }); addEventListener('toggle', later, true);
  return { leave, show, again: () => { const first = plan[place]?.[0]; cut(); show(Math.max(0, plan.findIndex(step => step.some(one => one.nodes.at(-1) === first?.nodes.at(-1)))), false); } };
}
