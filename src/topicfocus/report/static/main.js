// ---- the page: header, tabs, what is selected, the view ----

const TITLES = { topics: "Topics", words: "Words", documents: "Documents", try: "Try it", fit: "Fit" };
const DRAW = { topics: drawTopics, words: drawWords, documents: drawDocuments, try: drawTry, fit: drawFit };

/** "500 of 2,000 held-out documents": figures are of all of them. */
function shownDocuments(data) {
  const shown = data.documents.row.length, all = Math.max(0, ...data.evaluation.map((found) => (found ? found.n : 0)));
  return `${format(shown)}${all > shown ? ` of ${format(all)}` : ""} ${data.held_out ? "held-out " : ""}documents`;
}

function header(model) {
  const { data } = model;
  const kept = model.kept.length;
  return el("header", {},
    el("div", { class: "title" }, el("h1", {}, data.title),
      el("p", { class: "muted" }, `${data.model}: ${model.K} topics, ${format(kept)} of ${format(data.words.names.length)} words kept, ${shownDocuments(data)} in this page`)),
    el("div", { class: "fields tools" },
      model.L > 1 ? effectChoice(model) : null,
      el("button", { type: "button", id: "theme", "data-key": "theme", onclick: () => { switchTheme(); update({}); } }, "Switch theme"),
      el("button", { type: "button", id: "link", "data-tip": "A link to what is shown now", onclick: (event) => copyLink(event.currentTarget) }, "Copy link"),
      el("button", { type: "button", id: "save", "data-tip": "This page as a file, with your names of topics in it", onclick: () => saveFile(fileName(data.title, "html"), "text/html", savedCopy()) }, "Save a copy")));
}

/** What a view is about while no class is chosen. */
const NO_CLASS = { topics: "each topic’s own class", documents: "the class predicted", try: "the class predicted" };

/** Which class or target effects are on. */
function effectChoice(model) {
  const every = model.data.predictors.map((p, l) => [l, p.name]);
  const own = model.data.targets[model.data.predictors[0].target].kind === "categorical" ? NO_CLASS[state.view] : undefined;
  return select("Effect on", own ? state.predictor ?? "" : effectOn(), own ? [["", own], ...every] : every,
    (l) => update({ predictor: l === "" ? null : Number(l), box: null }));
}

function tabs() {
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
  }, TITLES[view])));
}

/** What the views are narrowed to, and the way back. */
function selection(model) {
  const { data } = model;
  const chip = (text, patch) => el("button", { type: "button", class: "chip", "aria-label": `${text}: show all again`, onclick: () => update(patch) }, text, el("small", {}, "×"));
  const parts = [];
  if (state.topic !== null) parts.push(chip(`topic ${state.topic}: ${fitName(topicName(data, state.topic), 40)}`, { topic: null }));
  if (state.word !== null) parts.push(chip(`word: ${shorten(wordName(model, state.word), 40)}`, { word: null }));
  if (state.box) parts.push(chip("brushed documents", { box: null, doc: null }));
  return parts.length ? [el("span", { class: "muted" }, "Selected:"), ...parts]
    : [el("span", { class: "muted" }, "Choose a topic or a word to filter the other views.")];
}

function start(data) {
  const model = makeModel(data);
  readTheme();
  readNames(data);
  readAddress(model);
  const app = document.getElementById("app");
  const bar = el("div", { class: "selection", role: "status", "aria-label": "Selection" });
  const top = el("div", { class: "top" });
  const panels = Object.fromEntries(VIEWS.map((view) => [view, el("div", { role: "tabpanel", id: `panel-${view}`, "aria-labelledby": `tab-${view}`, tabindex: -1, class: "panel" })]));
  const row = tabs();
  app.replaceChildren(top, el("nav", { "aria-label": "Views" }, row), bar, el("main", {}, VIEWS.map((view) => panels[view])));

  const draw = (view, width) => DRAW[view](model, panels[view], width);
  const width = () => (panels[state.view].clientWidth || 1000);
  const refresh = () => {
    redraw(top, header(model));
    redraw(bar, selection(model));
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
  // Typing must not be interrupted: only what follows from the text is drawn again.
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
  // Where there is one column, what was chosen is drawn far below, and must be brought into view.
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
    // Paper shows all views, one after the other, and every topic.
    state.printing = true;
    for (const view of VIEWS) { panels[view].hidden = false; draw(view, 720); }
  });
  addEventListener("afterprint", () => { state.printing = false; refresh(); });
  watchTips(document.body);
  refresh();
  // For tests, and for whoever wants to try more than one text.
  window.topicfocus = {
    predict: (text, off) => predictText(model, text, tryGiven(model), off),
    reach: (k, l) => reach(model, k, l), wordEffect: (v, l) => wordEffect(model, v, l), shade: (l) => fullShade(model, l),
    predictCounts: (pairs, given) => predictCounts(model, new Map(pairs), given || tryGiven(model)),
    predictDocument: (d) => predictCounts(model, documentCounts(data, d), documentGiven(model, d)),
    savedCopy, state, update,
  };
  // The page is drawn and answers: benchmarks/explorer.py reads when.
  performance.mark("topicfocus-ready");
  document.documentElement.dataset.ready = "true";
}

unpackAll(JSON.parse(document.getElementById("data").textContent)).then(start).catch((error) => {
  document.getElementById("app").replaceChildren(el("p", { class: "loading", role: "alert" },
    typeof DecompressionStream === "undefined"
      ? "This browser is too old for the page: it needs Chrome 103, Firefox 113 or Safari 16.4."
      : `The page could not be drawn: ${error.message}`));
  throw error;
});
