// ---- the model itself: text to words, words to a topic mix, a topic mix to a prediction ----
// The same computation as kernels/proportions.py, kernels/constrained.py, contributions.py and
// token_proportions.py; tests/report compares the two in a browser.

const Z80 = 1.2815515655446004;

/** Probabilities of the documents' classes, from their scores. */
function fillMeans({ documents, targets, predictors }) {
  const L = predictors.length;
  targets.forEach((target, t) => {
    if (documents.mean[t] !== null) return;
    documents.mean[t] = Float64Array.from(documents.row.flatMap((_, d) => {
      const at = d * L + target.first;
      return softmax(documents.predictor.slice(at, at + target.width));
    }));
  });
}

function makeModel(data) {
  fillMeans(data);
  if (data.remainder) {
    const { values, which } = data.remainder.rarity;
    data.remainder.rarity = Float64Array.from(which, (i) => values[i]);
  }
  const kept = cumulate(data.table.words);
  const rowOf = new Int32Array(data.words.names.length).fill(-1);
  kept.forEach((v, row) => { rowOf[v] = row; });
  const K = data.topics.prior.length;
  const L = data.predictors.length;
  const coef = Array.from({ length: L }, (_, l) => Float64Array.from(data.topics.coef, (row) => row[l]));
  const prior = Float64Array.from(data.topics.prior);
  const total = prior.reduce((a, b) => a + b, 0);
  const average = prior.map((a) => a / total);
  const index = new Map();
  data.words.names.forEach((word, v) => index.set(word, v));
  return {
    data, kept, rowOf, K, L, coef, prior, total, average, index,
    W: data.table.rows,
    scale: data.table.scale,
    multiplicity: data.table.multiplicity,
    baseTopics: coef.map((eta) => dot(eta, average)),
    stop: new Set(data.reading.stop_words),
  };
}

function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

// -- words of a text --------------------------------------------------------------------------

/** The text in lower case if it is read so, and where each of its characters comes from. */
function lowered(text, reading) {
  const lower = reading.lowercase ? text.toLowerCase() : text;
  if (lower.length === text.length) return { lower, origin: null };
  // A few capitals become two characters: remember which one each came from.
  const origin = [];
  let at = 0;
  for (const character of text) {
    for (let i = 0; i < character.toLowerCase().length; i++) origin.push(at);
    at += character.length;
  }
  origin.push(text.length);
  return { lower, origin };
}

/** Words with their places: [{start, stop, word, segment}]; no phrase crosses segments. */
function spansOf(text, reading) {
  const { lower, origin } = lowered(text, reading);
  const found = reading.elisions ? ownWords(lower, reading.elisions) : plainWords(lower, reading.min_length);
  if (!origin) return found;
  return found.map((span) => ({
    ...span, start: origin[span.start], stop: origin[Math.min(span.stop, origin.length - 1)],
  }));
}

/** Words of scikit-learn's CountVectorizer: runs of Python's `\w`. */
function plainWords(lower, least) {
  // {n,} takes a run of word characters whole, so its ends are word boundaries by themselves.
  const pattern = new RegExp(`[\\p{L}\\p{N}_]{${least},}`, "gu");
  return Array.from(lower.matchAll(pattern), (match) => ({
    start: match.index, stop: match.index + match[0].length, word: match[0], segment: 0,
  }));
}

// The rule of text/tokenizer.py, part by part.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const APOSTROPHE = "(?:['’‘＇´`]|&(?:#39|#039|#x27|#8217|#x2019|apos|rsquo);)";
const TAG = `<![^<>\\n]*>|</?[a-zA-Z][a-zA-Z0-9]*(?:/|(?!\\n)${SPACE}[^<>\\n]*)?>`;
const MARKUP = `${TAG}|(?:https?://|www\\.)(?:(?!${SPACE})[^<>"])*`;
const WORD = `[\\p{L}\\p{N}]+(?:(?:${APOSTROPHE}|(?<=[0-9])[.,:/](?=[0-9]))[\\p{L}\\p{N}]+)*`;
const TOKEN = new RegExp(`${MARKUP}|(?<word>${WORD})|&[a-z0-9#]{1,8};|[^]`, "gu");
const JOINED = new RegExp(APOSTROPHE, "u");
const NEUTRAL_ENTITY = /^&(?:#39|#039|#x27|#8217|#x2019|apos|rsquo|nbsp|#160|#xa0|amp|#38|#x26);$/u;
const GAP = new RegExp(`^(?:${SPACE}|[-/&*_#@+%$\\xad\\u200b-\\u200d'’‘＇´\`]|\\p{M})*$`, "u");
const DASH = new RegExp(`--|${SPACE}-${SPACE}|\\n[^\\n]*\\n`, "u");

/** Words of TokenCounter: contractions whole, no markup, numbers in their shape. */
function ownWords(lower, elisions) {
  const out = [];
  let gap = "", segment = 0;
  for (const match of lower.matchAll(TOKEN)) {
    if (match.groups.word === undefined) {
      const one = [...match[0]].length === 1;
      gap += NEUTRAL_ENTITY.test(match[0]) ? " " : one ? match[0] : ".";
      continue;
    }
    if (!GAP.test(gap) || DASH.test(gap)) segment += 1;
    gap = "";
    let rest = match[0], start = match.index;
    for (let cut = JOINED.exec(rest); cut && elisions.includes(rest.slice(0, cut.index)); cut = JOINED.exec(rest)) {
      start += cut.index + cut[0].length;
      rest = rest.slice(cut.index + cut[0].length);
    }
    out.push({ start, stop: match.index + match[0].length, word: rest.split(JOINED).join("'"), segment });
  }
  return out;
}

/** Every counted term of a text with the words it is made of: [{v, spans}]. */
function termsOf(model, spans) {
  const [low, high] = model.data.reading.orders;
  const used = [];
  spans.forEach((span, i) => { if (!model.stop.has(span.word)) used.push(i); });
  const out = [];
  const known = (i, n) => {
    if (i + n > used.length || spans[used[i]].segment !== spans[used[i + n - 1]].segment) return undefined;
    return model.index.get(used.slice(i, i + n).map((j) => spans[j].word).join(" "));
  };
  if (low === 0) { // the longest known phrase, which consumes its words
    for (let i = 0; i < used.length;) {
      let n = high;
      while (n > 1 && known(i, n) === undefined) n -= 1;
      const v = known(i, n);
      if (v !== undefined) out.push({ v, spans: used.slice(i, i + n) });
      i += n;
    }
    return out;
  }
  for (let n = low; n <= high; n++) {
    for (let i = 0; i + n <= used.length; i++) {
      const v = known(i, n);
      if (v !== undefined) out.push({ v, spans: used.slice(i, i + n) });
    }
  }
  return out;
}

function countTerms(model, terms) {
  const counts = new Map();
  for (const { v } of terms) counts.set(v, model.data.reading.binary ? 1 : (counts.get(v) || 0) + 1);
  return counts;
}

// -- remainder: remainder.py --------------------------------------------------------------------

/** Words and pairs of words of a text with a coefficient of their own, by their numbers. */
function remainderCounts(model, spans) {
  const { remainder } = model.data;
  if (!model.terms) {
    model.terms = new Map();
    remainder.names.forEach((name, v) => model.terms.set(name, v));
  }
  const counts = new Map();
  const add = (name) => {
    const v = model.terms.get(name);
    if (v !== undefined) counts.set(v, (counts.get(v) || 0) + 1);
  };
  spans.forEach((span, i) => {
    add(span.word);
    if (i > 0 && spans[i - 1].segment === span.segment) add(`${spans[i - 1].word} ${span.word}`);
  });
  return counts;
}

/** What the terms add beyond the topics: {amounts, terms: [{name, amounts}]}. */
function remainderOf(model, counts) {
  const { data, L } = model;
  const { rarity, coef, level, names } = data.remainder;
  const amounts = new Array(L).fill(0), terms = [];
  let square = 0;
  for (const [v, count] of counts) square += count * rarity[v] ** 2;
  const length = Math.sqrt(Math.max(square, 1e-300));
  for (const v of [...counts.keys()].sort((a, b) => a - b)) {
    const x = (Math.sqrt(counts.get(v)) * rarity[v]) / length;
    const own = coef.map((gamma, l) => x * (gamma[v] - level[l] * x));
    own.forEach((amount, l) => { amounts[l] += amount; });
    terms.push({ name: names ? names[v] : data.words.names[v], amounts: own });
  }
  return { amounts, terms };
}

/** That of a document: of its text, of its counts, or what Python found (given). */
function remainderAmounts(model, counts, given) {
  const none = { amounts: new Array(model.L).fill(0), terms: [] };
  if (!model.data.remainder) return none;
  if (given.remainder) return given.remainder;
  return model.data.remainder.names ? none : remainderOf(model, counts);
}

// -- topic mix ----------------------------------------------------------------------------------

/** The kept words of a document: rows of W, their weights c·m, and which words they are. */
function gather(model, counts) {
  const words = [], rows = [], weight = [];
  for (const v of [...counts.keys()].sort((a, b) => a - b)) {
    const row = model.rowOf[v];
    const count = counts.get(v);
    if (row < 0 || !(count > 0)) continue;
    const seen = model.data.roots ? Math.sqrt(count) : count;
    words.push(v);
    rows.push(row);
    weight.push(seen * (model.multiplicity ? model.multiplicity[row] : 1));
  }
  return { words, rows, weight: Float64Array.from(weight) };
}

function mixture(model, doc, theta, out) {
  const { K, W } = model;
  for (let j = 0; j < doc.rows.length; j++) {
    let total = 0;
    const at = doc.rows[j] * K;
    for (let k = 0; k < K; k++) total += W[at + k] * theta[k];
    out[j] = total;
  }
}

function mixValue(model, doc, theta, norm) {
  mixture(model, doc, theta, norm);
  let value = 0;
  for (let j = 0; j < doc.rows.length; j++) value += doc.weight[j] * Math.log(norm[j]);
  for (let k = 0; k < model.K; k++) value += model.prior[k] * Math.log(theta[k]);
  return value;
}

/** θ∘∇f and the Cholesky factor of -θθᵀ∘∇²f. */
function curvature(model, doc, theta) {
  const { K, W, prior } = model;
  const n = doc.rows.length;
  const norm = new Float64Array(n);
  mixture(model, doc, theta, norm);
  const gradient = Float64Array.from(prior);
  const matrix = new Float64Array(K * K);
  const r = new Float64Array(K);
  for (let j = 0; j < n; j++) {
    const at = doc.rows[j] * K;
    for (let k = 0; k < K; k++) r[k] = (W[at + k] * theta[k]) / norm[j];
    for (let k = 0; k < K; k++) {
      const wr = doc.weight[j] * r[k];
      gradient[k] += wr;
      for (let l = 0; l <= k; l++) matrix[k * K + l] += wr * r[l];
    }
  }
  for (let k = 0; k < K; k++) matrix[k * K + k] += prior[k];
  for (let j = 0; j < K; j++) {
    let total = matrix[j * K + j];
    for (let l = 0; l < j; l++) total -= matrix[j * K + l] ** 2;
    const pivot = Math.sqrt(Math.max(total, 1e-300));
    matrix[j * K + j] = pivot;
    for (let i = j + 1; i < K; i++) {
      let sum = matrix[i * K + j];
      for (let l = 0; l < j; l++) sum -= matrix[i * K + l] * matrix[j * K + l];
      matrix[i * K + j] = sum / pivot;
    }
  }
  return { gradient, factor: matrix };
}

function solve(factor, right) {
  const K = right.length;
  const x = Float64Array.from(right);
  for (let i = 0; i < K; i++) {
    for (let l = 0; l < i; l++) x[i] -= factor[i * K + l] * x[l];
    x[i] /= factor[i * K + i];
  }
  for (let i = K - 1; i >= 0; i--) {
    for (let l = i + 1; l < K; l++) x[i] -= factor[l * K + i] * x[l];
    x[i] /= factor[i * K + i];
  }
  return x;
}

/** The solution of the scaled system on the plane Σ_k θ_k x_k = 0. */
function solveOnPlane(factor, right, theta) {
  const step = solve(factor, right);
  const along = solve(factor, theta);
  const share = dot(theta, step) / dot(theta, along);
  return step.map((x, k) => x - share * along[k]);
}

/** θ̂ = argmax Σ c m log(W_v·θ) + Σ a_k log θ_k: strictly concave, by Newton with a line search. */
function inferMix(model, doc) {
  const { K, prior, total } = model;
  let theta = Float64Array.from(model.average);
  if (K === 1 || doc.rows.length === 0) return theta;
  const size = total + doc.weight.reduce((a, b) => a + b, 0);
  const norm = new Float64Array(doc.rows.length);
  let last = Infinity;
  for (let round = 0; round < 100; round++) {
    const { gradient, factor } = curvature(model, doc, theta);
    if (round < 2) {
      // Far from the optimum the fixed point θ ← (a + Σ c m r)/N is nearly as good, and safe.
      theta = gradient.map((g) => g / size);
      continue;
    }
    const step = solveOnPlane(factor, gradient, theta);
    let decrement = 0, longest = 0;
    for (let k = 0; k < K; k++) {
      decrement += step[k] * (gradient[k] - size * theta[k]);
      longest = Math.max(longest, Math.abs(step[k]));
    }
    if (longest <= 0.1) {
      theta = normalise(theta.map((t, k) => t * (1 + step[k])));
      const stalled = decrement <= 1e-7 * size && decrement > 0.1 * last;
      if (decrement <= 1e-20 * size || stalled) break;
      last = decrement;
      continue;
    }
    const value = mixValue(model, doc, theta, norm);
    let rate = 1, rose = false;
    for (let halving = 0; halving < 40 && !rose; halving++, rate *= 0.5) {
      const trial = normalise(theta.map((t, k) => {
        const x = rate * step[k];
        return x > 0 ? t * (1 + x) : t / (1 - x);
      }));
      if (mixValue(model, doc, trial, norm) > value) {
        theta = trial;
        rose = true;
      }
    }
    if (!rose) break;
  }
  return theta;
}

function normalise(values) {
  const total = values.reduce((a, b) => a + b, 0);
  return values.map((v) => v / total);
}

/** Var(g·θ) by the Laplace approximation: g·C g, C the constrained inverse of the curvature. */
function varianceAlong(factor, theta, g) {
  const x = solveOnPlane(factor, theta.map((t, k) => t * g[k]), theta);
  let total = 0;
  for (let k = 0; k < theta.length; k++) total += g[k] * theta[k] * x[k];
  return Math.max(total, 0);
}

// -- prediction -------------------------------------------------------------------------------------

function sigmoid(x) {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

function softmax(values) {
  const largest = Math.max(...values);
  return normalise(Array.from(values, (v) => Math.exp(v - largest)));
}

/** Everything about one document, given as a map of word to count. `given`: offset, covariates. */
function predictCounts(model, counts, given = {}) {
  const { K, L, coef, average, data } = model;
  const doc = gather(model, counts);
  const theta = inferMix(model, doc);
  const { factor } = curvature(model, doc, theta);
  const offset = given.offset || data.intercept;
  const covariates = coef.map((_, l) => {
    if (!data.covariates || !given.covariates) return 0;
    return given.covariates.reduce((sum, z, j) => sum + z * data.covariates.coef[j][l], 0);
  });
  const base = coef.map((_, l) => offset[l] + model.baseTopics[l]);
  const remainder = remainderAmounts(model, counts, given);
  const predictor = coef.map((eta, l) => offset[l] + covariates[l] + dot(eta, theta) + remainder.amounts[l]);
  // ρ of what the words leave open, and τ: estimators/fitted.py.
  const spread = coef.map((eta, l) => {
    const { open, excess } = data.targets[data.predictors[l].target];
    return open * varianceAlong(factor, theta, eta) + excess;
  });
  const size = model.total + doc.weight.reduce((a, b) => a + b, 0);
  const tokens = new Float64Array(K), whole = coef.map((eta) => dot(eta, theta));
  const words = doc.words.map((v, j) => {
    const at = doc.rows[j] * K;
    const r = normalise(Array.from(theta, (t, k) => model.W[at + k] * t));
    // Of the words themselves, not their roots: token_proportions.py.
    const relevant = counts.get(v) * (model.multiplicity ? model.multiplicity[doc.rows[j]] : 1);
    for (let k = 0; k < K; k++) tokens[k] += relevant * r[k];
    const values = coef.map((eta) => dot(eta, r)), part = doc.weight[j] / size;
    const amounts = values.map((x, l) => part * (x - model.baseTopics[l]));
    const removal = values.map((x, l) => (part / (1 - part)) * (x - whole[l]));
    return { v, count: counts.get(v), amounts, removal };
  });
  const topics = Array.from(theta, (t, k) => coef.map((eta, l) => (t - model.prior[k] / size) * (eta[k] - model.baseTopics[l])));
  const ofCovariates = (values) => values.map((z, j) => coef.map((_, l) => z * data.covariates.coef[j][l]));
  const known = data.covariates && given.covariates;
  const byCovariate = known ? ofCovariates(given.covariates) : [], ofAverage = known ? ofCovariates(data.covariates.average) : [];
  const targets = data.targets.map((target) => respond(target, predictor, spread));
  const composition = tokens.some((n) => n > 0) ? normalise(tokens) : Float64Array.from(average);
  const found = { theta, tokens, composition, scores: predictor, predictor: [...predictor], spread, base, covariates, byCovariate, ofAverage, given: given.covariates || [], words, topics, targets, remainder };
  for (const target of data.targets) if (target.width > 1) explainAgainstOthers(model, target, found);
  return found;
}

// -- a class against the others: contributions.py ---------------------------------------------------

function logSum(values) {
  const largest = Math.max(...values);
  return largest + Math.log(values.reduce((sum, v) => sum + Math.exp(v - largest), 0));
}

/** log P(c) - log(1 - P(c)). */
function logOdds(scores, c) {
  return scores[c] - logSum(scores.filter((_, l) => l !== c));
}

/** 1 for class c, and minus the weights of the others: logarithmic means of their shares before and after. */
function contrast(before, after, c) {
  const shares = (scores) => {
    const total = logSum(scores.filter((_, l) => l !== c));
    return scores.map((v) => v - total);
  };
  const old = shares(before), now = shares(after);
  const means = old.map((x, l) => {
    if (l === c) return 0;
    const gap = Math.abs(now[l] - x);
    return Math.exp(Math.max(x, now[l])) * (gap < 1e-9 ? 1 : -Math.expm1(-gap) / gap);
  });
  return normalise(means).map((w, l) => (l === c ? 1 : -w));
}

/** What words add to the log odds of class c together, shared out by what taking each of them out does. */
function sharedOut(model, target, found, after, c) {
  const l = target.first + c, total = found.words.reduce((sum, w) => sum + w.amounts[l], 0);
  const shares = softmax(after.filter((_, j) => j !== c));
  const taken = found.words.map((w) => {
    const own = w.removal.slice(target.first, target.first + target.width);
    return own[c] - dot(shares, own.filter((_, j) => j !== c));
  });
  let up = 0, down = 0;
  for (const x of taken) { if (x > 0) up += x; else down -= x; }
  const root = Math.sqrt(total * total + 4 * up * down);
  const factor = total > 0 ? (total + root) / (2 * up) : (2 * down) / (root - total);
  if (!(factor > 0 && Number.isFinite(factor))) return;
  found.words.forEach((w, j) => { w.amounts[l] = taken[j] * (taken[j] > 0 ? factor : 1 / factor); });
}

/** Amounts of scores as amounts of the log odds of each class against the others; they add up as exactly. */
function explainAgainstOthers(model, target, found) {
  const { first, width } = target;
  const of = (values) => Array.from(values).slice(first, first + width);
  const { covariates } = model.data;
  const average = new Array(width).fill(0);
  if (covariates) covariates.average.forEach((z, j) => of(covariates.coef[j]).forEach((b, c) => { average[c] += z * b; }));
  const before = of(found.base).map((b, c) => b + average[c]), after = of(found.scores);
  const signs = before.map((_, c) => contrast(before, after, c));
  const changed = (values) => { const old = of(values); signs.forEach((sign, c) => { values[first + c] = dot(sign, old); }); };
  found.words.forEach((word) => changed(word.amounts));
  after.forEach((_, c) => sharedOut(model, target, found, after, c));
  found.topics.forEach(changed);
  found.byCovariate.forEach(changed);
  found.ofAverage.forEach(changed);
  changed(found.covariates);
  changed(found.remainder.amounts);
  found.remainder.terms.forEach((term) => changed(term.amounts));
  signs.forEach((sign, c) => {
    found.base[first + c] = logOdds(before, c) - dot(sign, average);
    found.predictor[first + c] = logOdds(after, c);
  });
}

/** E[y | f], its standard deviation, probabilities and, of numbers, an 80% interval within the target's limits. */
function respond(target, predictor, spread) {
  const f = predictor[target.first], s = spread[target.first];
  const [least, largest] = (target.limits || [null, null]).map((v, i) => v ?? (i ? Infinity : -Infinity));
  if (target.kind === "gaussian") return interval(f, Math.sqrt(target.noise + s), least, largest);
  if (target.kind === "poisson") {
    const mean = Math.exp(Math.min(f, 300));
    return countInterval(mean, Math.sqrt(mean + mean * mean * s));
  }
  if (target.kind === "ordinal") {
    const below = target.thresholds.map((t) => sigmoid(t - f));
    const p = target.levels.map((_, c) => (below[c] ?? 1) - (below[c - 1] ?? 0));
    const mean = dot(p, target.levels);
    const square = dot(p, target.levels.map((v) => v * v));
    let slope = 0;
    below.forEach((b, c) => { slope += b * (1 - b) * (target.levels[c + 1] - target.levels[c]); });
    const last = target.levels[target.levels.length - 1];
    const most = 0.25 * (last - target.levels[0]) ** 2; // no more than a coin thrown between the ends
    const std = Math.sqrt(clamp(square - mean * mean + slope * slope * s, 0, most));
    // The first level with at least this probability at or below it: families/ordinal.py.
    const flat = Math.sqrt(1 + (Math.PI * s) / 8);
    const end = (level) => target.levels[target.thresholds.filter((t) => sigmoid((t - f) / flat) < level).length];
    return { mean, std, low: end(0.1), high: end(0.9), probabilities: p };
  }
  if (target.kind === "bernoulli") {
    const p = sigmoid(f);
    const std = Math.sqrt(Math.min(p * (1 - p) + (p * (1 - p)) ** 2 * s, 0.25));
    return { mean: p, std, probabilities: [1 - p, p] };
  }
  if (target.curve) {
    const at = onCurve(target.curve, f);
    const std = Math.sqrt(at.variance + at.slope * at.slope * s);
    return target.whole ? countInterval(at.mean, std) : interval(at.mean, std, least, largest);
  }
  return { probabilities: softmax(predictor.slice(target.first, target.first + target.width)) };
}

/** E[y | f], its slope and Var(y | f) of a family that only Python knows, from its curve: cubics with the
 * right slopes between the points, straight lines beyond them. */
function onCurve(curve, f) {
  const last = curve.f.length - 1, step = curve.f[1] - curve.f[0];
  const x = (f - curve.f[0]) / step;
  if (x <= 0 || x >= last) {
    const i = x <= 0 ? 0 : last;
    return { mean: curve.mean[i] + curve.slope[i] * (f - curve.f[i]), slope: curve.slope[i], variance: curve.variance[i] };
  }
  const i = Math.floor(x), t = x - i;
  const a = curve.mean[i], b = curve.mean[i + 1], p = step * curve.slope[i], q = step * curve.slope[i + 1];
  const between = (values) => values[i] + t * (values[i + 1] - values[i]);
  const mean = a + t * (p + t * (3 * (b - a) - 2 * p - q + t * (2 * (a - b) + p + q)));
  return { mean, slope: between(curve.slope), variance: between(curve.variance) };
}

function interval(mean, std, smallest, largest) {
  return {
    mean: clamp(mean, smallest, largest), std,
    low: clamp(mean - Z80 * std, smallest, largest),
    high: clamp(mean + Z80 * std, smallest, largest),
  };
}

/** A typed text: its words, and everything about it. `off`: numbers of spans that are taken out. */
function predictText(model, text, given = {}, off = []) {
  const spans = spansOf(text, model.data.reading);
  const without = new Set(off);
  const places = spans.map((_, i) => i).filter((i) => !without.has(i));
  const terms = termsOf(model, places.map((i) => spans[i])).map((t) => ({ v: t.v, spans: t.spans.map((i) => places[i]) }));
  const { remainder } = model.data;
  const rest = remainder && remainder.names ? { remainder: remainderOf(model, remainderCounts(model, places.map((i) => spans[i]))) } : {};
  return { spans, terms, ...predictCounts(model, countTerms(model, terms), { ...given, ...rest }) };
}

/** Counts of a document of the sample. */
function documentCounts(data, d) {
  if (!data.starts) {
    data.starts = [0, ...cumulate(data.documents.length)];
  }
  const counts = new Map();
  let v = 0;
  for (let i = data.starts[d]; i < data.starts[d + 1]; i++) {
    v += data.documents.step[i];
    counts.set(v, data.documents.count[i]);
  }
  return counts;
}

// -- the interval of a count, in whole numbers: families/count_intervals.py ----------------------

const MOST_COUNTED = 1000;

/** The smallest k with P(y <= k) >= each of the levels, y negative binomial of this mean and variance. */
function countQuantiles(mean, variance, levels) {
  if (!(mean > 0)) return levels.map(() => 0);
  const s = Math.max(0, (variance - mean) / (mean * mean));
  // P(k + 1)/P(k), from the likeliest count up and down until nothing is added: no P is too small for a float.
  const up = (k) => (mean * (1 + k * s)) / ((k + 1) * (1 + mean * s));
  const top = Math.max(0, Math.floor(mean - 1 - mean * s) + 1);
  const below = [], above = [1];
  for (let k = top - 1, p = 1; k >= 0 && p > 1e-17; k--) { p /= up(k); below.push(p); }
  for (let k = top, p = 1; p > 1e-17; k++) { p *= up(k); above.push(p); }
  const first = top - below.length, p = [...below.reverse(), ...above];
  const total = p.reduce((a, b) => a + b, 0);
  return levels.map((level) => {
    let sum = 0, i = 0;
    for (; i < p.length; i++) { sum += p[i]; if (sum >= level * total) break; }
    return first + Math.min(i, p.length - 1);
  });
}

/** Both ends of the 80% interval of a count; of large ones by the cube root of a gamma distribution. */
function countInterval(mean, std) {
  if (std <= MOST_COUNTED) {
    const [low, high] = countQuantiles(mean, std * std, [0.1, 0.9]);
    return { mean, std, low, high };
  }
  const ninth = (std / mean) ** 2 / 9;
  const end = (z) => Math.round(mean * Math.max(0, 1 - ninth + z * Math.sqrt(ninth)) ** 3);
  return { mean, std, low: end(-Z80), high: end(Z80) };
}
