// The page's own lesson on the stage, once its widgets have been drawn.
(() => {
  const page = document.querySelector('main'), id = cell => cell.id.replace(/^cell-id=/, '');
  const open = () => {
    window.rlStage = openStage({
      root: document.body, page, id, live: false, cells: () => [...page.querySelectorAll(':scope > .jp-Cell')],
      recorded: JSON.parse(document.querySelector('#lec-recorded').textContent),
      at: (Number(location.hash.slice(1)) || 1) - 1,
      onStep: place => history.replaceState(null, '', `#${place + 1}`),
    });
  };
  const waiting = () => [...page.querySelectorAll('.jupyter-widgets:has(> script)')].some(node => !node.querySelector('.widget-subarea > *'));
  let tries = 200;
  const soon = () => (waiting() && tries-- ? setTimeout(soon, 50) : setTimeout(open, 150));
  addEventListener('load', soon);
})();
