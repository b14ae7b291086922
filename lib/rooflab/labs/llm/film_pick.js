// What is chosen in a request film, what the packed tables hold for it, and the choices above it.

function filming(model, data) {
  const [, J] = data.shape, machines = new Map(data.machines.map((m) => [m.id, m]));
  const machine = () => machines.get(model.get("machine"));
  const at = () => ({ w: data.weights.indexOf(model.get("weights")), kv: data.kvs.indexOf(model.get("kv")), i: model.get("i"), j: model.get("j") });
  const I = data.shape[0], K = data.kvs.length;
  const row = ({ w, kv, i }) => (w * K + kv) * I + i; // tables without the context
  const spot = (place) => row(place) * J + place.j;
  const text = (table, index) => data.texts[u16(table, index)];
  const pick = {
    machine, at, spot, text,
    row: () => row(at()),
    prompt: ({ w, kv, j }) => (w * K + kv) * J + j,
    roof: () => machine().roofs[model.get("weights")]?.[0] ?? null,
    x: (kind, place) => f32(kind.x, kind.wide ? spot(place) : place.w * I + place.i),
    seconds: (kind, place) => f32(machine().seconds[kind.name], kind.wide ? spot(place) : place.w * I + place.i),
    time: (kind, place) => text(machine().times[kind.name], kind.wide ? spot(place) : place.w * I + place.i),
    limited: (kind, place) => { const line = pick.roof(); return line && pick.x(kind, place) >= line.corners[2] ? "compute" : kind.part; },
    fits: (place) => view(machine().fits).getUint8(spot(place)) === 1,
    runs: () => machine().runs.filter((run) => run.w === data.weights.indexOf(model.get("weights"))),
    timed: () => pick.runs().filter((run) => run.i === model.get("i")),
    sentence() {
      const place = at(), index = spot(place), m = machine();
      const values = { batch: data.sliders[0].values[place.i], context: data.sliders[1].values[place.j], moved: text(data.moved, index), need: text(data.need, index), machine: m.name };
      if (!pick.roof()) return fill(data.say.none, { ...values, reason: m.no[model.get("weights")] ?? "" });
      Object.assign(values, { total: text(m.total, index), rate: text(m.rate, index), has: m.has, crossed: text(m.crossed, row(place)) });
      const beyond = data.trained && place.j > data.trained.at ? fill(data.say.beyond, data.trained) : "";
      return fill(data.say.step, values) + (m.has ? fill(data.say[pick.fits(place) ? "fits" : "full"], values) : "") + values.crossed + beyond + pick.timed().map((run) => run.says).join("");
    },
  };
  return pick;
}

function filmChoices(bar, model, data, pick) {
  const choose = (key, label, before = () => {}) => {
    const row = make("label", { textContent: label + " " }, bar), select = make("select", { className: `rl-${key}` }, row);
    keepKeys(select);
    select.addEventListener("change", () => { before(select.value); model.set(key, select.value); model.save_changes(); });
    return select;
  };
  const usable = (m) => data.weights.find((kind) => !m.no[kind]);
  const machine = choose("machine", "machine", (id) => { // a machine that lacks the format is shown in one it has
    const m = data.machines.find((one) => one.id === id);
    if (m.no[model.get("weights")]) model.set("weights", usable(m));
  }), weights = choose("weights", "weights"), kv = choose("kv", "KV cache"), groups = new Map();
  for (const m of data.machines) {
    if (!groups.has(m.group)) groups.set(m.group, make("optgroup", { label: m.group }, machine));
    make("option", { value: m.id, textContent: m.name }, groups.get(m.group));
  }
  for (const kind of data.weights) make("option", { value: kind, textContent: kind }, weights);
  for (const kind of data.kvs) make("option", { value: kind, textContent: kind }, kv);
  const grey = (option, no, name) => { option.disabled = Boolean(no); option.title = no ?? ""; option.textContent = name + (no ? ` (${no})` : ""); };
  return () => { // what has no figure is greyed, with the reason
    machine.value = model.get("machine"); weights.value = model.get("weights"); kv.value = model.get("kv");
    for (const option of machine.querySelectorAll("option")) {
      const m = data.machines.find((one) => one.id === option.value);
      grey(option, usable(m) ? "" : m.no[weights.value], m.name);
    }
    for (const option of weights.options) grey(option, pick.machine().no[option.value], option.value);
  };
}
