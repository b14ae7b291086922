// The request film: ties choices, roofline, bars over context and readout of the files before it
// together. Python counted, placed and formatted everything; here things move from spot to spot.

function render({ model, el }) {
  const data = model.get("data"), frame = data.frame, pick = filming(model, data);
  el.classList.add("rl-film");
  const card = make("div", { className: "rl-card" }, el), cover = make("p", { className: "rl-cover", textContent: data.covered }, card);
  const ui = filmChoices(make("div", { className: "rl-bar" }, card), model, data, pick);
  const split = make("div", { className: "rl-split" }, card), left = make("div", { className: "rl-left" }, split);
  const stage = make("div", { className: "rl-stage" }, left);
  const svg = draw("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, class: "rl-live", role: "img" }, stage);
  const still = { levels: () => ["dram"], sides: () => ["cold"], machine: pick.machine, shows: () => false, names: () => [], points: () => null, call: () => null };
  const lens = axes(svg, data), back = background(svg, { ...data, ops: [] }, still, lens), front = filmDots(svg, data, pick, lens);
  const bars = filmBars(left, data, pick, go), side = filmSide(make("div", { className: "rl-right" }, split), data, pick);
  const right = split.lastChild, says = make("p", { className: "rl-says" }, right), origin = make("p", { className: "rl-origin" }, right);
  const live = make("div", { className: "rl-hidden" }, card), speak = speaker(live);
  live.setAttribute("aria-live", "polite");
  const unfollow = followTheme(el);
  const handles = nameHandles(el, data.sliders.length, (index) => ({ label: data.sliders[index].label, value: data.sliders[index].values[model.get("ij"[index])] }));
  let shown = null, sheet = null, seen = pick.machine().decades, stop = () => {};

  function go(j) { model.set("j", j); model.save_changes(); } // a bar was clicked: its slider follows

  function change() { // axes and roof slide to those of another machine or number format
    stop(); ui();
    const line = pick.roof(), old = sheet, was = seen, target = pick.machine().decades;
    back.still(0);
    if (!line) { shown = sheet = null; lens.show(seen); back.roofs([]); move(); return; }
    const to = (t) => {
      sheet = old ? blend(old, line.corners, t) : line.corners; seen = blend(was, target, t); lens.show(seen);
      shown = lens.roof({ ...line, corners: sheet }); back.roofs([shown]); dots();
    };
    if (old && String([old, was]) !== String([line.corners, target])) stop = animate(280, to); else to(1);
    move();
  }

  const dots = () => arrange(front.place(shown), frame, back.lines(), back.fixed());

  function move() {
    const { i, j } = pick.at();
    dots(); bars.move(); side.move();
    const text = model.get("covered") ? data.covered : pick.sentence();
    write(says, text); write(origin, pick.machine().origin);
    svg.dataset.tick = `${i} ${j}`;
    handles(); speak(model.get("covered") ? "" : text); svg.setAttribute("aria-label", text);
  }

  function uncover() {
    const on = model.get("covered");
    el.classList.toggle("rl-covered", on); cover.hidden = !on;
    el.closest(".rooflab-film")?.classList.toggle("rl-waiting", on);
    move();
  }

  hush(model, model.get("hushed"));
  model.on("change:i change:j", move);
  model.on("change:machine change:weights change:kv", change);
  model.on("change:covered", uncover);
  change(); uncover();
  requestAnimationFrame(uncover); // once more when the sliders around it are in the page
  return () => { stop(); unfollow(); };
}
export default { render };
