// ---- explanations: a waterfall from the base to the prediction, and shaded words ----

const SHOWN_PARTS = 12;

/** Rows [{name, from, to}] that add up from the base to the linear predictor. */
function waterfallRows(model, found, l, parts) {
  const { data } = model;
  let items;
  if (parts === "topics") {
    items = found.topics.map((amounts, k) => ({ name: topicLabel(data, k), amount: amounts[l], topic: k }));
  } else {
    items = found.words.map((w) => ({ name: wordName(model, w.v) + (w.count > 1 ? ` ×${format(w.count)}` : ""), amount: w.amounts[l], word: w.v }));
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
  if (data.remainder) shown.push({ name: "remainder (all words and pairs)", amount: found.remainder.amounts[l] });
  const beyond = beyondScale(data, found, l);
  if (beyond !== 0) shown.push({ name: "end of the scale", amount: beyond });
  // As in `topicfocus explain`, covariates contribute relative to their average.
  let at = found.base[l] + found.ofAverage.reduce((sum, amounts) => sum + amounts[l], 0);
  const rows = [{ name: termed(model, found.ofAverage.length ? "without words, average covariates" : "without words"), from: null, to: at, total: true }];
  for (const item of shown) {
    rows.push({ ...item, from: at, to: at + item.amount });
    at += item.amount;
  }
  rows.push({ name: "this document", from: null, to: found.predictor[l] + beyond, total: true });
  return rows;
}

/** The change of a number that would be predicted beyond the ends of its scale. */
function beyondScale(data, found, l) {
  const { target } = data.predictors[l];
  return data.targets[target].kind === "gaussian" ? found.targets[target].mean - found.predictor[l] : 0;
}

/** The amount of each covariate relative to its average, the largest first, or the sum of many. */
function covariateRows(data, found, l) {
  const rows = found.ofAverage.map((average, j) => ({ name: `${data.covariates.names[j]} = ${format(found.given[j])}`, amount: found.byCovariate[j][l] - average[l] }));
  if (rows.length > SHOWN_PARTS) return [{ name: `${rows.length} covariates`, amount: rows.reduce((sum, row) => sum + row.amount, 0) }];
  return rows.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
}

function waterfall(model, found, l) {
  const rows = waterfallRows(model, found, l, state.parts);
  const domain = padded(extent(rows.flatMap((r) => [r.to, r.from === null ? r.to : r.from])), 0.06);
  const unit = unitOf(model, l);
  const title = `Contributions to ${unit ? `the ${unit} of ` : ""}${predictorName(model, l)}${model.data.targets[model.data.predictors[l].target].kind === "categorical" ? " against the other classes" : ""}`;
  const decimals = decimalsOf(rows.filter((r) => !r.total).map((r) => r.to - r.from).concat(rows.length > 2 ? [] : [rows[0].to]));
  const amount = (row) => (row.total ? fixed(row.to, decimals) : (row.to > row.from ? "+" : "") + fixed(row.to - row.from, decimals));
  return el("div", { class: "waterfall" },
    el("div", { class: "switch", role: "group", "aria-label": "Split the prediction by" },
      ["words", "topics"].map((parts) => el("button", {
        type: "button", "data-key": `parts-${parts}`, "aria-pressed": String(state.parts === parts), onclick: () => update({ parts }),
      }, `By ${parts}`))),
    el("table", {},
      el("caption", {}, title),
      el("thead", { class: "hidden" }, el("tr", {}, ["part", "position", "amount"].map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.total ? "total" : null },
        el("th", { scope: "row", "data-tip": rowTip(model, row, l) }, row.total ? [row.name, el("small", { class: "muted" }, responseOf(model, row.to, l))] : row.word === undefined ? brief(row.name, 40)
          : el("button", { type: "button", class: "link", onclick: () => update({ word: row.word, view: "words" }) }, row.name)),
        el("td", { class: "track", "data-tip": rowTip(model, row, l) }, row.total ? bar(row.to - (domain[1] - domain[0]) * 0.004, row.to + (domain[1] - domain[0]) * 0.004, domain, "mark") : bar(row.from, row.to, domain)),
        el("td", { class: "number" }, amount(row)))))),
    savers(title, () => barsDrawing(title, rows.map((row) => ({ name: row.name, from: row.from ?? rows[0].to, to: row.to, kind: row.total ? "mark" : undefined, text: amount(row) })), { label: unit || predictorName(model, l), at: rows[0].to }),
      () => ({ head: ["part", "from", "to", "amount"], rows: rows.map((row) => [row.name, row.from, row.to, row.total ? null : row.to - row.from]) })),
    remainderTerms(model, found, l));
}

/** The terms with the largest contributions to the remainder, in a part that opens. */
function remainderTerms(model, found, l) {
  const { remainder } = model.data;
  if (!remainder) return null;
  const terms = [...found.remainder.terms].sort((a, b) => Math.abs(b.amounts[l]) - Math.abs(a.amounts[l]));
  return el("details", { class: "more", id: "remainder" },
    el("summary", {}, `Remainder ${signed(found.remainder.amounts[l])}: its largest contributions`),
    el("p", { class: "note" }, `A linear model of the residuals of the topics, on all words and pairs of words, function words included.`),
    terms.length ? el("table", {}, el("tbody", {}, terms.slice(0, SHOWN_PARTS).map((term) => el("tr", {},
      el("th", { scope: "row" }, brief(term.name, 40)), el("td", { class: "number" }, signed(term.amounts[l]))))))
      : el("p", { class: "note" }, "The text of this document is not in the page, so its terms cannot be listed."));
}

/** A row in words. */
function rowTip(model, row, l) {
  if (row.total) return `${row.name}: ${format(row.to)}${unitOf(model, l) ? ` ${unitOf(model, l)}` : ""}${responseOf(model, row.to, l)}`;
  return row.word !== undefined ? wordTip(model, row.word, l, `${signed(row.to - row.from)} here.`) : `${row.name}: ${signed(row.to - row.from)}`;
}

/** The unit of a linear predictor. */
function unitOf(model, l) {
  const { kind, scale } = model.data.targets[model.data.predictors[l].target];
  return scale ?? { gaussian: "", poisson: "log counts", ordinal: "log odds of a higher level", bernoulli: "log odds", categorical: "log odds" }[kind];
}

/** The prediction of a linear predictor that is not on the scale of the target. */
function responseOf(model, f, l) {
  const { kind, curve } = model.data.targets[model.data.predictors[l].target];
  if (curve) return ` ${format(onCurve(curve, f).mean)}`;
  if (kind === "bernoulli" || kind === "categorical") return ` ${share(1 / (1 + Math.exp(-f)))}`;
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

/** A text with its words shaded by their contributions, on one scale for all documents. `spans` and `terms` are those
 * of the engine; a click on a word calls `toggle`, and the words in `off` are struck out. */
function shadedText(model, text, spans, terms, found, l, { toggle = null, off = [] } = {}) {
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
  const without = new Set(off);
  const out = el("p", { class: "shaded" });
  let at = 0;
  spans.forEach((span, i) => {
    if (!known[i] && !without.has(i)) return;
    out.append(text.slice(at, span.start), shadedWord(model, text.slice(span.start, span.stop), shade[i], l, toggle ? () => toggle(i) : null, without.has(i), i));
    at = span.stop;
  });
  out.append(text.slice(at));
  return out;
}

/** The amount that is coloured in full, the same in every document (report/documents.py). */
function fullShade(model, l) {
  const { shade } = model.data.documents;
  return shade ? shade[l] : Math.max(1e-12, ...model.coef[l].map(Math.abs)) / 10;
}

function shadedWord(model, word, amount, l, toggle, off, key) {
  const a = (0.08 + 0.42 * Math.min(1, Math.abs(amount) / fullShade(model, l))).toFixed(3);
  const said = off ? `${word}: removed. Click to put it back.` : `${word}: ${signed(amount)}${unitOf(model, l) ? ` ${unitOf(model, l)}` : ""}${toggle ? ". Click to remove it." : ""}`;
  const kind = off ? "off" : direction(amount, fullShade(model, l));
  if (toggle) return el("button", { type: "button", class: `word ${kind}`, "--a": a, "data-tip": said, "data-key": `span-${key}`, "data-span": key, "aria-pressed": String(!off), onclick: toggle }, word);
  return el("mark", { class: kind, "--a": a, "data-tip": said }, word, el("span", { class: "hidden" }, ` (${signed(amount, 2)}) `));
}

/** The words of a document without a text, the strongest first. */
function shadedCodes(model, found, l) {
  const words = [...found.words].sort((a, b) => Math.abs(b.amounts[l]) - Math.abs(a.amounts[l]));
  return el("p", { class: "shaded codes" }, words.map((w) => [
    shadedWord(model, wordName(model, w.v) + (w.count > 1 ? ` ×${format(w.count)}` : ""), w.amounts[l], l, null, false, w.v), " "]));
}

function legend(model, l) {
  return el("p", { class: "legend" },
    el("mark", { class: "up", "--a": 0.45 }, "higher"), " ", el("mark", { class: "down", "--a": 0.45 }, "lower"), ` ${thing(model, l)} ${termed(model, "with this word")}`);
}

/** The response of a target in words: a number with its interval, or probabilities as bars. */
function responseView(model, target, response, actual, l) {
  if (response.probabilities && target.kind !== "ordinal") return classView(model, target, response.probabilities, actual, l);
  // Counts and levels, and the ends of their intervals, are whole numbers; a mean is not.
  const whole = target.whole || target.kind === "ordinal";
  const decimals = decimalsOf([whole ? response.mean : response.high - response.low]);
  const end = (value) => (whole ? format(value) : fixed(value, decimals));
  const range = response.low === response.high ? end(response.low) : `${end(response.low)} to ${end(response.high)}`;
  const [least, largest] = target.limits || [null, null];
  return el("p", { class: "figure" },
    el("strong", { "data-value": response.mean }, fixed(response.mean, decimals)), ` ${target.name}`,
    el("span", { class: "muted", "data-std": response.std, "data-low": response.low, "data-high": response.high }, `${whole ? "at least 80%" : "80%"} interval ${range}`
      + (least !== null && largest !== null ? ` on a scale from ${format(least)} to ${format(largest)}` : "")),
    actual !== null && actual !== undefined ? el("span", { class: "tag" }, `actual ${format(actual)}`) : null);
}

function classView(model, target, probabilities, actual, l) {
  const order = probabilities.map((_, c) => c);
  if (order.length > 2) order.sort((a, b) => probabilities[b] - probabilities[a]);
  const choice = (c) => (target.kind === "bernoulli" ? breakable(brief(target.labels[c], 30))
    : el("button", { type: "button", class: "link", "data-key": `class-${target.first + c}`, "aria-pressed": String(target.first + c === l), onclick: () => update({ predictor: target.first + c }) }, breakable(brief(target.labels[c], 30))));
  const likely = probabilities.indexOf(Math.max(...probabilities));
  return [el("table", { class: "probabilities" },
    el("caption", {}, `Probability${target.kind === "categorical" ? " of each class; choose one for its explanation" : ""}`),
    el("tbody", {}, order.slice(0, 8).map((c) => el("tr", { "data-tip": calibrationText(model, target, c, probabilities[c]) },
      el("th", { scope: "row" }, choice(c), actual === c ? el("span", { class: "tag" }, "actual") : null),
      el("td", { class: "track" }, bar(0, probabilities[c], [0, 1], "accent")),
      el("td", { class: "number", "data-value": probabilities[c] }, share(probabilities[c])))))),
  el("p", { class: "note calibrated" }, calibrationText(model, target, likely, probabilities[likely], true))];
}

/** The observed frequency of a class among documents with a similar probability; of several classes, the accuracy
 * of similarly certain predictions. Empty where no documents have such a prediction. */
function calibrationText(model, target, c, p, predicted) {
  const found = model.data.evaluation[model.data.targets.indexOf(target)];
  if (!found) return "";
  const several = target.kind === "categorical" && predicted;
  const k = several ? found.certainty : found.calibration[c];
  const i = k.x.reduce((best, x, j) => (Math.abs(x - p) < Math.abs(k.x[best] - p) ? j : best), 0);
  if (!k.n[i] || Math.abs(k.x[i] - p) > 0.1) return "";
  const range = `(95% interval ${share(k.low[i])} to ${share(k.high[i])})`;
  return several ? `Of ${format(k.n[i])} documents with a similar probability of the predicted class (${share(k.x[i])} on average), ${share(k.y[i])} are predicted correctly ${range}.`
    : `Of ${format(k.n[i])} documents with a similar probability (${share(k.x[i])} on average), ${share(k.y[i])} are “${target.labels[c]}” ${range}.`;
}

/** A warning where a document has fewer than three words in topics. */
function fewWords(model, found, empty) {
  const n = found.words.length;
  const others = [model.data.covariates ? "its covariates" : null, model.data.remainder ? "the remainder" : null].filter(Boolean);
  if (n >= 3) return null;
  if (n === 0) return el("p", { class: "note few" }, `${empty ? "The document is empty" : termed(model, "None of its words is in a topic")}: this is the prediction for a document without ${termed(model, "topic words")}${others.length ? `, given ${others.join(" and ")}` : ""}.`);
  return el("p", { class: "note few" }, `${termed(model, n === 1 ? "One of its words is" : "Two of its words are")} in topics: the prediction depends only on ${[termed(model, n === 1 ? "this word" : "these words"), ...others].join(" and ")}.`);
}

/** The topics of a document's words. */
function compositionView(model, found) {
  const { data } = model;
  const shares = found.composition;
  const order = Array.from(shares, (_, k) => k).sort((a, b) => shares[b] - shares[a]);
  return el("table", { class: "mix composition" }, el("caption", {}, termed(model, found.words.length ? "Token proportions: the topics of its words" : "Token proportions: none of its words is in a topic")),
    el("tbody", {}, order.slice(0, 8).map((k) => el("tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => update({ topic: k, view: "topics" }) }, fitName(topicLabel(data, k), 36))),
      el("td", { class: "track", "data-tip": `Topic ${topicLabel(data, k)}: ${percent(shares[k])} of its relevant ${terms(model)}; in all documents ${percent(data.topics.prevalence[k])}` }, bar(0, shares[k], [0, 1], "accent")),
      el("td", { class: "number" }, percent(shares[k]))))));
}
