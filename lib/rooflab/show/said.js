// Words that wait for guesses. They come ready from Python and are put into the page when all guesses
// are made, so that nobody finds them there before.

// About how many lines of 72 letters it takes: a slide keeps room for what is still covered.
function lines(page) {
  const { body } = new DOMParser().parseFromString(page, 'text/html');
  const printed = [...body.querySelectorAll('pre')].flatMap(pre => pre.textContent.split('\n'));
  const told = [...body.querySelectorAll('p, li, tr')].map(one => one.textContent);
  return [...printed, ...told].reduce((sum, text) => sum + Math.ceil(text.length / 72), told.length / 2 + 16 * body.querySelectorAll('img').length);
}

function render({ model, el }) {
  const box = document.createElement('div'), cover = document.createElement('p');
  el.classList.add('rl-said');
  box.className = 'jp-RenderedHTMLCommon'; box.setAttribute('aria-live', 'polite');
  cover.className = 'cover'; cover.textContent = model.get('sentence');
  el.append(cover, box);
  el.style.setProperty('--rl-lines', lines(model.get('page')));

  function show(covered) {
    cover.hidden = !covered; box.hidden = covered;
    const page = covered ? '' : model.get('page');
    if (box.innerHTML !== page) box.innerHTML = page;
    el.classList.toggle('done', !covered);
  }
  return waitForGuesses(model, show);
}
export default { render };
