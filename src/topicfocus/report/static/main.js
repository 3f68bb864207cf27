// ---- the page: header, tabs, what is selected, the view ----

const TITLES = { topics: "Topics", words: "Words", documents: "Documents", try: "Try it", fit: "Fit" };
const DRAW = { topics: drawTopics, words: drawWords, documents: drawDocuments, try: drawTry, fit: drawFit };

function theme(next) {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  if (next) root.dataset.theme = dark ? "light" : "dark";
  return dark;
}

function download(model) {
  const link = el("a", { download: `${model.data.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "model"}.html` });
  link.href = URL.createObjectURL(new Blob([savedCopy()], { type: "text/html" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function header(model) {
  const { data } = model;
  const kept = model.kept.length;
  return el("header", {},
    el("div", { class: "title" }, el("h1", {}, data.title),
      el("p", { class: "muted" }, `${data.model}: ${model.K} topics, ${format(kept)} of ${format(data.words.names.length)} words kept, ${format(data.documents.row.length)} ${data.held_out ? "held-out " : ""}documents in this page`)),
    el("div", { class: "fields tools" },
      model.L > 1 ? select("Effect on", effectOn(), data.predictors.map((p, l) => [l, p.name]), (l) => update({ predictor: Number(l), box: null })) : null,
      el("button", { type: "button", id: "theme", onclick: () => { theme(true); update({}); } }, "Light or dark"),
      el("button", { type: "button", id: "save", title: "This page as a file, with your names of topics in it", onclick: () => download(model) }, "Save a copy")));
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
  if (state.topic !== null) parts.push(chip(`topic ${state.topic}: ${shorten(topicName(data, state.topic), 40)}`, { topic: null }));
  if (state.word !== null) parts.push(chip(`word: ${shorten(data.words.names[state.word], 40)}`, { word: null }));
  if (state.box) parts.push(chip("brushed documents", { box: null }));
  return parts.length ? [el("span", { class: "muted" }, "Selected:"), ...parts]
    : [el("span", { class: "muted" }, "Choose a topic or a word: the other views follow.")];
}

function start(data) {
  const model = makeModel(data);
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
    panels.try.querySelector("#try-result").replaceChildren(...tryOutput(model));
    panels.try.querySelector("#try-words").replaceChildren(...[tryWords(model)].filter(Boolean));
  };
  listeners.push((changed) => {
    const typing = state.view === "try" && changed.length === 1 && ["text", "exposure", "covariates"].includes(changed[0])
      && document.activeElement.matches("#panel-try input, #panel-try textarea");
    if (typing) refreshTry();
    else refresh();
    if (changed.includes("view") || (changed.includes("doc") && state.view === "documents")) reveal(changed);
  });
  const reveal = (changed) => {
    if (changed.includes("view") && scrollY > row.offsetTop) scrollTo(0, row.offsetTop);
    const card = changed.includes("doc") && innerWidth < 900 ? document.getElementById("document") : null;
    if (card) card.scrollIntoView({ block: "start" });
  };
  let timer = 0, before = width();
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (width() !== before) { before = width(); refresh(); } }, 120);
  });
  addEventListener("hashchange", () => { readAddress(model); refresh(); });
  addEventListener("beforeprint", () => {
    // Paper shows all views, one after the other.
    for (const view of VIEWS) { panels[view].hidden = false; draw(view, 720); }
  });
  addEventListener("afterprint", refresh);
  refresh();
  // For tests, and for whoever wants to try more than one text.
  window.topicfocus = {
    predict: (text) => predictText(model, text, tryGiven(model)),
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
