// The choices above a live roofline: machine, dtype, cache, operations; what has no figure is greyed.

const CACHE_WORDS = {
  cold: "cold: operands come from memory", warm: "warm: operands may still lie in a cache",
  both: "both: each dot splits in two, cold and warm",
};

function controls(parent, model, data) {
  const bar = make("div", { className: "rl-bar" }, parent);
  const choose = (key, before = () => {}) => {
    const label = make("label", { textContent: key + " " }, bar), select = make("select", { className: `rl-${key}` }, label);
    keepKeys(select);
    select.addEventListener("change", () => {
      const value = select.value; // which a change of the dtype would set back
      before(value); model.set(key, value); model.save_changes();
    });
    return select;
  };
  const ui = { fell: null }, byId = new Map(data.machines.map((m) => [m.id, m])), groups = new Map();
  const machine = choose("machine", (id) => { // a machine that lacks the dtype is shown in one it has
    const m = byId.get(id), wanted = model.get("dtype"), kind = fallback(m, wanted, data.dtypes);
    ui.fell = kind === wanted ? null : { id, kind, said: `${m.name}: ${lacks(m, wanted)}, so this is ${kind}.` };
    if (ui.fell) model.set("dtype", kind);
  });
  for (const m of data.machines) {
    if (!groups.has(m.group)) groups.set(m.group, make("optgroup", { label: m.group }, machine));
    make("option", { value: m.id, textContent: m.name }, groups.get(m.group));
  }
  const dtype = choose("dtype");
  for (const kind of data.dtypes) make("option", { value: kind, textContent: kind }, dtype);
  const button = (parent, label, press) => {
    const node = make("button", { type: "button", textContent: label }, parent);
    keepKeys(node);
    node.addEventListener("click", () => { press(); model.save_changes(); });
    return node;
  };
  const group = (label) => {
    const node = make("span", { className: "rl-group" }, bar);
    node.setAttribute("role", "group"); node.setAttribute("aria-label", label);
    return node;
  };
  const caches = group("where the operands come from");
  const cache = Object.fromEntries(Object.keys(CACHE_WORDS).map((key) => [key, button(caches, key, () => model.set("cache", key))]));
  for (const key in cache) cache[key].title = CACHE_WORDS[key];
  const chips = group("operations shown"), op = {};
  if (data.ops.length > 1) for (const o of data.ops) {
    op[o.name] = button(chips, o.label, () => {
      const now = model.get("ops"), next = now.includes(o.name) ? now.filter((n) => n !== o.name) : [...now, o.name];
      model.set("ops", next.length ? next : now); // at least one stays
    });
    op[o.name].style.setProperty("--rl-op", o.ink);
  }
  return Object.assign(ui, { bar, machine, dtype, cache, op });
}

const lacks = (m, kind) => m.no[kind]?.cold ?? m.no.all;

function fallback(m, wanted, kinds) {
  return [wanted, "fp32", ...kinds].find((kind) => kinds.includes(kind) && !lacks(m, kind));
}

// Grey what has no figure; returns why, in words that need no mouse.
function grey(ui, model, pick) {
  const m = pick.machine(), kind = pick.kind(), said = [], caches = new Map(), kinds = [...ui.dtype.options].map((option) => option.value);
  const sides = pick.sides(), shown = sides.length > 1 ? "both" : sides[0]; // without a warm figure: cold
  for (const option of ui.machine.querySelectorAll("option")) {
    const other = pick.machines.get(option.value), no = lacks(other, kind), instead = fallback(other, kind, kinds);
    option.disabled = !instead; option.title = no ?? ""; option.textContent = other.name + (no ? ` (${no}${instead ? `: ${instead}` : ""})` : "");
  }
  for (const option of ui.dtype.options) {
    const no = lacks(m, option.value);
    option.disabled = Boolean(no); option.title = no ?? ""; option.textContent = option.value + (no ? " (no figure)" : "");
    if (no) said.push(no);
  }
  for (const key in ui.cache) {
    const no = m.no[kind]?.[key === "both" ? "warm" : key];
    ui.cache[key].disabled = Boolean(no) && shown !== key;
    ui.cache[key].setAttribute("aria-pressed", shown === key);
    if (no && !said.includes(no)) caches.set(no, [...(caches.get(no) ?? []), key]);
  }
  for (const name in ui.op) ui.op[name].setAttribute("aria-pressed", pick.shows(name));
  ui.machine.value = m.id; ui.dtype.value = kind;
  for (const [no, keys] of caches) said.push(`${keys.join(" and ")} (${no})`);
  const fell = ui.fell?.id === m.id && ui.fell.kind === kind ? ui.fell.said : "";
  return `${fell} ${said.length ? `Greyed for ${m.name}: ${said.join(", ")}.` : ""}`.trim();
}
