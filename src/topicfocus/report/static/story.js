// ---- the story: what drives the target, in a few sentences made from the fit ----

const MOST_NAMED = 3;
const MOST_CLASSES = 4;

function shortName(model, k, length = 72) {
  return fitName(topicName(model.data, k), length);
}

/** Parts of a sentence, with commas and an "and". */
function listedParts(parts) {
  return parts.flatMap((part, i) => (i === 0 ? [part] : [i === parts.length - 1 ? " and " : ", ", part]));
}

/** “a”, a link to its topic, in the colour of what it does to predictor l. */
function namedTopic(model, k, l) {
  // No button, which would not break over two lines.
  const go = () => update({ topic: k, view: "topics" });
  return el("span", {
    role: "link", tabindex: 0, class: `link ${topicKind(model, k, l)}`, "data-key": `story-${k}-${l}`, "data-tip": topicTip(model, k, l),
    onclick: go, onkeydown: (event) => { if (event.key === "Enter") go(); },
  }, `“${shortName(model, k)}”`);
}

/** A label without the kind of a code and what is in brackets: "Respiratory" of "ad: Respiratory (Organ System)". */
function plainName(label) {
  return label.replace(/^\w{1,6}: /, "").replace(/(.) \(.*$/, "$1");
}

/** How far a topic goes, its name, and what it is about: −0.55 “bland, dry” (with rice, chicken). */
function driver(model, k, l, decimals, unit) {
  const { data } = model, about = data.topics.context ? data.topics.context[k].slice(0, 3).map((v) => plainName(wordName(model, v))) : [];
  while (about.join(", ").length > 40 && about.length > 1) about.pop();
  return [el("strong", { class: "amount" }, `${changeShort(model, reach(model, k, l).change, l, decimals)}${unit ? ` ${unit}` : ""}`), " ", namedTopic(model, k, l),
    about.length ? el("span", { class: "muted with" }, ` (with ${about.join(", ")})`) : ""];
}

/** Topics whose interval excludes zero and whose change is not negligible, the strongest first: [raise, lower]. */
function movers(model, l) {
  const order = Array.from({ length: model.K }, (_, k) => k);
  const sure = order.filter((k) => { const e = reach(model, k, l); return topicKind(model, k, l) !== "even" && (e.low === null || e.low > 0 || e.high < 0); });
  const by = (sign) => sure.filter((k) => sign * reach(model, k, l).change > 0).sort((a, b) => sign * (reach(model, b, l).change - reach(model, a, l).change));
  return [by(1), by(-1)];
}

function storyCard(model, l) {
  const { data } = model;
  const target = data.targets[data.predictors[l].target];
  const sentences = ownClasses(model) ? classStory(model, target) : numberStory(model, l);
  const warnings = data.warnings.map((text) => el("p", { class: "warning", role: "note" }, el("strong", {}, "Warning: "), text));
  return el("section", { class: "card story", "aria-label": "In short" }, warnings, sentences, figuresStory(model, l), stabilityStory(model));
}

/** Which topics raise it and which lower it, and how far; the strongest first. */
function numberStory(model, l) {
  const { data } = model, target = data.targets[data.predictors[l].target];
  const all = movers(model, l), [up, down] = all.map((list) => list.slice(0, MOST_NAMED));
  if (!up.length && !down.length) return [el("p", {}, `No topic has an interval that excludes zero for ${thing(model, l)}.`)];
  // As many decimals in all of them, and what they are said once.
  const sizes = [...up, ...down].map((k) => Math.abs(reach(model, k, l).change));
  const decimals = Math.max(changeDecimals(Math.max(...sizes)), Math.min(6, Math.ceil(-Math.log10(Math.min(...sizes)))));
  const unit = unitOfChange(model, l);
  // One a line, the amount first: a sentence of them is a wall of text on a phone.
  const lines = (list, n, ...head) => (list.length ? el("div", {}, el("p", {}, head), driverList(list.map((k, i) => driver(model, k, l, decimals, i === 0 ? unit : "")), n - list.length)) : null);
  const other = target.kind === "bernoulli" ? `, so that “${target.labels[0]}” is likelier` : "";
  return [
    data.effects ? el("p", { class: "note" }, `Changes of ${thing(model, l)}${isClass(target) ? ", in percentage points" : ""}, from documents with little of a topic to documents with much of it. In a typical document: ${levelText(model, data.effects.typical[l], l)}${scaleText(model, l)}.`) : null,
    el("div", { class: "sides" }, lines(up, all[0].length, "What ", el("strong", { class: "up" }, "raises"), " ", el("strong", {}, thing(model, l)), ":"),
      lines(down, all[1].length, "What ", el("strong", { class: "down" }, "lowers"), " ", up.length ? `it${other}:` : [el("strong", {}, thing(model, l)), `${other}:`])),
    covariateStory(model, l),
    el("p", { class: "note" }, data.topics.context ? el("span", { class: "with" }, "In brackets: frequent words of these documents that are not in the topic. ") : "", "These are associations in the documents, not causes."),
  ];
}

/** Lines of what drives the target, and how many more there are. */
function driverList(rows, more) {
  return el("ul", { class: "plain drivers" }, rows.map((row) => el("li", {}, row)), more > 0 ? el("li", { class: "muted" }, `and ${more} more`) : null);
}

/** What a change is measured in: points of a probability, or the target, where its name is not a sentence. */
function unitOfChange(model, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  if (!model.data.effects) return "";
  return isClass(target) ? "points" : target.name !== "target" && target.name.length <= 16 ? target.name : "";
}

/** From where to where a number goes: a change of 0.2 is much or little by that. */
function scaleText(model, l) {
  const { data } = model, target = data.targets[data.predictors[l].target];
  if (isClass(target)) return "";
  const [low, high] = target.levels ? [target.levels[0], target.levels[target.levels.length - 1]] : target.limits || [null, null];
  if (typeof low === "number" && typeof high === "number") return `, on a scale from ${format(low)} to ${format(high)}`;
  const [least, most] = data.effects.observed[l];
  return least === null ? "" : `; training documents have ${format(least)} to ${format(most)}`;
}

/** What goes up: the target, or the probability of a class. */
function thing(model, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  return isClass(target) ? `the probability of “${predictorName(model, l)}”` : target.kind === "poisson" ? `the expected ${predictorName(model, l)}` : `the predicted ${predictorName(model, l)}`;
}

/** What goes, as the subject of a sentence: targets are called in the plural ("stars") and in the singular. */
function moving(model, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  return isClass(target) ? `${thing(model, l)} goes` : `the ${target.kind === "poisson" ? "expectation" : "prediction"} goes`;
}

/** Classes, each with the topic that speaks for it most. */
function classStory(model, target) {
  const { data } = model;
  const best = target.labels.map((label, c) => {
    const l = target.first + c;
    const k = Array.from({ length: model.K }, (_, j) => j).sort((a, b) => reach(model, b, l).change - reach(model, a, l).change)[0];
    return { label, k, l, change: reach(model, k, l).change };
  }).sort((a, b) => b.change - a.change).slice(0, MOST_CLASSES);
  const more = target.labels.length - best.length;
  const far = ({ k, l }) => (reach(model, k, l).shares ? ` (${share(reach(model, k, l).from)} to ${share(reach(model, k, l).to)})` : "");
  return [
    el("p", {}, `${model.K} topics distinguish ${target.labels.length} classes of ${target.name}${more ? `; the ${best.length} largest differences` : ""}${data.effects ? ", with the probability of the class in documents with little and with much of the topic" : ""}:`),
    driverList(best.map((one) => [namedTopic(model, one.k, one.l), " predicts ", el("strong", {}, one.label), el("span", { class: "muted" }, far(one))]), more),
    el("p", { class: "note" }, confusedText(model, target))];
}

function confusedText(model, target) {
  const found = model.data.evaluation[model.data.targets.indexOf(target)];
  if (!found || !found.confusion) return "";
  let worst = null;
  found.confusion.forEach((row, a) => row.forEach((n, p) => { if (a !== p && n && (!worst || n > worst.n)) worst = { a, p, n }; }));
  return worst ? `Most frequent error: “${target.labels[worst.a]}” is predicted as “${target.labels[worst.p]}” (${format(worst.n)} documents). ` : "";
}

/** Which figure says most, by kind of target. */
const HEADLINE = ["R²", "AUC", "accuracy", "mean deviance", "RMSE"];

/** What figures mean, for those who do not meet them every day. */
const MEANING = {
  "R²": "The fraction of the variance of the target that is explained: 0 for a constant prediction, 1 for a perfect one.",
  AUC: "The chance that a document of the class is given a higher probability than another one: 0.5 is guessing, 1 never wrong.",
  accuracy: "The share of documents whose class is predicted right.",
};

/** The same in a few words with the figure itself; "" where it speaks for itself. */
function inWords(name, value, target) {
  if (name === "R²" && value > 0) return ` (${percent(value)} of the variance explained)`;
  if (name === "AUC" && target.kind === "bernoulli") return ` (of one “${target.labels[1]}” and one “${target.labels[0]}”, it ranks the first higher in ${percent(value)} of pairs)`;
  return "";
}

function figuresStory(model, l) {
  const { data } = model;
  const kept = keptWords(model), all = data.words.names.length;
  const words = kept < all ? `${fixed(kept, 0)} of ${fixed(all, 0)} words` : `All ${fixed(all, 0)} words`;
  const t = data.predictors[l].target, found = data.evaluation[t];
  if (!found) return el("p", { class: "muted" }, `${words} are in the topics. No target was given with the documents, so the page has no prediction metrics.`);
  const rows = Object.entries(found.figures), [, own] = rows[0];
  const name = data.targets[t].kind === "categorical" ? "accuracy" : HEADLINE.find((n) => own[n] !== undefined);
  const value = (row) => (SHARES.includes(name) ? percent(row[name]) : fixed(row[name], 2));
  const others = rows.slice(1).filter(([, row]) => row[name] !== undefined).map(([who, row]) => `${who} ${value(row)}`);
  const where = data.held_out ? `on ${fixed(found.n, 0)} documents that the model was not fitted to` : `on ${fixed(found.n, 0)} documents (which may include training documents)`;
  return el("p", {}, el("strong", {}, words), ` reach ${name} `, el("strong", { id: "headline", "data-tip": MEANING[name] || null }, value(own)), inWords(name, own[name], data.targets[t]), ` ${where}`, others.length ? `; ${others.join(", ")}` : "", ".");
}

/** The entry of a check of the fit that is a sentence. */
const IN_WORDS = "in words";

/** Of a check of the fit: what it says about the whole. */
function stabilityStory(model) {
  const found = model.data.stability;
  const whole = found ? Object.entries(found.whole) : [];
  if (!whole.length) return null;
  if (found.halves) return halvesStory(model, found);
  if (found.whole[IN_WORDS]) return el("p", { id: "stability" }, found.whole[IN_WORDS]);
  return el("p", { id: "stability" }, "Stability: ", whole.slice(0, 6).map(([name, value]) => `${name} ${shownValue(value)}`).join(", "), whole.length > 6 ? " (more in Fit)." : ".");
}

/** Of halves of the documents: which topics do not come back, how many words, and what predictions have in common. */
function halvesStory(model, { halves, whole, words }) {
  const gone = halves.topics.map((t, k) => (t.same ? -1 : k)).filter((k) => k >= 0);
  const lost = Array.from({ length: words.frequency.length }, (_, v) => v).filter((v) => comesAndGoes(model, v)).length;
  return el("p", { id: "stability" }, `Fitted to ${shownValue(whole["pairs of halves"])} pairs of halves of the documents, `,
    gone.length ? [`${gone.length} of ${model.K} topics ${gone.length === 1 ? "does" : "do"} not replicate: `, listedParts(gone.map((k) => namedTopic(model, k, effectOn())))] : "all topics replicate",
    `. Words of the model that are kept in less than half of the halves: ${format(lost)}. Predictions of two halves correlate by ${shownValue(whole["correlation of predictions of two halves"])}. More in Fit.`);
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
