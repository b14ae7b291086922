// What the small moving pictures share. No formula lives here: Python placed everything.

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

// The axes are drawn black on nothing; on a dark page they are inverted. What is dark is asked of the
// background itself: Lab, Notebook, Colab and a plain page each have another name for their theme.
function followTheme(el) {
  const look = () => {
    if (!el.isConnected) return;  // Lab takes cells out of the page
    let paper, node = el;
    do { paper = getComputedStyle(node).backgroundColor; node = node.parentElement; } while (node && /, 0\)|transparent/.test(paper));
    const [r, g, b] = /, 0\)|transparent/.test(paper) ? [255, 255, 255] : paper.match(/[\d.]+/g).map(Number);
    el.classList.toggle('rl-dark', r + g + b < 382);
    el.style.setProperty('--paper', `rgb(${r},${g},${b})`);
  };
  const seen = new MutationObserver(look);
  for (const node of [document.documentElement, document.body]) seen.observe(node, { attributes: true });
  const media = ['(prefers-color-scheme: dark)', 'print'].map(asked => matchMedia(asked));
  for (const one of media) one.addEventListener('change', look);
  let tries = 600;
  const first = () => { if (el.isConnected) look(); else if (tries--) requestAnimationFrame(first); };
  first();
  return () => { seen.disconnect(); for (const one of media) one.removeEventListener('change', look); };
}

// Speak once the hand rests, not on every step of a drag; nothing stays to be read twice.
function speaker(node) {
  let timer;
  const say = text => { node.textContent = text; if (text) timer = setTimeout(say, 5000, ''); };
  return text => { clearTimeout(timer); timer = setTimeout(say, 400, text); };
}

// Calls frame(0…1) until the time is up, slow at both ends or even; returns what stops it.
function animate(milliseconds, frame, even = false) {
  if (still()) { frame(1); return () => {}; }
  let id; const begin = performance.now();
  const step = now => {
    const t = Math.min(1, (now - begin) / milliseconds);
    frame(even ? t : t < 0.5 ? 4 * t * t * t : 1 - (2 - 2 * t) ** 3 / 2);
    if (t < 1) id = requestAnimationFrame(step);
  };
  id = requestAnimationFrame(step);
  return () => cancelAnimationFrame(id);
}

// Notebook 7 and Lab swallow arrow keys on anything focused that does not carry this mark itself.
const keepKeys = node => node.setAttribute('data-lm-suppress-shortcuts', 'true');
const blend = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t);

// Whether nobody would keep what is answered here: a notebook marks a widget that no kernel answers.
// A page from disk has no notebook around it, and is never asleep.
const asleep = (model, el) => Boolean(model.widget_manager?.context && el.closest('.jupyter-widgets-disconnected'));
const RUN_FIRST = 'Run the cells from the top first, each with Shift+Enter. This one was not run since the notebook was opened.';

// Another widget by its id, once it is there; null for one that does not come.
async function findModel(model, id, tries = 30) {
  try { const found = await model.widget_manager.get_model(id); if (found) return found; } catch { /* not there yet */ }
  if (!tries) return null;
  await new Promise(later => setTimeout(later, 100));
  return findModel(model, id, tries - 1);
}

// Calls `show(covered)` now, and when a guess that this widget waits for is made or taken back. With
// a kernel it would be enough to hear it from there. Returns what ends the waiting.
function waitForGuesses(model, show) {
  const others = new Map();
  const told = () => show(model.get('covered'));
  const look = () => show([...others.values()].some(other => other.get('covered')));
  async function attend() {
    for (const id of model.get('waits')) { const other = await findModel(model, id); if (other) { others.set(id, other); other.on('change:covered', look); } }
    if (others.size === model.get('waits').length) look();
  }
  model.on('change:covered', told);
  told(); attend();
  return () => { model.off('change:covered', told); for (const other of others.values()) other.off('change:covered', look); };
}
