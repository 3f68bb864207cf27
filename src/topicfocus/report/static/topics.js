// ---- view 1: topics by their effect, their words, their documents ----

const SHOWN_WORDS = 20;

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
  // The best so far, in order: thousands of words need not be sorted for twenty of them.
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

function topicError(model, k, l) {
  const errors = model.data.topics.error;
  return errors && errors[k][l] !== null ? errors[k][l] : null;
}

function drawTopics(model, root, width) {
  const { data } = model;
  const order = listedTopics(model), chosen = state.topic ?? order[0];
  const l = effectOn(), target = data.targets[data.predictors[l].target];
  // Before a class is chosen, all of them are the picture.
  const heat = target.kind === "categorical" ? heatCard(model, chosen, target, inner(width, 1.3)) : null, first = state.predictor === null;
  redraw(root, [
    storyCard(model, l),
    el("div", { class: "columns" },
      el("div", {}, first ? heat : null, el("section", { class: "card first" }, el("h2", {}, ownClasses(model) ? "Topics by the class they predict" : "Topics by effect"), forest(model, order, chosen), forestNote(model, l)), ownClasses(model) ? null : covariateCard(model, l),
        heat && !first ? heat : null,
        ...groupCards(model, chosen, inner(width, 1.3)), topicDocuments(model, chosen)),
      el("div", { class: "beside" }, topicCard(model, chosen, topicOn(model, chosen)))),
    state.printing ? el("div", { class: "every" }, order.filter((k) => k !== chosen).map((k) => topicCard(model, k, topicOn(model, k)))) : null]);
}

/** What the scale is, and what an interval is. */
function forestNote(model, l) {
  const { data } = model, target = data.targets[data.predictors[l].target], e = data.effects;
  if (!e) return el("p", { class: "note" }, "No documents were given, so these are the coefficients, less their average: how far a document of one topic alone would be from one without words. ", shareNote());
  const seen = e.observed[l], limits = isClass(target) ? "" : seen[0] !== null ? `In training, ${predictorName(model, l)} goes from ${format(seen[0])} to ${format(seen[1])}. ` : "";
  return el("p", { class: "note" }, "From the hollow to the full mark: the prediction of a typical document as its share of the topic (θ̂, as the model infers it) goes from ", quantileText(e, 0), " to ", quantileText(e, 1), " percentile of real documents, the other topics in proportion. ",
    ownClasses(model) ? "Choose a class above for all topics' effects on it. " : `The dashed line is the typical document, ${levelText(model, e.typical[l], l)}. ${limits}`, "Lines are 95% intervals of the change, given the topics. ", shareNote());
}

/** "the 10th", "the 97.5th": of more than five classes the upper one reaches the documents of a class. */
function quantileText(e, end) {
  return `the ${format(100 * e.quantiles[end])}th`;
}

function shareNote() {
  return "Share: of the relevant words of the average document.";
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

function forest(model, order, chosen) {
  const { data } = model, l = effectOn(), own = ownClasses(model);
  const domain = forestDomain(model, order, l);
  const s = scale(domain, [0, 100]);
  const e = data.effects, base = e ? e.typical[l] : 0;
  const target = data.targets[data.predictors[l].target];
  const common = Math.max(...data.topics.prevalence, 1e-9);
  const axisTicks = ticks(domain, 4);
  const decimals = Math.min(2, decimalsOf(order.map((k) => reach(model, k, l).change)));
  const within = (v, on) => { const [low, high] = limitsOf(model, on); return clamp(v, low ?? v, high ?? v); };
  const from = state.word !== null ? wordTopics(model, state.word) : null;
  const limits = e ? limitsOf(model, l).filter((v) => v !== null && v >= domain[0] && v <= domain[1]) : [];
  const head = el("div", { class: "forest-row head", "aria-hidden": "true" },
    el("span", { class: "name" }, "Topic"),
    el("span", { class: "axis-cell" }, axisTicks.map((t) => el("span", { "--at": `${s(t)}%` }, isClass(target) && e ? percent(t) : format(t)))),
    el("span", { class: "change" }, "Change"),
    el("span", { class: "share" }, "Share"));
  const rows = order.map((k) => {
    const on = topicOn(model, k), r = reach(model, k, on), kind = topicKind(model, k, on);
    const at = (v) => `${clamp(s(v), 0, 100)}%`;
    const [a, b] = e ? [r.from, r.to] : [0, r.change];
    return el("li", {}, el("button", {
      type: "button", class: "forest-row", "data-key": `topic-${k}`, "data-topic": k, "aria-pressed": String(k === chosen), "aria-label": topicTip(model, k, on), "data-tip": topicTip(model, k, on),
      onclick: () => update({ topic: k }),
    },
      el("span", { class: "name" }, el("strong", {}, topicName(data, k)),
        own ? el("small", { class: "for" }, "for ", el("b", {}, predictorName(model, on))) : null,
        el("small", { class: "words" }, topWords(model, k).slice(0, 7).map((w) => wordName(model, w.v)).join(" · ")),
        data.topics.context && data.topics.context[k].length ? el("small", { class: "words with" }, "with ", data.topics.context[k].slice(0, 4).map((v) => wordName(model, v)).join(" · ")) : null,
        backText(model, k) !== null ? el("small", { class: `back${data.stability.halves.topics[k].same ? "" : " unsure"}` }, backText(model, k))
          : stabilityText(model, k, 2) ? el("small", { class: "stable" }, stabilityText(model, k, 2).trim()) : null,
        from ? el("small", { class: "words from-word" }, `${percent(from[k])} of “${wordName(model, state.word)}” comes from it`) : null),
      svg("svg", { class: "forest-plot", "aria-hidden": "true" },
        axisTicks.map((t) => svg("line", { class: "gridline", x1: `${s(t)}%`, x2: `${s(t)}%`, y1: 0, y2: "100%" })),
        limits.map((v) => svg("line", { class: "limit", x1: `${s(v)}%`, x2: `${s(v)}%`, y1: 0, y2: "100%" })),
        own ? "" : svg("line", { class: "base", x1: `${s(base)}%`, x2: `${s(base)}%`, y1: 0, y2: "100%" }),
        r.low === null ? "" : svg("line", { class: `interval thin ${kind}`, x1: at(e ? within(a + r.low, on) : a + r.low), x2: at(e ? within(a + r.high, on) : a + r.high), y1: "50%", y2: "50%" }),
        svg("line", { class: `interval thick ${kind}`, x1: at(a), x2: at(b), y1: "50%", y2: "50%" }),
        svg("circle", { class: `hollow ${kind}`, cx: at(a), cy: "50%", r: 4 }),
        svg("circle", { class: kind, cx: at(b), cy: "50%", r: 5.5 })),
      el("span", { class: `change ${kind}` }, changeShort(model, r.change, on, decimals)),
      el("span", { class: "share" }, bar(0, data.topics.prevalence[k], [0, common], "accent"), el("small", {}, percent(data.topics.prevalence[k])))));
  });
  const title = own ? "Effects of topics on their classes" : `Effects of topics on ${predictorName(model, l)}`;
  const dashed = own ? "" : "; dashed: a typical document";
  const measured = own ? "the probability of the class" : thing(model, l);
  return el("div", { class: "forest" },
    el("p", { class: "muted" }, e ? `${measured.replace("the ", "")}, in documents with little (○) and with much (●) of the topic${e.lower ? "; thin: 95% interval of the difference in held-out documents" : ""}${dashed}` : "coefficients"), head,
    el("ul", { class: `plain ${order.length > 10 ? "tall" : ""}`, "data-scroll": "forest", tabindex: order.length > 10 ? 0 : null, role: "list", "aria-label": "Topics, largest effect first" }, rows),
    savers(title, () => barsDrawing(title, order.map((k) => { const on = topicOn(model, k), r = reach(model, k, on), a = r.from ?? 0; return { name: fitName(own ? `${brief(predictorName(model, on), 20)}: ${topicName(data, k)}` : topicName(data, k), 38), from: a, to: r.to ?? r.change, low: r.low === null ? undefined : a + r.low, high: r.low === null ? undefined : a + r.high, kind: topicKind(model, k, on), text: changeShort(model, r.change, on) }; }), { label: e ? measured : "coefficient", at: own ? null : base }), () => topicsData(model)));
}

/** A change in a column. */
function changeShort(model, x, l, decimals = 2) {
  const target = model.data.targets[model.data.predictors[l].target];
  return isClass(target) && model.data.effects ? points(x).replace(" points", "") : (x > 0 ? "+" : "") + fixed(x, decimals);
}

/** Everything about topics, one row a topic and predictor. */
function topicsData(model) {
  const { data } = model;
  const checks = data.stability ? Object.entries(data.stability.topics) : [];
  const head = ["topic", "name", "words", "goes with", "share", "effect on", "share, low", "share, high", "prediction, low", "prediction, high", "change", "change, held-out documents", "95% low", "95% high", "coefficient", ...checks.map(([name]) => `stability: ${name}`)];
  const rows = [];
  for (let l = 0; l < model.L; l++) {
    for (const k of topicOrder(model, l)) {
      const r = reach(model, k, l);
      rows.push([k, topicName(data, k), topWords(model, k).slice(0, 10).map((w) => data.words.names[w.v]).join(" "), (data.topics.context ? data.topics.context[k] : []).map((v) => data.words.names[v]).join(" "), data.topics.prevalence[k], predictorName(model, l),
        ...(r.shares || [null, null]), r.from, r.to, r.change, r.estimate, r.low, r.high, model.coef[l][k], ...checks.map(([, values]) => values[k])]);
    }
  }
  return { head, rows };
}

function describedEffect(model, f, l) {
  const unit = unitOf(model, l), response = responseOf(model, f, l);
  return `${unit ? ` ${unit}` : ""}${response ? ` (${response.trim()})` : ""}`;
}

/** What the topic does, in a sentence. */
function topicSentence(model, k, l) {
  const { data } = model, r = reach(model, k, l);
  if (!r.shares) return el("p", {}, "Coefficient ", el("strong", {}, format(model.coef[l][k])), ". Share of the average document: ", el("strong", {}, percent(data.topics.prevalence[k])), ".");
  return el("p", { class: "sentence" }, el("strong", { class: topicKind(model, k, l), "data-change": r.change }, changeText(model, k, l)),
    `${heldOutText(model, r, l)}: ${moving(model, l)} from ${levelText(model, r.from, l, r.change)} to ${levelText(model, r.to, l, r.change)} as the share of this topic goes from ${percent(r.shares[0])} to ${percent(r.shares[1])}. It is `,
    el("strong", {}, percent(data.topics.prevalence[k])), " of the average document.", stabilityText(model, k));
}

/** The coefficient, for those who want it. */
function coefficientView(model, k, l) {
  const error = topicError(model, k, l), f = topicEffect(model, k, l), target = model.data.targets[model.data.predictors[l].target];
  return el("details", { class: "more" }, el("summary", {}, "Coefficient"),
    el("p", { class: "note" }, `${format(model.coef[l][k])}: a document of this topic alone would have the linear predictor ${fixed(f, decimalsOf([error ?? f], error ? 2 : 3))}`,
      error === null ? "" : ` ± ${fixed(1.96 * error, decimalsOf([error], 2))}`, target.kind === "categorical" ? "" : describedEffect(model, f, l), target.kind === "categorical" ? ", a score; differences of scores are log odds between classes." : "."));
}

function topicCard(model, k, l) {
  const { data } = model;
  const id = state.printing ? null : "topic-name";
  const name = el("input", {
    id, "data-key": "topic-name", type: "text", maxlength: 80, value: topicName(data, k), autocomplete: "off", "aria-label": "Name of the topic",
    onchange: (event) => rename(data, k, event.target.value),
  });
  const slider = el("input", {
    id: "relevance", "data-key": "relevance", type: "range", min: 0, max: 1, step: 0.05, value: state.relevance,
    oninput: (event) => update({ relevance: Number(event.target.value) }),
    "aria-describedby": "relevance-note",
  });
  return el("section", { class: "card", id: state.printing ? null : "topic-card" },
    el("h2", {}, `Topic ${k}`, state.printing ? `: ${topicName(data, k)}` : ""),
    el("label", { class: "field wide" }, el("span", {}, "Name"), name),
    topicSentence(model, k, l), coefficientView(model, k, l),
    select("Words by", state.by, wordOrders(data), (by) => update({ by })),
    state.by === "relevance" ? el("label", { class: "field wide", for: "relevance" }, el("span", { id: "relevance-value" }, relevanceText()), slider) : null,
    el("p", { class: "note", id: state.printing ? null : "relevance-note" }, state.by === "distinctive" ? "The most distinctive words first: they co-occur with the topic's other words, are rare in other topics, and have the sign of its coefficient. " : state.by === "relevance" ? "Right: the most probable words. Left: the words that are most exclusive to this topic. " : "",
      "First bar: the probability of the word in the topic, coloured by the effect of the word (", el("span", { class: "up" }, "raises"), ", ", el("span", { class: "down" }, "lowers"), "). Second bar: the number of documents with the word.", data.stability && data.stability.words ? " Dotted: the word is kept in less than half of the halves of the documents." : ""),
    el("div", { id: state.printing ? null : "topic-words" }, wordBars(model, k, l)),
    contextView(model, k),
    el("p", { class: "narrow-only" }, el("button", { type: "button", onclick: () => document.getElementById("panel-topics").scrollIntoView({ block: "start" }) }, "Back to all topics")));
}

function relevanceText() {
  return `Relevance λ = ${state.relevance}`;
}

/** While the slider is dragged it must stay where it is: only what follows from it is drawn again. */
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
  const title = `Words of topic ${k}`;
  const rows = words.map((w) => ({ name: wordName(model, w.v), from: 0, to: w.beta, kind: effectKind(model, w.v, l), text: share(w.beta) }));
  return el("div", {},
    el("ol", { class: "plain word-bars", role: "list", "--chars": Math.max(10, ...words.map((w) => Math.min(34, wordName(model, w.v).length))), "aria-label": title }, words.map((w, i) => {
      const effect = wordEffect(model, w.v, l);
      return el("li", {}, el("button", {
        type: "button", class: "word-bar", "data-key": `tw-${w.v}`, "aria-pressed": String(state.word === w.v), onclick: () => update({ word: w.v, view: "words" }),
        "data-tip": wordTip(model, w.v, l, `${share(w.beta)} of the topic.`),
      }, el("span", { class: `name${comesAndGoes(model, w.v) ? " unsure" : ""}` }, wordName(model, w.v)), el("span", { class: "pair" }, shadedBar(w.beta, most, rows[i].kind, strength(model, effect, l)), data.documents.n ? bar(0, data.words.documents[w.v], [0, often], "often") : null), el("small", {}, share(w.beta))));
    })),
    savers(title, () => barsDrawing(title, rows, { label: "probability in the topic" }), () => ({
      head: ["word", "probability in the topic", "documents with it", "documents", `effect on ${predictorName(model, l)}`],
      rows: words.map((w) => [data.words.names[w.v], w.beta, data.words.documents[w.v], data.documents.n, wordEffect(model, w.v, l)]),
    })));
}

function shadedBar(value, most, kind, strong) {
  const out = bar(0, value, [0, most], kind);
  out.firstChild.setAttribute("fill-opacity", (0.3 + 0.7 * strong).toFixed(2));
  return out;
}

/** Dropped words that documents of the topic use more than others: what it is about. */
function contextView(model, k) {
  const { data } = model;
  if (!data.topics.context || !data.topics.context[k].length) return null;
  return el("div", { class: "context" }, el("h3", {}, "Context"),
    el("p", { class: "note" }, "Words in no topic that are more frequent in documents with this topic."),
    el("ul", { class: "plain chips", role: "list", "aria-label": `Context words of topic ${k}` }, data.topics.context[k].map((v) => el("li", {}, el("button", {
      type: "button", class: "chip dropped", "data-key": `cw-${v}`, "data-context": v, "data-tip": wordTip(model, v, effectOn()), onclick: () => update({ word: v, view: "words" }),
    }, wordName(model, v))))));
}

function topicDocuments(model, k) {
  const { data } = model;
  const n = data.documents.row.length;
  if (!n) return null;
  const { word } = state;
  const order = Array.from({ length: n }, (_, d) => d).filter((d) => word === null || documentCounts(data, d).has(word)).sort((a, b) => data.documents.composition[b * model.K + k] - data.documents.composition[a * model.K + k]);
  return el("section", { class: "card later" }, el("h2", {}, `Documents with most of “${fitName(topicName(data, k), 40)}”${word === null ? "" : `, with “${wordName(model, word)}”`}`),
    order.length ? null : el("p", { class: "muted" }, "No document of this page contains it."),
    el("ul", { class: "plain", role: "list" }, order.slice(0, 5).map((d) => el("li", {}, documentButton(model, d, `${percent(data.documents.composition[d * model.K + k])} of its relevant words`)))),
    el("p", {}, el("button", { type: "button", onclick: () => update({ topic: k, view: "documents", doc: null }) }, "All documents by this topic")));
}

function documentTitle(model, d) {
  const { data } = model;
  return data.documents.names ? data.documents.names[d] : `Document ${data.documents.row[d]}`;
}

function documentSnippet(model, d, length = 110) {
  const { data } = model;
  // Codes are read by their labels, whatever the text that they stand in.
  if (data.reading.text && documentText(data, d) !== null) return shorten(documentText(data, d), length);
  const names = [...documentCounts(data, d).keys()].filter((v) => model.rowOf[v] >= 0).map((v) => wordName(model, v));
  return shorten(names.join(", "), length) || "none of its words is in a topic";
}

function documentButton(model, d, remark) {
  return el("button", {
    type: "button", class: "doc", "data-key": `doc-${d}`, "data-doc": d, "aria-pressed": String(state.doc === d),
    onclick: () => update({ doc: d, view: "documents" }),
  }, el("strong", {}, documentTitle(model, d)), el("small", {}, ` ${remark}`), el("span", {}, documentSnippet(model, d)));
}
