// ---- the story: what drives the target, in a few sentences made from the fit ----

const MOST_NAMED = 3;

/** As many of a name's words as fit: "acute respiratory failure, dementia" of a longer list. */
function shortName(model, k, length = 46) {
  const name = topicName(model.data, k);
  if (name.length <= length) return name;
  const parts = name.split(", ");
  while (parts.length > 1 && parts.join(", ").length > length) parts.pop();
  return shorten(parts.join(", "), length);
}

/** “a”, “b” and “c”, each a button to its topic, in the colour of what it does to predictor l. */
function namedTopics(model, topics, l) {
  const parts = topics.map((k) => el("button", { type: "button", class: `link ${reach(model, k, l).change >= 0 ? "up" : "down"}`, "data-key": `story-${k}-${l}`, "data-tip": topicTip(model, k, l), onclick: () => update({ topic: k, view: "topics" }) }, `“${shortName(model, k)}”`));
  return parts.flatMap((part, i) => (i === 0 ? [part] : [i === parts.length - 1 ? " and " : ", ", part]));
}

/** Topics that surely move a prediction, the strongest first: [those that raise, those that lower]. */
function movers(model, l) {
  const order = Array.from({ length: model.K }, (_, k) => k);
  const sure = order.filter((k) => { const e = reach(model, k, l); return e.low === null || e.low > 0 || e.high < 0; });
  const by = (sign) => sure.filter((k) => sign * reach(model, k, l).change > 0).sort((a, b) => sign * (reach(model, b, l).change - reach(model, a, l).change));
  return [by(1), by(-1)];
}

function storyCard(model, l) {
  const { data } = model;
  const target = data.targets[data.predictors[l].target];
  const sentences = target.kind === "categorical" && state.predictor === null ? classStory(model, target) : numberStory(model, l);
  return el("section", { class: "card story", "aria-label": "In short" }, el("p", {}, sentences), figuresStory(model, l), stabilityStory(model));
}

/** Which topics raise it and which lower it, and how far the strongest of each go. */
function numberStory(model, l) {
  const [up, down] = movers(model, l);
  const out = [];
  const some = (list) => list.slice(0, MOST_NAMED);
  const verb = (list, word) => (some(list).length === 1 ? `${word}s` : word);
  if (!up.length && !down.length) return `No topic surely moves ${thing(model, l)}.`;
  if (up.length) out.push(...namedTopics(model, some(up), l), ` ${verb(up, "raise")} `, el("strong", {}, thing(model, l)), down.length ? "; " : ". ");
  if (down.length) out.push(...namedTopics(model, some(down), l), ` ${verb(down, "lower")} `, up.length ? "it. " : [el("strong", {}, thing(model, l)), ". "]);
  const far = [up[0], down[0]].filter((k) => k !== undefined);
  const end = (k) => `“${shortName(model, k, 40)}”: ${reach(model, k, l).shares ? `${levelText(model, reach(model, k, l).from, l, reach(model, k, l).change)} to ${levelText(model, reach(model, k, l).to, l, reach(model, k, l).change)}` : changeText(model, k, l)}`;
  out.push(`From documents with little of a topic to documents with much, ${far.map(end).join("; ")}${isClass(model.data.targets[model.data.predictors[l].target]) || !model.data.effects ? "" : ` ${model.data.targets[model.data.predictors[l].target].name}`}. `);
  return out;
}

/** What goes up: the target, or the probability of a class. */
function thing(model, l) {
  const target = model.data.targets[model.data.predictors[l].target];
  return isClass(target) ? `the probability of “${predictorName(model, l)}”` : target.kind === "poisson" ? `the expected ${predictorName(model, l)}` : `the predicted ${predictorName(model, l)}`;
}

/** Classes, each with the topic that speaks for it most. */
function classStory(model, target) {
  const best = target.labels.map((label, c) => {
    const l = target.first + c;
    const k = Array.from({ length: model.K }, (_, j) => j).sort((a, b) => reach(model, b, l).change - reach(model, a, l).change)[0];
    return { label, k, change: reach(model, k, l).change };
  }).sort((a, b) => b.change - a.change).slice(0, 4);
  return [`${model.K} topics tell ${target.labels.length} classes of ${target.name} apart: `,
    ...best.flatMap(({ label, k }, i) => [i ? (i === best.length - 1 ? " and " : ", ") : "", ...namedTopics(model, [k], target.labels.indexOf(label) + target.first), " speaks for ", el("strong", {}, label)]), ". ",
    confusedText(model, target)];
}

function confusedText(model, target) {
  const found = model.data.evaluation[model.data.targets.indexOf(target)];
  if (!found || !found.confusion) return "";
  let worst = null;
  found.confusion.forEach((row, a) => row.forEach((n, p) => { if (a !== p && n && (!worst || n > worst.n)) worst = { a, p, n }; }));
  return worst ? `Most often mistaken: “${target.labels[worst.a]}” for “${target.labels[worst.p]}” (${format(worst.n)} documents). ` : "";
}

/** Which figure says most, by kind of target. */
const HEADLINE = ["R²", "AUC", "accuracy", "mean deviance", "RMSE"];

function figuresStory(model, l) {
  const { data } = model;
  const kept = keptWords(model), all = data.words.names.length;
  const words = kept < all ? `${fixed(kept, 0)} of ${fixed(all, 0)} words` : `All ${fixed(all, 0)} words`;
  const t = data.predictors[l].target, found = data.evaluation[t];
  if (!found) return el("p", { class: "muted" }, `${words} are in the topics. No target was given with the documents, so it is not said how well they predict.`);
  const rows = Object.entries(found.figures), [, own] = rows[0];
  const name = data.targets[t].kind === "categorical" ? "accuracy" : HEADLINE.find((n) => own[n] !== undefined);
  const value = (row) => (SHARES.includes(name) ? percent(row[name]) : fixed(row[name], 2));
  const others = rows.slice(1).filter(([, row]) => row[name] !== undefined).map(([who, row]) => `${who} ${value(row)}`);
  const where = data.held_out ? `on ${fixed(found.n, 0)} documents that training did not see` : `on ${fixed(found.n, 0)} documents (not said to be held out)`;
  return el("p", {}, el("strong", {}, words), ` reach ${name} `, el("strong", { id: "headline" }, value(own)), ` ${where}`, others.length ? `; ${others.join(", ")}` : "", ".");
}

/** Of a check of the fit: what it says about the whole. */
function stabilityStory(model) {
  const found = model.data.stability;
  const whole = found ? Object.entries(found.whole) : [];
  if (!whole.length) return null;
  if (found.halves) return halvesStory(model, found);
  return el("p", { id: "stability" }, "Stability: ", whole.slice(0, 6).map(([name, value]) => `${name} ${shownValue(value)}`).join(", "), whole.length > 6 ? " (more in Fit)." : ".");
}

/** Of halves of the documents: which topics do not come back, how many words, and what predictions have in common. */
function halvesStory(model, { halves, whole, words }) {
  const gone = halves.topics.map((t, k) => (t.same ? -1 : k)).filter((k) => k >= 0);
  const lost = Array.from({ length: words.frequency.length }, (_, v) => v).filter((v) => comesAndGoes(model, v)).length;
  return el("p", { id: "stability" }, `Fitted to ${shownValue(whole["pairs of halves"])} pairs of halves of the documents, `,
    gone.length ? [`${gone.length} of ${model.K} topics ${gone.length === 1 ? "does" : "do"} not come back: `, ...namedTopics(model, gone, effectOn())] : "every topic comes back",
    `. Words of the model that less than half of the halves keep: ${format(lost)}. Predictions of two halves correlate by ${shownValue(whole["correlation of predictions of two halves"])}. More in Fit.`);
}

function shownValue(value) {
  return typeof value === "number" ? format(value) : value === null ? "–" : String(value);
}

function keptWords(model) {
  const { words } = model.data;
  let n = 0;
  for (let v = 0; v < words.names.length; v++) if (isKept(model, v)) n++;
  return n;
}
