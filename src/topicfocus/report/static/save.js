// ---- saving: a chart as SVG, its data as CSV, a link ----

/** Properties that are written into a saved drawing, which has no style sheet. */
const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "stroke-opacity", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "paint-order", "visibility"];

function saveFile(name, type, text) {
  const link = el("a", { download: name });
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(title, ending) {
  return `${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "chart"}.${ending}`;
}

/** A drawing as an SVG file with its styles. */
function svgText(root) {
  // Styles are computed only for drawings in the page.
  const lodge = root.isConnected ? null : el("div", { class: "lodge", "aria-hidden": "true" }, root);
  if (lodge) document.body.append(lodge);
  const copy = root.cloneNode(true);
  const from = [root, ...root.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const look = getComputedStyle(node);
    for (const name of LOOK) to[i].setAttribute(name, look.getPropertyValue(name));
    for (const name of ["class", "data-tip", "role", "tabindex", "data-key"]) to[i].removeAttribute(name);
  });
  const { width, height } = root.viewBox.baseVal;
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--card").trim();
  copy.prepend(svg("rect", { x: 0, y: 0, width, height, fill: ground }));
  copy.querySelectorAll("[visibility=hidden]").forEach((node) => node.remove());
  to.forEach((node, i) => { if (from[i].classList.contains("surface")) node.remove(); });
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("xmlns", SVG);
  if (lodge) lodge.remove();
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy);
}

/** Rows as CSV. A text that a spreadsheet would read as a formula starts with an apostrophe. */
function csvText(head, rows) {
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Buttons that save a chart. `drawing` and `data` return its SVG and its {head, rows}. */
function savers(title, drawing, data) {
  return el("div", { class: "savers" },
    el("button", { type: "button", class: "quiet", "aria-label": `Save ${title} as SVG`, onclick: () => saveFile(fileName(title, "svg"), "image/svg+xml", svgText(drawing())) }, "SVG"),
    el("button", { type: "button", class: "quiet", "aria-label": `Save the data of ${title} as CSV`, onclick: () => { const { head, rows } = data(); saveFile(fileName(title, "csv"), "text/csv", csvText(head, rows)); } }, "CSV"));
}

/** A drawing with its buttons. */
function figure(title, root, data) {
  return el("div", { class: "figure-box" }, root, savers(title, () => root, data));
}

/** Rows {name, from, to, low, high, kind, text} as a drawing: for charts that are lists in the page. */
function barsDrawing(title, rows, { label, at = null, dots: asDots = false } = {}) {
  const width = 720, height = 34 + 22 * rows.length + 44;
  const domain = padded(extent([...rows.flatMap((r) => [r.from, r.to, r.low, r.high].filter((v) => v !== undefined)), at]), 0.04);
  const box = { left: 250, right: width - 80 };
  const s = scale(domain, [box.left, box.right]);
  const root = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title },
    svg("text", { class: "axis", x: 10, y: 20 }, title));
  const grid = svg("g", { class: "grid" });
  const bottom = 34 + 22 * rows.length;
  for (const t of ticks(domain, 5)) grid.append(svg("line", { x1: s(t), x2: s(t), y1: 30, y2: bottom }), svg("text", { x: s(t), y: bottom + 15, "text-anchor": "middle" }, format(t)));
  root.append(grid, svg("text", { class: "axis", x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" }, label || ""));
  if (at !== null) root.append(svg("line", { class: "base", x1: s(at), x2: s(at), y1: 30, y2: bottom }));
  rows.forEach((row, i) => {
    const y = 45 + 22 * i, kind = row.kind || (row.to >= row.from ? "up" : "down");
    root.append(svg("text", { class: "label", x: box.left - 8, y: y + 4, "text-anchor": "end" }, brief(row.name, 38)));
    if (row.low !== undefined) root.append(svg("line", { class: `interval ${kind}`, x1: s(row.low), x2: s(row.high), y1: y, y2: y }));
    const [a, b] = [Math.min(s(row.from), s(row.to)), Math.max(s(row.from), s(row.to))];
    root.append(asDots ? svg("circle", { class: kind, cx: s(row.to), cy: y, r: 5 }) : svg("rect", { class: kind, x: a, y: y - 6, width: Math.max(b - a, 1), height: 12 }),
      svg("text", { class: "label", x: width - 74, y: y + 4 }, row.text || ""));
  });
  return root;
}

/** Copy a text to the clipboard; without a clipboard, show it in a field. `what` names it. */
async function copyText(button, text, what) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = `${what} copied`;
  } catch (error) {
    const field = el("textarea", { readonly: true, rows: 1, value: text, "aria-label": what, class: "link-field" });
    button.after(field);
    field.select();
    field.addEventListener("blur", () => field.remove());
  }
  setTimeout(() => { button.textContent = label; }, 2000);
}
