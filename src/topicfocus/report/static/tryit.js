// ---- view 4: type a document, remove words, and see the prediction ----

const NEAREST = 5;

function tryGiven(model) {
  const { data } = model;
  const given = { offset: [...data.intercept] };
  data.targets.forEach((target) => { if (target.kind === "poisson") given.offset[target.first] += Math.log(state.exposure ?? 1); });
  if (data.covariates) given.covariates = state.covariates ?? exampleCovariates(model) ?? data.covariates.typical;
  return given;
}

/** The covariates of the example while it is shown; editing its text keeps them. */
function exampleCovariates(model) {
  const d = tryExample(model);
  return d === null ? null : documentGiven(model, d).covariates ?? null;
}

/** The text: the example (report/documents.py) until something else is entered. */
function tryText(model) {
  const { documents } = model.data;
  if (state.text !== null) return state.text;
  return (documents.example !== null && documentText(model.data, documents.example)) || "";
}

function tryCodes(model) {
  const { documents } = model.data;
  if (state.codes !== null) return state.codes;
  return documents.example !== null ? [...documentCounts(model.data, documents.example)] : [];
}

/** The document of the sample that is shown unchanged, or null. */
function tryExample(model) {
  return (model.data.reading.text ? state.text : state.codes) === null && model.data.documents.example !== null
    && (!model.data.reading.text || documentText(model.data, model.data.documents.example) !== null) ? model.data.documents.example : null;
}

/** The prediction with the remaining words, and with all of them; computed once for each change. */
function tryResult(model) {
  const text = model.data.reading.text;
  const entered = text ? tryText(model) : tryCodes(model);
  const key = JSON.stringify([entered, state.off, state.exposure, state.covariates]);
  if (model.tried && model.tried.key === key) return model.tried;
  const given = tryGiven(model), off = new Set(state.off);
  const now = (without) => (text ? predictText(model, entered, given, without)
    : predictCounts(model, new Map(entered.filter(([v]) => !without.includes(v))), given));
  model.tried = { key, entered, found: now([...off]), whole: off.size ? now([]) : null };
  return model.tried;
}

function toggleOff(i) {
  update({ off: state.off.includes(i) ? state.off.filter((j) => j !== i) : [...state.off, i] });
}

function drawTry(model, root, width) {
  const { data } = model;
  const input = data.reading.text ? textInput(model) : codeInput(model);
  redraw(root, el("div", { class: "columns" },
    el("div", {}, card("Try it", input, extraInputs(model)), el("div", { id: "try-words" }, tryWords(model))),
    el("div", { id: "try-result" }, tryOutput(model))));
}

function exampleNote(model) {
  const d = tryExample(model);
  if (d === null) return null;
  const actual = model.data.targets.map((target, t) => (model.data.documents.actual ? `${target.name}${isClass(target) ? ":" : ""} ${actualText(model, d, t)}` : "")).filter(Boolean).join(", ");
  return el("p", { class: "note", id: "example" }, `Example: ${documentTitle(model, d)}${actual ? ` (actual ${actual})` : ""}. Edit it, or ${model.data.reading.text ? "type" : "choose"} your own.`);
}

function textInput(model) {
  const { data } = model;
  const area = el("textarea", {
    id: "try-text", "data-key": "try-text", rows: 7, placeholder: "Type or paste a document …", spellcheck: "false",
    oninput: (event) => update({ text: event.target.value, off: [], covariates: state.covariates ?? exampleCovariates(model) }),
  });
  area.value = tryText(model);
  return [el("div", { class: "from-example" }, exampleNote(model)), el("label", { class: "field wide", for: "try-text" }, el("span", {}, "Your text"), area),
    data.reading.note ? el("p", { class: "note" }, data.reading.note) : null, el("div", { id: "try-start" }, startFrom(model)),
    el("p", { class: "note" }, "The prediction is computed in this page; nothing is sent.")];
}

function startFrom(model) {
  const { data } = model;
  const clear = el("button", { type: "button", onclick: () => update({ text: "", codes: [], covariates: null }) }, "Clear");
  if (!data.documents.row.length) return el("div", { class: "fields" }, clear);
  return el("div", { class: "fields" }, clear,
    el("button", { type: "button", onclick: () => startWith(model, Math.floor(Math.random() * data.documents.row.length)) }, "Another document"),
    state.doc !== null ? el("button", { type: "button", onclick: () => startWith(model, state.doc) }, `${shorten(documentTitle(model, state.doc), 24)}`) : null,
    tryExample(model) === null ? el("button", { type: "button", onclick: () => update({ text: null, codes: null, covariates: null }) }, "The example") : null);
}

/** Start with document d, and with its covariates. */
function startWith(model, d) {
  const { data } = model, text = data.reading.text ? documentText(data, d) : null, counts = [...documentCounts(data, d)];
  const words = () => counts.map(([v, n]) => Array(Math.round(n)).fill(data.words.names[v]).join(" ")).join(" ");
  const { covariates = null } = documentGiven(model, d);
  update({ covariates, ...(data.reading.text ? { text: text ?? words() } : { codes: counts }) });
}

/** A list to choose words from, if the page cannot split text: codes of a health record, for example. */
function codeInput(model) {
  const { data } = model;
  const codes = tryCodes(model);
  const add = (v) => update({ covariates: state.covariates ?? exampleCovariates(model), codes: [...codes.filter(([w]) => w !== v), [v, (new Map(codes).get(v) || 0) + 1]] });
  const suggestions = el("ul", { class: "plain chips", role: "list", id: "suggestions", "aria-label": "Matching entries" });
  const suggest = () => {
    const query = box.value.toLowerCase();
    model.tryQuery = box.value;
    const found = [];
    for (let v = 0; v < data.words.names.length && query; v++) if (data.words.names[v].toLowerCase().includes(query) || wordName(model, v).toLowerCase().includes(query)) found.push(v);
    found.sort((a, b) => data.words.count[b] - data.words.count[a]);
    suggestions.replaceChildren(...found.slice(0, 16).map((v) => el("li", {}, el("button", {
      type: "button", class: `chip ${model.rowOf[v] >= 0 ? "" : "dropped"}`, "data-word": v, "data-tip": wordTip(model, v, effectOn()), onclick: () => add(v),
    }, wordName(model, v)))));
  };
  const box = el("input", {
    type: "search", id: "try-code", "data-key": "try-code", value: model.tryQuery || "", autocomplete: "off", spellcheck: "false", placeholder: "part of a name", oninput: suggest,
    onkeydown: (event) => {
      const first = suggestions.querySelector("button");
      if (event.key === "Enter" && first) { event.preventDefault(); add(Number(first.dataset.word)); }
    },
  });
  suggest();
  return [
    data.reading.note ? el("p", { class: "note" }, `${data.reading.note} Choose ${terms(model)} from the list instead.`) : null, exampleNote(model),
    el("label", { class: "field wide", for: "try-code" }, el("span", {}, "Add to the document (Enter takes the first)"), box), suggestions, startFrom(model)];
}

function extraInputs(model) {
  const { data } = model;
  const fields = [];
  if (data.targets.some((t) => t.kind === "poisson")) {
    fields.push(el("label", { class: "field small" }, el("span", {}, "exposure"), el("input", {
      type: "number", min: 0, step: "any", "data-key": "exposure", value: state.exposure ?? 1,
      oninput: (event) => { const e = Number(event.target.value); if (e > 0) update({ exposure: e }); },
    })));
  }
  if (data.covariates) {
    const values = tryGiven(model).covariates;
    data.covariates.names.forEach((name, j) => fields.push(el("label", { class: "field small" }, el("span", {}, shorten(name, 40)), el("input", {
      type: "number", step: "any", "data-key": `covariate-${j}`, value: Number(values[j].toPrecision(4)),
      // A minus sign alone is no number yet.
      oninput: (event) => { if (event.target.value !== "") update({ covariates: tryGiven(model).covariates.map((z, i) => (i === j ? Number(event.target.value) : z)) }); },
    }))));
  }
  return fields.length ? el("div", { class: "fields" }, fields) : null;
}

/** The document with its words as switches: a click removes one or puts it back. */
function tryWords(model) {
  const { data } = model;
  const { entered, found } = tryResult(model);
  if (!entered.length) return null;
  const l = explainedPredictor(model, found);
  const terms = data.reading.text ? new Set(found.terms.map((t) => t.v)).size : entered.length - state.off.length;
  const total = data.reading.text ? found.spans.length - state.off.length : terms;
  return card(termed(model, "Words of the document"),
    el("p", { class: "now", "aria-hidden": "true" }, predictionNow(model, l)),
    el("p", { class: "note" }, termed(model, "Click a word to remove it, or to put it back.")), legend(model, l),
    el("div", { class: "text", tabindex: 0, role: "region", "aria-label": "The document with shaded words", "data-scroll": "try" },
      data.reading.text ? shadedText(model, entered, found.spans, found.terms, found, l, { toggle: toggleOff, off: state.off }) : codeSwitches(model, entered, found, l)),
    el("p", { class: "note" }, `${format(total)} ${termed(model, total === 1 ? "word" : "words")}; ${format(terms)} different ones are in the vocabulary, and ${found.words.length} of these in topics. `,
      state.off.length ? el("button", { type: "button", class: "link", "data-key": "all-back", onclick: () => update({ off: [] }) }, `Put ${state.off.length} back`) : null));
}

/** The prediction beside the words: on a phone, the card with the prediction is far below. */
function predictionNow(model, l) {
  const { found, whole } = tryResult(model), target = model.data.targets[model.data.predictors[l].target];
  const now = responseAt(model, found, l), before = whole ? responseAt(model, whole, l) : null;
  return [isClass(target) ? `“${predictorName(model, l)}” ` : `${target.name} `, el("strong", {}, levelText(model, now, l)),
    before === null ? "" : el("span", { class: direction(now - before, fullShade(model, l)) }, ` ${model.data.effects ? amountText(model, now - before, l).split(" ")[0] : signed(now - before)}`)];
}

/** The expected target, or the probability of the class of predictor l. */
function responseAt(model, result, l) {
  const { target } = model.data.predictors[l], t = model.data.targets[target], at = result.targets[target];
  return isClass(t) ? at.probabilities[t.kind === "bernoulli" ? 1 : l - t.first] : at.mean;
}

/** The codes with the largest contributions first, then those in no topic. */
function codeSwitches(model, codes, found, l) {
  const amountOf = new Map(found.words.map((w) => [w.v, w.amounts[l]]));
  const whole = new Map((model.tried.whole || found).words.map((w) => [w.v, w.amounts[l]]));
  const order = [...codes].sort(([a], [b]) => Math.abs(whole.get(b) ?? 0) - Math.abs(whole.get(a) ?? 0));
  return el("p", { class: "shaded codes" }, order.map(([v, n]) => {
    const name = wordName(model, v) + (n > 1 ? ` ×${format(n)}` : ""), off = state.off.includes(v);
    if (model.rowOf[v] < 0) return [el("span", { class: "muted", "data-tip": wordTip(model, v, l) }, name), " · "];
    return [shadedWord(model, name, amountOf.get(v) ?? 0, l, () => toggleOff(v), off, v), " "];
  }));
}

function tryOutput(model) {
  const { data } = model;
  const { entered, found, whole } = tryResult(model);
  const l = explainedPredictor(model, found);
  const empty = data.reading.text ? !entered.trim() : !entered.length;
  const order = data.targets.map((_, t) => t).sort((a, b) => (b === data.predictors[l].target) - (a === data.predictors[l].target) || a - b);
  return [
    el("section", { class: "card" }, el("h2", {}, "Prediction"),
      el("div", { "aria-live": "polite" }, order.map((t) => [
        data.targets.length > 1 ? el("h3", {}, data.targets[t].name) : null, responseView(model, data.targets[t], found.targets[t], tryActual(model, t), l)]),
      whole ? movedText(model, whole, found, l) : null),
      fewWords(model, found, empty),
      roundingNote(data)),
    nearestCard(model, found, l),
    el("section", { class: "card" }, el("h2", {}, "Why"), waterfall(model, found, l), compositionView(model, found)),
  ];
}

/** How far predictions are from those in Python, where not all digits fit into the page. */
function roundingNote({ table, remainder }) {
  const parts = [["Topics", table.error], ["Coefficients of the remainder", remainder ? remainder.error : 0]].filter(([, error]) => error === null || error > 1e-6);
  if (!parts.length) return null;
  return el("p", { class: "note", id: "rounded" }, parts.map(([what, error]) => `${what} are rounded to limit the size of this file${error === null ? "" : `: linear predictors differ from those in Python by up to ${format(error, 1)}`}. `));
}

/** The actual target of the example, while nothing in it is changed. */
function tryActual(model, t) {
  const d = tryExample(model), { data } = model;
  if (d === null || state.off.length || !data.documents.actual) return null;
  const actual = data.documents.actual[t][d];
  return actual !== null && data.targets[t].kind === "ordinal" ? data.targets[t].levels[actual] : actual;
}

/** The change due to removed words. */
function movedText(model, whole, found, l) {
  const before = responseAt(model, whole, l), now = responseAt(model, found, l);
  return el("p", { id: "moved" }, `With all words: ${thing(model, l)} `, el("strong", {}, levelText(model, before, l)), `. Without ${state.off.length === 1 ? "the removed word" : `the ${state.off.length} removed words`} it differs by ${model.data.effects ? amountText(model, now - before, l) : signed(now - before)}.`);
}

/** The documents of the page with the most similar token proportions, by Σ_k √(p_k q_k). */
function nearestDocuments(model, found) {
  const { data, K } = model;
  const { row, composition } = data.documents;
  const roots = Array.from(found.composition, Math.sqrt);
  const skip = tryExample(model);
  const near = Array.from(row, (_, d) => {
    let total = 0;
    for (let k = 0; k < K; k++) total += roots[k] * Math.sqrt(composition[d * K + k]);
    return [d, total];
  }).filter(([d]) => d !== skip && relevantWords(model, d) > 0);
  return near.sort((a, b) => b[1] - a[1]).slice(0, NEAREST).map(([d]) => d);
}

function nearestCard(model, found, l) {
  const { data } = model;
  if (!data.documents.row.length || !found.words.length) return null;
  const t = data.predictors[l].target;
  return el("section", { class: "card", id: "nearest" }, el("h2", {}, "Most similar documents"),
    el("p", { class: "note" }, "The documents of this page with the most similar token proportions."),
    el("ul", { class: "plain", role: "list" }, nearestDocuments(model, found).map((d) => el("li", {}, documentButton(model, d, `actual ${actualText(model, d, t)}, predicted ${predictedText(model, d, l)}`)))));
}
