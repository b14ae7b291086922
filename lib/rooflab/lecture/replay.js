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
function drawn({ under, cut, ...shown }) {
  const whole = picture => (cut && picture.png ? halves(picture, cut) : picture.says ? told(picture) : alone(picture));
  if (!under) return whole(shown);
  const box = document.createElement('div'), open = whole(under), cover = alone(shown);
  open.classList.add('lec-under'); cover.classList.add('lec-over');
  box.append(cover, open);
  return box;
}

// Two pictures in one, cut apart: each is shown as large as the stage allows (Z).
function halves(picture, cut) {
  const box = document.createElement('div');
  box.className = 'lec-halves';
  for (const upper of [true, false]) {
    const half = document.createElement('div'), image = alone(picture);
    half.className = 'lec-half';
    if (!upper) image.alt = '';  // the words are those of both
    const crop = () => {
      const high = image.naturalHeight / image.naturalWidth;
      half.style.aspectRatio = 1 / (high * (upper ? cut : 1 - cut));
      image.style.marginTop = upper ? '' : `${-100 * high * cut}%`;
    };
    if (image.complete && image.naturalWidth) crop(); else image.addEventListener('load', crop);
    half.append(image); box.append(half);
  }
  return box;
}

// The result of a guess: what is said of it stands beside its picture.
function told({ says, ...picture }) {
  const box = document.createElement('div');
  box.className = 'lec-result';
  box.append(Object.assign(document.createElement('p'), { textContent: says }), alone(picture));
  return box;
}

function alone({ png, alt, html, text }) {
  if (png) return Object.assign(new Image(), { src: `data:image/png;base64,${png}`, alt });
  if (html) return harmless(html);
  const prose = !/\S {2,}\S/.test(text);  // else columns stand below each other, which must not be broken
  return Object.assign(document.createElement('pre'), { textContent: text, className: prose ? 'lec-prose' : '' });
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
