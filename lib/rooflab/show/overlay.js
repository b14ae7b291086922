// What the small moving pictures share. No formula lives here: Python placed everything.

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

// The axes are drawn black on nothing; on a dark page they are inverted. What is dark is asked of the
// background itself: Lab, Notebook, Colab and a plain page each have another name for their theme.
function followTheme(el) {
  const look = () => {
    let paper, node = el;
    do { paper = getComputedStyle(node).backgroundColor; node = node.parentElement; } while (node && /, 0\)|transparent/.test(paper));
    const [r, g, b] = /, 0\)|transparent/.test(paper) ? [255, 255, 255] : paper.match(/[\d.]+/g).map(Number);
    el.classList.toggle('rl-dark', r + g + b < 382);
    el.style.setProperty('--paper', `rgb(${r},${g},${b})`);
  };
  const seen = new MutationObserver(look);
  for (const node of [document.documentElement, document.body]) seen.observe(node, { attributes: true });
  const media = matchMedia('(prefers-color-scheme: dark)');
  media.addEventListener('change', look);
  requestAnimationFrame(look);  // once more when the element is in the page
  return () => { seen.disconnect(); media.removeEventListener('change', look); };
}

function pictureFrom(bytes) {
  return URL.createObjectURL(new Blob([bytes], { type: 'image/png' }));
}

// Speak once the hand rests, not on every step of a drag.
function speaker(node) {
  let timer;
  return text => { clearTimeout(timer); timer = setTimeout(() => { node.textContent = text; }, 400); };
}

// Calls frame(0…1) until the time is up; returns what stops it.
function animate(milliseconds, frame) {
  if (still()) { frame(1); return () => {}; }
  let id; const begin = performance.now();
  const step = now => {
    const t = Math.min(1, (now - begin) / milliseconds);
    frame(t < 0.5 ? 4 * t * t * t : 1 - (2 - 2 * t) ** 3 / 2);
    if (t < 1) id = requestAnimationFrame(step);
  };
  id = requestAnimationFrame(step);
  return () => cancelAnimationFrame(id);
}

// Notebook 7 and Lab swallow arrow keys on anything focused that does not carry this mark itself.
const keepKeys = node => node.setAttribute('data-lm-suppress-shortcuts', 'true');
const blend = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t);

// While a hand moves a slider the kernel hears nothing; it is told once the hand rests. Every message
// would turn Lab busy and idle again (status bar, two fetches of the tab's icon): more than a tick of ours.
async function hush(model, ids) {
  for (const id of ids) {
    const other = await model.widget_manager.get_model(id);
    if (!other || other.rlHushed) continue;
    const save = other.save_changes.bind(other);
    let timer;
    other.rlHushed = true;
    other.save_changes = (...how) => { clearTimeout(timer); timer = setTimeout(() => save(...how), 150); };
  }
}
