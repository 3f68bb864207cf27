// ---- predicted differences of topics and words (estimators/effects.py), in numbers and in words ----

/** The predicted difference of topic k for predictor l, {from, to, change, shares}, and the same difference in held-out documents, {estimate, low, high}; without documents, coefficients. */
function reach(model, k, l) {
  const e = model.data.effects;
  if (!e) return { from: null, to: null, change: model.coef[l][k] - model.baseTopics[l], estimate: null, low: null, high: null, shares: null };
  return {
    from: e.low[k][l], to: e.high[k][l], change: e.change[k][l],
    estimate: e.lower ? e.estimate[k][l] : null, low: e.lower ? e.lower[k][l] : null, high: e.lower ? e.upper[k][l] : null,
    shares: [e.proportion_low[k], e.proportion_high[k]],
  };
}

/** The difference that is quoted for topic k: that of held-out documents where there are any. */
function difference(model, k, l) {
  const { estimate, change } = reach(model, k, l);
  return estimate ?? change;
}

function topicOrder(model, l) {
  return Array.from({ length: model.K }, (_, k) => k).sort((a, b) => reach(model, b, l).change - reach(model, a, l).change);
}

/** Whether each topic is shown with its own class: there are several classes, and none is chosen. */
function ownClasses(model) {
  const { data } = model;
  return state.predictor === null && data.targets[data.predictors[0].target].kind === "categorical";
}

/** The predictor of topic k: the one chosen, else that of the class with the largest difference. */
function topicOn(model, k) {
  if (!ownClasses(model)) return effectOn();
  const { first, width } = model.data.targets[model.data.predictors[0].target];
  let best = first;
  for (let l = first; l < first + width; l++) if (reach(model, k, l).change > reach(model, k, best).change) best = l;
  return best;
}

/** Topics in the order of the list: by effect, or by class. */
function listedTopics(model) {
  if (!ownClasses(model)) return topicOrder(model, effectOn());
  const change = (k) => reach(model, k, topicOn(model, k)).change;
  return Array.from({ length: model.K }, (_, k) => k).sort((a, b) => topicOn(model, a) - topicOn(model, b) || change(b) - change(a));
}

/** The smallest and the largest possible target, null where there is none. */
function limitsOf(model, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  return isClass(target) ? [0, 1] : target.limits || [null, null];
}

/** A difference with its unit: "+0.72 stars", "+12 points" of a probability. */
function amountText(model, x, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  if (!model.data.effects) return `${signed(x)}${unitOf(model, l) ? ` ${unitOf(model, l)}` : ""}`;
  if (isClass(target)) return points(x);
  return `${x > 0 ? "+" : ""}${fixed(x, changeDecimals(x))} ${target.name}`;
}

/** Decimals of a change: three digits of a large one, two of a small one. */
function changeDecimals(x) {
  return decimalsOf([x], Math.abs(x) >= 1 ? 3 : 2);
}

/** A difference of probabilities. */
function points(x) {
  const size = Math.abs(100 * x);
  const shown = size >= 9.95 ? size.toFixed(0) : size >= 0.095 ? size.toFixed(1) : size > 0.0005 ? size.toFixed(2) : "0";
  return `${shown === "0" ? "" : x > 0 ? "+" : "−"}${shown} points`;
}

/** A prediction; `change`: with as many decimals as this has. */
function levelText(model, x, l, change = null) {
  const target = model.data.targets[model.data.predictors[l].target];
  if (isClass(target)) return share(x);
  return change === null ? format(x) : fixed(x, changeDecimals(change));
}

function changeText(model, k, l) {
  return amountText(model, difference(model, k, l), l);
}

/** The 95% interval of the difference in held-out documents; empty without such documents. */
function intervalText(model, k, l, decimals) {
  const { low, high, change } = reach(model, k, l);
  return low === null ? "" : `95% interval ${[low, high].map((x) => changeShort(model, x, l, decimals ?? changeDecimals(change))).join(" to ")}`;
}

/** What follows the difference of topic k: its interval, and the two predictions. */
function differenceText(model, k, l) {
  const interval = intervalText(model, k, l);
  return `${interval ? `${interval} in held-out documents. ` : ""}${comparedText(model, k, l)}. ${leadText(model, k)}${stabilityText(model, k)}`;
}

/** The two predictions that are compared. */
function comparedText(model, k, l) {
  const { shares, from, to, change } = reach(model, k, l);
  return `${capital(thing(model, l))} ${levelText(model, from, l, change)} with ${percent(shares[0])} of the topic, ${levelText(model, to, l, change)} with ${percent(shares[1])}`;
}

/** In how many documents the topic has the largest token proportion. */
function leadText(model, k) {
  const leads = model.data.topics.leads;
  return leads ? `It is the main topic of ${percent(leads[k])} of the documents.` : "";
}

/** One topic in a sentence. */
function topicTip(model, k, l) {
  const { data } = model, e = reach(model, k, l);
  const name = `Topic ${topicLabel(data, k)}. `;
  if (!e.shares) return `${name}Coefficient ${format(model.coef[l][k])}.`;
  return `${name}${changeText(model, k, l)}: ${differenceText(model, k, l)}`;
}

/** Whether a topic replicates in halves of the documents; null where this was not checked. */
function backText(model, k) {
  const found = model.data.stability;
  if (!found) return null;
  const { same, cosine } = found.topics[k];
  return `${same ? "replicates" : "does not replicate"} in halves of the documents (cosine ${fixed(cosine, 2)})`;
}

/** Results of a stability check for topic k. */
function stabilityText(model, k) {
  const found = model.data.stability;
  if (!found) return "";
  const { returning, difference: mean, spread } = found.topics[k];
  const difference = typeof mean === "number" ? ` Its predicted difference in halves: mean ${format(mean)}, standard deviation ${format(spread)}.` : "";
  return ` It ${backText(model, k)}. Top words that replicate in nearly all halves: ${returning.join(", ") || "none"}.${difference}`;
}

/** The predicted difference of a word's first occurrence; without documents, that of the linear predictor. */
function wordEffect(model, v, l) {
  const row = model.rowOf[v];
  if (row < 0) return 0;
  const { effect } = model.data.words;
  if (effect) return effect[row * model.L + l];
  const m = model.multiplicity ? model.multiplicity[row] : 1;
  let total = 0, weighted = 0;
  for (let k = 0; k < model.K; k++) {
    const r = model.W[row * model.K + k] * model.average[k];
    total += r;
    weighted += r * model.coef[l][k];
  }
  return m * (weighted / total - model.baseTopics[l]);
}

/** Amounts below this fraction of the largest have no colour. */
const NEGLIGIBLE = 0.02;

/** The colour of an amount: "up", "down", or "even" if it is negligible beside the largest. */
function direction(x, largest) {
  return Math.abs(x) <= NEGLIGIBLE * largest ? "even" : x > 0 ? "up" : "down";
}

/** The largest change of predictor l by a topic. */
function largestChange(model, l) {
  return Math.max(...Array.from({ length: model.K }, (_, k) => Math.abs(difference(model, k, l))));
}

/** The colour of topic k for predictor l; none if its interval includes zero. */
function topicKind(model, k, l) {
  const { low, high } = reach(model, k, l);
  return low !== null && low <= 0 && high >= 0 ? "even" : direction(difference(model, k, l), largestChange(model, l));
}

/** The colour of word v for predictor l. */
function effectKind(model, v, l) {
  return direction(wordEffect(model, v, l), strongestWord(model, l));
}

/** A nearly largest effect of a word: the 98th percentile. */
function strongestWord(model, l) {
  const key = `strongest${l}`;
  if (!model[key]) {
    const all = Array.from(model.kept, (v) => Math.abs(wordEffect(model, v, l))).sort((a, b) => a - b);
    model[key] = Math.max(all[Math.floor(0.98 * (all.length - 1))] || 0, 1e-12);
  }
  return model[key];
}

/** The size of a word's effect relative to the others, from 0 to 1. */
function strength(model, x, l) {
  return Math.min(1, Math.abs(x) / strongestWord(model, l));
}

function wordTip(model, v, l, more = "") {
  const { words, documents } = model.data;
  const full = words.labels && words.labels[v] !== words.names[v] ? ` (${words.names[v].split("|").join(" › ")})` : "";
  const often = documents.n ? ` In ${format(words.documents[v])} of ${format(documents.n)} documents.` : "";
  const effect = model.rowOf[v] < 0 ? " In no topic." : ` Difference of its first occurrence: ${amountText(model, wordEffect(model, v, l), l)}${isClass(model.data.targets[model.data.predictors[l].target]) ? ` of “${predictorName(model, l)}”` : ""}.`;
  const halves = halvesWith(model, v) === null ? "" : ` Kept in ${percent(halvesWith(model, v))} of the halves of the documents.`;
  return `${wordName(model, v)}${full}: ${more}${often}${effect}${halves}`.replace(": In", ". In").replace(":  In", ". In");
}

/** One row per covariate, the largest difference first, rare indicators last; none without covariates or documents. */
function covariateEffects(model, l) {
  const given = model.data.covariates;
  if (!given || !given.effects) return [];
  const e = given.effects;
  return given.names.map((name, j) => ({
    name, values: e.values[j], rare: e.rare[j], from: e.low[j][l], to: e.high[j][l], change: e.high[j][l] - e.low[j][l],
    low: e.lower ? e.lower[j][l] : null, high: e.upper ? e.upper[j][l] : null,
    difference: e.lower ? (e.lower[j][l] + e.upper[j][l]) / 2 : e.high[j][l] - e.low[j][l], // intervals are symmetric
  })).sort((a, b) => a.rare - b.rare || Math.abs(b.difference) - Math.abs(a.difference));
}
