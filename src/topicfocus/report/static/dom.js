// ---- elements: text goes in as text, never as markup ----

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A number with three significant digits; whole numbers from 1,000 on. */
function format(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e9 || size < 1e-4) return x.toExponential(1).replace("e+", "e").replace("-", "−");
  // Counts keep all digits.
  if (size >= 1000) return fixed(x, 0);
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}

/** The number of decimals with which the largest number has three digits; 0 for whole numbers. */
function decimalsOf(values, digits = 3) {
  const known = values.filter((v) => typeof v === "number" && Number.isFinite(v));
  const largest = Math.max(0, ...known.map(Math.abs));
  if (largest === 0 || known.every(Number.isInteger)) return 0;
  return Math.min(6, Math.max(0, digits - 1 - Math.floor(Math.log10(largest))));
}

/** A number with a fixed number of decimals. */
function fixed(x, decimals) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  const near = Number(x.toFixed(decimals)) || 0;
  return near.toLocaleString("en-GB", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).replace("-", "−");
}

function signed(x, digits = 3) {
  return (x > 0 ? "+" : "") + format(x, digits);
}

function percent(x) {
  if (x > 0 && x < 0.0005) return "<0.1%";
  if (x < 1 && x > 0.995) return ">99%";
  return x > 0 && x < 0.0095 ? `${(100 * x).toFixed(1)}%` : `${Math.round(100 * x)}%`;
}

/** A probability in percent; small ones with a decimal. */
function share(x) {
  return x >= 0.0995 ? percent(x) : x >= 0.0005 ? `${(100 * x).toFixed(1)}%` : "<0.1%";
}

function card(title, ...children) {
  return el("section", { class: "card" }, el("h2", {}, title), ...children);
}

/** A card that comes last where there is one column, and is not printed. */
function laterCard(title, ...children) {
  return el("section", { class: "card later screen" }, el("h2", {}, title), ...children);
}

function table(caption, head, rows, { texts = [], strong = () => false } = {}) {
  const kind = (i) => (!i ? null : texts.includes(i) ? "words" : "number");
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "hidden" }, caption),
      head && el("thead", {}, el("tr", {}, head.map((h, i) => el("th", { scope: "col", class: kind(i) }, h)))),
      el("tbody", {}, rows.map((row, r) => el("tr", strong(r) ? { class: "chosen" } : {}, row.map((cell, i) =>
        el(i ? "td" : "th", i ? { class: head ? kind(i) : null } : { scope: "row" }, cell)))))));
}

function select(label, value, options, onchange) {
  const node = el("select", { onchange: () => onchange(node.value) },
    options.map(([key, name]) => el("option", { value: key }, name)));
  node.value = String(value);
  return el("label", { class: "field" }, el("span", {}, label), node);
}

/** Replace the content, but keep focus, selection and scroll positions. */
function redraw(root, content) {
  const active = document.activeElement;
  const key = active && root.contains(active) ? active.getAttribute("data-key") : null;
  const place = key && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  const scrolls = [...root.querySelectorAll("[data-scroll]")].map((n) => [n.dataset.scroll, n.scrollTop]);
  root.replaceChildren(...[content].flat().filter(Boolean));
  for (const [name, top] of scrolls) {
    const node = root.querySelector(`[data-scroll="${name}"]`);
    if (node) node.scrollTop = top;
  }
  if (key) {
    const again = root.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (again) {
      again.focus({ preventScroll: true });
      try {
        if (place && place[0] !== null) again.setSelectionRange(...place);
      } catch (error) {
        // Number fields have no selection.
      }
    }
  }
}

/** The first words of a name that fit. */
function fitName(name, length) {
  if (name.length <= length) return name;
  const parts = name.split(", ");
  while (parts.length > 1 && parts.join(", ").length > length) parts.pop();
  return shorten(parts.join(", "), length);
}

/** A long code without its middle: its kind ("dx:") and its end, which tells codes apart (report/labels.py). */
function brief(name, length) {
  if (name.length <= length) return name;
  const kind = name.match(/^[\p{L}\p{N}_]{1,6}:/u);
  let head = kind ? kind[0] : "";
  const tail = name.slice(name.length - (length - head.length - 1));
  const whole = tail.slice(0, Math.floor(tail.length / 2)).search(/[|/\s]/);
  if (whole >= 0) return `${head}…${tail.slice(whole + 1)}`;
  head = head || name.slice(0, Math.floor(length / 3));
  return `${head}…${name.slice(name.length - (length - head.length - 1))}`;
}

/** A name as children of `el`, with line breaks allowed after dots and slashes. */
function breakable(name) {
  return name.split(/(?<=[._/:|-])(?=.)/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
}

/** The text of document d, null if the page does not have it. */
function documentText(data, d) {
  return data.documents.texts ? data.documents.texts[d] : null;
}

/** A text about words, of which the documents consist unless they are lists of codes. */
function termed(model, text) {
  return model.data.reading.codes ? text.replace(/\bword/g, "code").replace(/\bWord/g, "Code") : text;
}

function terms(model) {
  return termed(model, "words");
}

/** The unique label of a word or code (text/codes.py). */
function wordName(model, v) {
  const { labels, names } = model.data.words;
  return labels ? labels[v] : names[v];
}

/** The beginning of a text, to the end of a word. */
function shorten(text, length) {
  const flat = text.replace(/\s+/g, " ").trim();
  if (flat.length <= length) return flat;
  const cut = flat.slice(0, length + 1), space = cut.lastIndexOf(" ");
  return (space > length / 2 ? cut.slice(0, space) : flat.slice(0, length)) + " …";
}
