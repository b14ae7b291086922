// Recorded outputs, drawn again from the notebook file: a picture, else a table, else text.

function replay(outputs, of) {
  const box = document.createElement('div');
  box.className = 'lec-recorded';
  const note = document.createElement('p');
  note.className = 'lec-of'; note.textContent = of;
  box.append(note, ...outputs.map(drawn));
  return box;
}

// What lies under a covered output is drawn below it and hidden until R (or the live one) uncovers it.
function drawn({ under, ...shown }) {
  if (!under) return alone(shown);
  const box = document.createElement('div'), open = alone(under), cover = alone(shown);
  open.classList.add('lec-under'); cover.classList.add('lec-over');
  box.append(cover, open);
  return box;
}

function alone({ png, alt, html, text }) {
  if (png) return Object.assign(new Image(), { src: `data:image/png;base64,${png}`, alt });
  if (html) return harmless(html);
  return Object.assign(document.createElement('pre'), { textContent: text });
}

// A file may hold anything; of its HTML only words, tables and pictures are shown.
function harmless(html) {
  const page = new DOMParser().parseFromString(html, 'text/html');
  page.querySelectorAll('script, style, link, iframe, object, embed, form, base, meta, svg').forEach(node => node.remove());
  for (const node of page.body.querySelectorAll('*')) for (const { name, value } of [...node.attributes]) {
    if (!/^(style|alt|colspan|rowspan|class|src)$/.test(name) || (name === 'src' && !value.startsWith('data:image/'))) node.removeAttribute(name);
  }
  const box = document.createElement('div');
  box.className = 'jp-RenderedHTMLCommon';
  box.append(...page.body.childNodes);
  return box;
}
