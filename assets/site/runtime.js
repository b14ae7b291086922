// The widgets of a page that no kernel answers: what a saved notebook holds is shown, and moves.
// It draws anywidget's render({ model, el }), and boxes with some in them. Every script is a classic
// one, because a page that is opened from disk may load no modules.
(() => {
  const here = document.currentScript.src.replace(/[^/]*$/, ''); // empty where the page is a single file
  const given = new Map(), loads = new Map(), models = new Map(), starts = new Map();
  const plain = (reference) => reference.replace('IPY_MODEL_', '');
  const same = (a, b) => Object.is(a, b) || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));

  function make(tag, properties, parent) {
    const node = Object.assign(document.createElement(tag), properties);
    parent?.append(node);
    return node;
  }

  // A file beside this one, asked for once. A page that is a single file holds all of them already.
  function load(name) {
    const kind = name.endsWith('.css') ? { tag: 'link', rel: 'stylesheet', href: here + name } : { tag: 'script', src: here + name };
    const fetched = () => new Promise((done, failed) => { make(kind.tag, { ...kind, onload: done, onerror: () => failed(new Error(`${name} is not there`)) }, document.head); });
    if (!loads.has(name)) loads.set(name, here && !given.has(name) ? fetched() : Promise.resolve());
    return loads.get(name).then(() => given.get(name));
  }

  // What a script of a widget calls its model: as in Jupyter, with the same order of events.
  class Model {
    constructor(id, { kind, state }) {
      Object.assign(this, { id, kind, state, first: { ...state }, changed: {}, calls: [], widget_manager: { get_model: find } });
    }
    get(name) { return this.state[name]; }
    set(name, value) {
      const wanted = typeof name === 'object' ? name : { [name]: value };
      const news = Object.keys(wanted).filter((key) => !same(this.state[key], wanted[key]));
      this.changed = Object.fromEntries(news.map((key) => [key, wanted[key]]));
      Object.assign(this.state, this.changed);
      for (const key of news) this.trigger(`change:${key}`, this, this.state[key]);
      if (news.length) this.trigger('change', this);
    }
    set_state(state) { this.set(state); }
    on(names, call, context = this) { for (const name of names.split(/\s+/)) this.calls.push({ name, call, context }); }
    off(names, call) {
      const known = names?.split(/\s+/);
      this.calls = this.calls.filter((one) => (known && !known.includes(one.name)) || (call && one.call !== call));
    }
    trigger(event, ...told) { for (const { name, call, context } of this.calls) if (name === event) call.apply(context, told); }
    save_changes() {} // nobody keeps what is done here
    send() {}
  }

  // All models of the page are in one table: a picture may wait for a guess that stands far above it.
  async function find(reference) {
    const id = plain(reference), slot = models.has(id) ? null : document.querySelector(`[data-holds~="${id}"]`);
    if (slot) await unpack(slot);
    if (!models.has(id)) throw new Error(`widget model not found: ${id}`);
    return models.get(id);
  }

  function bytes(text) {
    return new DataView((Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))).buffer);
  }

  async function unpack(slot) {
    for (const [id, one] of Object.entries(await load(slot.dataset.pack))) {
      if (models.has(id)) continue;
      for (const [path, data] of one.buffers ?? []) path.slice(0, -1).reduce((node, key) => (node[key] ??= {}), one.state)[path.at(-1)] = bytes(data);
      models.set(id, new Model(id, one));
    }
  }

  const box = (model, el) => Promise.all(model.get('children').map((child) => show(models.get(plain(child)), el)));
  const DRAW = {
    VBoxModel: ['widget-container widget-box widget-vbox', box],
    HBoxModel: ['widget-container widget-box widget-hbox', box],
    AnyModel: ['', async (model, el) => {
      const [script] = await Promise.all([model.get('script'), model.get('style')].map((name) => name && load(name)));
      model.widget ??= typeof script === 'function' ? await script() : script;
      model.begun ??= model.widget.initialize?.({ model });
      await model.begun;
      await model.widget.render?.({ model, el });
    }],
  };

  function show(model, parent) {
    const [looks, draw] = DRAW[model.kind], el = make('div', { className: `jupyter-widgets ${looks}` }, parent);
    el.classList.add(...model.get('_dom_classes') ?? []);
    const layout = models.get(plain(model.get('layout') ?? ''))?.state ?? {};
    for (const [name, value] of Object.entries(layout)) el.style.setProperty(name.replaceAll('_', '-'), value);
    return draw(model, el);
  }

  async function draw(slot) {
    await unpack(slot);
    await show(models.get(slot.dataset.model), make('div', { className: 'widget-subarea' }, slot));
    slot.dataset.drawn = 1;
    slot.dispatchEvent(new Event('rl-drawn', { bubbles: true }));
  }

  function start(slot) {
    const failed = (error) => { slot.innerHTML = slot.querySelector('noscript')?.textContent ?? ''; console.error(error); };
    if (!starts.has(slot)) starts.set(slot, draw(slot).catch(failed));
    return starts.get(slot);
  }

  const slots = () => [...document.querySelectorAll('[data-pack]')];
  // `give`: a script hands over what it holds. `all`: everything is drawn, however far below.
  window.rooflabPage = { give: (name, hold) => given.set(name, hold()), load, start, find, models, all: () => Promise.all(slots().map(start)) };
  const near = new IntersectionObserver((seen) => { for (const one of seen) if (one.isIntersecting) { near.unobserve(one.target); start(one.target); } }, { rootMargin: '400px 0px' });
  document.addEventListener('DOMContentLoaded', () => slots().forEach((slot) => near.observe(slot)));
})();
