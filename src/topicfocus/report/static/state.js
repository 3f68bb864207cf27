// ---- the state: what is selected, kept in the address so that a link shows the same ----

const VIEWS = ["topics", "words", "documents", "try", "fit"];

const state = {
  view: "topics", topic: null, word: null, doc: null, predictor: null,
  by: null, relevance: null, x: null, y: null, query: "", box: null, order: "instructive", page: 0, parts: "words",
  // null: the example with which the page opens.
  text: null, codes: null, off: [], exposure: null, covariates: null, figure: null, printing: false,
  // Corrections: names and pairs of topics by component, columns of words.
  names: {}, drop: [], merge: [],
  all: false, // whether the story lists all topics
};

const listeners = [];

/** Orders of a topic's words; "probability" is "relevance" with λ = 1. */
const WORD_ORDERS = { distinctive: "distinctiveness", probability: "probability", relevance: "relevance", frex: "frequency and exclusivity (FREX)" };
/** The orders that this model has; not every model has distinctive words. */
const wordOrders = (data) => Object.entries(WORD_ORDERS).filter(([by]) => by !== "distinctive" || data.topics.distinctive);

/** The initial order of words, that of `top_words` in Python. */
const usual = { by: null, relevance: null };

/** The linear predictor of the views: the one chosen, else the first. */
function effectOn() {
  return state.predictor ?? 0;
}

function update(patch) {
  // Words that were taken out belong to their text.
  if (("text" in patch || "codes" in patch) && !("off" in patch)) state.off = [];
  if ("topic" in patch || "word" in patch || "box" in patch || "order" in patch) state.page = 0;
  const before = state.view;
  Object.assign(state, patch);
  writeAddress(state.view !== before);
  listeners.forEach((listener) => listener(Object.keys(patch)));
}

/** Write the state to the address; `step`: as a new entry of the browser's history. */
function writeAddress(step) {
  const out = new URLSearchParams();
  out.set("view", state.view);
  for (const key of ["topic", "word", "doc", "predictor"]) if (state[key] !== null) out.set(key, state[key]);
  if (state.by !== usual.by) out.set("by", state.by);
  if (state.by === "relevance" && state.relevance !== usual.relevance) out.set("relevance", state.relevance);
  for (const key of ["x", "y", "query", "exposure", "covariates", "figure"]) if (state[key]) out.set(key, state[key]);
  if (state.parts !== "words") out.set("parts", state.parts);
  if (state.order !== "instructive") out.set("order", state.order);
  if (state.box) out.set("box", state.box.map((v) => Number(v.toPrecision(5))).join(","));
  if (state.text !== null && state.text.length <= 1000) out.set("text", state.text);
  if (state.codes !== null && state.codes.length <= 60) out.set("codes", state.codes.map(([v, n]) => `${v}.${n}`).join(","));
  if (state.off.length && state.off.length <= 100) out.set("off", state.off.join(","));
  try {
    history[step ? "pushState" : "replaceState"](null, "", "#" + out.toString());
  } catch (error) {
    // In a notebook's frame there is no address to keep anything in.
  }
}

function whole(text, limit) {
  const value = Number(text);
  return text !== null && text !== "" && Number.isInteger(value) && value >= 0 && value < limit ? value : null;
}

function readAddress(model) {
  let given;
  try {
    given = new URLSearchParams(location.hash.slice(1));
  } catch (error) {
    return;
  }
  const { data } = model;
  state.view = VIEWS.includes(given.get("view")) ? given.get("view") : "topics";
  state.topic = whole(given.get("topic"), model.K);
  state.word = whole(given.get("word"), data.words.names.length);
  state.doc = whole(given.get("doc"), data.documents.row.length);
  state.predictor = whole(given.get("predictor"), model.L);
  usual.by = data.topics.order;
  usual.relevance = data.topics.relevance;
  const relevance = given.get("relevance") === null ? NaN : Number(given.get("relevance"));
  const valid = relevance >= 0 && relevance <= 1;
  state.relevance = valid ? relevance : usual.relevance;
  state.by = wordOrders(data).some(([by]) => by === given.get("by")) ? given.get("by") : valid ? "relevance" : usual.by;
  state.x = given.get("x");
  state.y = given.get("y");
  state.query = given.get("query") || "";
  state.figure = given.get("figure");
  state.exposure = Number(given.get("exposure")) > 0 ? Number(given.get("exposure")) : null;
  const covariates = given.get("covariates") ? given.get("covariates").split(",").map(Number) : [];
  state.covariates = data.covariates && covariates.length === data.covariates.names.length && covariates.every(Number.isFinite) ? covariates : null;
  state.parts = given.get("parts") === "topics" ? "topics" : "words";
  state.order = given.get("order") in ORDERS ? given.get("order") : "instructive";
  const box = (given.get("box") || "").split(",").map(Number);
  state.box = box.length === 4 && box.every(Number.isFinite) ? box : null;
  state.text = given.get("text");
  state.off = (given.get("off") || "").split(",").map((part) => whole(part, 1e6)).filter((v) => v !== null);
  state.codes = given.get("codes") === null ? null : given.get("codes").split(",").map((part) => part.split("."))
    .map(([v, n]) => [whole(v, data.words.names.length), Number(n)])
    .filter(([v, n]) => v !== null && v !== undefined && n > 0 && n < 1e6);
}

// -- the theme, which the browser remembers ---------------------------------------------------

const THEME = "topicfocus:theme";

function readTheme() {
  try {
    const saved = localStorage.getItem(THEME);
    if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
  } catch (error) {
    // No storage here: the theme of the system.
  }
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem(THEME, root.dataset.theme);
  } catch (error) {
    // As above.
  }
}

/** This page with the corrections in it, as a file. */
function savedCopy() {
  const copy = document.documentElement.cloneNode(true);
  copy.removeAttribute("data-theme");
  copy.removeAttribute("data-ready");
  copy.querySelector("#app").replaceChildren();
  copy.querySelector("#tip")?.remove();
  const json = JSON.stringify(Object.fromEntries(CORRECTIONS.map((name) => [name, state[name]])))
    .replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  copy.querySelector("#corrections").textContent = json;
  return "<!doctype html>\n" + copy.outerHTML;
}
