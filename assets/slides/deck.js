// The page's own lesson on the stage, once its widgets have been drawn.
(() => {
  const page = document.querySelector('main'), id = cell => cell.id.replace(/^cell-id=/, '');
  const open = () => {
    for (const output of page.querySelectorAll('.jp-OutputArea-output[tabindex]')) output.removeAttribute('tabindex');  // nothing is scrolled here
    window.rlStage = openStage({
      root: document.body, page, id, live: false, cells: () => [...page.querySelectorAll(':scope > .jp-Cell')],
      recorded: JSON.parse(document.querySelector('#lec-recorded').textContent),
      at: (Number(location.hash.slice(1)) || 1) - 1,
      onStep: place => history.replaceState(null, '', `#${place + 1}`),
    });
  };
  addEventListener('load', () => rooflabPage.all().then(() => setTimeout(open, 150)));
})();
