// ---- view 3: predictions against targets, and each document explained ----

const PAGE = 20;
const ORDERS = { instructive: "examples first", given: "in the order of the data", error: "largest error first", high: "highest prediction first", low: "lowest prediction first" };

function isClass(target) {
  return target.kind === "bernoulli" || target.kind === "categorical";
}

/** Whether all classes are looked at, not one. */
function anyClass(target) {
  return target.kind === "categorical" && state.predictor === null;
}

/** The class predicted for document d. */
function predictedClass(model, d, t) {
  const n = model.data.targets[t].labels.length, p = model.data.documents.mean[t].subarray(d * n, (d + 1) * n);
  return p.indexOf(Math.max(...p));
}

/** The point of document d: its prediction and its target. */
function documentPoint(model, d, l) {
  const { data } = model;
  const t = data.predictors[l].target;
  const target = data.targets[t];
  const actual = data.documents.actual ? data.documents.actual[t][d] : null;
  if (isClass(target)) {
    const classes = target.labels.length;
    const c = target.kind === "bernoulli" ? 1 : anyClass(target) ? predictedClass(model, d, t) : l - target.first;
    return [data.documents.mean[t][d * classes + c], actual];
  }
  const value = actual !== null && target.kind === "ordinal" ? target.levels[actual] : actual;
  return [data.documents.mean[t][d], value];
}

/** Half the width of the strips in which documents with the same target are drawn; 0 for other targets. */
function stripWidth(model, l) {
  const { data } = model;
  const t = data.predictors[l].target;
  if (isClass(data.targets[t])) return 0.36;
  const known = (data.documents.actual ? data.documents.actual[t] : []).filter((v) => v !== null), often = new Map();
  for (const v of known) often.set(v, (often.get(v) || 0) + 1);
  // Ignore rare values between the usual ratings.
  const least = often.size > 24 ? Math.max(2, 0.02 * known.length) : 1;
  const values = [...often.keys()].filter((v) => often.get(v) >= least);
  const covered = values.reduce((sum, v) => sum + often.get(v), 0);
  if (values.length < 2 || values.length > 24 || known.length < 4 * values.length || covered < 0.7 * known.length) return 0;
  const places = values.map((v) => (data.targets[t].kind === "ordinal" ? data.targets[t].levels[v] : v)).sort((a, b) => a - b);
  return 0.36 * Math.min(...places.slice(1).map((v, i) => v - places[i]));
}

/** The place of document d in its strip, from -1 to 1, always the same. */
function jitter(d) {
  return 2 * (((d * 2654435761) % 1000) / 1000 - 0.5);
}

/** The box of a brush, extended to whole strips. */
function wholeStrips(model, l, box) {
  const half = stripWidth(model, l);
  if (!half || !box) return box;
  const inside = model.data.documents.row.map((_, d) => documentPoint(model, d, l)[1]).filter((y) => y !== null && y + half >= box[2] && y - half <= box[3]);
  return inside.length ? [box[0], box[1], Math.min(...inside) - half, Math.max(...inside) + half] : box;
}

function actualText(model, d, t) {
  const { data } = model;
  const actual = data.documents.actual ? data.documents.actual[t][d] : null;
  if (actual === null) return "not known";
  const target = data.targets[t];
  return target.labels ? target.labels[actual] : format(actual, 4);
}

/** The prediction in a list: of classes the one chosen, else the most probable. */
function predictedText(model, d, l) {
  const t = model.data.predictors[l].target, target = model.data.targets[t];
  const means = model.data.documents.mean[t];
  if (target.kind === "categorical" && state.predictor === null) {
    const c = predictedClass(model, d, t);
    return `${percent(means[d * target.labels.length + c])} ${target.labels[c]}`;
  }
  const [x] = documentPoint(model, d, l);
  return isClass(target) ? `${percent(x)} ${predictorName(model, l)}` : fixed(x, decimalsOf(Array.from(means)));
}

function listedDocuments(model, l) {
  const { data } = model;
  const n = data.documents.row.length;
  let out = Array.from({ length: n }, (_, d) => d);
  if (state.box) {
    const [x0, x1, y0, y1] = state.box;
    out = out.filter((d) => {
      const [x, y] = documentPoint(model, d, l);
      return x >= x0 && x <= x1 && (y === null || (y >= y0 && y <= y1));
    });
  }
  if (state.word !== null) out = out.filter((d) => documentCounts(data, d).has(state.word));
  if (state.order === "instructive" && state.topic === null) return instructive(model, out, l).map(({ d }) => d);
  if (state.order !== "given" && state.order !== "instructive") {
    const key = Object.fromEntries(out.map((d) => [d, state.order === "error" ? documentError(model, d, l) : (state.order === "low" ? -1 : 1) * documentPoint(model, d, l)[0]]));
    out.sort((a, b) => key[b] - key[a]);
  } else if (state.topic !== null) out.sort((a, b) => data.documents.composition[b * model.K + state.topic] - data.documents.composition[a * model.K + state.topic]);
  return out;
}

/** Large errors, certain and correct predictions and typical documents of the topics first: [{d, why}]. */
function instructive(model, list, l) {
  const { data } = model;
  const found = new Map();
  const take = (some, why) => some.forEach((d) => { if (!found.has(d)) found.set(d, why); });
  if (data.documents.actual) {
    const error = new Map(list.map((d) => [d, documentError(model, d, l)]));
    // Documents with one or two relevant words are no examples of what the model does.
    const known = list.filter((d) => error.get(d) >= 0 && relevantWords(model, d) >= 3).sort((a, b) => error.get(b) - error.get(a));
    take(known.slice(0, 3), "largest errors");
    take(certain(model, known, l).slice(0, 3), "certain and correct");
  }
  const topics = topicOrder(model, l).slice(0, 12);
  for (const k of topics) {
    take(typicalDocuments(model, k, list).slice(0, 1), `typical of topic ${fitName(topicLabel(data, k), 34)}`);
  }
  take(list, "");
  return [...found].map(([d, why]) => ({ d, why }));
}

/** Different words of document d that topics contain. */
function relevantWords(model, d) {
  if (!model.relevant) {
    model.relevant = model.data.documents.row.map((_, i) => {
      let n = 0;
      for (const v of documentCounts(model.data, i).keys()) if (model.rowOf[v] >= 0) n++;
      return n;
    });
  }
  return model.relevant[d];
}

/** Of documents by error, largest first: those that are right, the most certain first. */
function certain(model, known, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  const right = known.slice(Math.floor(known.length * 0.75)).reverse();
  if (isClass(target)) return right;
  const values = known.map((d) => documentPoint(model, d, l)[0]), middle = values.reduce((a, b) => a + b, 0) / Math.max(values.length, 1);
  return right.sort((a, b) => Math.abs(documentPoint(model, b, l)[0] - middle) - Math.abs(documentPoint(model, a, l)[0] - middle));
}

/** The absolute error of a prediction; for a class, 1 - P(actual class). */
function documentError(model, d, l) {
  const { data } = model;
  const t = data.predictors[l].target, target = data.targets[t];
  const actual = data.documents.actual ? data.documents.actual[t][d] : null;
  if (actual === null) return -1;
  if (isClass(target)) return 1 - data.documents.mean[t][d * target.labels.length + actual];
  const [predicted, value] = documentPoint(model, d, l);
  return Math.abs(predicted - value);
}

function drawDocuments(model, root, width) {
  const { data } = model;
  const l = effectOn();
  if (!data.documents.row.length) {
    redraw(root, card("Documents", el("p", { class: "muted" }, "No documents were given when this page was made. Under Try it you can type one.")));
    return;
  }
  const list = listedDocuments(model, l);
  const chosen = state.doc ?? list[0] ?? 0;
  const classes = isClass(data.targets[data.predictors[l].target]);
  const t = data.predictors[l].target;
  redraw(root, [
    el("div", { class: "columns" },
      el("div", {}, card("Predicted and actual", scatterView(model, list, chosen, l, inner(width, 1.3))), documentList(model, list, chosen, l)),
      el("div", { class: "beside" }, documentCard(model, chosen, l))),
    el("div", { class: "columns even" }, curves(model, l, inner(width, 1)), classes ? confusionCard(model, t, inner(width, 1)) : null),
  ]);
}

function scatterView(model, list, chosen, l, width) {
  const { data } = model;
  const t = data.predictors[l].target;
  const target = data.targets[t];
  const classes = isClass(target);
  const n = data.documents.row.length;
  const points = Array.from({ length: n }, (_, d) => documentPoint(model, d, l));
  const known = points.some((p) => p[1] !== null);
  const strip = stripWidth(model, l);
  const across = padded(extent(points.map((p) => p[0])), 0.03), up = padded(extent(points.flatMap((p) => (p[1] === null ? [] : [p[1] - strip, p[1] + strip]))), 0.03);
  // One scale for both, unless predictions would shrink to a stripe (counts with a few large ones).
  const stripe = across[1] - across[0] < 0.4 * (up[1] - up[0]);
  const both = [Math.min(across[0], up[0]), Math.max(across[1], up[1])];
  const xDomain = known && !stripe ? both : across, yDomain = !known ? [0, 1] : stripe ? up : both;
  const height = Math.round(classes ? clamp(60 + 54 * target.labels.length, 190, 420) : Math.min(430, width * 0.72));
  const chart = frame({
    width, height,
    label: `Predicted and actual ${target.name} of ${n} documents; the fields below choose among them as dragging does`,
    x: { domain: classes ? [-0.02, 1.02] : xDomain, label: classes ? `predicted probability of ${anyClass(target) ? "the predicted class" : predictorName(model, l)}` : `predicted ${target.name}` },
    y: classes ? { domain: [-0.6, target.labels.length - 0.4], names: target.labels } : { domain: yDomain, label: known ? `actual ${target.name}` : "" },
  });
  const { root, sx, sy, box } = chart;
  const from = Math.max(xDomain[0], yDomain[0]), to = Math.min(xDomain[1], yDomain[1]);
  if (!classes && known && from < to) root.append(svg("line", { class: "base", x1: sx(from), y1: sy(from), x2: sx(to), y2: sy(to) }));
  const inside = new Set(list);
  const places = points.map(([x, y], d) => [sx(x), y === null ? (box.top + box.bottom) / 2 : sy(y + strip * jitter(d))]);
  const order = places.map((_, d) => d).filter((d) => d !== chosen).concat(chosen);
  const wrong = (d) => classes && data.documents.actual && data.documents.actual[t][d] !== null && predictedClass(model, d, t) !== data.documents.actual[t][d];
  for (const d of order) {
    root.append(svg("circle", { class: `doc-dot ${d === chosen ? "chosen" : !inside.has(d) ? "out" : wrong(d) ? "wrong" : ""}`, cx: places[d][0], cy: places[d][1], r: d === chosen ? 6 : 3.2 }));
  }
  const said = (d) => `${documentTitle(model, d)}: predicted ${predictedText(model, d, l)}, actual ${actualText(model, d, t)}. ${documentSnippet(model, d, 80)}`;
  const surface = brush(chart, state.box, (found, event) => {
    // Explain the first of the documents selected.
    if (found) { update({ box: wholeStrips(model, l, found), doc: null }); return; }
    const best = nearest(places, placeIn(root, event), 15);
    if (best >= 0) update({ doc: best });
    else if (state.box) update({ box: null, doc: null });
  });
  tipNearest(surface, root, places, said);
  const title = `Predicted and actual ${target.name}`;
  return [figure(title, root, () => ({
    head: ["document", "predicted", "actual", ...(classes ? [anyClass(target) ? "probability" : `probability of ${predictorName(model, l)}`] : [])],
    rows: points.map((p, d) => [documentTitle(model, d), classes ? predictedText(model, d, l) : p[0], actualText(model, d, t), ...(classes ? [p[0]] : [])]),
  })), classes && data.documents.actual ? el("p", { class: "legend" }, el("span", { class: "key down" }), " correct prediction ", el("span", { class: "key up" }), " wrong prediction") : null, rangeFields(model, l, chart.sx.domain, chart.sy.domain, classes)];
}

/** The brush as fields, for the keyboard. */
function rangeFields(model, l, xs, ys, classes) {
  const value = (i) => (state.box ? Number(state.box[i].toPrecision(4)) : "");
  const field = (name, i) => el("label", { class: "field small" }, el("span", {}, name), el("input", {
    type: "number", step: "any", "data-key": `box-${i}`, value: value(i), onchange: (event) => {
      const box = state.box ? [...state.box] : [xs[0], xs[1], ys[0], ys[1]];
      const missing = [xs[0], xs[1], ys[0], ys[1]][i];
      box[i] = event.target.value === "" ? missing : Number(event.target.value);
      update({ box, doc: null });
    },
  }));
  return el("div", {},
    el("p", { class: "note screen" }, "Drag over the plot to select documents, or enter ranges:"),
    el("div", { class: "fields" }, field("predicted from", 0), field("to", 1),
      classes ? null : [field("actual from", 2), field("to", 3)],
      el("button", { type: "button", disabled: !state.box, onclick: () => update({ box: null, doc: null }) }, "All documents")));
}

function documentList(model, list, chosen, l) {
  const { data } = model;
  const t = data.predictors[l].target;
  const pages = Math.max(1, Math.ceil(list.length / PAGE));
  const page = Math.min(state.page, pages - 1);
  const shown = list.slice(page * PAGE, (page + 1) * PAGE);
  const why = state.order === "instructive" && state.topic === null ? new Map(instructive(model, list, l).map((e) => [e.d, e.why])) : new Map();
  return laterCard("Documents",
    el("div", { class: "fields" }, select("Order", state.order, Object.entries(ORDERS).filter(([key]) => key !== "error" || data.documents.actual)
      .map(([key, name]) => [key, (key === "given" || key === "instructive") && state.topic !== null ? `highest proportion of topic ${topicNumber(data, state.topic)} first` : name]), (order) => update({ order, doc: null }))),
    el("p", { role: "status", id: "found" }, `${list.length} of ${data.documents.row.length} documents`),
    state.word !== null && !data.documents.all_words && model.rowOf[state.word] < 0
      ? el("p", { class: "note" }, "The page has only the words in topics of these documents, which are long.") : null,
    el("ul", { class: "plain docs tall", role: "list", "data-scroll": "docs", tabindex: 0, "aria-label": "Documents found" }, shown.map((d) => el("li", {}, el("button", {
      type: "button", class: "doc", "data-key": `doc-${d}`, "data-doc": d, "aria-pressed": String(d === chosen), onclick: () => update({ doc: d }),
    }, el("strong", {}, documentTitle(model, d)), el("small", {}, ` predicted ${predictedText(model, d, l)}, actual ${actualText(model, d, t)}`), why.get(d) ? el("em", { class: "tag" }, why.get(d)) : null, el("span", {}, documentSnippet(model, d)))))),
    pages > 1 ? el("div", { class: "fields" },
      el("button", { type: "button", "data-key": "back", disabled: page === 0, onclick: () => update({ page: page - 1 }) }, "Back"),
      el("span", {}, `${page + 1} of ${pages}`),
      el("button", { type: "button", "data-key": "next", disabled: page >= pages - 1, onclick: () => update({ page: page + 1 }) }, "Next")) : null);
}

/** The terms of the remainder in document d, as far as the page has its text or all its counts. */
function remainderTermsOf(model, d) {
  const { data } = model;
  if (!data.remainder.names) return data.documents.all_words ? remainderOf(model, documentCounts(data, d)).terms : [];
  const text = data.reading.text ? documentText(data, d) : null;
  return text === null ? [] : remainderOf(model, remainderCounts(model, spansOf(text, data.reading))).terms;
}

function documentGiven(model, d) {
  const { data } = model;
  const row = (values, width) => Array.from(values.slice(d * width, (d + 1) * width));
  const given = { offset: row(data.documents.offset, model.L) };
  if (data.covariates && data.documents.covariates) given.covariates = row(data.documents.covariates, data.covariates.names.length);
  if (data.remainder && data.documents.remainder) {
    given.remainder = { amounts: row(data.documents.remainder, model.L), terms: remainderTermsOf(model, d) };
  }
  return given;
}

/** The whole text of document d with its words shaded, or its words where the page has no text. */
function documentWords(model, d, found, l) {
  const { data } = model, text = documentText(data, d);
  if (text !== null && data.reading.text) {
    const spans = spansOf(text, data.reading);
    return shadedText(model, text, spans, termsOf(model, spans), found, l);
  }
  return [shadedCodes(model, found, l), text === null ? null : el("details", { class: "more" }, el("summary", {}, "Original text"), el("p", { class: "shaded" }, text))];
}

function documentCard(model, d, l) {
  const { data } = model;
  const t = data.predictors[l].target;
  const target = data.targets[t];
  const found = predictCounts(model, documentCounts(data, d), documentGiven(model, d));
  const actual = data.documents.actual ? data.documents.actual[t][d] : null;
  const explained = explainedPredictor(model, found);
  const shownActual = actual !== null && target.kind === "ordinal" ? target.levels[actual] : actual;
  return el("section", { class: "card", id: "document" }, el("h2", {}, documentTitle(model, d)),
    responseView(model, target, found.targets[t], shownActual, explained), fewWords(model, found, false),
    legend(model, explained),
    el("div", { class: "text tall-text", tabindex: 0, role: "region", "aria-label": "Text of the document", "data-scroll": "text" }, documentWords(model, d, found, explained)),
    data.documents.texts && documentText(data, d) === null ? el("p", { class: "note" }, "The text does not fit into this page; these are its words in topics.") : null,
    waterfall(model, found, explained), compositionView(model, found),
    el("p", { class: "screen" }, el("button", { type: "button", onclick: () => { startWith(model, d); update({ view: "try" }); } }, "Edit in Try it")),
    el("p", { class: "narrow-only" }, el("button", { type: "button", onclick: () => document.getElementById("panel-documents").scrollIntoView({ block: "start" }) }, "Back to all documents")));
}

function curves(model, l, width) {
  const { data } = model;
  const t = data.predictors[l].target;
  const target = data.targets[t];
  const found = data.evaluation[t];
  if (!found) return null;
  const classes = isClass(target), any = anyClass(target);
  const c = target.kind === "bernoulli" ? 1 : classes ? l - target.first : 0;
  const height = Math.round(Math.min(340, width * 0.8));
  const parts = [];
  if (classes && !any) {
    const curve = found.roc[c];
    const chart = frame({ width, height, label: `ROC curve, area ${format(curve.auc)}`, x: { domain: [0, 1], label: "false positive rate" }, y: { domain: [0, 1], label: "true positive rate" } });
    chart.root.append(svg("line", { class: "base", x1: chart.sx(0), y1: chart.sy(0), x2: chart.sx(1), y2: chart.sy(1) }),
      svg("path", { class: "line", id: "roc", d: path(curve.x.map((x, i) => [x, curve.y[i]]), chart.sx, chart.sy) }));
    parts.push(card(`ROC: ${predictorName(model, l)}`, el("p", {}, "Area under the curve ", el("strong", {}, format(curve.auc)), ` over ${format(found.n)} documents: the probability that a document of the class has a higher prediction than a document of another class.`),
      figure(`ROC of ${predictorName(model, l)}`, chart.root, () => ({ head: ["false positive rate", "true positive rate"], rows: curve.x.map((x, i) => [x, curve.y[i]]) }))));
  }
  const k = any ? found.certainty : found.calibration[c];
  // A rare class has only small probabilities: the axes end at the largest.
  const both = classes ? [0, clamp(1.1 * Math.max(...k.x, ...k.high), 0.02, 1)] : padded(extent([...k.x, ...k.low, ...k.high]));
  const chart = frame({ width, height, label: "Calibration: mean target by deciles of the predictions", x: { domain: both, label: any ? "mean probability of the predicted class" : "mean prediction" }, y: { domain: both, label: any ? "fraction predicted correctly" : classes ? `fraction of ${predictorName(model, l)}` : `mean ${target.name}` } });
  chart.root.append(svg("line", { class: "base", x1: chart.sx(both[0]), y1: chart.sy(both[0]), x2: chart.sx(both[1]), y2: chart.sy(both[1]) }));
  k.x.forEach((x, i) => chart.root.append(
    svg("line", { class: "interval accent", x1: chart.sx(x), x2: chart.sx(x), y1: chart.sy(clamp(k.low[i], ...both)), y2: chart.sy(clamp(k.high[i], ...both)) }),
    svg("circle", { class: "accent", cx: chart.sx(x), cy: chart.sy(k.y[i]), r: 5, "data-tip": `${format(k.n[i])} documents: predicted ${format(x)} on average, observed ${format(k.y[i])} (95% interval ${format(k.low[i])} to ${format(k.high[i])})` })));
  parts.push(card("Calibration", el("p", {}, `Deciles of ${format(found.n)} ${data.held_out ? "held-out " : ""}documents by prediction, with 95% intervals; on the dashed line predictions are correct on average.`),
    figure(`Calibration of ${any ? "the predicted class" : predictorName(model, l)}`, chart.root, () => ({ head: ["mean prediction", "observed", "95% low", "95% high", "documents"], rows: k.x.map((x, i) => [x, k.y[i], k.low[i], k.high[i], k.n[i]]) }))));
  return parts;
}
