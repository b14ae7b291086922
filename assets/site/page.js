// What a page adds to its pictures: where a reader is, which guesses are placed, words that point at
// a picture, a search. What is kept stays in this browser.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const keep = { get(key) { try { return localStorage.getItem(key); } catch { return null; } }, set(key) { try { localStorage.setItem(key, '1'); } catch { /* a private window */ } } };
  const lesson = (node) => node.closest('[data-lesson]')?.dataset.lesson;
  const placed = (node) => keep.get(`rooflab:${lesson(node)}:${node.id}`);

  // Ticks: of a lesson in the index if any of its guesses is placed, of a section if one of its own is.
  function tick() {
    let entry;
    for (const node of all('h2[id], .rl-slot')) {
      if (node.matches('h2')) entry = document.querySelector(`.toc a[href="#${CSS.escape(node.id)}"]`);
      else if (placed(node)) entry?.classList.add('placed');
    }
    for (const card of all('.card')) card.classList.toggle('placed', Boolean(keep.get(`rooflab:${card.dataset.card}`)));
  }

  function listen(slot) {
    for (const id of slot.dataset.holds?.split(' ') ?? []) {
      const model = rooflabPage.models.get(id);
      if (!model || !('guess_at' in model.first)) continue;
      model.on('change:covered', () => {
        if (model.get('covered')) return;
        let cell = slot.closest('.jp-Cell'); // what explains the result is folded until then
        for (let n = 0; cell && n < 7; n++, cell = cell.nextElementSibling) all('details', cell).filter((one) => /when you have guessed/.test(one.firstElementChild.textContent)).forEach((one) => { one.open = true; });
        keep.set(`rooflab:${lesson(slot)}:${slot.id}`); keep.set(`rooflab:${lesson(slot)}`); tick();
        if (document.body.matches('.front')) land();
      });
    }
  }

  // On the front page the curve opens on the nine multiply-adds that were asked for.
  function land() {
    const curve = [...rooflabPage.models.values()].find((model) => model.first.view === 'time');
    if (!curve) return; // not come near yet
    const { stops } = JSON.parse(curve.get('scenes'))[0].dims.find((dim) => dim.name === 'i');
    curve.set('i', stops.indexOf('9 multiply-adds'));
  }

  // Words in italics or bold that the picture below or above them has on a button or a label light it up.
  function point(slot) {
    const marks = all('button, label, svg text', slot).map((node) => [node.textContent.trim().toLowerCase(), node]);
    const around = ['previousElementSibling', 'nextElementSibling'].flatMap((step) => {
      const cells = [];
      for (let cell = slot.closest('.jp-Cell')?.[step]; cell && cells.length < 3 && !cell.querySelector('.rl-slot'); cell = cell[step]) cells.push(cell);
      return cells;
    });
    for (const cell of around) {
      for (const word of all(':is(p, li) > :is(em, strong):not(.rl-word)', cell)) {
        const text = word.textContent.trim().toLowerCase().replace(/[.,:]$/, ''), lit = marks.filter(([label]) => label === text || label.startsWith(`${text} `));
        if (!lit.length || text.length < 2) continue;
        word.classList.add('rl-word');
        const light = (on) => lit.forEach(([, node]) => node.classList.toggle('lit', on));
        word.addEventListener('pointerenter', () => light(true)); word.addEventListener('pointerleave', () => light(false));
      }
    }
  }

  // A cover leads to the guess that it waits for.
  function lead(slot) {
    const cover = slot.querySelector('.rl-scene > .cover'), waits = slot.dataset.holds.split(' ').map((id) => rooflabPage.models.get(id)?.get('waits')?.[0]).find(Boolean);
    const guess = waits && document.querySelector(`[data-holds~="${waits}"]`);
    if (!cover || !guess) return;
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'rl-lead', textContent: 'go to the guess' });
    button.addEventListener('click', () => { guess.scrollIntoView({ block: 'center' }); guess.querySelector('[role=slider]')?.focus({ preventScroll: true }); });
    cover.append(button);
  }

  function here() { // the section that is read
    const end = scrollY + innerHeight > document.documentElement.scrollHeight - 4;
    const last = all('main h2[id]').filter((one) => end || one.getBoundingClientRect().top < innerHeight / 3).at(-1);
    for (const link of all('.toc a')) if (link.hash === `#${last?.id}`) link.setAttribute('aria-current', 'location'); else link.removeAttribute('aria-current');
  }

  function search(input) {
    const hits = input.nextElementSibling;
    input.addEventListener('input', async () => {
      const asked = input.value.toLowerCase().split(/\s+/).filter((one) => one.length > 1);
      const sections = asked.length ? await rooflabPage.load('sections.js') : [];
      const score = ([, , title, text]) => Math.min(...asked.map((one) => 10 * title.toLowerCase().split(one).length + text.toLowerCase().split(one).length - 11));
      const best = sections.map((one) => [score(one), one]).filter(([n]) => n > 0).sort(([a], [b]) => b - a).slice(0, 8);
      hits.replaceChildren(...best.map(([, [page, id, title]]) => Object.assign(document.createElement('a'), { href: `${page}.html#${id}`, textContent: `${page.slice(0, 2)} · ${title}` })));
      if (asked.length && !best.length) hits.textContent = 'nothing found';
    });
  }

  document.addEventListener('rl-drawn', ({ target }) => { listen(target); point(target); lead(target); });
  document.addEventListener('DOMContentLoaded', () => {
    if (matchMedia('(max-width: 1339px)').matches) document.querySelector('.toc details')?.removeAttribute('open');
    all('input[type=search]').forEach(search); tick(); here();
    addEventListener('scroll', here, { passive: true });
  });
})();
