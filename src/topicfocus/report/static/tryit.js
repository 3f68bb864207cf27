// ---- view 4: type a document and see its prediction explained ----

function tryGiven(model) {
  const { data } = model;
  const given = { offset: [...data.intercept] };
  data.targets.forEach((target) => { if (target.kind === "poisson") given.offset[target.first] += Math.log(state.exposure ?? 1); });
  if (data.covariates) given.covariates = state.covariates ?? data.covariates.typical;
  return given;
}

function tryResult(model) {
  if (model.data.reading.text) return predictText(model, state.text, tryGiven(model));
  return predictCounts(model, new Map(state.codes), tryGiven(model));
}

function drawTry(model, root, width) {
  const { data } = model;
  const input = data.reading.text ? textInput(model) : codeInput(model);
  redraw(root, el("div", { class: "columns" },
    el("div", {}, card("Try it", input, extraInputs(model)), el("div", { id: "try-words" }, tryWords(model))),
    el("div", { id: "try-result" }, tryOutput(model))));
}

function textInput(model) {
  const { data } = model;
  const area = el("textarea", {
    id: "try-text", "data-key": "try-text", rows: 9, placeholder: "Type or paste a document …", spellcheck: "false",
    oninput: (event) => update({ text: event.target.value }),
  });
  area.value = state.text;
  return [el("label", { class: "field wide", for: "try-text" }, el("span", {}, "Your text"), area),
    data.reading.note ? el("p", { class: "note" }, data.reading.note) : null, startFrom(model),
    el("p", { class: "note" }, "Everything is computed in this page; nothing leaves it.")];
}

function startFrom(model) {
  const { data } = model;
  if (!data.documents.row.length) return null;
  return el("div", { class: "fields" },
    el("button", { type: "button", onclick: () => startWith(model, Math.floor(Math.random() * data.documents.row.length)) }, "A document of the sample"),
    state.doc !== null ? el("button", { type: "button", onclick: () => startWith(model, state.doc) }, `${shorten(documentTitle(model, state.doc), 24)}`) : null,
    el("button", { type: "button", onclick: () => update({ text: "", codes: [] }) }, "Clear"));
}

function startWith(model, d) {
  const { data } = model;
  if (data.reading.text && data.documents.texts) { update({ text: data.documents.texts[d] }); return; }
  const counts = [...documentCounts(data, d)];
  if (data.reading.text) update({ text: counts.map(([v, n]) => Array(Math.round(n)).fill(data.words.names[v]).join(" ")).join(" ") });
  else update({ codes: counts });
}

/** Words are picked where no text can be read: codes of a health record, say. */
function codeInput(model) {
  const { data } = model;
  const add = (v) => update({ codes: [...state.codes.filter(([w]) => w !== v), [v, (new Map(state.codes).get(v) || 0) + 1]] });
  const suggestions = el("ul", { class: "plain chips", role: "list", id: "suggestions", "aria-label": "Matching entries" });
  const suggest = () => {
    const query = box.value.toLowerCase();
    model.tryQuery = box.value;
    const found = [];
    for (let v = 0; v < data.words.names.length && query; v++) if (data.words.names[v].toLowerCase().includes(query)) found.push(v);
    found.sort((a, b) => data.words.count[b] - data.words.count[a]);
    suggestions.replaceChildren(...found.slice(0, 16).map((v) => el("li", {}, el("button", {
      type: "button", class: `chip ${model.rowOf[v] >= 0 ? "" : "dropped"}`, "data-word": v, onclick: () => add(v),
    }, brief(data.words.names[v], 60)))));
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
    data.reading.note ? el("p", { class: "note" }, `${data.reading.note} Pick words from the list instead.`) : null,
    el("label", { class: "field wide", for: "try-code" }, el("span", {}, "Add to the document (Enter takes the first)"), box), suggestions,
    el("h3", {}, "The document"),
    el("ul", { class: "plain chips", role: "list", "aria-label": "Entries of the document" }, state.codes.map(([v, n]) => el("li", {}, el("button", {
      type: "button", class: `chip ${model.rowOf[v] >= 0 ? "" : "dropped"}`, "aria-label": `Remove ${data.words.names[v]}`, onclick: () => update({ codes: state.codes.filter(([w]) => w !== v) }),
    }, brief(data.words.names[v], 60) + (n > 1 ? ` ×${format(n)}` : ""), el("small", {}, "×"))))),
    state.codes.length ? null : el("p", { class: "muted" }, "Nothing yet."), startFrom(model)];
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

function tryWords(model) {
  const { data } = model;
  if (!data.reading.text || !state.text) return null;
  const found = tryResult(model);
  const l = explainedPredictor(model, found);
  const terms = new Set(found.terms.map((t) => t.v));
  return card("Your words",
    legend(model, l), el("div", { class: "text", tabindex: 0, role: "region", "aria-label": "Your text with shaded words", "data-scroll": "try" }, shadedText(model, state.text, found.spans, found.terms, found, l)),
    el("p", { class: "note" }, `${format(found.spans.length)} ${found.spans.length === 1 ? "word" : "words"}; the model knows ${terms.size} different ones and has ${found.words.length} of them in its topics.`));
}

function tryOutput(model) {
  const { data } = model;
  const found = tryResult(model);
  const l = explainedPredictor(model, found);
  const empty = data.reading.text ? !state.text.trim() : !state.codes.length;
  const order = data.targets.map((_, t) => t).sort((a, b) => (b === data.predictors[l].target) - (a === data.predictors[l].target) || a - b);
  return [
    el("section", { class: "card" }, el("h2", {}, "Prediction"),
      el("div", { "aria-live": "polite" }, order.map((t) => [
        data.targets.length > 1 ? el("h3", {}, data.targets[t].name) : null, responseView(model, data.targets[t], found.targets[t], null, l)])),
      found.words.length ? null : el("p", { class: "note" }, `${empty ? "Nothing is entered yet" : "None of this is in a topic"}: this is what a document without words gets.`),
      data.table.error > 1e-6 || data.table.error === null ? el("p", { class: "note" }, data.table.error === null ? "To keep this file small, the topics are rounded in it." :
        `To keep this file small, the topics are rounded in it: linear predictors differ from Python's by up to ${format(data.table.error, 1)}.`) : null),
    el("section", { class: "card" }, el("h2", {}, "Why"), waterfall(model, found, l), compositionView(model, found)),
  ];
}
