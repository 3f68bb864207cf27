// ---- corrections: names, words to drop and topics to merge, collected for the next fit ----

/** What was collected is kept in this browser, and in saved copies of the page. */
const CORRECTIONS = ["names", "drop", "merge"];

function correctionsKey(data) {
  return `topicfocus:${data.key}`;
}

function readCorrections(data) {
  const topics = data.topics.names.length, words = data.words.names.length;
  let own = null;
  try {
    own = JSON.parse(localStorage.getItem(correctionsKey(data)));
  } catch (error) {
    // No storage here: corrections last as long as the page, and in its saved copies.
  }
  const { names, drop, merge } = own ?? JSON.parse(document.getElementById("corrections").textContent);
  const list = (value) => (Array.isArray(value) ? value : []);
  const known = (k) => whole(String(k), topics) !== null;
  state.names = Object.fromEntries(Object.entries(names || {}).filter(([k, name]) => known(k) && typeof name === "string"));
  state.drop = list(drop).filter((v) => whole(String(v), words) !== null);
  state.merge = list(merge).filter((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(known));
}

function correct(data, patch) {
  const now = Object.fromEntries(CORRECTIONS.map((name) => [name, patch[name] ?? state[name]]));
  try {
    localStorage.setItem(correctionsKey(data), JSON.stringify(now));
  } catch (error) {
    // As above.
  }
  update(patch);
}

function rename(data, k, name) {
  const names = { ...state.names };
  if (name.trim() && name.trim() !== data.topics.names[k]) names[k] = name.trim();
  else delete names[k];
  correct(data, { names });
}

function toggleDrop(data, v) {
  correct(data, { drop: state.drop.includes(v) ? state.drop.filter((w) => w !== v) : [...state.drop, v] });
}

function mergeTopics(data, a, b) {
  if (!state.merge.some((pair) => pair.includes(a) && pair.includes(b))) correct(data, { merge: [...state.merge, [a, b]] });
}

function topicNumber(data, k) {
  return data.topics.number[k];
}

/** Topic k by the number that the command line and Python give it. */
function topicOfNumber(data, number) {
  return data.topics.number.indexOf(number);
}

function topicName(data, k) {
  return state.names[k] ?? data.topics.names[k];
}

/** "3: waiting, minutes, ignored". */
function topicLabel(data, k) {
  return `${topicNumber(data, k)}: ${topicName(data, k)}`;
}

/** Whether a topic has a name that a person gave it. */
function isNamed(data, k) {
  return k in state.names || data.topics.named[k];
}

/** Pairs of topics as groups, by number: 2 with 5 and 5 with 7 are one topic. */
function mergedGroups(data) {
  const groups = [];
  for (const pair of state.merge) {
    const joined = groups.filter((group) => pair.some((k) => group.has(k)));
    joined.forEach((group) => groups.splice(groups.indexOf(group), 1));
    groups.push(new Set([...pair, ...joined.flatMap((group) => [...group])]));
  }
  return groups.map((group) => [...group].map((k) => topicNumber(data, k)).sort((a, b) => a - b));
}

/** A string of TOML: JSON's escapes, and what JSON leaves as it is. */
function tomlString(text) {
  return JSON.stringify(text.toWellFormed ? text.toWellFormed() : text).replace(/\u007f/g, "\\u007f");
}

/** The content of corrections.toml, which `topicfocus fit --config` reads. */
function correctionsToml(data) {
  const names = Object.entries(state.names).map(([k, name]) => [topicNumber(data, Number(k)), name]).sort((a, b) => a[0] - b[0]);
  const merged = mergedGroups(data);
  return [
    "# Corrections of a topic model. To fit again: topicfocus fit FILE --config corrections.toml",
    state.drop.length ? `drop_words = [${state.drop.map((v) => tomlString(data.words.names[v])).join(", ")}]` : null,
    names.length ? `rename_topics = {${names.map(([number, name]) => `"${number}" = ${tomlString(name)}`).join(", ")}}` : null,
    merged.length ? `merge_topics = [${merged.map((group) => `[${group.join(", ")}]`).join(", ")}]` : null,
  ].filter((line) => line !== null).join("\n") + "\n";
}

/** What was collected, each with a way back; nothing until there is something. */
function correctionsCard(model) {
  const { data } = model;
  const chip = (text, patch) => el("li", {}, el("button", { type: "button", class: "chip", "aria-label": `Undo: ${text}`, "data-tip": "Undo", onclick: () => correct(data, patch) }, text, el("small", { "aria-hidden": "true" }, "×")));
  const { names } = state;
  const chips = [
    ...state.drop.map((v) => chip(`drop “${shorten(wordName(model, v), 40)}”`, { drop: state.drop.filter((w) => w !== v) })),
    ...Object.keys(names).map(Number).map((k) => chip(`name topic ${topicNumber(data, k)} “${shorten(names[k], 40)}”`, { names: Object.fromEntries(Object.entries(names).filter(([j]) => Number(j) !== k)) })),
    ...state.merge.map((pair) => chip(`merge topics ${pair.map((k) => topicNumber(data, k)).join(" and ")}`, { merge: state.merge.filter((other) => other !== pair) })),
  ];
  if (!chips.length) return [];
  const toml = correctionsToml(data);
  return [el("section", { class: "card corrections", "aria-label": "Corrections" },
    el("h2", {}, "Your corrections"),
    el("ul", { class: "plain chips", role: "list" }, chips),
    el("div", { class: "fields" },
      el("button", { type: "button", id: "download-corrections", onclick: () => saveFile("corrections.toml", "application/toml", toml) }, "Download corrections.toml"),
      el("button", { type: "button", onclick: (event) => copyText(event.currentTarget, toml, "Corrections") }, "Copy"),
      el("button", { type: "button", onclick: () => correct(data, { names: {}, drop: [], merge: [] }) }, "Undo all")),
    el("p", { class: "note" }, "This page shows the model as it was fitted. To fit it again, add the file to the options of this fit: ", el("code", {}, "topicfocus fit FILE --config corrections.toml"),
      state.drop.length && (state.merge.length || Object.keys(names).length) ? ". Without the dropped words topics may change their numbers: check the names and merges in the next page." : "."),
    el("details", { class: "more" }, el("summary", {}, "Content of the file"), el("pre", { tabindex: 0 }, toml)))];
}
