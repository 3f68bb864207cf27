// ---- charts: scales, axes, lines, points and a brush, in plain SVG ----

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v === null || !Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (!(low <= high)) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function padded([low, high], share = 0.05) {
  const more = (high - low) * share;
  return [low - more, high + more];
}

function scale([a, b], [from, to]) {
  const f = (v) => from + ((v - a) / (b - a)) * (to - from);
  f.invert = (p) => a + ((p - from) / (to - from)) * (b - a);
  f.domain = [a, b];
  return f;
}

function ticks([a, b], wanted = 5) {
  // The round step with the number of ticks that is nearest to `wanted`.
  const power = 10 ** Math.floor(Math.log10((b - a) / wanted));
  const far = (s) => Math.abs(Math.floor(b / s) - Math.ceil(a / s) + 1 - wanted);
  const step = [1, 2, 5, 10].map((m) => m * power).reduce((best, s) => (far(s) < far(best) ? s : best));
  const out = [];
  for (let i = Math.ceil(a / step - 1e-9); i <= b / step + 1e-9; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** Names of ticks, with enough decimals to be different. */
function tickNames(values, own) {
  const names = values.map((v) => (own ? own(v) : format(v)));
  if (new Set(names).size === names.length) return names;
  const step = Math.min(...values.slice(1).map((v, i) => v - values[i]));
  return values.map((v) => fixed(v, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))));
}

/** A frame with axes. `x`, `y`: {domain, label, ticks, names}. Returns the svg and its scales. */
function frame(options) {
  const { width, height, x, y, label } = options;
  const marked = y.names ? [] : y.ticks || ticks(y.domain, Math.max(2, Math.floor(height / 60)));
  const said = y.names ? y.names.map((n) => brief(n, 19)) : tickNames(marked, y.format);
  // Room for the longest name, and for the label of the axis.
  const longest = Math.max(0, ...said.map((s) => s.length));
  const left = y.names ? Math.min(150, 16 + 7 * longest) : Math.max(58, 30 + 7 * longest);
  const box = { left, right: width - 14, top: 10, bottom: height - 40 };
  const sx = scale(x.domain, [box.left, box.right]);
  const sy = scale(y.domain, [box.bottom, box.top]);
  const root = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  const grid = svg("g", { class: "grid" });
  const across = x.ticks || ticks(x.domain, Math.max(2, Math.floor(width / 90))), under = tickNames(across, x.format);
  across.forEach((t, i) => grid.append(
    svg("line", { x1: sx(t), x2: sx(t), y1: box.top, y2: box.bottom }),
    svg("text", { x: sx(t), y: box.bottom + 15, "text-anchor": "middle" }, under[i])));
  (y.names ? y.names.map((_, i) => i) : marked).forEach((t, i) => grid.append(
    svg("line", { x1: box.left, x2: box.right, y1: sy(t), y2: sy(t) }),
    svg("text", { x: box.left - 6, y: sy(t) + 4, "text-anchor": "end" }, said[i])));
  root.append(grid,
    svg("text", { class: "axis", x: clamp((box.left + box.right) / 2, 0, width - 3.2 * x.label.length), y: height - 6, "text-anchor": "middle" }, x.label),
    y.names ? "" : svg("text", { class: "axis", transform: `translate(12 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.label));
  return { root, sx, sy, box };
}

/** Ticks of an axis of log(1 + v). */
function logTicks([a, b]) {
  const out = [0];
  for (let power = 1; power < 1e9; power *= 10) out.push(power, 3 * power);
  return out.map((v) => Math.log10(1 + v)).filter((t) => t >= a && t <= b);
}

function path(points, sx, sy) {
  let out = "", pen = false;
  for (const [x, y] of points) {
    if (y === null || !Number.isFinite(y)) { pen = false; continue; }
    out += `${pen ? "L" : "M"}${sx(x).toFixed(1)} ${sy(y).toFixed(1)}`;
    pen = true;
  }
  return out;
}

/** Thousands of points as one mark: a path of dots. */
function dots(points, sx, sy) {
  let out = "";
  for (const [x, y] of points) out += `M${sx(x).toFixed(1)} ${sy(y).toFixed(1)}h0`;
  return out;
}

/** A line of points [x, y, error?]. `span`: the smallest range of the y axis, or from `zero`; `at`: a dashed vertical line; `others`: [name, points] of faint lines. */
function lineChart({ width, height, points, x, y, label, marks, span = 0, zero = false, at = null, others = [] }) {
  const finite = (some) => some.filter((p) => p[1] !== null && Number.isFinite(p[1]));
  const known = finite(points), behind = others.map(([name, some]) => [name, finite(some)]);
  const all = [known, ...behind.map((b) => b[1])].flat();
  let [low, high] = extent([...all.flatMap((p) => [p[1] - (p[2] || 0), p[1] + (p[2] || 0)]), zero ? 0 : null]);
  const more = Math.max(0, span - (high - low)) / 2;
  [low, high] = [low - more, high + more];
  const { root, sx, sy, box } = frame({
    width, height, label,
    x: { domain: extent([...all.map((p) => p[0]), at]), label: x },
    y: { domain: zero ? [0, high * 1.05] : padded([low, high]), label: y },
  });
  if (at !== null) root.append(svg("line", { class: "base", x1: sx(at), x2: sx(at), y1: box.top, y2: box.bottom }));
  const point = (name, kind) => (p) => svg("circle", { class: kind, cx: sx(p[0]), cy: sy(p[1]), r: 3.5, "data-tip": `${name}${x} ${format(p[0])}: ${y} ${format(p[1])}${p[2] ? ` ± ${format(p[2])}` : ""}` });
  const errors = (some) => some.filter((p) => p[2]).map((p) => `M${sx(p[0]).toFixed(1)} ${sy(p[1] - p[2]).toFixed(1)}V${sy(p[1] + p[2]).toFixed(1)}`).join("");
  for (const [name, some] of behind) root.append(svg("path", { class: "line faint", d: path(some, sx, sy) + errors(some) }), ...some.map(point(name, "faint")));
  root.append(svg("path", { class: "line", d: path(known, sx, sy) + errors(known) }));
  if (marks || known.length < 40) root.append(...known.map(point("", "point")));
  return root;
}

/** Drag a rectangle over a frame; `done` gets [x0, x1, y0, y1] in data units, or null and the event of a click. */
function brush({ root, sx, sy, box }, current, done) {
  const mark = svg("rect", { class: "brush", visibility: "hidden" });
  const surface = svg("rect", {
    class: "surface", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top,
  });
  root.append(mark, surface);
  const show = (x0, y0, x1, y1) => fill(mark, {
    x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0), visibility: "visible",
  }, []);
  if (current) show(clamp(sx(current[0]), box.left, box.right), clamp(sy(current[2]), box.top, box.bottom),
    clamp(sx(current[1]), box.left, box.right), clamp(sy(current[3]), box.top, box.bottom));
  let start = null;
  const at = (event) => {
    const [x, y] = placeIn(root, event);
    return [clamp(x, box.left, box.right), clamp(y, box.top, box.bottom)];
  };
  surface.addEventListener("pointerdown", (event) => {
    start = at(event);
    surface.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  surface.addEventListener("pointermove", (event) => { if (start) show(...start, ...at(event)); });
  surface.addEventListener("pointerup", (event) => {
    if (!start) return;
    const [x0, y0] = start, [x1, y1] = at(event);
    start = null;
    if (Math.abs(x1 - x0) < 4 && Math.abs(y1 - y0) < 4) { done(null, event); return; }
    done([Math.min(x0, x1), Math.max(x0, x1)].map(sx.invert).concat([Math.max(y0, y1), Math.min(y0, y1)].map(sy.invert)));
  });
  surface.addEventListener("pointercancel", () => { start = null; });
  return surface;
}

/** Width inside a card: the whole page's, or that of a column which takes `share` beside 1. */
function inner(width, share) {
  const padding = width > 640 ? 34 : 26;
  return Math.floor((width < 900 ? width : ((width - 16) * share) / (1 + share)) - padding);
}

function clamp(v, low, high) {
  return Math.min(high, Math.max(low, v));
}

/** A bar of a table: `from` and `to` on a common scale, coloured by direction. */
function bar(from, to, [low, high], kind) {
  const s = scale([low, high], [0, 100]);
  const a = clamp(s(Math.min(from, to)), 0, 100), b = clamp(s(Math.max(from, to)), 0, 100);
  return svg("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: kind || (to >= from ? "up" : "down"), x: a, y: 1, width: from === to ? 0 : Math.max(b - a, 0.6), height: 8 }));
}
