// ---- view 1: topics by their effect, their words, their documents ----

const SHOWN_WORDS = 20;

/** β_kv as the model has it, for kept row `row`. */
function probability(model, row, k) {
  return (model.W[row * model.K + k] * model.scale[row]) / model.data.topics.volume[k];
}

/** The first kept words of topic k: by relevance λ log β + (1-λ) log(β/p), of which λ = 1 is probability, or by
 * FREX, as estimators/word_order.py has them. */
function topWords(model, k) {
  const { data, kept } = model;
  const words = [];
  for (let row = 0; row < kept.length; row++) {
    const beta = probability(model, row, k);
    if (beta > 0) words.push({ v: kept[row], row, beta });
  }
  const lambda = state.by === "probability" ? 1 : state.relevance;
  const scores = state.by === "frex" ? frex(model, words, k) : words.map((w) => Math.log(w.beta) - (1 - lambda) * Math.log(data.table.share[w.row]));
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

function topicOrder(model, l) {
  return Array.from({ length: model.K }, (_, k) => k).sort((a, b) => topicEffect(model, b, l) - topicEffect(model, a, l));
}

function effectLabel(model, l) {
  const unit = unitOf(model, l);
  return `${unit ? `${unit} of ` : ""}${predictorName(model, l)}, for a document of this topic alone`;
}

/** Where the middle 90% of the documents' own predictors lie; null where there are too few to say. */
function usualRange(model, l) {
  const { row, predictor } = model.data.documents;
  if (row.length < 20) return null;
  const sorted = Array.from(row, (_, d) => predictor[d * model.L + l]).sort((a, b) => a - b);
  return [0.05, 0.95].map((q) => sorted[Math.round(q * (sorted.length - 1))]);
}

function drawTopics(model, root, width) {
  const { data } = model;
  const l = effectOn();
  const order = topicOrder(model, l);
  const chosen = state.topic ?? order[0];
  redraw(root, el("div", { class: "columns" },
    el("div", {}, card("Topics by effect", forest(model, order, chosen, l), forestNote(model, l)), topicDocuments(model, chosen)),
    topicCard(model, chosen, l)));
}

function forestNote(model, l) {
  return el("p", { class: "note" }, "Documents are mixtures of topics, so their predictions lie between these. ",
    usualRange(model, l) ? "The band is where 90% of them lie; the" : "The", " dashed line is a document without words. ",
    model.data.topics.error
      ? `Lines are 95% intervals: how far ${format(model.data.documents.n)} documents like these determine the coefficients. They do not know that the topics were found from data, too. `
      : "No target was given with the documents, so there are no intervals. ",
    unitOf(model, l) === "score" ? "Differences of scores are log odds between classes. " : "",
    shareNote(model));
}

/** Shares of the topics: of the word that is selected, where topics contain it, else of the average document. */
function shownShares(model) {
  return (state.word !== null && wordTopics(model, state.word)) || model.data.topics.prevalence;
}

function shareNote(model) {
  const { names } = model.data.words;
  if (state.word === null) return "Share: of the relevant words of the average document.";
  return model.rowOf[state.word] < 0 ? `Share: of the relevant words of the average document; “${names[state.word]}” is in no topic.` : `Share: the topics that “${names[state.word]}” comes from.`;
}

function forest(model, order, chosen, l) {
  const { data } = model;
  const ends = [];
  // One topic that no document is sure of must not flatten all the others.
  const errors = order.map((k) => topicError(model, k, l)).filter((e) => e !== null).sort((a, b) => a - b);
  const effects = order.map((k) => topicEffect(model, k, l));
  const [least, most] = extent(effects);
  const reach = errors.length ? Math.min(1.96 * errors[errors.length - 1], Math.max(most - least, 4 * errors[0])) : 0;
  for (const e of effects) ends.push(e - reach, e + reach);
  const base = data.intercept[l] + model.baseTopics[l];
  const usual = usualRange(model, l);
  const domain = padded(extent([...ends, base, ...(usual || [])]), 0.04);
  const s = scale(domain, [0, 100]);
  const shares = shownShares(model);
  const common = Math.max(...shares, 1e-9);
  const axisTicks = ticks(domain, 4);
  const head = el("div", { class: "forest-row head", "aria-hidden": "true" },
    el("span", { class: "name" }, "Topic"),
    el("span", { class: "axis-cell" }, axisTicks.map((t) => el("span", { "--at": `${s(t)}%` }, format(t)))),
    el("span", { class: "share" }, "Share"));
  const rows = order.map((k) => {
    const e = topicEffect(model, k, l), error = topicError(model, k, l);
    const low = e - 1.96 * (error ?? 0), high = e + 1.96 * (error ?? 0);
    const kind = e >= base ? "up" : "down";
    const said = `${topicName(data, k)}: ${format(e)}${error === null ? "" : `, 95% interval ${format(low)} to ${format(high)}`}, ${percent(shares[k])} of ${shares === data.topics.prevalence ? "the average document" : data.words.names[state.word]}`;
    return el("li", {}, el("button", {
      type: "button", class: "forest-row", "data-key": `topic-${k}`, "data-topic": k, "aria-pressed": String(k === chosen), "aria-label": said, title: said,
      onclick: () => update({ topic: k }),
    },
      el("span", { class: "name" }, el("small", {}, String(k)), " ", topicName(data, k)),
      svg("svg", { class: "forest-plot", "aria-hidden": "true" },
        usual ? svg("rect", { class: "usual", x: `${s(usual[0])}%`, width: `${s(usual[1]) - s(usual[0])}%`, y: 0, height: "100%" }) : "",
        axisTicks.map((t) => svg("line", { class: "gridline", x1: `${s(t)}%`, x2: `${s(t)}%`, y1: 0, y2: "100%" })),
        svg("line", { class: "base", x1: `${s(base)}%`, x2: `${s(base)}%`, y1: 0, y2: "100%" }),
        error === null ? "" : svg("line", { class: `interval ${kind}`, x1: `${clamp(s(low), 0, 100)}%`, x2: `${clamp(s(high), 0, 100)}%`, y1: "50%", y2: "50%" }),
        svg("circle", { class: kind, cx: `${s(e)}%`, cy: "50%", r: 5 })),
      el("span", { class: "share" }, bar(0, shares[k], [0, common], "accent"), el("small", {}, percent(shares[k])))));
  });
  return el("div", { class: "forest" },
    el("p", { class: "muted" }, effectLabel(model, l)), head,
    el("ul", { class: "plain tall", "data-scroll": "forest", tabindex: order.length > 12 ? 0 : null, role: "list", "aria-label": "Topics, largest effect first" }, rows));
}

function describedEffect(model, f, l) {
  const unit = unitOf(model, l), response = responseOf(model, f, l);
  return `${unit ? ` ${unit}` : ""}${response ? ` (${response.trim()})` : ""}`;
}

function topicCard(model, k, l) {
  const { data } = model;
  const words = topWords(model, k);
  const most = Math.max(...words.map((w) => w.beta), 1e-12);
  const error = topicError(model, k, l);
  const name = el("input", {
    id: "topic-name", "data-key": "topic-name", type: "text", maxlength: 80, value: topicName(data, k), autocomplete: "off",
    onchange: (event) => rename(data, k, event.target.value),
  });
  const slider = el("input", {
    id: "relevance", "data-key": "relevance", type: "range", min: 0, max: 1, step: 0.05, value: state.relevance,
    oninput: (event) => update({ relevance: Number(event.target.value) }),
    "aria-describedby": "relevance-note",
  });
  return el("section", { class: "card" },
    el("h2", {}, `Topic ${k}`),
    el("label", { class: "field wide", for: "topic-name" }, el("span", {}, "Name"), name),
    el("p", {}, `A document of this topic alone: `, el("strong", {}, fixed(topicEffect(model, k, l), decimalsOf([error ?? topicEffect(model, k, l)], error ? 2 : 3))),
      error === null ? "" : ` ± ${fixed(1.96 * error, decimalsOf([error], 2))}`, describedEffect(model, topicEffect(model, k, l), l), `. Share of the average document: `,
      el("strong", {}, percent(data.topics.prevalence[k])), "."),
    select("Words by", state.by, Object.entries(WORD_ORDERS), (by) => update({ by })),
    state.by === "relevance" ? el("label", { class: "field wide", for: "relevance" }, el("span", {}, `Relevance λ = ${state.relevance}`), slider) : null,
    el("p", { class: "note", id: "relevance-note" }, state.by === "relevance" ? "Right: the most probable words. Left: the words that are most peculiar to this topic. " : "", "Bars: a word's probability in the topic."),
    el("ol", { class: "plain word-bars", role: "list", "--chars": Math.max(10, ...words.map((w) => Math.min(34, data.words.names[w.v].length))), "aria-label": `Words of topic ${k}` }, words.map((w) => el("li", {}, el("button", {
      type: "button", class: "word-bar", "data-key": `tw-${w.v}`, "aria-pressed": String(state.word === w.v), onclick: () => update({ word: w.v, view: "words" }),
    }, el("span", { class: "name", title: data.words.names[w.v] }, brief(data.words.names[w.v], 34)), bar(0, w.beta, [0, most], "accent"), el("small", {}, share(w.beta)))))),
    contextView(model, k));
}

/** Dropped words that documents of the topic use more than others: what it is about. */
function contextView(model, k) {
  const { data } = model;
  if (!data.topics.context || !data.topics.context[k].length) return null;
  return el("div", { class: "context" }, el("h3", {}, "Goes with"),
    el("p", { class: "note" }, "Words that are in no topic, but that documents of this one use more than others."),
    el("ul", { class: "plain chips", role: "list", "aria-label": `Dropped words that topic ${k} goes with` }, data.topics.context[k].map((v) => el("li", {}, el("button", {
      type: "button", class: "chip dropped", "data-key": `cw-${v}`, "data-context": v, title: data.words.names[v], onclick: () => update({ word: v, view: "words" }),
    }, brief(data.words.names[v], 40))))));
}

function topicDocuments(model, k) {
  const { data } = model;
  const n = data.documents.row.length;
  if (!n) return null;
  const { word } = state;
  const order = Array.from({ length: n }, (_, d) => d).filter((d) => word === null || documentCounts(data, d).has(word)).sort((a, b) => data.documents.composition[b * model.K + k] - data.documents.composition[a * model.K + k]);
  return el("section", { class: "card later" }, el("h2", {}, `Documents most of topic ${k}${word === null ? "" : `, with “${brief(data.words.names[word], 40)}”`}`),
    order.length ? null : el("p", { class: "muted" }, "No document of this page has it."),
    el("ul", { class: "plain", role: "list" }, order.slice(0, 5).map((d) => el("li", {}, documentButton(model, d, `${percent(data.documents.composition[d * model.K + k])} of it`)))),
    el("p", {}, el("button", { type: "button", onclick: () => update({ topic: k, view: "documents" }) }, "All documents by this topic")));
}

function documentTitle(model, d) {
  const { data } = model;
  return data.documents.names ? data.documents.names[d] : `Document ${data.documents.row[d]}`;
}

function documentSnippet(model, d, length = 110) {
  const { data } = model;
  if (data.documents.texts) return shorten(data.documents.texts[d], length);
  const names = [...documentCounts(data, d).keys()].filter((v) => model.rowOf[v] >= 0).map((v) => brief(data.words.names[v], 36));
  return shorten(names.join(", "), length) || "none of its words is in a topic";
}

function documentButton(model, d, remark) {
  return el("button", {
    type: "button", class: "doc", "data-key": `doc-${d}`, "data-doc": d, "aria-pressed": String(state.doc === d),
    onclick: () => update({ doc: d, view: "documents" }),
  }, el("strong", {}, documentTitle(model, d)), el("small", {}, ` ${remark}`), el("span", {}, documentSnippet(model, d)));
}
