// ---- the story: what goes with the target, in a few sentences made from the fit ----

const MOST_NAMED = 3;
const MOST_CLASSES = 4;

function shortName(model, k, length = 72) {
  return fitName(topicLabel(model.data, k), length);
}

/** Parts of a sentence, with commas and an "and". */
function listedParts(parts) {
  return parts.flatMap((part, i) => (i === 0 ? [part] : [i === parts.length - 1 ? " and " : ", ", part]));
}

/** A link to topic k, by its number and name, in the colour of its effect on predictor l. */
function namedTopic(model, k, l) {
  // No button, which would not break over two lines.
  const go = () => update({ topic: k, view: "topics" });
  return el("span", {
    role: "link", tabindex: 0, class: `link ${topicKind(model, k, l)}`, "data-key": `story-${k}-${l}`, "data-tip": topicTip(model, k, l),
    onclick: go, onkeydown: (event) => { if (event.key === "Enter") go(); },
  }, shortName(model, k));
}

/** A label without the kind of a code and what is in brackets: "Respiratory" of "ad: Respiratory (Organ System)". */
function plainName(label) {
  return label.replace(/^\w{1,6}: /, "").replace(/(.) \(.*$/, "$1");
}

/** One line of the story: the difference, the topic, the interval and the two predictions. */
function driver(model, k, l, decimals, unit) {
  return [el("strong", { class: "amount" }, `${changeShort(model, difference(model, k, l), l, decimals)}${unit ? ` ${unit}` : ""}`), " ", namedTopic(model, k, l),
    el("span", { class: "muted ends" }, ` ${evidence(model, k, l, decimals)}${replicates(model, k) === false ? "; does not replicate" : ""}`)];
}

/** Whether a topic replicates; null where that was not checked. */
function replicates(model, k) {
  const { stability, quick_check: quick } = model.data;
  if (stability) return stability.topics[k].same;
  return quick ? quick.components.includes(k) : null;
}

/** The interval of a difference and the two predictions, in short. */
function evidence(model, k, l, decimals) {
  const r = reach(model, k, l);
  if (r.from === null) return "";
  const predicted = `${levelText(model, r.from, l, r.change)} to ${levelText(model, r.to, l, r.change)}`;
  return r.low === null ? predicted : `${intervalText(model, k, l, decimals)}; predicted ${predicted}`;
}

/** Topics whose interval excludes zero and whose change is not negligible, the strongest first: [raise, lower]. */
function movers(model, l) {
  const order = Array.from({ length: model.K }, (_, k) => k);
  const sure = order.filter((k) => topicKind(model, k, l) !== "even");
  const by = (sign) => sure.filter((k) => sign * difference(model, k, l) > 0).sort((a, b) => sign * (difference(model, b, l) - difference(model, a, l)));
  return [by(1), by(-1)];
}

function storyCard(model, l) {
  const { data } = model;
  const target = data.targets[data.predictors[l].target];
  const [sentences, note] = ownClasses(model) ? classStory(model, target) : numberStory(model, l);
  const warnings = data.warnings.map((text) => el("p", { class: "warning", role: "note" }, el("strong", {}, "Warning: "), text));
  return el("section", { class: "card story", "aria-label": "In short" }, warnings, sentences, nextStory(model), note, figuresStory(model, l), stabilityStory(model));
}

/** Topics with higher and with lower predictions, the strongest first. */
function numberStory(model, l) {
  const { data } = model, target = data.targets[data.predictors[l].target];
  const all = movers(model, l), named = all.map((list) => list.slice(0, state.all ? list.length : MOST_NAMED)), [up, down] = named;
  if (!up.length && !down.length) return [el("p", {}, `No topic has a difference in ${thing(model, l)} with an interval that excludes zero.`), null];
  // The same number of decimals in all of them, and the unit once.
  const sizes = [...up, ...down].map((k) => Math.abs(difference(model, k, l)));
  const decimals = Math.max(changeDecimals(Math.max(...sizes)), Math.min(6, Math.ceil(-Math.log10(Math.min(...sizes)))));
  const unit = unitOfChange(model, l);
  const unsure = model.K - all[0].length - all[1].length;
  // Held-out differences are those of the target itself.
  const measured = data.effects && data.effects.lower && !isClass(target) ? predictorName(model, l) : thing(model, l);
  const side = (i, word, kind) => (named[i].length ? el("div", {},
    el("p", {}, el("strong", { class: kind }, word), " ", el("strong", {}, measured), " in documents with more of these topics"),
    driverList(named[i].map((k, j) => driver(model, k, l, decimals, j === 0 ? unit : "")), all[i].length - named[i].length)) : null);
  return [
    [el("div", { class: "sides" }, side(0, "Higher", "up"), side(1, "Lower", "down")), covariateStory(model, l)],
    data.effects ? el("p", { class: "note" }, `Differences${isClass(target) ? ", in percentage points," : ""} between documents with little and with much of a topic (${quantileText(data.effects, 0)} and ${quantileText(data.effects, 1)} percentile)${data.effects.lower ? ", estimated in the held-out documents. Predicted: by the model, for a typical document, which has" : "; a typical document has"} ${levelText(model, data.effects.typical[l], l)}${scaleText(model, l)}. ${unsure ? `Not listed: ${unsure} ${unsure === 1 ? "topic" : "topics"} with a negligible difference${data.effects.lower ? ", or with an interval that includes zero" : ""}. ` : ""}These are associations, not causes.`) : null,
  ];
}

/** The covariates with the largest differences whose intervals exclude zero. */
function covariateStory(model, l) {
  const rows = covariateEffects(model, l).filter((r) => !r.rare && (r.low === null || r.low > 0 || r.high < 0)).slice(0, MOST_NAMED);
  if (!rows.length) return null;
  return el("p", {}, el("strong", {}, "Covariates: "), listedParts(rows.map((r) => [
    el("strong", { class: direction(r.difference, Math.abs(rows[0].difference)) }, shorten(r.name, 40)), ` from ${format(r.values[0])} to ${format(r.values[1])} `,
    el("strong", { class: "amount" }, changeShort(model, r.difference, l, changeDecimals(r.change))),
    r.low === null ? "" : ` (95% interval ${[r.low, r.high].map((x) => changeShort(model, x, l, changeDecimals(r.change))).join(" to ")}; predicted ${changeShort(model, r.change, l, changeDecimals(r.change))})`])), ".");
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Lines of the story, and a button that shows the others. */
function driverList(rows, more) {
  return el("ul", { class: "plain drivers" }, rows.map((row) => el("li", {}, row)),
    more > 0 ? el("li", {}, el("button", { type: "button", class: "link", "data-key": "story-all", onclick: () => update({ all: true }) }, `Show ${more} more`)) : null);
}

/** What a change is measured in: points of a probability, or the target, where its name is not a sentence. */
function unitOfChange(model, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  if (!model.data.effects) return "";
  return isClass(target) ? "points" : target.name !== "target" && target.name.length <= 16 ? target.name : "";
}

/** The range of a number, by which a difference of 0.2 is large or small. */
function scaleText(model, l) {
  const { data } = model, target = data.targets[data.predictors[l].target];
  if (isClass(target)) return "";
  const [low, high] = target.levels ? [target.levels[0], target.levels[target.levels.length - 1]] : target.limits || [null, null];
  if (typeof low === "number" && typeof high === "number") return `, on a scale from ${format(low)} to ${format(high)}`;
  const [least, most] = data.effects.observed[l];
  return least === null ? "" : `; training documents range from ${format(least)} to ${format(most)}`;
}

/** The predicted quantity: "predicted stars", or the probability of a class. */
function thing(model, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  return isClass(target) ? `probability of “${predictorName(model, l)}”` : `${target.kind === "poisson" ? "expected" : "predicted"} ${predictorName(model, l)}`;
}

/** Classes, each with the topic that increases its probability most. */
function classStory(model, target) {
  const { data } = model;
  const best = target.labels.map((label, c) => {
    const l = target.first + c;
    const k = Array.from({ length: model.K }, (_, j) => j).sort((a, b) => difference(model, b, l) - difference(model, a, l))[0];
    return { label, k, l, change: difference(model, k, l) };
  }).sort((a, b) => b.change - a.change);
  const shown = state.all ? best : best.slice(0, MOST_CLASSES);
  return [
    [el("p", {}, `${model.K} topics distinguish ${target.labels.length} classes of ${target.name}. `, el("strong", {}, "The probability of a class is higher"), " in documents with more of these topics"),
    driverList(shown.map((one, i) => [el("strong", {}, one.label), " ← ", ...driver(model, one.k, one.l, 2, i === 0 ? "points" : "")]), best.length - shown.length)],
    el("p", { class: "note" }, data.effects ? `Differences of the probability of the class, in percentage points, between documents with little and with much of the topic${data.effects.lower ? ", estimated in the held-out documents. Predicted: by the model, for a typical document" : ""}. ` : "", confusedText(model, target), "These are associations in the documents, not causes.")];
}

function confusedText(model, target) {
  const found = model.data.evaluation[model.data.targets.indexOf(target)];
  if (!found || !found.confusion) return "";
  let worst = null;
  found.confusion.forEach((row, a) => row.forEach((n, p) => { if (a !== p && n && (!worst || n > worst.n)) worst = { a, p, n }; }));
  return worst ? `Most frequent error: ${format(worst.n)} documents of “${target.labels[worst.a]}” are predicted as “${target.labels[worst.p]}”. ` : "";
}

/** The metric of the story, the first one that the target has. */
const HEADLINE = ["R²", "AUC", "accuracy", "mean deviance", "RMSE"];

const TYPICAL_ERROR = "mean absolute error";

/** Definitions of the metrics. */
const MEANING = {
  "R²": "The fraction of the variance of the target that is explained: 0 for a constant prediction, 1 for a perfect one.",
  AUC: "The probability that a document of the class has a higher prediction than a document of another class: 0.5 for random predictions, 1 for a perfect ranking.",
  accuracy: "The fraction of documents whose class is predicted correctly.",
};

/** A metric in words; empty where its name is enough. */
function inWords(name, value, target) {
  if (name === "R²" && value > 0) return ` (${percent(value)} of the variance explained)`;
  if (name === "AUC" && target.kind === "bernoulli") return ` (of one document with “${target.labels[1]}” and one with “${target.labels[0]}”, the first has the higher probability in ${percent(value)} of pairs)`;
  return "";
}

function figuresStory(model, l) {
  const { data } = model, { completeness } = data;
  const kept = keptWords(model), all = data.words.names.length;
  const words = kept < all ? `${fixed(kept, 0)} of ${fixed(all, 0)} ${terms(model)}` : `all ${fixed(all, 0)} ${terms(model)}`;
  const t = data.predictors[l].target, target = data.targets[t], found = data.evaluation[t];
  if (!found) return el("p", { class: "muted" }, `The topics contain ${words}. The documents of this page have no target, so there are no prediction metrics.`);
  const rows = Object.entries(found.figures), [, own] = rows[0];
  const name = target.kind === "categorical" ? "accuracy" : HEADLINE.find((n) => own[n] !== undefined);
  const value = (row) => (SHARES.includes(name) ? percent(row[name]) : fixed(row[name], 2));
  const others = rows.slice(1).filter(([, row]) => row[name] !== undefined).map(([who, row]) => `${who} ${value(row)}`);
  const where = data.held_out ? `on ${fixed(found.n, 0)} held-out documents` : `on ${fixed(found.n, 0)} documents, which may include training documents`;
  const error = own[TYPICAL_ERROR], off = error === undefined ? "" : ` Predictions differ from the actual ${target.name} by ${format(error, 2)} on average.`;
  const captured = data.remainder && completeness && completeness.share !== null ? ` and capture ${percent(completeness.share)} ± ${percent(completeness.error)} of what the whole text explains` : "";
  return el("p", {}, el("strong", {}, "How well it predicts: "), `${name} `, el("strong", { id: "headline", "data-tip": MEANING[name] || null }, value(own)), inWords(name, own[name], target), ` ${where}`,
    others.length ? ` (for comparison: ${others.join(", ")})` : "", `.${off} The topics contain ${words}${captured}.`);
}

/** Which topics replicate, as far as this was checked. */
function stabilityStory(model) {
  const { stability, quick_check: quick } = model.data;
  if (stability) return halvesStory(model, stability);
  const again = quick ? quick.components : [];
  return el("p", { id: "stability" }, el("strong", {}, "Stability: "),
    quick ? [`${again.length} of ${model.K} topics ${again.length === 1 ? "replicates" : "replicate"} in two separate samples of ${format(quick.documents)} training documents`,
      again.length && again.length < model.K ? [": ", listedParts(again.map((k) => namedTopic(model, k, topicOn(model, k)))), ". The others may be specific to this sample"] : null, ". This is a quick check; "] : "this page has no check. ",
    el("code", {}, "topicfocus fit --stability 50"), " or ", el("code", {}, "topicfocus.stability"), " shows which topics and words replicate in halves of the documents.");
}

/** What a reader can do with the page. */
function nextStory(model) {
  const link = (key, onclick, text) => el("button", { type: "button", class: "link", "data-key": `next-${key}`, onclick }, text);
  const correct = () => {
    document.getElementById("topic-name").focus({ preventScroll: true });
    document.getElementById("topic-card").scrollIntoView({ block: innerWidth < 900 ? "start" : "nearest" });
  };
  return el("p", { id: "next" }, el("strong", {}, "Next:"), link("correct", correct, `Rename or merge topics, drop ${terms(model)}`),
    link("documents", () => update({ view: "documents" }), "See the largest errors"),
    link("try", () => update({ view: "try" }), `Predict a ${model.data.reading.codes ? "document" : "text"} of your own`));
}

/** Which topics and how many words do not replicate in halves of the documents. */
function halvesStory(model, { topics, whole, words }) {
  const gone = topics.map((t, k) => (t.same ? -1 : k)).filter((k) => k >= 0);
  const lost = Array.from({ length: words.frequency.length }, (_, v) => v).filter((v) => comesAndGoes(model, v)).length;
  return el("p", { id: "stability" }, el("strong", {}, "Stability: "), `fitted to ${shownValue(whole["pairs of halves"])} pairs of halves of the documents, `,
    gone.length ? [`${gone.length} of ${model.K} topics ${gone.length === 1 ? "does" : "do"} not replicate: `, listedParts(gone.map((k) => namedTopic(model, k, topicOn(model, k))))] : "all topics replicate",
    `. ${format(lost)} words of the model are kept in less than half of the halves. The predictions of two halves have the correlation ${shownValue(whole["correlation of predictions of two halves"])}. More in Fit.`);
}

function shownValue(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? format(value) : value === null ? "–" : String(value);
}

function keptWords(model) {
  const { words } = model.data;
  let n = 0;
  for (let v = 0; v < words.names.length; v++) if (isKept(model, v)) n++;
  return n;
}
