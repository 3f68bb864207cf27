// ---- view 5: metrics, stability, the frontier, training curves and settings ----

function drawFit(model, root, width) {
  const { data } = model;
  const chartWidth = inner(width, 1);
  redraw(root, el("div", { class: "masonry" },
    figuresCard(model), stabilityCard(model), frontierCard(model, chartWidth), ...historyCards(model, chartWidth),
    card("Data", table("Data", null, Object.entries(data.fit.data).map(([k, v]) => [k, fixed(v, Number.isInteger(v) ? 0 : 1)]))),
    card("Settings", table("Settings", null, Object.entries(data.fit.settings)),
      Object.keys(data.fit.fitted).length ? [el("h3", {}, "Results of the fit"), table("Results of the fit", null, Object.entries(data.fit.fitted))] : null,
      el("p", { class: "note" }, `${data.model}, topicfocus ${data.package}.`))));
}

/** All results of a stability check. */
function stabilityCard(model) {
  const found = model.data.stability;
  if (!found) return null;
  const checks = stabilityColumns(model.data);
  return card("Stability", table("Stability", null, Object.entries(found.whole).map(([name, value]) => [name, shownValue(value)])),
    table("Stability of topics", ["topic", ...checks.map(([name]) => name)], found.topics.map((topic, k) => [topicLabel(model.data, k), ...checks.map(([, value]) => shownValue(value(topic)))]), { texts: [checks.length] }));
}

/** [name, function of a topic's results], one per column; none without a check. */
function stabilityColumns({ stability }) {
  if (!stability) return [];
  // Several classes have several differences.
  const difference = (topic) => [topic.difference].flat().map((mean, c) => `${signed(mean, 2)} (${fixed([topic.spread].flat()[c], 2)})`).join(", ") || null;
  return [["cosine", (topic) => topic.cosine], ["replicates", (topic) => topic.same], ["difference in halves, mean (standard deviation)", difference],
    ["words that replicate", (topic) => topic.returning.join(" ") || "none"]];
}

/** Metrics that are fractions of documents. */
const SHARES = ["accuracy", "in the 80% interval"];

function figuresCard(model) {
  const { data } = model;
  const parts = [];
  data.targets.forEach((target, t) => {
    const found = data.evaluation[t];
    if (!found) return;
    const names = Object.keys(found.figures["this model"]);
    const rows = Object.entries(found.figures);
    const shown = (name, value) => (value === undefined ? "–" : SHARES.includes(name) ? percent(value) : fixed(value, decimalsOf(rows.map(([, row]) => row[name]))));
    parts.push(data.targets.length > 1 ? el("h3", {}, target.name) : null,
      table(`Metrics of ${target.name}`, ["model", ...names], rows.map(([name, row]) => [name, ...names.map((n) => shown(n, row[n]))])),
      el("p", { class: "note" }, `${format(found.n)} documents. ` + (data.held_out
        ? "The model was not fitted to them."
        : "They may include training documents, on which metrics are better than on new documents.")
        + (target.whole || target.kind === "ordinal" ? " Intervals end at whole numbers or levels, and contain more than 80% if these are small or few." : "")));
  });
  return card("Metrics", parts.length ? parts : el("p", { class: "muted" }, "The documents of this page have no target."), completenessNote(model));
}

/** The completeness of the topics. */
function completenessNote(model) {
  const found = model.data.completeness;
  if (!found || found.share === null) return null;
  if (!model.data.remainder) return el("p", { class: "note", id: "completeness" }, "A remainder of all words and pairs of words did not predict validation documents better than the topics alone, so the model has none.");
  return el("p", { class: "note", id: "completeness" }, `Completeness: the topics capture ${percent(found.share)} ± ${percent(found.error)} of the deviance that the text explains (${found.documents} documents; deviance explained: ${fixed(found.topics, 3)} by the topics, ${fixed(found.both, 3)} with the remainder).`);
}

/** Training curves: axis, title, note, and the smallest range of the axis. */
const CURVES = {
  objective: { axis: "objective", title: "Training: objective", note: "The function that the fit maximises." },
  validation: { axis: "deviance explained", title: "Training: validation documents", note: "The fraction of the deviance of the target that is explained in the validation documents.", span: 0.1 },
  kept_words: { axis: "words kept", title: "Training: words kept", note: "", zero: true },
};

/** Whether a curve varies by more than `share` of its size. */
function changes(values, share) {
  const known = values.filter((v) => v !== null);
  const [low, high] = extent(known);
  return new Set(known).size > 1 && high - low > share * Math.max(Math.abs(low), Math.abs(high));
}

function historyCards(model, width) {
  const { history } = model.data.fit;
  const epochs = history.epoch || [];
  return Object.keys(CURVES).filter((name) => history[name] && history[name].filter((v) => v !== null).length > 1 && changes(history[name], name === "kept_words" ? 0.02 : 0))
    .map((name) => {
      const { axis, title, note, span, zero } = CURVES[name];
      const jumps = name === "objective" && model.data.roots ? " At a jump, the model is refitted to all documents, after all choices on validation documents." : "";
      return card(title, figure(title, lineChart({
        width, height: Math.round(width * 0.55), label: `${axis} over ${epochs.length} steps`, x: "step", y: axis, span, zero,
        points: history[name].map((v, i) => [i + 1, v]),
      }), () => ({ head: ["step", axis], rows: history[name].map((v, i) => [i + 1, v]) })), note + jumps ? el("p", { class: "note" }, note + jumps) : null);
    });
}

/** Names of the metrics of a search; others keep their own. */
const FIGURES = { score_se: "±", inclusion: "fraction of tokens kept", smoothed_pmi: "smoothed PMI", jaccard: "same words", nogueira: "Nogueira's index" };
const SETTINGS = { n_topics: "topics", inclusion_prior: "inclusion prior" };
const frontierName = (name) => SETTINGS[name] || FIGURES[name] || name;

/** The settings of a search: one line per number of topics, over inclusion priors; or over numbers of topics. */
function frontierCard(model, width) {
  const rows = model.data.fit.frontier;
  if (!rows || !rows.length) return null;
  const tried = [...new Set(rows.map((r) => r.n_topics))];
  const by = tried.length > 1 && tried.length === rows.length ? "n_topics" : "inclusion_prior";
  const settings = Object.keys(SETTINGS).filter((n) => n === by || (rows.some((r) => n in r) && (n !== "n_topics" || tried.length > 1)));
  const names = [...new Set(rows.flatMap(Object.keys))].filter((name) => !(name in SETTINGS));
  const figures = names.filter((n) => n !== "score_se");
  const chosen = figures.includes(state.figure) ? state.figure : figures[0];
  const own = by === "n_topics" ? model.K : Number.parseFloat(model.data.fit.fitted["inclusion prior"]);
  const mine = by === "n_topics" || !tried.includes(model.K) ? tried : [model.K];
  const error = (r) => (chosen === "score" ? r.score_se || 0 : 0);
  const points = (some) => rows.filter((r) => some.includes(r.n_topics)).map((r) => [r[by], r[chosen] ?? null, error(r)]);
  const others = tried.filter((k) => !mine.includes(k));
  const decimals = Object.fromEntries(names.map((n) => [n, decimalsOf(rows.map((r) => r[n]))]));
  if ("score_se" in decimals) decimals.score_se = Math.max(decimals.score, 3);
  const head = [...settings, ...names].map(frontierName);
  const isOwn = (r) => mine.includes(r.n_topics) && Math.abs(r[by] - own) <= 2e-3 * own; // the page has three digits of it
  return card("Frontier",
    el("p", {}, by === "n_topics" ? "Metrics by number of topics." : "Metrics by inclusion prior, the fraction of tokens to keep.",
      Number.isFinite(own) ? " The dashed line is this model." : "", others.length ? ` In grey: ${others.join(", ")} topics.` : "",
      rows.some(error) ? " Bars: one standard error over folds in each direction." : ""),
    select("Metric", chosen, figures.map((n) => [n, frontierName(n)]), (figure) => update({ figure })),
    figure("Frontier", lineChart({
      width, height: Math.round(width * 0.55), label: `${frontierName(chosen)} by ${frontierName(by)}`, x: frontierName(by), y: frontierName(chosen), marks: true, at: Number.isFinite(own) ? own : null,
      points: points(mine), others: others.map((k) => [`${k} topics, `, points([k])]),
    }), () => ({ head, rows: rows.map((r) => [...settings, ...names].map((n) => r[n])) })),
    table("Frontier", head, rows.map((r) => [...settings.map((n) => format(r[n])), ...names.map((n) => fixed(r[n], decimals[n]))]), { strong: (r) => isOwn(rows[r]) }));
}
