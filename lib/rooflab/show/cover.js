// Stands in the place of a picture, its sliders too, until all guesses that it waits for are made.

function render({ model, el }) {
  const others = new Map(), box = document.createElement('p');
  el.classList.add('rl-waits');
  box.className = 'cover'; box.textContent = model.get('sentence');
  el.append(box);

  const show = covered => el.classList.toggle('done', !covered);
  const told = () => show(model.get('covered'));
  const look = () => show([...others.values()].some(other => other.get('covered')));

  async function attend() { // with a kernel it would be enough to hear it from there
    for (const id of model.get('waits')) { const other = await findModel(model, id); if (other) { others.set(id, other); other.on('change:covered', look); } }
    if (others.size === model.get('waits').length) look();
  }
  model.on('change:covered', told);
  const forget = followTheme(el);
  told(); attend();
  return () => { forget(); model.off('change:covered', told); for (const other of others.values()) other.off('change:covered', look); };
}
export default { render };
