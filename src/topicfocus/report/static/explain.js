// ---- explanations: a waterfall from the base to the prediction, and shaded words ----

const SHOWN_PARTS = 12;

/** Rows [{name, from, to}] that add up from the base to the linear predictor. */
function waterfallRows(model, found, l, parts) {
  const { data } = model;
  let items;
  if (parts === "topics") {
    items = found.topics.map((amounts, k) => ({ name: topicName(data, k), amount: amounts[l], topic: k }));
  } else {
    items = found.words.map((w) => ({ name: data.words.names[w.v] + (w.count > 1 ? ` ×${format(w.count)}` : ""), amount: w.amounts[l], word: w.v }));
  }
  items.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
  const shown = items.slice(0, SHOWN_PARTS);
  const rest = items.slice(SHOWN_PARTS);
  shown.sort((a, b) => b.amount - a.amount);
  if (rest.length) {
    const more = parts === "topics" ? "topics" : "words";
    shown.push({ name: `${rest.length} more ${more}`, amount: rest.reduce((s, i) => s + i.amount, 0) });
  }
  if (found.covariates[l] !== 0) shown.unshift({ name: "covariates", amount: found.covariates[l] });
  const rows = [{ name: "no words", from: null, to: found.base[l], total: true }];
  let at = found.base[l];
  for (const item of shown) {
    rows.push({ ...item, from: at, to: at + item.amount });
    at += item.amount;
  }
  rows.push({ name: predictorName(model, l), from: null, to: found.predictor[l], total: true });
  return rows;
}

function waterfall(model, found, l) {
  const rows = waterfallRows(model, found, l, state.parts);
  const domain = padded(extent(rows.flatMap((r) => [r.to, r.from === null ? r.to : r.from])), 0.06);
  const unit = unitOf(model, l);
  return el("div", { class: "waterfall" },
    el("div", { class: "switch", role: "group", "aria-label": "Split the prediction by" },
      ["words", "topics"].map((parts) => el("button", {
        type: "button", "data-key": `parts-${parts}`, "aria-pressed": String(state.parts === parts), onclick: () => update({ parts }),
      }, `By ${parts}`))),
    el("table", {},
      el("caption", {}, `What moves the prediction${unit ? `, in ${unit}` : ""}`),
      el("thead", { class: "hidden" }, el("tr", {}, ["part", "from where to where", "amount"].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.total ? "total" : null },
        el("th", { scope: "row", title: row.name }, row.word === undefined ? brief(row.name, 34)
          : el("button", { type: "button", class: "link", onclick: () => update({ word: row.word, view: "words" }) }, brief(row.name, 34))),
        el("td", { class: "track" }, row.total ? bar(row.to - (domain[1] - domain[0]) * 0.004, row.to + (domain[1] - domain[0]) * 0.004, domain, "mark") : bar(row.from, row.to, domain)),
        el("td", { class: "number" }, row.total ? format(row.to, 4) : signed(row.to - row.from)))))));
}

/** What a linear predictor is measured in. */
function unitOf(model, l) {
  const kind = model.data.targets[model.data.predictors[l].target].kind;
  return { gaussian: "", poisson: "log counts", ordinal: "log odds of a higher level", bernoulli: "log odds", categorical: "log odds" }[kind];
}

function predictorName(model, l) {
  return model.data.predictors[l].name;
}

/** A text with its words shaded by what they add. `spans` and `terms` as the engine found them. */
function shadedText(model, text, spans, terms, found, l) {
  const amountOf = new Map(found.words.map((w) => [w.v, w.amounts[l] / Math.max(w.count, 1)]));
  const shade = new Array(spans.length).fill(0);
  const known = new Array(spans.length).fill(false);
  for (const term of terms) {
    if (!amountOf.has(term.v)) continue;
    for (const i of term.spans) {
      shade[i] += amountOf.get(term.v) / term.spans.length;
      known[i] = true;
    }
  }
  const strongest = Math.max(1e-12, ...shade.map(Math.abs));
  const out = el("p", { class: "shaded" });
  let at = 0;
  spans.forEach((span, i) => {
    if (!known[i]) return;
    out.append(text.slice(at, span.start), shadedWord(text.slice(span.start, span.stop), shade[i], strongest));
    at = span.stop;
  });
  out.append(text.slice(at));
  return out;
}

function shadedWord(word, amount, strongest) {
  return el("mark", {
    class: amount >= 0 ? "up" : "down", "--a": (0.08 + 0.42 * Math.abs(amount) / strongest).toFixed(3), title: signed(amount),
  }, word, el("span", { class: "hidden" }, ` (${signed(amount, 2)}) `));
}

/** The words of a document without a text, the strongest first. */
function shadedCodes(model, found, l) {
  const words = [...found.words].sort((a, b) => Math.abs(b.amounts[l]) - Math.abs(a.amounts[l]));
  const strongest = Math.max(1e-12, ...words.map((w) => Math.abs(w.amounts[l])));
  return el("p", { class: "shaded codes" }, words.map((w) => [
    shadedWord(model.data.words.names[w.v] + (w.count > 1 ? ` ×${format(w.count)}` : ""), w.amounts[l], strongest), " "]));
}

function legend() {
  return el("p", { class: "legend" },
    el("mark", { class: "up", "--a": 0.45 }, "raises"), " ", el("mark", { class: "down", "--a": 0.45 }, "lowers"), " the prediction");
}

/** The response of a target in words: a number with its interval, or probabilities as bars. */
function responseView(model, target, response, actual) {
  if (response.probabilities && target.kind !== "ordinal") {
    const order = response.probabilities.map((_, c) => c);
    if (order.length > 2) order.sort((a, b) => response.probabilities[b] - response.probabilities[a]);
    return el("table", { class: "probabilities" },
      el("caption", {}, `Probability, with what the words leave open (80%)`),
      el("tbody", {}, order.slice(0, 8).map((c) => el("tr", {},
        el("th", { scope: "row", title: target.labels[c] }, brief(target.labels[c], 30), actual === c ? el("span", { class: "tag" }, "actual") : null),
        el("td", { class: "track" }, bar(0, response.probabilities[c], [0, 1], "accent")),
        el("td", { class: "number", "data-value": response.probabilities[c] }, percent(response.probabilities[c])),
        el("td", { class: "number muted" }, response.low ? `${percent(response.low[c])} to ${percent(response.high[c])}` : "")))));
  }
  return el("p", { class: "figure" },
    el("strong", { "data-value": response.mean }, format(response.mean, 4)), ` ${target.name}`,
    el("span", { class: "muted", "data-std": response.std }, `80% of such documents: ${format(response.low)} to ${format(response.high)}`),
    actual !== null && actual !== undefined ? el("span", { class: "tag" }, `actual ${format(actual)}`) : null);
}

function mixView(model, found) {
  const { data } = model;
  const order = Array.from(found.theta, (_, k) => k).sort((a, b) => found.theta[b] - found.theta[a]);
  return el("table", { class: "mix" }, el("caption", {}, "Topic mix"),
    el("tbody", {}, order.slice(0, 8).map((k) => el("tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => update({ topic: k, view: "topics" }) }, shorten(topicName(data, k), 34))),
      el("td", { class: "track" }, bar(0, found.theta[k], [0, 1], "accent")),
      el("td", { class: "number" }, percent(found.theta[k]))))));
}
