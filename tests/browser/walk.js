// Moves all that a hand can move in a part of a page, and notes what is seen there after each move.
async (root) => {
  const frame = () => new Promise(requestAnimationFrame), notes = [];
  const seen = (node) => node.getClientRects().length > 0 && getComputedStyle(node).visibility !== 'hidden' && !node.closest('.rl-offer, [aria-live]');
  const PLACE = ['d', 'transform', 'points', 'x', 'y', 'width', 'height', 'cx', 'cy', 'x1', 'x2', 'y1', 'y2'];

  function note(what) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), words = [];
    while (walker.nextNode()) if (seen(walker.currentNode.parentElement)) words.push(walker.currentNode.textContent.trim());
    const drawn = [...root.querySelectorAll('svg :is(path, line, rect, circle, polygon, text)')].filter((node) => !node.closest('defs') && seen(node));
    const marks = drawn.map((node) => [node.tagName, ...PLACE.map((name) => node.getAttribute(name) ?? ''), getComputedStyle(node).opacity].join(' '));
    const told = [...root.querySelectorAll('[role=slider], [role=group], button, select, input, img')].filter(seen)
      .map((node) => ['role', 'aria-label', 'aria-valuetext', 'aria-valuenow', 'aria-valuemin', 'aria-valuemax', 'aria-pressed', 'alt', 'disabled'].map((name) => node.getAttribute(name) ?? '').join('|'));
    notes.push({ what, words: words.filter(Boolean).join(' '), marks, told });
  }

  const press = (node, key) => node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const slide = (node) => ['PageUp', 'ArrowLeft', 'Home', 'End'].map((key) => [key, () => press(node, key)]);
  const range = (node) => [(+node.min + +node.max) / 2].map((value) => [value, () => { node.value = value; node.dispatchEvent(new Event('input', { bubbles: true })); }]);
  const choose = (node) => [...node.options].slice(-2).map(({ value }) => [value, () => { node.value = value; node.dispatchEvent(new Event('change', { bubbles: true })); }]);
  const moves = (node) => (node.matches('select') ? choose(node) : node.matches('button') ? [['click', () => node.click()]] : [...slide(node), ...(node.matches('input') ? range(node) : [])]);

  root.scrollIntoView();
  await frame(); note('at first');
  for (const node of [...root.querySelectorAll('input[type=range], [role=slider], select, button')]) {
    if (!seen(node) || node.disabled || /^(play|▶)/.test(node.textContent)) continue;
    for (const [what, act] of moves(node)) {
      act(); await frame(); await frame();
      note(`${node.getAttribute('aria-label') ?? node.textContent} ${what}`);
    }
  }
  await new Promise((rested) => { setTimeout(rested, 600); }); // then readers of the screen are told
  note('at rest');
  notes.at(-1).spoken = [...root.querySelectorAll('svg[aria-label], [aria-live]')].map((node) => node.getAttribute('aria-label') ?? node.textContent);
  return notes;
}
