// Going to a step by its number: digits and Enter, or the list of headings that G opens.

// Every heading of the plan with the number of its step; votes are counted, since they share a name.
function outline(plan) {
  let votes = 0;
  return plan.flatMap((step, n) => step.filter(one => one.kind === 'heading').map(({ nodes: [node] }) => {
    const words = node.cloneNode(true);
    words.querySelectorAll('.anchor-link, .jp-InternalAnchorLink').forEach(link => link.remove());
    const text = words.textContent.trim();
    return { step: n + 1, text: /^vote\b/i.test(text) ? `Vote ${votes += 1}` : text, level: Number(node.tagName[1]) };
  }));
}

// plan(): the steps as they are cut now; show(index); tell(words). Returns { key, toggle, node }:
// key(event) is true if it has used the key. While the list is open it takes digits from everyone.
function jumper({ plan, place, show, tell }) {
  const node = document.createElement('nav');
  let wanted = '';
  node.className = 'lec-list'; node.hidden = true;
  node.setAttribute('aria-label', 'headings');

  function toggle(open = node.hidden) {
    wanted = '';
    node.hidden = !open;
    if (!open) return;
    const list = document.createElement('ol');
    const headings = outline(plan()), here = headings.findLast(({ step }) => step - 1 <= place());
    for (const heading of headings) {
      const { step, text, level } = heading;
      const item = document.createElement('li'), button = document.createElement('button'), number = document.createElement('b');
      button.type = 'button'; number.textContent = step;
      button.append(number, text);
      button.setAttribute('data-lm-suppress-shortcuts', 'true');  // else Lab takes Enter
      button.className = level > 2 ? 'lec-sub' : '';
      if (heading === here) button.setAttribute('aria-current', 'step');
      button.addEventListener('click', () => { toggle(false); show(step - 1); });
      item.append(button); list.append(item);
    }
    node.replaceChildren(list);
    (node.querySelector('[aria-current]') ?? node.querySelector('button'))?.focus();
  }

  function key(event) {
    const open = !node.hidden;
    if (/^\d$/.test(event.key)) { wanted = (wanted + event.key).slice(-3); tell(`to ${wanted}: Enter`); }
    else if (event.key === 'Enter' && Number(wanted)) { const to = Number(wanted) - 1; toggle(false); tell(''); show(to); }
    else if (event.key === 'Backspace' && wanted) { wanted = wanted.slice(0, -1); tell(wanted && `to ${wanted}: Enter`); }
    else if (/^g$/i.test(event.key)) toggle();
    else if (event.key === 'Escape' && (open || wanted)) { toggle(false); tell(''); }
    else { wanted = ''; return false; }
    return true;
  }

  // The arrows go from heading to heading; Enter takes the one with the focus.
  function walk(way) {
    const all = [...node.querySelectorAll('button')], at = all.indexOf(document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + way))]?.focus();
  }

  return { key, toggle, walk, node, open: () => !node.hidden };
}
