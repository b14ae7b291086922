// The box. Lengths, counts and words come from Python; this file draws three painted faces.

function render({ model, el }) {
  const data = model.get("data"), [, J, K] = data.shape, { n: N, m: M, k: D } = data.across;
  const solids = new Map(data.solids.map((s) => [s.name, s]));
  const text = (table, i) => data.texts[u16(table, i)];
  const card = make("div", { className: "rl-card rl-box" }, el), bar = make("div", { className: "rl-bar" }, card);
  const group = (label) => {
    const node = make("span", { className: "rl-group" }, bar);
    node.setAttribute("role", "group"); node.setAttribute("aria-label", label);
    return node;
  };
  const buttons = [];
  const choice = (parent, key, value, label, title = "") => {
    const node = make("button", { type: "button", textContent: label, title }, parent);
    keepKeys(node);
    node.addEventListener("click", () => { model.set(key, value); model.save_changes(); });
    buttons.push({ node, key, value });
    return node;
  };
  if (data.solids.length > 1) {
    const which = group("operation in the box");
    for (const s of data.solids) choice(which, "op", s.name, s.label).style.setProperty("--rl-op", s.ink);
  }
  const edges = group("scale of the edges");
  choice(edges, "scale", "log", "log edges", data.scales.log);
  choice(edges, "scale", "true", "true shape", data.scales.true);

  const svg = draw("svg", { viewBox: `0 0 ${data.width} ${data.height}`, role: "img", class: "rl-solid" });
  card.append(svg);
  const faces = {}, names = {}, counts = {};
  for (const face of ["B", "A", "C"]) faces[face] = draw("polygon", { fill: data.colours[face] }, svg);
  for (const face of ["A", "B", "C"]) names[face] = draw("text", { class: `rl-face rl-face-${face}` }, svg, face);
  const edge = { m: draw("text", { "text-anchor": "end" }, svg), n: draw("text", { "text-anchor": "middle" }, svg), k: draw("text", {}, svg) };
  const title = draw("text", { x: data.width / 2, y: 20, "text-anchor": "middle", class: "rl-face" }, svg);
  const note = draw("text", { x: data.width / 2, y: data.height - 6, "text-anchor": "middle", class: "rl-note" }, svg);
  const stays = make("p", { className: "rl-stays" }, card), table = make("div", { className: "rl-count" }, card);
  for (const face of ["A", "B", "C"]) {
    const row = make("div", {}, table), swatch = make("i", {}, row);
    swatch.style.background = data.colours[face];
    counts[face] = { name: make("span", {}, row), value: make("b", {}, row) };
  }
  const total = (label) => { const row = make("div", { className: "rl-total" }, table); make("span", { textContent: label }, row); return make("b", {}, row); };
  const painted = total("elements painted"), volume = total("multiply-adds inside"), reuse = total("multiply-adds per element"), intensity = total("");
  const live = make("div", { className: "rl-hidden" }, card);
  live.setAttribute("aria-live", "polite");
  const announce = speaker(live), unfollow = followTheme(el);
  let shown = null, turn = 0;

  const flat = () => (model.get("i") * J + model.get("j")) * K + model.get("k");
  const target = () => {
    const lengths = solids.get(model.get("op")).lengths[model.get("scale")], at = 3 * flat();
    return [0, 1, 2].map((e) => u16(lengths, at + e) / 64);
  };

  function paint([m, n, k]) {
    const dx = D[0] * k, dy = D[1] * k, [left, top, right, bottom] = data.area;
    const x = (left + right - n - dx) / 2, y = (top + bottom - m - dy) / 2;
    const p = (...steps) => [x + steps.reduce((s, [a]) => s + a, 0), y + steps.reduce((s, [, b]) => s + b, 0)];
    const across = [N[0] * n, N[1] * n], down = [M[0] * m, M[1] * m], back = [dx, dy];
    const set = (face, points) => faces[face].setAttribute("points", points.map((q) => q.join(",")).join(" "));
    set("C", [p(), p(across), p(across, down), p(down)]);
    set("B", [p(), p(across), p(across, back), p(back)]);
    set("A", [p(across), p(across, down), p(across, down, back), p(across, back)]);
    const name = (face, [fx, fy], fits) => { const t = names[face]; t.setAttribute("x", fx); t.setAttribute("y", fy + 5); t.style.display = fits ? "" : "none"; };
    const half = (v) => [v[0] / 2, v[1] / 2];
    name("C", p(half(across), half(down)), n > 18 && m > 18);
    name("B", p(half(across), half(back)), n > 18 && -dy > 15);
    name("A", p(across, half(down), half(back)), m > 18 && dx > 15);
    const put = (key, [tx, ty]) => { edge[key].setAttribute("x", tx); edge[key].setAttribute("y", ty); };
    const [lx, ly] = p(half(across), down), [mx, my] = p(half(down)), [kx, ky] = p(across, down, half(back));
    put("n", [lx, ly + 27]); put("m", [mx - 8, my + 5]); put("k", [kx + 10, ky + 12]);
  }

  function count() {
    const s = solids.get(model.get("op")), at = flat(), t = s.tables, kind = s.dtypes[model.get("dtype")];
    const value = { name: s.label, dtype: model.get("dtype"), bytes: text(kind.bytes, at), intensity: text(kind.intensity, at) };
    for (const key of ["solid", "m", "n", "k", "volume", "painted", "reuse", "flops", "boxes"]) value[key] = text(t[key], at);
    for (const key of ["m", "n", "k"]) edge[key].textContent = `${key.toUpperCase()} = ${value[key]}`;
    ["A", "B", "C"].forEach((face, f) => { names[face].textContent = s.letters[f]; counts[face].name.textContent = s.faces[f]; counts[face].value.textContent = text(t[face], at); });
    painted.textContent = value.painted; volume.textContent = value.volume; reuse.textContent = value.reuse;
    intensity.previousSibling.textContent = `${value.flops} ÷ ${value.bytes}`; intensity.textContent = `${value.intensity} FLOP/byte`;
    title.textContent = `a ${value.solid}${value.boxes}`;
    note.textContent = data.scales[model.get("scale")];
    stays.style.display = data.solids.some((one) => one.stays) ? "" : "none";
    stays.textContent = model.get("j") ? s.stays : "";
    const sentence = fill(data.sentence, value);
    svg.setAttribute("aria-label", sentence); svg.dataset.tick = at;
    announce(sentence);
    for (const { node, key, value: v } of buttons) node.setAttribute("aria-pressed", model.get(key) === v);
  }

  const move = () => { turn++; shown = target(); paint(shown); count(); };
  function morph() { // another operation or scale: let the eye follow one solid into the next
    const from = shown, to = target(), mine = ++turn, begin = performance.now();
    count();
    const step = (now) => {
      if (mine !== turn) return;
      const t = still() ? 1 : Math.min(1, Math.max(0, (now - begin) / 350)), e = t * (2 - t);
      shown = blend(from, to, e); paint(shown);
      if (t < 1) requestAnimationFrame(step);
    };
    step(begin);
  }

  model.on("change:i change:j change:k", move);
  model.on("change:op change:scale", morph);
  model.on("change:dtype", count);
  move();
  return () => { turn++; unfollow(); };
}
export default { render };
