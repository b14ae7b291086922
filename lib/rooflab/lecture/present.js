// rl.lecture() in an open notebook: the notebook's own cells go on the stage, so that they can still
// be run and edited there. What a front end must have for that is looked for, and named if missing.

const ELSEWHERE = 'A lecture needs JupyterLab or Notebook 7. In this front end use the slides: python -m tools.slides';
const WINDOWING = 'Only some cells are in the page. Set Settings → Notebook → Windowing mode to “Content visibility” and reload.';
const NOT_RUN = 'Run All Cells first (menu Run): no cell was run since this notebook was opened.';

function render({ model, el }) {
  const recording = model.get('recording'), backstage = new RegExp(`^\\s*${model.get('backstage')}`);
  el.innerHTML = '<div class="lec-door"><button type="button"></button> <span></span></div>';
  const button = el.querySelector('button'), words = el.querySelector('span');
  keepFocus(button);
  const say = text => { words.textContent = text; };
  const name = () => { button.textContent = model.get('opened') ? `Lecture: go on at step ${model.get('step') + 1}` : 'Start the lecture'; };
  name();
  say(recording.missing ? `${recording.missing} L has nothing to show; everything else works.` : `L shows the output ${recording.of}.`);

  // A notebook marks the widgets that no kernel answers: those of a session that has ended.
  const asleep = () => Boolean(el.closest('.jupyter-widgets-disconnected'));
  const begun = () => { model.set('opened', true); model.save_changes(); };
  const context = () => model.widget_manager?.context;

  function open() {
    if (asleep()) { say(NOT_RUN); return; }
    const root = el.closest('.jp-Notebook'), page = root?.querySelector('.jp-WindowedPanel-viewport, .jp-WindowedPanel-window') ?? root;
    const live = context()?.model?.cells;
    if (!root || !live || !root.showPopover) { say(ELSEWHERE); return; }
    if (root.classList.contains('lec-root')) { begun(); return; }  // another cell's lecture is on
    const shown = () => [...root.querySelectorAll('.jp-Cell')];
    if (shown().length !== live.length) { say(WINDOWING); return; }
    const known = cell => live.get(shown().indexOf(cell));
    const id = cell => known(cell)?.id ?? '';
    const tags = cell => known(cell)?.getMetadata?.('tags') ?? recording.tags[id(cell)] ?? [];
    const says = cell => known(cell)?.sharedModel?.getSource() ?? code(cell);
    const mine = el.closest('.jp-Cell');
    const staged = cell => !cell.matches('.jp-RawCell, :has(.lec-door)') && cell !== mine && !tags(cell).includes('deep')
      && !(cell.matches('.jp-CodeCell') && backstage.test(says(cell)));
    const marked = cell => { cell.classList.toggle('celltag_pause', tags(cell).includes('pause')); return cell; };
    root.setAttribute('popover', 'manual');
    root.showPopover();  // above everything that Lab shows, where its layout cannot cut it off
    const stage = openStage({
      root, page, id, recorded: { cells: recording.cells, of: recording.of, none: recording.missing }, live: true,
      cells: () => shown().filter(staged).map(marked),
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
    begun();
  }

  // A saved notebook brings back what the last room uncovered. It is covered in the page, so that
  // nothing is given away before the cells are run; nothing is told to a kernel.
  async function coverSaved() {
    say(NOT_RUN);
    const cells = context()?.model?.cells ?? [];
    const outputs = [...cells].flatMap(cell => cell.outputs?.toJSON() ?? []);
    for (const output of outputs) {
      const saved = output.data?.['application/vnd.jupyter.widget-view+json']?.model_id;
      const asked = saved && await model.widget_manager.get_model(saved).catch(() => null);
      if (asked?.get('covered') === false) asked.set(nothingSaid(asked));
    }
  }

  button.addEventListener('click', open);
  attached(el, () => { if (asleep()) coverSaved(); else if (!model.get('opened')) open(); });
}

// An answer taken back: a picture that asks begins at the first stop of each of its dimensions. What
// waits for it follows.
function nothingSaid(asked) {
  const dims = asked.get('asks') ? JSON.parse(asked.get('scenes'))[0].dims.filter(dim => !dim.of) : [];
  return Object.fromEntries(dims.map(({ name, names }) => [name, names ? names[0] : 0]));
}

// A busy front end puts an output into its page long after it was drawn.
function attached(el, then, tries = 1200) {
  if (el.closest('.jp-Notebook') || !tries) then();
  else setTimeout(attached, 100, el, then, el.closest('body') ? Math.min(tries - 1, 20) : tries - 1);
}

// Lab takes keys from whatever is focused and does not carry this mark.
const keepFocus = node => node.setAttribute('data-lm-suppress-shortcuts', 'true');
export default { render };
