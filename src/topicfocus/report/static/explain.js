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
    const more = parts === "topics" ? "topic" : "word";
    shown.push({ name: `${rest.length} more ${more}${rest.length === 1 ? "" : "s"}`, amount: rest.reduce((s, i) => s + i.amount, 0) });
  }
  shown.unshift(...covariateRows(data, found, l));
  const rows = [{ name: "without words", from: null, to: found.base[l], total: true }];
  let at = found.base[l];
  for (const item of shown) {
    rows.push({ ...item, from: at, to: at + item.amount });
    at += item.amount;
  }
  rows.push({ name: "this document", from: null, to: found.predictor[l], total: true });
  return rows;
}

/** What each covariate adds, or all together where they are many. */
function covariateRows(data, found, l) {
  if (found.covariates[l] === 0) return [];
  if (found.given.length > SHOWN_PARTS) return [{ name: `${found.given.length} covariates`, amount: found.covariates[l] }];
  return found.given.map((z, j) => ({ name: `${data.covariates.names[j]} = ${format(z)}`, amount: found.byCovariate[j][l] }));
}

function waterfall(model, found, l) {
  const rows = waterfallRows(model, found, l, state.parts);
  const domain = padded(extent(rows.flatMap((r) => [r.to, r.from === null ? r.to : r.from])), 0.06);
  const unit = unitOf(model, l);
  const decimals = decimalsOf(rows.filter((r) => !r.total).map((r) => r.to - r.from).concat(rows.length > 2 ? [] : [rows[0].to]));
  const amount = (row) => (row.total ? fixed(row.to, decimals) : (row.to > row.from ? "+" : "") + fixed(row.to - row.from, decimals));
  return el("div", { class: "waterfall" },
    el("div", { class: "switch", role: "group", "aria-label": "Split the prediction by" },
      ["words", "topics"].map((parts) => el("button", {
        type: "button", "data-key": `parts-${parts}`, "aria-pressed": String(state.parts === parts), onclick: () => update({ parts }),
      }, `By ${parts}`))),
    el("table", {},
      el("caption", {}, `What moves ${unit ? `the ${unit} of ` : ""}${predictorName(model, l)}`),
      el("thead", { class: "hidden" }, el("tr", {}, ["part", "from where to where", "amount"].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.total ? "total" : null },
        el("th", { scope: "row", title: row.name }, row.total ? [row.name, el("small", { class: "muted" }, responseOf(model, row.to, l))] : row.word === undefined ? brief(row.name, 34)
          : el("button", { type: "button", class: "link", onclick: () => update({ word: row.word, view: "words" }) }, brief(row.name, 34))),
        el("td", { class: "track" }, row.total ? bar(row.to - (domain[1] - domain[0]) * 0.004, row.to + (domain[1] - domain[0]) * 0.004, domain, "mark") : bar(row.from, row.to, domain)),
        el("td", { class: "number" }, amount(row)))))));
}

/** What a linear predictor is measured in. */
function unitOf(model, l) {
  const { kind, scale } = model.data.targets[model.data.predictors[l].target];
  return scale ?? { gaussian: "", poisson: "log counts", ordinal: "log odds of a higher level", bernoulli: "log odds", categorical: "log odds" }[kind];
}

/** What a linear predictor comes to, where it is on another scale than the target and alone decides. */
function responseOf(model, f, l) {
  const { kind, curve } = model.data.targets[model.data.predictors[l].target];
  if (curve) return ` ${format(onCurve(curve, f).mean)}`;
  if (kind === "bernoulli" || kind === "categorical") return ` ${percent(1 / (1 + Math.exp(-f)))}`;
  return kind === "poisson" ? ` ${format(Math.exp(f))}` : "";
}

/** The predictor to explain: the one chosen, else a document's most probable class. */
function explainedPredictor(model, found) {
  const target = model.data.targets[0];
  if (state.predictor !== null || target.kind !== "categorical") return effectOn();
  const p = found.targets[0].probabilities;
  return target.first + p.indexOf(Math.max(...p));
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

function legend(model, l) {
  return el("p", { class: "legend" },
    el("mark", { class: "up", "--a": 0.45 }, "raises"), " ", el("mark", { class: "down", "--a": 0.45 }, "lowers"), ` ${predictorName(model, l)}`);
}

/** The response of a target in words: a number with its interval, or probabilities as bars. */
function responseView(model, target, response, actual, l) {
  if (response.probabilities && target.kind !== "ordinal") {
    const order = response.probabilities.map((_, c) => c);
    if (order.length > 2) order.sort((a, b) => response.probabilities[b] - response.probabilities[a]);
    const choice = (c) => (target.kind === "bernoulli" ? brief(target.labels[c], 30)
      : el("button", { type: "button", class: "link", "data-key": `class-${target.first + c}`, "aria-pressed": String(target.first + c === l), onclick: () => update({ predictor: target.first + c }) }, brief(target.labels[c], 30)));
    return el("table", { class: "probabilities" },
      el("caption", {}, `Probability, and how far the words leave it open (80%)${target.kind === "categorical" ? ". Choose a class for its reasons." : ""}`),
      el("tbody", {}, order.slice(0, 8).map((c) => el("tr", {},
        el("th", { scope: "row", title: target.labels[c] }, choice(c), actual === c ? el("span", { class: "tag" }, "actual") : null),
        el("td", { class: "track" }, bar(0, response.probabilities[c], [0, 1], "accent")),
        el("td", { class: "number", "data-value": response.probabilities[c] }, percent(response.probabilities[c])),
        el("td", { class: "number muted" }, response.low ? `${percent(response.low[c])} to ${percent(response.high[c])}` : "")))));
  }
  const decimals = decimalsOf([response.high - response.low]);
  return el("p", { class: "figure" },
    el("strong", { "data-value": response.mean }, fixed(response.mean, decimals)), ` ${target.name}`,
    el("span", { class: "muted", "data-std": response.std }, `80% of such documents: ${fixed(response.low, decimals)} to ${fixed(response.high, decimals)}`),
    actual !== null && actual !== undefined ? el("span", { class: "tag" }, `actual ${format(actual)}`) : null);
}

/** Which topics a document's words come from. */
function compositionView(model, found) {
  const { data } = model;
  const shares = found.composition;
  const order = Array.from(shares, (_, k) => k).sort((a, b) => shares[b] - shares[a]);
  return el("table", { class: "mix composition" }, el("caption", {}, found.words.length ? "Composition: the topics that its words come from" : "Composition: none of its words is in a topic"),
    el("tbody", {}, order.slice(0, 8).map((k) => el("tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => update({ topic: k, view: "topics" }) }, shorten(topicName(data, k), 34))),
      el("td", { class: "track" }, bar(0, shares[k], [0, 1], "accent")),
      el("td", { class: "number" }, percent(shares[k]))))));
}
