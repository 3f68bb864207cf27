// ---- the page: header, tabs, filters, corrections, views ----

const TITLES = { topics: "Topics", words: "Words", documents: "Documents", try: "Try it", fit: "Fit" };
const DRAW = { topics: drawTopics, words: drawWords, documents: drawDocuments, try: drawTry, fit: drawFit };

/** "500 of 2,000 held-out documents": metrics are computed from all of them. */
function shownDocuments(data) {
  const shown = data.documents.row.length, all = Math.max(0, ...data.evaluation.map((found) => (found ? found.n : 0)));
  return `${format(shown)}${all > shown ? ` of ${format(all)}` : ""} ${data.held_out ? "held-out " : ""}documents`;
}

function header(model) {
  const { data } = model;
  const kept = model.kept.length;
  return el("header", {},
    el("div", { class: "title" }, el("h1", {}, data.title),
      el("p", { class: "muted" }, `${data.model}: ${model.K} topics, ${format(kept)} of ${format(data.words.names.length)} ${terms(model)} kept, ${shownDocuments(data)} in this page`)),
    el("div", { class: "fields tools" },
      model.L > 1 ? effectChoice(model) : null,
      el("button", { type: "button", id: "theme", "data-key": "theme", onclick: () => { switchTheme(); update({}); } }, "Switch theme"),
      el("button", { type: "button", id: "link", "data-tip": "A link to what is shown now", onclick: (event) => copyText(event.currentTarget, location.href, "Link") }, "Copy link"),
      el("button", { type: "button", id: "save", "data-tip": "This page as a file, with your corrections in it", onclick: () => saveFile(fileName(data.title, "html"), "text/html", savedCopy()) }, "Save a copy")));
}

/** The class that each view shows while none is chosen. */
const NO_CLASS = { topics: "the class of each topic", documents: "the predicted class", try: "the predicted class" };

/** The choice of a class or target. */
function effectChoice(model) {
  const every = model.data.predictors.map((p, l) => [l, p.name]);
  const own = model.data.targets[model.data.predictors[0].target].kind === "categorical" ? NO_CLASS[state.view] : undefined;
  return select("Outcome", own ? state.predictor ?? "" : effectOn(), own ? [["", own], ...every] : every,
    (l) => update({ predictor: l === "" ? null : Number(l), box: null }));
}

function tabs(model) {
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -VIEWS.indexOf(state.view), End: VIEWS.length - 1 - VIEWS.indexOf(state.view) }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const view = VIEWS[(VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length];
    update({ view });
    document.getElementById(`tab-${view}`).focus();
  };
  return el("div", { role: "tablist", class: "tabs", "aria-label": "Views", onkeydown: move }, VIEWS.map((view) => el("button", {
    type: "button", role: "tab", id: `tab-${view}`, "aria-controls": `panel-${view}`, onclick: () => update({ view }),
  }, view === "words" ? capital(terms(model)) : TITLES[view])));
}

/** The filters of the views, each with a button that removes it. */
function selection(model) {
  const { data } = model;
  const chip = (text, patch) => el("button", { type: "button", class: "chip", "aria-label": `Remove the filter ${text}`, onclick: () => update(patch) }, text, el("small", {}, "×"));
  const parts = [];
  if (state.topic !== null) parts.push(chip(`topic ${fitName(topicLabel(data, state.topic), 40)}`, { topic: null }));
  if (state.word !== null) parts.push(chip(`word: ${shorten(wordName(model, state.word), 40)}`, { word: null }));
  if (state.box) parts.push(chip("selected documents", { box: null, doc: null }));
  return parts.length ? [el("span", { class: "muted" }, "Filtered by:"), ...parts]
    : [el("span", { class: "muted" }, `Choose a topic or a ${terms(model).slice(0, -1)} to filter the other views.`)];
}

function start(data) {
  const model = makeModel(data);
  readTheme();
  readCorrections(data);
  readAddress(model);
  const app = document.getElementById("app");
  const bar = el("div", { class: "selection", role: "status", "aria-label": "Selection" });
  const top = el("div", { class: "top" }), collected = el("div", { role: "status", "aria-label": "Corrections" });
  const panels = Object.fromEntries(VIEWS.map((view) => [view, el("div", { role: "tabpanel", id: `panel-${view}`, "aria-labelledby": `tab-${view}`, tabindex: -1, class: "panel" })]));
  const row = tabs(model);
  app.replaceChildren(top, el("nav", { "aria-label": "Views" }, row), bar, collected, el("main", {}, VIEWS.map((view) => panels[view])));

  const draw = (view, width) => DRAW[view](model, panels[view], width);
  const width = () => (panels[state.view].clientWidth || 1000);
  const refresh = () => {
    redraw(top, header(model));
    redraw(bar, selection(model));
    redraw(collected, correctionsCard(model));
    for (const view of VIEWS) {
      const active = view === state.view;
      panels[view].hidden = !active;
      const tab = row.querySelector(`#tab-${view}`);
      tab.setAttribute("aria-selected", String(active));
      tab.tabIndex = active ? 0 : -1;
      if (!active) panels[view].replaceChildren();
    }
    draw(state.view, width());
  };
  // While somebody types, only what depends on the text is drawn again.
  const refreshTry = () => {
    redraw(panels.try.querySelector("#try-result"), tryOutput(model));
    redraw(panels.try.querySelector("#try-words"), tryWords(model));
    if (!data.reading.text) return;
    panels.try.querySelector(".from-example").replaceChildren(...[exampleNote(model)].filter(Boolean));
    redraw(panels.try.querySelector("#try-start"), startFrom(model));
  };
  listeners.push((changed) => {
    const only = (...names) => changed.every((name) => names.includes(name));
    const typing = state.view === "try" && changed.length && only("text", "off", "exposure", "covariates")
      && document.activeElement.matches("#panel-try :is(input, textarea, #try-words button)");
    if (typing) refreshTry();
    else if (!(changed.length && only("relevance") && state.view === "topics" && refreshRelevance(model, panels.topics))) refresh();
    hideTip();
    reveal(changed);
  });
  // With one column, scroll to the card of what was chosen, which is far below.
  const CARDS = { topics: ["topic", "topic-card"], words: ["word", "word-card"], documents: ["doc", "document"] };
  const reveal = (changed) => {
    if (changed.includes("view") && scrollY > row.offsetTop) scrollTo(0, row.offsetTop);
    const [what, id] = CARDS[state.view] || [];
    const card = innerWidth < 900 && changed.includes(what) && state[what] !== null ? document.getElementById(id) : null;
    if (card) card.scrollIntoView({ block: "start" });
  };
  let timer = 0, before = width();
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (width() !== before) { before = width(); refresh(); } }, 120);
  });
  addEventListener("hashchange", () => { readAddress(model); refresh(); });
  addEventListener("beforeprint", () => {
    // Print all views, and every topic.
    state.printing = true;
    for (const view of VIEWS) { panels[view].hidden = false; draw(view, 720); }
  });
  addEventListener("afterprint", () => { state.printing = false; refresh(); });
  watchTips(document.body);
  refresh();
  // For tests, and for scripts that predict many texts.
  window.topicfocus = {
    predict: (text, off) => predictText(model, text, tryGiven(model), off),
    reach: (k, l) => reach(model, k, l), wordEffect: (v, l) => wordEffect(model, v, l), shade: (l) => fullShade(model, l),
    predictCounts: (pairs, given) => predictCounts(model, new Map(pairs), given || tryGiven(model)),
    predictDocument: (d) => predictCounts(model, documentCounts(data, d), documentGiven(model, d)),
    savedCopy, corrections: () => correctionsToml(data), state, update,
  };
  // benchmarks/explorer.py reads the time of this mark.
  performance.mark("topicfocus-ready");
  document.documentElement.dataset.ready = "true";
}

// After the whole script has run, so that the order of its files does not matter.
addEventListener("DOMContentLoaded", () => unpackAll(JSON.parse(document.getElementById("data").textContent)).then(start).catch((error) => {
  document.getElementById("app").replaceChildren(el("p", { class: "loading", role: "alert" },
    typeof DecompressionStream === "undefined"
      ? "This browser is too old for the page: it needs Chrome 103, Firefox 113 or Safari 16.4."
      : `The page could not be drawn: ${error.message}`));
  throw error;
}));
