({
  // Brings a picture into one state after the other: what it shows, says and does wrong in each.
  async walk(el, states) {
    const found = [];
    for (const state of states) {
      for (const [name, value] of Object.entries(state)) el.rooflab.set(name, value);
      await new Promise(requestAnimationFrame);
      found.push({ marks: this.marks(el), said: el.querySelector('.say').textContent, faults: this.faults(el) });
    }
    return found;
  },

  // All marks that are seen: number, where it stands, its words, its opacity, its colours and dashes.
  marks(el) {
    const numbers = (text) => (text ?? '').match(/-?[\d.]+(e-?\d+)?/g)?.map(Number) ?? [];
    return [...el.querySelectorAll('[data-mark]')].flatMap((node) => {
      const style = getComputedStyle(node);
      if (style.display === 'none') return [];
      const box = ['x', 'y', 'width', 'height'].map((name) => +node.getAttribute(name));
      const place = node.tagName === 'rect' ? box : numbers(node.getAttribute('transform') ?? node.getAttribute('d'));
      const look = { fill: node.style.fill, ink: node.style.stroke, dash: node.getAttribute('stroke-dasharray') ?? '' };
      return [[+node.dataset.mark, place, node.tagName === 'text' ? node.textContent : '', +style.opacity, look]];
    });
  },

  // Texts that lie on each other or reach beyond the picture or the window; then the heights of both.
  faults(el) {
    const svg = el.querySelector('.stage svg'), edge = svg.getBoundingClientRect(), wide = document.documentElement.clientWidth;
    const corners = (node) => {
      const b = node.getBBox(), m = node.getScreenCTM(), side = 1.5, lid = 3.5; // a line of text is higher than its letters
      const [x0, x1, y0, y1] = [b.x + side, b.x + b.width - side, b.y + lid, b.y + b.height - lid];
      return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
    };
    const apart = (p, q) => [p, q].some((one) => one.some(([x, y], n) => { // a line along an edge parts them
      const [u, v] = one[(n + 1) % 4], away = ([a, b]) => (a - x) * (y - v) - (b - y) * (x - u);
      const [s, t] = [p, q].map((all) => all.map(away));
      return Math.max(...s) <= Math.min(...t) || Math.max(...t) <= Math.min(...s);
    }));
    const seen = (node) => node.textContent && getComputedStyle(node).display !== 'none' && +getComputedStyle(node).opacity > 0.05;
    const texts = [...svg.querySelectorAll('text')].filter(seen).map((node) => [node.textContent, corners(node)]), found = [];
    const [left, right] = [Math.max(0, edge.left - 1), Math.min(wide, edge.right + 1)];
    texts.forEach(([text, p], n) => {
      if (p.some(([x, y]) => x < left || x > right || y < edge.top - 1 || y > edge.bottom + 1)) found.push(`${text} is cut off`);
      for (const [other, q] of texts.slice(0, n)) if (!apart(p, q)) found.push(`${text} lies on ${other}`);
    });
    return [found, Math.round(edge.height), Math.round(el.getBoundingClientRect().height)];
  },
})
