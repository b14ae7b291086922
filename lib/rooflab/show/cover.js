// Stands in the place of a picture, its sliders too, until all guesses that it waits for are made.

function render({ model, el }) {
  const box = document.createElement('p');
  el.classList.add('rl-waits');
  box.className = 'cover'; box.textContent = model.get('sentence');
  el.append(box);
  const forget = followTheme(el), end = waitForGuesses(model, covered => el.classList.toggle('done', !covered));
  return () => { forget(); end(); };
}
export default { render };
