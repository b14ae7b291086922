// Watches which slider value a page shows, frame by frame, for slider_latency.py.
(() => {
  const P = (window.probe = { inputs: [], keys: [], shown: [], value: null, kind: null, at: null });
  const note = (event) => {
    const moment = event.timeStamp;
    if (event.type === "keydown") { if (event.key !== "ArrowRight") return; P.keys.push(moment); }
    // After the slider has taken the event, its handle says which value is wanted.
    setTimeout(() => {
      const wanted = Number(document.querySelector(":is(.noUi-handle, .rl-live-roofline .rl-sliders input)")?.getAttribute("aria-valuenow"));
      if (P.inputs.at(-1)?.[1] !== wanted) P.inputs.push([moment, wanted]);
    }, 0);
  };
  for (const type of ["keydown", "pointermove"]) window.addEventListener(type, note, true);

  // Pictures carry their value in the colour of a square: red + 256 · green/16, blue 128.
  const dot = document.createElement("canvas").getContext("2d", { willReadFrequently: true, colorSpace: "srgb" });
  dot.canvas.width = dot.canvas.height = 1;
  const decode = (d) => (d[2] === 128 && d[3] === 255 ? d[0] + 256 * Math.round(d[1] / 16) : null);
  const source = () => (P.kind === "img"
    ? [...document.querySelectorAll(".jp-OutputArea-output img")].at(-1)
    : [...document.querySelectorAll(".jp-OutputArea canvas")].find((c) => c.width > 300 && c.height > 200));
  function find(node) { // the middle of the square, in the picture's own pixels
    const width = node.naturalWidth || node.width, height = node.naturalHeight || node.height;
    if (!width) return null;
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(node, 0, 0);
    const { data } = context.getImageData(0, 0, width, height), sums = new Map();
    for (let i = 0; i < data.length; i += 4) {
      if (decode(data.subarray(i, i + 4)) === null || data[i + 1] % 16) continue;
      const key = data[i] + "," + data[i + 1], s = sums.get(key) ?? [0, 0, 0];
      sums.set(key, [s[0] + 1, s[1] + ((i / 4) % width), s[2] + Math.floor(i / 4 / width)]);
    }
    const best = [...sums.values()].sort((a, b) => b[0] - a[0])[0];
    return best && best[0] > 300 ? [Math.round(best[1] / best[0]), Math.round(best[2] / best[0])] : null;
  }
  let node = null, address = null;
  function look() {
    if (P.kind === "data") return Number(document.querySelector(".rl-live-roofline .stage svg")?.dataset.i ?? NaN);
    const now = source();
    if (!now || (P.kind === "img" && (!now.complete || !now.naturalWidth))) return P.value;
    if (P.kind === "img" && now === node && now.src === address) return P.value;
    P.at ??= find(now);
    if (!P.at) return null;
    dot.clearRect(0, 0, 1, 1);
    dot.drawImage(now, P.at[0], P.at[1], 1, 1, 0, 0, 1, 1);
    const value = decode(dot.getImageData(0, 0, 1, 1).data);
    if (value !== null) { node = now; address = now.src; }
    return value;
  }
  const after = new MessageChannel();
  let fresh = null;
  after.port1.onmessage = () => { if (fresh) P.shown.push([fresh, performance.now()]); fresh = null; };
  function frame() {
    const value = look();
    if (value !== null && !Number.isNaN(value) && value !== P.value) { P.value = value; fresh = value; after.port2.postMessage(0); }
    requestAnimationFrame(frame);
  }
  P.start = (kind) => { P.kind = kind; requestAnimationFrame(frame); };
  P.reset = () => { P.keys = []; P.inputs = []; P.shown = []; };
})();
