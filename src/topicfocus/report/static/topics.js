// ---- view 1: topics by predicted difference, with their words and documents ----

const SHOWN_WORDS = 20;
/** Words in the row of a topic, and their characters; characters of its context words. */
const ROW_WORDS = 9, ROW_CHARACTERS = 130, CONTEXT_CHARACTERS = 60;
/** More topics than this scroll in their list. */
const MOST_ROWS = 25;

/** β_kv as the model has it, for kept row `row`. */
function probability(model, row, k) {
  return (model.W[row * model.K + k] * model.scale[row]) / model.data.topics.volume[k];
}

/** The first kept words of topic k: the distinctive ones as Python found them, by relevance λ log β + (1-λ) log(β/p), of which λ = 1 is probability, or by
 * FREX, as estimators/words.py has them. */
function topWords(model, k) {
  const { data, kept, W, scale: sizes, K } = model;
  if (state.by === "frex") return frexWords(model, k);
  if (state.by === "distinctive") return distinctiveWords(model, k);
  const lambda = state.by === "probability" ? 1 : state.relevance, volume = data.topics.volume[k];
  // Keep the best words so far in order, instead of sorting thousands of them.
  const best = [];
  for (let row = 0; row < kept.length; row++) {
    const beta = (W[row * K + k] * sizes[row]) / volume;
    if (!(beta > 0)) continue;
    const score = lambda === 1 ? beta : Math.log(beta) - (1 - lambda) * Math.log(data.table.share[row]);
    if (best.length === SHOWN_WORDS && score <= best[SHOWN_WORDS - 1].score) continue;
    let place = best.length;
    while (place > 0 && best[place - 1].score < score) place--;
    best.splice(place, 0, { v: kept[row], row, beta, score });
    if (best.length > SHOWN_WORDS) best.pop();
  }
  return best;
}

function distinctiveWords(model, k) {
  return model.data.topics.distinctive[k].map((v) => {
    const row = model.rowOf[v];
    return { v, row, beta: probability(model, row, k) };
  });
}

function frexWords(model, k) {
  const words = [];
  for (let row = 0; row < model.kept.length; row++) {
    const beta = probability(model, row, k);
    if (beta > 0) words.push({ v: model.kept[row], row, beta });
  }
  const scores = frex(model, words, k);
  const order = words.map((_, i) => i).sort((a, b) => scores[b] - scores[a]);
  return order.slice(0, SHOWN_WORDS).map((i) => words[i]);
}

/** The harmonic mean of the ranks of β and of β_k / Σ_j β_j among the words of a topic. */
function frex(model, words, k) {
  const often = ranks(words.map((w) => w.beta));
  const own = ranks(words.map(({ row, beta }) => {
    let total = 0;
    for (let j = 0; j < model.K; j++) total += probability(model, row, j);
    return Math.round(1e12 * (beta / total)); // words of one topic alone are ties
  }));
  return words.map((_, i) => 1 / (0.5 / own[i] + 0.5 / often[i]));
}

/** Ranks as shares, the smallest first, ties in the middle of their places. */
function ranks(values) {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const out = new Array(values.length);
  for (let first = 0, last; first < order.length; first = last) {
    for (last = first + 1; last < order.length && values[order[last]] === values[order[first]]; last++);
    for (let i = first; i < last; i++) out[order[i]] = (first + 1 + last) / 2 / values.length;
  }
  return out;
}

/** b + η_k: the linear predictor of a document of topic k alone. */
function topicEffect(model, k, l) {
  return model.data.intercept[l] + model.coef[l][k];
}

function drawTopics(model, root, width) {
  const { data } = model;
  const order = listedTopics(model), chosen = state.topic ?? order[0];
  const l = effectOn(), target = data.targets[data.predictors[l].target];
  // While no class is chosen, the table of topics and classes comes first.
  const heat = target.kind === "categorical" ? heatCard(model, chosen, target, inner(width, 1.3)) : null, first = state.predictor === null;
  redraw(root, [
    storyCard(model, l),
    el("div", { class: "columns" },
      el("div", {}, first ? heat : null, el("section", { class: "card first" }, el("h2", {}, ownClasses(model) ? "Topics by class" : "Topics by predicted difference"), forest(model, order, chosen), forestNote(model, l)), ownClasses(model) ? null : covariateCard(model, l),
        heat && !first ? heat : null,
        ...groupCards(model, chosen, inner(width, 1.3)), topicDocuments(model, chosen)),
      el("div", { class: "beside" }, topicCard(model, chosen, topicOn(model, chosen)))),
    state.printing ? el("div", { class: "every" }, order.filter((k) => k !== chosen).map((k) => topicCard(model, k, topicOn(model, k)))) : null]);
}

/** How to read the plot of topics. */
function forestNote(model, l) {
  const { data } = model, e = data.effects, leads = data.topics.leads ? ` Main topic: the fraction of documents whose relevant ${terms(model)} are mostly of this topic.` : "";
  if (!e) return el("p", { class: "note" }, "No documents were given, so these are coefficients less their average, on the scale of the linear predictor.");
  return el("p", { class: "note" }, `Prediction of a typical document with little (○, ${quantileText(e, 0)} percentile) and with much (●, ${quantileText(e, 1)} percentile) of the topic, the other topics in proportion. `,
    ownClasses(model) ? "Choose a class under Outcome to compare all topics for it. " : `Dashed line: the typical document, ${levelText(model, e.typical[l], l)}. `,
    e.lower ? "Held-out difference: estimated in the held-out documents with the topics as given. Thin lines: its 95% interval, measured from ○." : "", leads);
}

/** "10th", "97.5th": the upper percentile depends on the number of classes. */
function quantileText(e, end) {
  return `${format(100 * e.quantiles[end])}th`;
}

function forestDomain(model, order, l) {
  const e = model.data.effects;
  const ends = [];
  for (const k of order) {
    const r = reach(model, k, topicOn(model, k));
    if (!e) { ends.push(r.change, 0); continue; }
    // One wide interval must not flatten all others.
    const most = 3 * Math.abs(r.change) + 1e-9;
    ends.push(r.from, r.to);
    if (r.low !== null) ends.push(clamp(r.from + r.low, r.to - most, r.to + most), clamp(r.from + r.high, r.to - most, r.to + most));
  }
  const [low, high] = padded(extent(e ? [...ends, e.typical[l]] : ends), 0.06);
  const limits = e ? limitsOf(model, l) : [null, null];
  return [limits[0] === null ? low : Math.max(low, limits[0] - 0.02 * (high - low)), limits[1] === null ? high : Math.min(high, limits[1] + 0.02 * (high - low))];
}

/** The first names that fit, whole; at least three. */
function fitting(names, length) {
  let total = 0;
  return names.filter((name, i) => { total += name.length + 2; return i < 3 || total <= length; });
}

/** Names without those that differ in case only, as codes of two kinds do. */
function distinct(names) {
  const lower = names.map((name) => name.toLowerCase());
  return names.filter((_, i) => lower.indexOf(lower[i]) === i);
}

/** The number and the words of a topic in its row; a name comes first. */
function rowWords(model, k) {
  const { data } = model, words = fitting(distinct(topWords(model, k).slice(0, ROW_WORDS).map((w) => plainName(wordName(model, w.v)))), ROW_CHARACTERS);
  const joined = (some) => some.join(some.some((w) => w.includes(",")) ? "; " : ", "), rest = words.slice(3);
  return [el("b", { class: "number-badge" }, topicNumber(data, k)), " ",
    isNamed(data, k) ? [el("strong", {}, topicName(data, k)), ": ", joined(words)] : [el("strong", {}, joined(words.slice(0, 3))), rest.length ? `, ${joined(rest)}` : ""]];
}

function forest(model, order, chosen) {
  const { data } = model, l = effectOn(), own = ownClasses(model);
  const domain = forestDomain(model, order, l);
  const s = scale(domain, [0, 100]);
  const e = data.effects, base = e ? e.typical[l] : 0;
  const target = data.targets[data.predictors[l].target], { leads } = data.topics;
  const most = leads ? Math.max(...leads, 1e-9) : 1;
  const axisTicks = ticks(domain, 4);
  const decimals = Math.min(2, decimalsOf(order.map((k) => difference(model, k, l))));
  const within = (v, on) => { const [low, high] = limitsOf(model, on); return clamp(v, low ?? v, high ?? v); };
  const from = state.word !== null ? wordTopics(model, state.word) : null;
  const limits = e ? limitsOf(model, l).filter((v) => v !== null && v >= domain[0] && v <= domain[1]) : [];
  const head = el("div", { class: "forest-row head", "aria-hidden": "true" },
    el("span", { class: "name" }, `Topic and its ${terms(model)}`),
    el("span", { class: "axis-cell" }, axisTicks.map((t) => el("span", { "--at": `${s(t)}%` }, isClass(target) && e ? percent(t) : format(t)))),
    el("span", { class: "change" }, e && e.lower ? "Held-out difference" : "Difference"),
    el("span", { class: "share" }, leads ? "Main topic" : ""));
  const rows = order.map((k) => {
    const on = topicOn(model, k), r = reach(model, k, on), kind = topicKind(model, k, on);
    const at = (v) => `${clamp(s(v), 0, 100)}%`;
    const [a, b] = e ? [r.from, r.to] : [0, r.change];
    const context = data.topics.context ? fitting(data.topics.context[k].slice(0, 5).map((v) => plainName(wordName(model, v))), CONTEXT_CHARACTERS) : [];
    const replicates = data.stability;
    return el("li", {}, el("button", {
      type: "button", class: "forest-row", "data-key": `topic-${k}`, "data-topic": k, "aria-pressed": String(k === chosen), "aria-label": topicTip(model, k, on), "data-tip": topicTip(model, k, on),
      onclick: () => update({ topic: k }),
    },
      el("span", { class: "name" }, own ? el("small", { class: "for" }, "higher probability of ", el("b", {}, predictorName(model, on))) : null,
        el("span", { class: "words" }, rowWords(model, k)),
        context.length ? el("small", { class: "with" }, `often with ${context.join(", ")}`) : null,
        replicates ? el("small", { class: `back${replicates.topics[k].same ? "" : " unsure"}` }, backText(model, k)) : null,
        from ? el("small", { class: "from-word" }, `${percent(from[k])} of the occurrences of “${wordName(model, state.word)}”`) : null),
      svg("svg", { class: "forest-plot", "aria-hidden": "true" },
        axisTicks.map((t) => svg("line", { class: "gridline", x1: `${s(t)}%`, x2: `${s(t)}%`, y1: 0, y2: "100%" })),
        limits.map((v) => svg("line", { class: "limit", x1: `${s(v)}%`, x2: `${s(v)}%`, y1: 0, y2: "100%" })),
        own ? "" : svg("line", { class: "base", x1: `${s(base)}%`, x2: `${s(base)}%`, y1: 0, y2: "100%" }),
        r.low === null ? "" : svg("line", { class: `interval thin ${kind}`, x1: at(e ? within(a + r.low, on) : a + r.low), x2: at(e ? within(a + r.high, on) : a + r.high), y1: "50%", y2: "50%" }),
        svg("line", { class: `interval thick ${kind}`, x1: at(a), x2: at(b), y1: "50%", y2: "50%" }),
        svg("circle", { class: `hollow ${kind}`, cx: at(a), cy: "50%", r: 4 }),
        svg("circle", { class: kind, cx: at(b), cy: "50%", r: 5.5 })),
      el("span", { class: `change ${kind}` }, changeShort(model, difference(model, k, on), on, decimals)),
      el("span", { class: "share" }, leads ? [bar(0, leads[k], [0, most], "accent"), el("small", {}, percent(leads[k]))] : null)));
  });
  const title = own ? "Predicted differences of topics for their classes" : `Predicted differences of topics in ${predictorName(model, l)}`;
  const measured = own ? "probability of the class" : thing(model, l);
  return el("div", { class: "forest" },
    el("p", { class: "muted" }, e ? `${capital(measured)} with little (○) and with much (●) of the topic` : "Coefficients"), head,
    el("ul", { class: `plain ${order.length > MOST_ROWS ? "tall" : ""}`, "data-scroll": "forest", tabindex: order.length > MOST_ROWS ? 0 : null, role: "list", "aria-label": "Topics in the order of their numbers" }, rows),
    savers(title, () => barsDrawing(title, order.map((k) => { const on = topicOn(model, k), r = reach(model, k, on), a = r.from ?? 0; return { name: fitName(own ? `${brief(predictorName(model, on), 20)}: ${topicLabel(data, k)}` : topicLabel(data, k), 38), from: a, to: r.to ?? r.change, low: r.low === null ? undefined : a + r.low, high: r.low === null ? undefined : a + r.high, kind: topicKind(model, k, on), text: changeShort(model, difference(model, k, on), on) }; }), { label: e ? measured : "coefficient", at: own ? null : base }), () => topicsData(model)));
}

/** Predicted differences of covariates. */
function covariateCard(model, l) {
  const rows = covariateEffects(model, l), title = "Covariates";
  if (!rows.length) return null;
  const change = (r, x) => (x === null ? "–" : changeShort(model, x, l, changeDecimals(r.change)));
  const cells = rows.map((r) => [r.name, format(r.values[0]), format(r.values[1]), levelText(model, r.from, l, r.change), levelText(model, r.to, l, r.change), change(r, r.difference), r.low === null ? "–" : `${change(r, r.low)} to ${change(r, r.high)}`]);
  const head = ["covariate", "low", "high", "prediction, low", "prediction, high", "difference", "95% interval"];
  const rare = rows.some((r) => r.rare) ? " Indicators that are the same at both percentiles are compared at their smallest and largest value." : "";
  return card(title, el("p", {}, `${capital(thing(model, l))} of a typical document at the 10th and the 90th percentile of each covariate, everything else unchanged.${rare}`),
    table(title, head, cells),
    rows[0].low === null ? null : el("p", { class: "note" }, "Difference and interval: estimated in the held-out documents."),
    savers(title, () => barsDrawing(title, rows.map((r) => ({ name: r.name, from: r.from, to: r.to, text: change(r, r.change) })), { label: thing(model, l), at: model.data.effects ? model.data.effects.typical[l] : null }),
      () => ({ head: ["covariate", "low", "high", "prediction, low", "prediction, high", "difference", "95% low", "95% high"], rows: rows.map((r) => [r.name, ...r.values, r.from, r.to, r.change, r.low, r.high]) })));
}

/** A difference without its unit. */
function changeShort(model, x, l, decimals = 2) {
  const target = model.data.targets[model.data.predictors[l].target];
  return isClass(target) && model.data.effects ? points(x).replace(" points", "") : (x > 0 ? "+" : "") + fixed(x, decimals);
}

/** All numbers about topics, one row per topic and predictor. */
function topicsData(model) {
  const { data } = model;
  const checks = stabilityColumns(data);
  const head = ["topic", "name", "words", "context words", "token proportion", "main topic of", "outcome", "proportion, low", "proportion, high", "prediction, low", "prediction, high", "difference", "difference in held-out documents", "95% low", "95% high", "coefficient", ...checks.map(([name]) => `stability: ${name}`)];
  const rows = [];
  for (let l = 0; l < model.L; l++) {
    for (const k of topicOrder(model, l)) {
      const r = reach(model, k, l);
      rows.push([topicNumber(data, k), topicName(data, k), topWords(model, k).slice(0, 10).map((w) => data.words.names[w.v]).join(" "), (data.topics.context ? data.topics.context[k] : []).map((v) => data.words.names[v]).join(" "), data.topics.prevalence[k], data.topics.leads ? data.topics.leads[k] : null, predictorName(model, l),
        ...(r.shares || [null, null]), r.from, r.to, r.change, r.estimate, r.low, r.high, model.coef[l][k], ...checks.map(([, value]) => value(data.stability.topics[k]))]);
    }
  }
  return { head, rows };
}

function describedEffect(model, f, l) {
  const unit = unitOf(model, l), response = responseOf(model, f, l);
  return `${unit ? ` ${unit}` : ""}${response ? ` (${response.trim()})` : ""}`;
}

/** The predicted difference of a topic in a sentence. */
function topicSentence(model, k, l) {
  const { data } = model, r = reach(model, k, l);
  if (!r.shares) return el("p", {}, "Coefficient ", el("strong", {}, format(model.coef[l][k])), ".");
  return el("p", { class: "sentence" }, el("strong", { class: topicKind(model, k, l), "data-change": r.change }, changeText(model, k, l)),
    `: ${differenceText(model, k, l)}`);
}

/** The coefficient, in a part that opens. */
function coefficientView(model, k, l) {
  const target = model.data.targets[model.data.predictors[l].target], f = topicEffect(model, k, l);
  return el("details", { class: "more" }, el("summary", {}, "Coefficient"),
    el("p", { class: "note" }, `${format(model.coef[l][k])}: a document of this topic alone has the linear predictor ${format(f)}`,
      target.kind === "categorical" ? ", a score; the difference of two scores is the log odds of two classes." : `${describedEffect(model, f, l)}.`));
}

function topicCard(model, k, l) {
  const { data } = model;
  const id = state.printing ? null : "topic-name";
  const name = el("input", {
    id, "data-key": "topic-name", type: "text", maxlength: 80, value: topicName(data, k), autocomplete: "off", "aria-label": "Name of the topic",
    onchange: (event) => rename(data, k, event.target.value),
  });
  const others = listedTopics(model).filter((j) => j !== k);
  const merge = others.length ? select("Merge with", "", [["", "choose a topic"], ...others.map((j) => [j, fitName(topicLabel(data, j), 40)])], (j) => { if (j !== "") mergeTopics(data, k, Number(j)); }) : null;
  const slider = el("input", {
    id: "relevance", "data-key": "relevance", type: "range", min: 0, max: 1, step: 0.05, value: state.relevance,
    oninput: (event) => update({ relevance: Number(event.target.value) }),
    "aria-describedby": "relevance-note",
  });
  const orderNote = {
    distinctive: "The most distinctive words come first: they co-occur with the topic's other words, are rare in other topics, and their association has the sign of its coefficient. ",
    relevance: "Right: the most probable words. Left: the words that are most exclusive to this topic. ",
  }[state.by];
  return el("section", { class: "card", id: state.printing ? null : "topic-card" },
    el("h2", {}, `Topic ${topicNumber(data, k)}`, state.printing ? `: ${topicName(data, k)}` : ""),
    topicSentence(model, k, l),
    el("div", { class: "fields correct" }, el("label", { class: "field grow" }, el("span", {}, "Name"), name), merge),
    select(termed(model, "Words by"), state.by, wordOrders(data), (by) => update({ by })),
    state.by === "relevance" ? el("label", { class: "field wide", for: "relevance" }, el("span", { id: "relevance-value" }, relevanceText()), slider) : null,
    el("p", { class: "note", id: state.printing ? null : "relevance-note" }, orderNote ? termed(model, orderNote) : null,
      termed(model, "First bar: the probability of the word in the topic; the colour shows whether the prediction is "), el("span", { class: "up" }, "higher"), " or ", el("span", { class: "down" }, "lower"), termed(model, " with the word. Second bar: the number of documents with the word."), data.stability ? " Dotted: the word is kept in less than half of the halves of the documents." : ""),
    el("div", { id: state.printing ? null : "topic-words" }, wordBars(model, k, l)),
    contextView(model, k), coefficientView(model, k, l),
    el("p", { class: "narrow-only" }, el("button", { type: "button", onclick: () => document.getElementById("panel-topics").scrollIntoView({ block: "start" }) }, "Back to all topics")));
}

function relevanceText() {
  return `Relevance λ = ${state.relevance}`;
}

/** While the slider is dragged, draw only the words again, not the slider. */
function refreshRelevance(model, root) {
  const slider = root.querySelector("#relevance");
  if (!slider) return false;
  const k = state.topic ?? listedTopics(model)[0], l = topicOn(model, k);
  if (Number(slider.value) !== state.relevance) slider.value = state.relevance;
  root.querySelector("#relevance-value").textContent = relevanceText();
  root.querySelector("#topic-words").replaceChildren(wordBars(model, k, l));
  return true;
}

function wordBars(model, k, l) {
  const { data } = model;
  const words = topWords(model, k);
  const most = Math.max(...words.map((w) => w.beta), 1e-12);
  const often = Math.max(...words.map((w) => data.words.documents[w.v]), 1);
  const title = `Words of topic ${topicNumber(data, k)}`;
  const rows = words.map((w) => ({ name: wordName(model, w.v), from: 0, to: w.beta, kind: effectKind(model, w.v, l), text: share(w.beta) }));
  return el("div", {},
    el("ol", { class: "plain word-bars", role: "list", "--chars": Math.max(10, ...words.map((w) => Math.min(34, wordName(model, w.v).length))), "aria-label": title }, words.map((w, i) => {
      const effect = wordEffect(model, w.v, l);
      const dropped = state.drop.includes(w.v);
      return el("li", {}, el("button", {
        type: "button", class: `word-bar${dropped ? " struck" : ""}`, "data-key": `tw-${w.v}`, "aria-pressed": String(state.word === w.v), onclick: () => update({ word: w.v, view: "words" }),
        "data-tip": wordTip(model, w.v, l, `${share(w.beta)} of the topic.`),
      }, el("span", { class: `name${comesAndGoes(model, w.v) ? " unsure" : ""}` }, wordName(model, w.v)), el("span", { class: "pair" }, shadedBar(w.beta, most, rows[i].kind, strength(model, effect, l)), data.documents.n ? bar(0, data.words.documents[w.v], [0, often], "often") : null), el("small", {}, share(w.beta))),
      el("button", { type: "button", class: "quiet drop", "data-key": `drop-${w.v}`, "aria-pressed": String(dropped), "aria-label": `Drop “${wordName(model, w.v)}”`, "data-tip": dropped ? "Keep this word" : "Drop this word in the next fit", onclick: () => toggleDrop(data, w.v) }, dropped ? "Keep" : "Drop"));
    })),
    savers(title, () => barsDrawing(title, rows, { label: "probability in the topic" }), () => ({
      head: ["word", "probability in the topic", "documents with it", "documents", `difference in ${predictorName(model, l)}`],
      rows: words.map((w) => [data.words.names[w.v], w.beta, data.words.documents[w.v], data.documents.n, wordEffect(model, w.v, l)]),
    })));
}

function shadedBar(value, most, kind, strong) {
  const out = bar(0, value, [0, most], kind);
  out.firstChild.setAttribute("fill-opacity", (0.3 + 0.7 * strong).toFixed(2));
  return out;
}

/** Dropped words that are more frequent in documents of the topic. */
function contextView(model, k) {
  const { data } = model;
  if (!data.topics.context || !data.topics.context[k].length) return null;
  return el("div", { class: "context" }, el("h3", {}, "Context"),
    el("p", { class: "note" }, "Words in no topic that are more frequent in documents with this topic."),
    el("ul", { class: "plain chips", role: "list", "aria-label": `Context words of topic ${topicNumber(data, k)}` }, data.topics.context[k].map((v) => el("li", {}, el("button", {
      type: "button", class: "chip dropped", "data-key": `cw-${v}`, "data-context": v, "data-tip": wordTip(model, v, effectOn()), onclick: () => update({ word: v, view: "words" }),
    }, wordName(model, v))))));
}

/** Documents of this number of topic words or more are typical of it, and short ones are read quickly. */
const TYPICAL_WORDS = 4, TYPICAL_CHARACTERS = 900, TYPICAL_DOCUMENTS = 3;

/** Documents by topic k, typical ones first: several different relevant words, a large proportion, a text in the page, and not too long. */
function typicalDocuments(model, k, list) {
  const { composition } = model.data.documents;
  const score = (d) => {
    const n = relevantWords(model, d), text = documentText(model.data, d);
    const hidden = text === null && model.data.reading.text;
    const long = hidden ? 0.3 : text !== null && text.length > TYPICAL_CHARACTERS ? 0.7 : 1;
    return composition[d * model.K + k] * (n / (n + TYPICAL_WORDS)) * (n < TYPICAL_WORDS ? 0.5 : 1) * long;
  };
  const scores = new Map(list.map((d) => [d, score(d)]));
  return [...list].sort((a, b) => scores.get(b) - scores.get(a));
}

/** Typical documents of a topic, whole. */
function topicDocuments(model, k) {
  const { data } = model;
  const n = data.documents.row.length;
  if (!n) return null;
  const { word } = state, l = topicOn(model, k), t = data.predictors[l].target;
  const list = typicalDocuments(model, k, Array.from({ length: n }, (_, d) => d).filter((d) => word === null || documentCounts(data, d).has(word)));
  const whole = (d) => {
    const found = predictCounts(model, documentCounts(data, d), documentGiven(model, d));
    return el("li", { class: "whole" }, documentButton(model, d, `${percent(data.documents.composition[d * model.K + k])} of its relevant ${terms(model)} (${format(relevantWords(model, d))} different ones) are of this topic; predicted ${predictedText(model, d, l)}, actual ${actualText(model, d, t)}`, false),
      el("div", { class: "text", tabindex: 0, role: "region", "aria-label": `Text of ${documentTitle(model, d)}` }, documentWords(model, d, found, l)));
  };
  return el("section", { class: "card later" }, el("h2", {}, `Typical documents of topic ${fitName(topicLabel(data, k), 40)}${word === null ? "" : `, with “${wordName(model, word)}”`}`),
    list.length ? legend(model, l) : el("p", { class: "muted" }, "No document of this page contains the word."),
    el("ul", { class: "plain", role: "list" }, list.slice(0, TYPICAL_DOCUMENTS).map(whole)),
    el("p", {}, el("button", { type: "button", onclick: () => update({ topic: k, view: "documents", doc: null }) }, "All documents by this topic")));
}

function documentTitle(model, d) {
  const { data } = model;
  return data.documents.names ? data.documents.names[d] : `Document ${data.documents.row[d]}`;
}

function documentSnippet(model, d, length = 110) {
  const { data } = model;
  // Codes are shown by their labels.
  if (data.reading.text && documentText(data, d) !== null) return shorten(documentText(data, d), length);
  const names = [...documentCounts(data, d).keys()].filter((v) => model.rowOf[v] >= 0).map((v) => wordName(model, v));
  return shorten(names.join(", "), length) || "none of its words is in a topic";
}

function documentButton(model, d, remark, snippet = true) {
  return el("button", {
    type: "button", class: "doc", "data-key": `doc-${d}`, "data-doc": d, "aria-pressed": String(state.doc === d),
    onclick: () => update({ doc: d, view: "documents" }),
  }, el("strong", {}, documentTitle(model, d)), el("small", {}, ` ${remark}`), snippet ? el("span", {}, documentSnippet(model, d)) : null);
}
