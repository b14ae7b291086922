// Below each picture of a page: save it as a file, or copy an address that brings back what it shows.
// Nobody's answers go into an address, nor does an address uncover anything.
(() => {
  const OWN = /^(guess|covered$|waits$|hushed$|placed$|follows$|asks$|cover$)/;
  const LOOKS = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'paint-order', 'opacity', 'fill-opacity',
    'stroke-opacity', 'font-family', 'font-size', 'font-weight', 'font-style', 'text-anchor', 'dominant-baseline', 'visibility', 'white-space'];
  const SVG = 'http://www.w3.org/2000/svg';
  const page = () => location.pathname.split('/').pop().replace(/\.html$/, '') || 'picture';

  // Looks stand on the nodes, because the file has no styles; a colour is written as all programs read it.
  const plain = (value) => value.replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.]+))?\)/g, (_, ...of) => {
    const [r, g, b] = of.slice(0, 3).map((part) => Math.round(255 * part));
    return of[3] === undefined ? `rgb(${r}, ${g}, ${b})` : `rgba(${r}, ${g}, ${b}, ${of[3]})`;
  });

  // What is there to be pressed, of the class live-only, stays out of the file.
  function dressed(node, worn = {}) {
    const style = getComputedStyle(node), copy = node.cloneNode(false), own = { ...worn };
    if (style.display === 'none' || node.classList?.contains('live-only')) return null;
    if (node instanceof SVGElement && !node.closest('defs')) {
      for (const name of [...copy.getAttributeNames()]) if (/^(class|style|tabindex|role|aria-|data-)/.test(name)) copy.removeAttribute(name);
      for (const name of LOOKS) {
        own[name] = plain(style.getPropertyValue(name));
        if (own[name] !== (name === 'opacity' ? '1' : worn[name])) copy.style.setProperty(name, own[name]);
      }
    }
    for (const child of node.childNodes) { const part = child.nodeType === 1 ? dressed(child, own) : child.cloneNode(); if (part) copy.append(part); }
    return copy;
  }

  const set = (node, attributes) => { for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value); return node; };
  const svgNode = (tag, attributes, text = '') => Object.assign(set(document.createElementNS(SVG, tag), attributes), { textContent: text });

  // Paragraphs of the page as lines that are no wider than `wide`: [what makes them, below x and y, and how high they are].
  function written(paragraphs, wide) {
    const pen = document.createElement('canvas').getContext('2d'), lines = [];
    let high = 0;
    for (const paragraph of paragraphs) {
      const { fontWeight, fontSize, fontFamily, color, lineHeight } = getComputedStyle(paragraph), rows = [''];
      pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
      for (const word of paragraph.textContent.split(/\s+/)) {
        const longer = `${rows.at(-1)} ${word}`.trim();
        if (rows.at(-1) && pen.measureText(longer).width > wide) rows.push(word); else rows.splice(-1, 1, longer);
      }
      const style = `font: ${pen.font}; fill: ${plain(color)}`;
      for (const row of rows) { high += parseFloat(lineHeight); lines.push({ row, style, down: high - 0.3 * parseFloat(fontSize) }); }
    }
    return [(x, y) => lines.map(({ row, style, down }) => svgNode('text', { x, y: y + down, style }, row)), high];
  }

  // All that is drawn in a slot as one picture, on the colour of the page: the parts as they stand, each
  // with its own title above and the origin of its figures below.
  function whole(slot) {
    const seen = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().width > 100;
    const drawn = [...slot.querySelectorAll('svg')].filter((node) => !node.parentElement.closest('svg') && seen(node));
    const parts = drawn.map((node) => {
      const box = node.getBoundingClientRect(), home = node.closest('.rl-play-home');
      const words = (kind) => [...home?.querySelectorAll(`:scope > .${kind}`) ?? []].filter(seen);
      return { node, box, title: written(words('title'), box.width), origin: written(words('origin'), box.width) };
    }).sort((one, other) => one.box.top - other.box.top);
    if (!parts.length) return null;
    const edge = 12, gap = edge / 2, left = Math.min(...parts.map(({ box }) => box.left)) - edge;
    const wide = Math.max(...parts.map(({ box }) => box.right)) + edge - left;
    const rows = []; // parts that stand beside each other
    for (const part of parts) if (part.box.top < rows.at(-1)?.[0].box.bottom) rows.at(-1).push(part); else rows.push([part]);
    const inside = [];
    let high = 0;
    for (const row of rows) {
      const top = high + edge + Math.max(...row.map(({ title }) => title[1])) + gap - row[0].box.top;
      for (const { node, box: { top: from, left: at, width, height }, title, origin } of row) {
        const part = dressed(node), x = at - left, y = top + from;
        set(part, { x, y, width, height, overflow: 'visible' });
        inside.push(...title[0](x, y - gap - title[1]), part, ...origin[0](x, y + height + gap));
        high = Math.max(high, y + height + gap + origin[1]);
      }
    }
    high += edge;
    const svg = svgNode('svg', { width: wide, height: high, viewBox: `0 0 ${wide} ${high}` });
    const paper = getComputedStyle(drawn[0]).getPropertyValue('--paper') || '#fff';
    const said = drawn.map((node) => node.getAttribute('aria-label')).filter(Boolean).join(' ');
    svg.append(svgNode('desc', {}, said), svgNode('rect', { width: wide, height: high, fill: paper }), ...inside);
    return { text: new XMLSerializer().serializeToString(svg), wide, high };
  }

  async function drawn({ text, wide, high }, scale = 2) { // the same as pixels
    const image = Object.assign(new Image(), { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}` });
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: scale * wide, height: scale * high });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => { canvas.toBlob(done, 'image/png'); });
  }

  async function save(slot, ending) {
    const found = whole(slot), blob = ending === 'svg' ? new Blob([found.text], { type: 'image/svg+xml' }) : await drawn(found);
    const link = Object.assign(document.createElement('a'), { download: `${page()}-${slot.id}.${ending}`, href: URL.createObjectURL(blob) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return `Saved as ${link.download}.`;
  }

  // What a reader has changed: traits of the slot's widgets that are not as they were at first.
  const answers = (model) => model.get('asks') || 'guess_at' in model.first || 'placed' in model.first;
  const widgets = (slot) => slot.dataset.holds.split(' ').map((id) => rooflabPage.models.get(id)).filter((model) => model?.kind === 'AnyModel' && !answers(model));
  const told = (model, name) => (model.get('follows')?.[name] ?? []).some(([id]) => rooflabPage.models.has(id) && answers(rooflabPage.models.get(id)));
  const open = (model, name) => name in model.first && !OWN.test(name) && !told(model, name) && /^(string|number|boolean)$/.test(typeof model.first[name]);

  function address(slot) {
    const changed = widgets(slot).flatMap((model, n) => Object.keys(model.first)
      .filter((name) => open(model, name) && model.get(name) !== model.first[name])
      .map((name) => `&${n ? `${n + 1}.` : ''}${name}=${encodeURIComponent(model.get(name))}`));
    return `#${slot.id}${changed.join('')}`;
  }

  async function copy(slot) {
    history.replaceState(null, '', address(slot));
    try { await navigator.clipboard.writeText(location.href); return 'Copied. It opens this picture as it is now.'; } catch { return 'The address of this page now opens this picture as it is.'; }
  }

  async function follow() { // an address that somebody was given
    const [id, ...traits] = location.hash.slice(1).split('&'), slot = /^picture-\d+$/.test(id) ? document.getElementById(id) : null;
    if (!slot?.dataset.pack) return;
    slot.scrollIntoView();
    await rooflabPage.start(slot);
    for (const trait of traits) {
      const [, n = 1, name, text] = trait.match(/^(?:(\d+)\.)?(\w+)=(.*)$/) ?? [], model = widgets(slot)[n - 1];
      if (!model || !open(model, name)) continue;
      const given = decodeURIComponent(text), type = typeof model.first[name], value = type === 'number' ? Number(given) : type === 'boolean' ? given === 'true' : given;
      if (type !== 'number' || (given && Number.isFinite(value))) model.set(name, value);
    }
    slot.scrollIntoView();
  }

  function row(slot) {
    if (!widgets(slot).length || !slot.querySelector('svg')) return;
    const home = document.createElement('details'), told = document.createElement('span');
    home.className = 'rl-offer'; told.setAttribute('role', 'status');
    home.append(Object.assign(document.createElement('summary'), { textContent: 'share' }));
    for (const [words, act] of [['save as SVG', () => save(slot, 'svg')], ['save as PNG', () => save(slot, 'png')], ['copy a link to this', () => copy(slot)]]) {
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: words });
      button.addEventListener('click', async () => { told.textContent = await act(); });
      home.append(button);
    }
    home.append(told); slot.append(home);
  }

  document.addEventListener('rl-drawn', ({ target }) => row(target));
  addEventListener('hashchange', follow);
  document.addEventListener('DOMContentLoaded', follow);
})();
