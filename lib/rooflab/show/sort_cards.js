// Cards to sort into bins. The truth comes ready from Python; here a card is put, taken back and, when
// all of them lie, uncovered. Without a kernel the same happens, unrecorded.

function render({ model, el }) {
  const cards = model.get('cards'), bins = model.get('bins'), keys = bins.map((_, bin) => `${bin + 1}`);
  el.classList.add('rl-pic', 'rl-sort');
  el.innerHTML = `<p class="title"></p><div class="deck" tabindex="0" role="group"><span class="count"></span><b class="top"></b><span class="row controls"></span></div>
  <div class="bins"></div><p class="hint"></p><p class="origin"></p><div class="aside" aria-live="polite"></div>`;
  const $ = s => el.querySelector(s), deck = $('.deck'), speak = speaker($('.aside'));
  const whole = text => text.replace(/(\d) (?=\S)/g, '$1\u00a0'); // a number keeps its unit on its line
  let current = -1, done = false;
  $('.title').textContent = model.get('title');

  const placed = () => model.get('placed');
  const next = from => { // the next card that lies in no bin, the ones behind it first
    const at = placed(), order = cards.map((_, n) => (from + 1 + n) % cards.length);
    return order.find(n => at[n] < 0) ?? -1;
  };

  function button(parent, text, press, className = '') {
    const node = make('button', { type: 'button', textContent: text, className }, parent);
    keepKeys(node); node.addEventListener('click', press);
    return node;
  }
  const measure = button($('.controls'), 'what the model says', () => uncover(), 'mine-is');
  const skip = button($('.controls'), 'skip: show me', () => uncover(), 'skip');

  const columns = bins.map((name, bin) => {
    const column = make('section', { className: 'bin' }, $('.bins')); column.dataset.bin = name;
    const head = button(column, '', () => put(bin), 'head');
    head.innerHTML = `${name} <kbd>${keys[bin]}</kbd>`;
    const list = make('ul', {}, column);
    column.addEventListener('click', event => { if (event.target === column || event.target === list) put(bin); });
    return { column, head, list };
  });

  function awake() {
    const is = !asleep(model, el);
    if (!is) { $('.hint').textContent = RUN_FIRST; speak(RUN_FIRST); }
    return is;
  }

  function put(bin) {
    if (done || current < 0 || !awake()) return;
    const at = [...placed()], name = cards[current].name;
    at[current] = bin;
    model.set('placed', at); model.save_changes();
    current = next(current);
    draw_all();
    speak(current < 0 ? `${name}: ${bins[bin]}. All cards are placed; “what the model says” uncovers them.` : `${name}: ${bins[bin]}. Next: ${cards[current].name}`);
    if (current < 0) measure.focus();
  }

  function take(n) {
    if (done || !awake()) return;
    const at = [...placed()];
    at[n] = -1; current = n;
    model.set('placed', at); model.save_changes(); draw_all(); deck.focus();
    speak(`Taken back: ${cards[n].name}`);
  }

  function uncover() {
    if (!awake()) return;
    if (model.get('covered')) { model.set('covered', false); model.save_changes(); }
    draw_all();
    speak($('.top').textContent);
  }

  function chip(n, bin) {
    const card = cards[n], item = make('li', {}, columns[bin].list);
    if (!done) { button(item, card.name, () => take(n), 'chip').title = 'take it back'; return; }
    const mine = placed()[n], right = mine === card.bin;
    item.className = mine < 0 ? 'told' : right ? 'right' : 'wrong';
    make('b', { textContent: `${mine < 0 ? '' : right ? '✓ ' : '✗ '}${card.name}` }, item);
    if (!right && mine >= 0) make('span', { className: 'truth', textContent: `it is ${bins[card.bin]}` }, item);
    make('span', { className: 'fact', textContent: whole(card.fact) }, item);
    make('span', { className: 'reason', textContent: whole(card.reason) }, item);
  }

  function hint() { // keys arrive only while the focus is in here
    if (!done && asleep(model, el)) { $('.hint').textContent = RUN_FIRST; return; }
    const full = placed().every(bin => bin >= 0), press = `press ${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`;
    const how = el.contains(document.activeElement) ? press : `click the card first, then ${press}`;
    $('.hint').textContent = done ? '' : full ? 'A tap on a card takes it back.'
      : `Which one decides how long it takes? Tap a bin, or ${how}. A tap on a placed card takes it back.`;
  }

  function draw_all() {
    done = !model.get('covered');
    const at = placed(), full = at.every(bin => bin >= 0);
    if (current < 0 && !done) current = next(-1);
    for (const { list } of columns) list.replaceChildren();
    cards.forEach((card, n) => { const bin = done && at[n] < 0 ? card.bin : at[n]; if (bin >= 0) chip(n, bin); });
    const right = cards.filter((card, n) => at[n] === card.bin).length, some = at.filter(bin => bin >= 0).length;
    $('.count').textContent = done ? '' : full ? 'all placed' : `card ${current + 1} of ${cards.length}`;
    $('.top').textContent = done ? (some ? `${right} of ${full ? some : `the ${some} sorted`} lie where the model puts them` : 'Shown without a sorting.') : full ? '' : cards[current].name;
    measure.hidden = done || !full; skip.hidden = done || full;
    for (const { head } of columns) head.disabled = done || full;
    hint();
    $('.origin').textContent = done ? model.get('origin') : '';
    el.classList.toggle('done', done); el.dataset.placed = some;
    deck.setAttribute('aria-label', done ? $('.top').textContent : `${$('.count').textContent}: ${$('.top').textContent}`);
  }

  el.addEventListener('keydown', event => {
    if (done || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase(), bin = keys.indexOf(key);
    if (bin >= 0) put(bin);
    else if (key === 'backspace') { const last = placed().findLastIndex(b => b >= 0); if (last >= 0) take(last); }
    else if (key === 'enter' && event.target === deck && current < 0) uncover();
    else return;
    event.preventDefault(); event.stopPropagation();
    if (bin >= 0 && current >= 0) deck.focus();
  });
  // A click anywhere in here brings the keys here, also where a notebook would keep the focus on its cell.
  el.addEventListener('mousedown', event => { if (!done && !event.target.closest('button, .deck')) { event.preventDefault(); deck.focus({ preventScroll: true }); } });
  el.addEventListener('click', () => { if (!done && !el.contains(document.activeElement)) deck.focus({ preventScroll: true }); });
  el.addEventListener('focusin', hint); el.addEventListener('focusout', () => setTimeout(hint));
  keepKeys(deck);
  model.on('change:covered', draw_all); model.on('change:placed', draw_all);
  const forget = followTheme(el);
  draw_all();
  return () => { forget(); model.off('change:covered', draw_all); model.off('change:placed', draw_all); };
}
export default { render };
