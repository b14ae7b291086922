// rl.lecture() in an open notebook: the notebook's own cells go on the stage, so that they can still
// be run and edited there. What a front end must have for that is looked for, and named if missing.

const ELSEWHERE = 'A lecture needs JupyterLab or Notebook 7. In this front end use the slides: python -m tools.slides';
const WINDOWING = 'Only some cells are in the page. Set Settings → Notebook → Windowing mode to “Content visibility” and reload.';

function render({ model, el }) {
  const recording = model.get('recording');
  el.innerHTML = '<div class="lec-door"><button type="button"></button> <span></span></div>';
  const button = el.querySelector('button'), words = el.querySelector('span');
  keepFocus(button);
  const say = text => { words.textContent = text; };
  const name = () => { button.textContent = model.get('opened') ? `Lecture: go on at step ${model.get('step') + 1}` : 'Start the lecture'; };
  name();
  say(recording.missing ? `${recording.missing} L has nothing to show; everything else works.` : `L shows the output ${recording.of}.`);

  function open() {
    const root = el.closest('.jp-Notebook'), page = root?.querySelector('.jp-WindowedPanel-viewport, .jp-WindowedPanel-window') ?? root;
    const live = model.widget_manager?.context?.model?.cells;
    if (!root || !live || !root.showPopover) { say(ELSEWHERE); return; }
    const shown = () => [...root.querySelectorAll('.jp-Cell')];
    if (shown().length !== live.length) { say(WINDOWING); return; }
    const known = cell => live.get(shown().indexOf(cell));
    const id = cell => known(cell)?.id ?? '';
    const tags = cell => known(cell)?.getMetadata?.('tags') ?? recording.tags[id(cell)] ?? [];
    const mine = el.closest('.jp-Cell');
    root.setAttribute('popover', 'manual');
    root.showPopover();  // above everything that Lab shows, where its layout cannot cut it off
    const stage = openStage({
      root, page, id, recorded: { cells: recording.cells, of: recording.of, none: recording.missing }, live: true,
      cells: () => shown().filter(cell => cell !== mine && !tags(cell).includes('deep') && !cell.classList.contains('jp-RawCell')),
      at: model.get('step'),
      onStep: (step, cells) => {
        model.set('step', step); model.save_changes();
        if (document.activeElement.closest('.cm-content')) return;  // an output came while you type
        const first = cells.find(cell => cell.classList.contains('jp-CodeCell')) ?? root;
        first.tabIndex = -1; first.focus({ preventScroll: true });  // Ctrl+Enter runs what is shown
      },
      onLeave: () => { root.hidePopover(); root.removeAttribute('popover'); name(); mine.scrollIntoView({ block: 'center' }); },
    });
    // An output that appears or goes changes the steps; typing does not.
    const outputs = new MutationObserver(changes => {
      if (changes.some(({ target, addedNodes, removedNodes }) => target.matches?.('.jp-OutputArea') && (addedNodes.length || removedNodes.length))) later();
    });
    let timer; const later = () => { clearTimeout(timer); timer = setTimeout(() => root.classList.contains('lec-root') && stage.again(), 300); };
    outputs.observe(page, { childList: true, subtree: true });
    const left = new MutationObserver(() => { if (!root.classList.contains('lec-root')) { outputs.disconnect(); left.disconnect(); } });
    left.observe(root, { attributes: true, attributeFilter: ['class'] });
    model.set('opened', true); model.save_changes();
  }

  button.addEventListener('click', open);
  if (!model.get('opened')) setTimeout(open, 100);
}

// Lab takes keys from whatever is focused and does not carry this mark.
const keepFocus = node => node.setAttribute('data-lm-suppress-shortcuts', 'true');
export default { render };
