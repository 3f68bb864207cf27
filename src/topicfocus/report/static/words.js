// ---- view 2: all words, their associations, and why they were kept or dropped ----

const LISTED = 60;
const LABELLED = 26;

function wordTopics(model, v) {
  const row = model.rowOf[v];
  if (row < 0) return null;
  return normalise(Array.from({ length: model.K }, (_, k) => model.W[row * model.K + k] * model.average[k]));
}

function xChoices(model, l) {
  const out = [["effect", `predicted difference in ${predictorName(model, l)}`]];
  if (model.data.words.association) out.unshift(["association", `association with ${predictorName(model, l)} (z)`]);
  return out;
}

function yChoices(model) {
  const { words } = model.data;
  const out = [["frequency", "frequency"]];
  if (words.selects) out.unshift(["inclusion", "inclusion"]);
  if (words.why.evidence) out.unshift(["evidence", "screening statistic"]);
  return out;
}

/** Name of the quantity on the vertical axis. */
function upName(model) {
  return yChoices(model).find(([key]) => key === state.y)[1];
}

function wordX(model, v, l) {
  return state.x === "effect" ? wordEffect(model, v, l) : model.data.words.association[v * model.L + l];
}

function wordY(model, v) {
  const { words } = model.data;
  if (state.y === "evidence") return Math.log10(1 + words.why.evidence[v]);
  if (state.y === "frequency") return Math.log10(1 + words.count[v]);
  if (words.graded) return words.inclusion[v];
  // Only kept or dropped: two bands, with frequent words higher in each.
  return (words.kept[v] ? 1 : 0) + 0.28 * (Math.log10(1 + words.count[v]) / model.largestLog - 0.5);
}

function drawWords(model, root, width) {
  const { data } = model;
  const l = effectOn();
  if (!xChoices(model, l).some(([key]) => key === state.x)) state.x = xChoices(model, l)[0][0];
  // Start with inclusion if it is graded; if it is 0 or 1, with the screening statistic.
  if (!yChoices(model).some(([key]) => key === state.y)) {
    state.y = data.words.graded ? "inclusion" : yChoices(model)[0][0];
  }
  if (!model.largestLog) model.largestLog = Math.log10(1 + data.words.count.reduce((a, b) => Math.max(a, b), 1));
  const all = matchingWords(model);
  const strongest = strongestFirst(model, all, l);
  const shown = state.word ?? strongest[0] ?? null;
  const search = el("input", {
    type: "search", "data-key": "query", id: "query", value: state.query, placeholder: "a word, or part of one", autocomplete: "off", spellcheck: "false",
    oninput: (event) => update({ query: event.target.value }),
  });
  redraw(root, el("div", { class: "columns" },
    el("section", { class: "card" },
      el("h2", {}, "Words"),
      el("div", { class: "fields" },
        el("label", { class: "field", for: "query" }, el("span", {}, "Search"), search),
        select("Horizontal axis", state.x, xChoices(model, l), (x) => update({ x })),
        select("Vertical axis", state.y, yChoices(model), (y) => update({ y }))),
      wordMap(model, all, shown, l, inner(width, 1.3)),
      mapLegend(model, all, l),
      el("p", { class: "note" }, mapNote(data), data.stability ? " A dashed edge: the word is kept in less than half of the halves of the documents." : ""),
      wordList(model, strongest, shown, l)),
    shown === null ? card("Word", el("p", { class: "muted" }, "No word matches.")) : el("div", { class: "beside" }, wordCard(model, shown, l))));
}

/** The colours, and the number of words of each. */
function mapLegend(model, all, l) {
  const { selects } = model.data.words;
  const n = { up: 0, down: 0, even: 0, dropped: 0 };
  for (const v of all) n[wordKind(model, v, l)]++;
  return el("p", { class: "legend" }, el("span", { role: "status" }, `${format(all.length)} ${all.length === 1 ? "word" : "words"}${state.topic === null ? "" : ` of topic ${topicNumber(model.data, state.topic)}`}${state.query ? " found" : ""}: `),
    el("span", { class: "key up" }), ` ${format(n.up)} with a higher prediction, `, el("span", { class: "key down" }), ` ${format(n.down)} with a lower one`, n.even ? [", ", el("span", { class: "key even" }), ` ${format(n.even)} with nearly the same`] : null,
    selects || n.dropped ? [", ", el("span", { class: "key dropped" }), ` ${format(n.dropped)} ${selects ? "dropped" : "in no topic"}`] : null);
}

function wordKind(model, v, l) {
  return isKept(model, v) ? effectKind(model, v, l) : "dropped";
}

/** Definitions of the axes. */
function mapNote({ words, effects }) {
  const x = state.x === "effect" ? `Horizontal: the difference that a first occurrence of the word makes to the prediction${effects ? `, on average over ${effects.sample} of the documents` : ""}.`
    : "Horizontal: the association of the word with the target in the documents of this page, in standard errors (beyond ±2 is significant for a single word).";
  const y = { inclusion: "Vertical: the probability that the word is relevant.", frequency: "Vertical: occurrences in the documents of this page." }[state.y];
  return `${x} ${y || "Vertical: the screening statistic in the training documents; below the dashed line it is less than the cost of a word."}`;
}

function matchingWords(model) {
  const { names } = model.data.words;
  const query = state.query.toLowerCase();
  const out = [];
  for (let v = 0; v < names.length; v++) {
    if (query && !names[v].toLowerCase().includes(query) && !wordName(model, v).toLowerCase().includes(query)) continue;
    if (state.topic !== null) {
      // Words of a topic have a larger weight in it than in an average topic.
      const row = model.rowOf[v];
      if (row < 0) continue;
      let total = 0;
      for (let k = 0; k < model.K; k++) total += model.W[row * model.K + k] * model.average[k];
      if (model.W[row * model.K + state.topic] < total) continue;
    }
    out.push(v);
  }
  return out;
}

function isKept(model, v) {
  return model.rowOf[v] >= 0 && model.data.words.kept[v] > 0;
}

function wordMap(model, all, shown, l, width) {
  const { data } = model;
  const height = Math.round(Math.min(460, Math.max(300, width * 0.62)));
  const xs = all.map((v) => wordX(model, v, l));
  const ys = all.map((v) => wordY(model, v));
  const log = state.y === "evidence" || state.y === "frequency";
  const bands = state.y === "inclusion" && !data.words.graded;
  const across = xChoices(model, l).find(([key]) => key === state.x)[1];
  const yDomain = padded(extent(ys));
  const chart = frame({
    width, height,
    label: `${all.length} words by ${across} and ${upName(model)}; the list below has the largest values, the search finds all`,
    x: { domain: padded(extent(all.length ? [...extent(xs), 0] : [-1, 1])), label: across },
    y: bands ? { domain: [-0.3, 1.3], names: ["dropped", "kept"] }
      : { domain: yDomain, label: `${upName(model)}${log ? " (log scale)" : ""}`, ticks: log ? logTicks(yDomain) : undefined, format: log ? (t) => format(10 ** t - 1, 2) : undefined },
  });
  const { root, sx, sy, box } = chart;
  const groups = { dropped: [], even: [], down: [], up: [] };
  all.forEach((v, i) => groups[wordKind(model, v, l)].push([xs[i], ys[i]]));
  if (state.y === "evidence" && data.words.why.cost) {
    const y = sy(Math.log10(1 + data.words.why.cost));
    if (y > box.top && y < box.bottom) {
      root.append(svg("line", { class: "base", x1: box.left, x2: box.right, y1: y, y2: y }),
        svg("text", { class: "label", x: box.right - 4, y: y - 4, "text-anchor": "end" }, "cost of a word"));
    }
  }
  root.append(svg("line", { class: "zero", x1: sx(0), x2: sx(0), y1: box.top, y2: box.bottom }));
  for (const [kind, points] of Object.entries(groups)) root.append(svg("path", { class: `dots ${kind}`, d: dots(points, sx, sy) }));
  labelWords(model, all, shown, xs, ys, chart);
  const chosen = shown === null ? -1 : all.indexOf(shown);
  if (chosen >= 0) {
    const x = sx(xs[chosen]), y = sy(ys[chosen]);
    root.append(svg("circle", { class: "chosen", cx: x, cy: y, r: 6 }),
      svg("text", { class: "label strong", x: x > (box.left + box.right) / 2 ? x - 10 : x + 10, y: y - 8, "text-anchor": x > (box.left + box.right) / 2 ? "end" : "start" }, pointName(model, shown, 30)));
  }
  const surface = svg("rect", { class: "surface point", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top });
  const places = all.map((_, i) => [sx(xs[i]), sy(ys[i])]);
  surface.addEventListener("click", (event) => {
    const best = nearest(places, placeIn(root, event));
    if (best >= 0) update({ word: all[best] });
  });
  tipNearest(surface, root, places, (i) => wordTip(model, all[i], l));
  root.append(surface);
  return figure("Words", root, () => wordsData(model, all));
}

/** All numbers about the words shown. */
function wordsData(model, all) {
  const { data } = model, { words } = data;
  const names = data.predictors.map((p) => p.name);
  const head = ["word", "kept", "occurrences", "documents", ...names.map((n) => `difference in ${n}`), ...(words.association ? names.map((n) => `association with ${n} (z)`) : []), ...(words.why.evidence ? ["screening statistic"] : []), ...(halvesWith(model, 0) === null ? [] : ["kept in halves"])];
  return { head, rows: all.map((v) => [words.names[v], isKept(model, v) ? "yes" : "no", words.count[v], words.documents[v], ...names.map((_, l) => wordEffect(model, v, l)),
    ...(words.association ? names.map((_, l) => words.association[v * model.L + l]) : []), ...(words.why.evidence ? [words.why.evidence[v]] : []), ...(halvesWith(model, v) === null ? [] : [halvesWith(model, v)])]) };
}

/** Names of the outermost kept words that do not overlap. */
function labelWords(model, all, shown, xs, ys, { root, sx, sy, box }) {
  const most = box.right - box.left < 480 ? LABELLED / 2 : LABELLED;
  const order = all.map((_, i) => i).filter((i) => isKept(model, all[i]) && all[i] !== shown)
    .sort((a, b) => Math.abs(xs[b]) * (1 + ys[b]) - Math.abs(xs[a]) * (1 + ys[a]));
  const taken = [];
  let placed = 0;
  for (const i of order.slice(0, 200)) {
    if (placed >= most) break;
    const name = pointName(model, all[i], 22);
    const wide = name.length * 6.6 + 6;
    const right = xs[i] >= 0;
    let x = sx(xs[i]) + (right ? -6 : 6);
    const y = sy(ys[i]) + 4;
    const left = right ? x - wide : x;
    if (left < box.left || left + wide > box.right || y < box.top + 8) continue;
    if (taken.some((t) => left < t[0] + t[2] + 8 && left + wide + 8 > t[0] && Math.abs(y - t[1]) < 13)) continue;
    taken.push([left, y, wide]);
    placed++;
    root.append(svg("text", { class: "label", x, y, "text-anchor": right ? "end" : "start" }, name));
  }
}

/** The word searched for, then kept words, then dropped ones, by the size of their values. */
function strongestFirst(model, all, l) {
  const { names } = model.data.words;
  const exact = state.query.toLowerCase();
  const strength = new Map(all.map((v) => [v, Math.abs(wordX(model, v, l)) + (isKept(model, v) ? 1e6 : 0) + (exact && names[v].toLowerCase() === exact ? 1e9 : 0)]));
  return [...all].sort((a, b) => strength.get(b) - strength.get(a)).slice(0, LISTED);
}

function wordList(model, order, shown, l) {
  const { data } = model;
  return el("ul", { class: "plain chips", role: "list", "aria-label": "Words found, largest values first", "data-scroll": "words" }, order.map((v) => {
    const x = wordX(model, v, l);
    const kept = isKept(model, v);
    return el("li", {}, el("button", {
      type: "button", class: `chip ${wordKind(model, v, l)}${comesAndGoes(model, v) ? " unsure" : ""}`, "data-tip": wordTip(model, v, l), "data-key": `w-${v}`, "data-word": v, "aria-pressed": String(shown === v),
      "aria-label": `${data.words.names[v]}, ${kept ? "kept" : "dropped"}${comesAndGoes(model, v) ? " in less than half of the halves" : ""}, ${signed(x)}`,
      onclick: () => update({ word: v }),
    }, wordName(model, v), el("small", {}, signed(x, 2))));
  }));
}

function wordCard(model, v, l) {
  const { data } = model;
  const kept = isKept(model, v);
  const topics = wordTopics(model, v);
  const facts = [
    ["Status", kept ? "kept" : "dropped"],
    data.words.selects ? ["Inclusion", data.words.graded ? format(data.words.inclusion[v]) : kept ? "1" : "0"] : null,
    ["Occurrences", `${format(data.words.count[v])} in ${format(data.words.documents[v])} documents`],
    data.words.association ? ["Association (z)", signed(data.words.association[v * model.L + l], 2)] : null,
    halvesWith(model, v) === null ? null : ["Kept in halves of the documents", percent(halvesWith(model, v))],
    kept ? [data.words.effect ? "Difference of a first occurrence" : "Difference in the model", amountText(model, wordEffect(model, v, l), l)] : null,
  ].filter(Boolean);
  return el("section", { class: "card", id: "word-card" },
    el("h2", {}, wordName(model, v)),
    wordName(model, v) === data.words.names[v] ? null : el("p", { class: "muted path" }, data.words.names[v].split("|").join(" › ")),
    el("dl", { class: "facts" }, facts.map(([k, value]) => el("div", {}, el("dt", {}, k), el("dd", {}, value)))),
    el("h3", {}, kept ? "Why it was kept" : "Why it was dropped"), whyView(model, v), standIns(model, v),
    topics && el("table", { class: "mix" }, el("caption", {}, "Topics of its occurrences"),
      el("tbody", {}, topics.map((r, k) => [k, r]).sort((a, b) => b[1] - a[1]).slice(0, 6).map(([k, r]) => el("tr", {},
        el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => update({ topic: k, view: "topics" }) }, fitName(topicLabel(data, k), 36))),
        el("td", { class: "track" }, bar(0, r, [0, 1], "accent")), el("td", { class: "number" }, percent(r)))))),
    byTarget(model, v, l),
    data.documents.row.length ? el("p", {}, el("button", { type: "button", onclick: () => update({ word: v, view: "documents", doc: null }) }, "Documents with this word"),
      " ", dropButton(model, v)) : el("p", {}, dropButton(model, v)),
    el("p", { class: "narrow-only" }, el("button", { type: "button", onclick: () => document.getElementById("panel-words").scrollIntoView({ block: "start" }) }, "Back to all words")));
}

/** The button that adds a word to the corrections, or removes it. */
function dropButton(model, v) {
  const dropped = state.drop.includes(v);
  return isKept(model, v) || dropped ? el("button", { type: "button", "data-key": "drop-word", "aria-pressed": String(dropped), onclick: () => toggleDrop(model.data, v) }, dropped ? "Keep this word" : "Drop this word") : null;
}

/** The fraction of halves of the documents in which a word is kept; null where this was not checked. */
function halvesWith(model, v) {
  const { stability } = model.data;
  return stability ? stability.words.frequency[v] : null;
}

/** Whether the model keeps a word that less than half of the halves keep. */
function comesAndGoes(model, v) {
  const often = halvesWith(model, v);
  return often !== null && isKept(model, v) && often < 0.5;
}

/** Interchangeable words: other samples may keep one instead of the other. */
function standIns(model, v) {
  const { stability } = model.data;
  if (!stability) return null;
  const rows = stability.words.others.filter(([a, b]) => a === v || b === v).map(([a, b, either]) => [a === v ? b : a, either]);
  if (!rows.length) return null;
  return el("table", { class: "mix", id: "stand-ins" }, el("caption", {}, "Interchangeable words: they occur in the same documents, and either may be kept"),
    el("thead", {}, el("tr", {}, ["word", "kept in halves", "either of the two"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map(([u, either]) => el("tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => update({ word: u }) }, wordName(model, u))),
      el("td", { class: "number" }, percent(halvesWith(model, u))), el("td", { class: "number" }, percent(either))))));
}

/** Why a word was kept or dropped: in words, and as criteria with their costs. */
function whyView(model, v) {
  const { why } = model.data.words;
  const rows = why.evidence ? [["screening statistic", plainly(why.evidence[v]), plainly(why.cost)]] : [];
  return el("div", {}, el("p", { id: "why" }, whyText(model, v)),
    rows.length ? [table("Word-selection criteria", ["criterion", "value", "cost"], rows),
      el("p", { class: "note" }, "In units of a squared z score (twice a log likelihood ratio) of the association with the target.")] : null);
}

/** A screening statistic; decimals only for small ones. */
function plainly(x) {
  return fixed(x, x < 10 ? 1 : 0);
}

function whyText(model, v) {
  const { data } = model;
  const { why } = data.words;
  if (why.drop.includes(v)) return "It is on the list of words to drop.";
  if (why.keep.includes(v)) return "It is on the list of words to keep.";
  if (!data.words.selects) return model.rowOf[v] >= 0 ? "This model keeps every word." : "It is not in the training documents.";
  const kept = isKept(model, v);
  if (!kept && !data.words.trained[v]) return "It is not in the training documents.";
  if (data.words.graded || !why.evidence) {
    const share = format(data.words.inclusion[v], 2);
    return kept ? `Its inclusion is ${share}: it is more likely a word of the topics than of the background.` : `Its inclusion is ${share}: it is more likely a word of the background than of the topics.`;
  }
  const evidence = why.evidence[v], cost = why.cost;
  if (kept) {
    return evidence > cost
      ? "Its screening statistic exceeds the cost of a word, and is large enough for its frequency."
      : "Its screening statistic is at most the cost of a word; at least ten words are kept.";
  }
  if (evidence <= cost) return "Its screening statistic is below the cost of a word.";
  if (why.needed && why.needed[v] > evidence * 1.001) {
    return `Its screening statistic, ${plainly(evidence)}, is too small for its frequency: a word of this frequency needs at least ${plainly(why.needed[v])}.`;
  }
  return "Its screening statistic exceeds the cost of a word, but the fraction of tokens to keep was reached with other words.";
}

function byTarget(model, v, l) {
  const t = model.data.predictors[l].target;
  const given = model.data.words.by_target && model.data.words.by_target[t];
  if (!given) return null;
  const n = given.labels.length;
  const shares = given.labels.map((_, b) => (given.size[b] ? given.documents[v * n + b] / given.size[b] : 0));
  const most = Math.max(...shares, 1e-9);
  const target = model.data.targets[t];
  const names = target.labels && target.labels.length === n ? target.labels : given.labels;
  return el("table", { class: "mix", id: "by-target" }, el("caption", {}, `Documents with the word, by ${target.name}`),
    el("tbody", {}, names.map((name, b) => el("tr", {},
      el("th", { scope: "row" }, breakable(shorten(name, 24))), el("td", { class: "track" }, bar(0, shares[b], [0, most], "accent")),
      el("td", { class: "number" }, percent(shares[b])), el("td", { class: "number muted" }, `${format(given.documents[v * n + b])} of ${format(given.size[b])}`)))));
}

/** The name of a point; of a code without its kind and what is in brackets. */
function pointName(model, v, length) {
  const label = wordName(model, v), plain = plainName(label);
  return plain === label ? brief(label, length) : shorten(plain, length);
}
