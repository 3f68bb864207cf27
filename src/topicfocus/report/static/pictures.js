// ---- pictures of all topics: a map, topics x classes, classes x classes, topics over time or by group ----

/** Colour of a change as a class and how much of it: 0 to 1 of the largest. */
function tint(change, largest) {
  return { kind: change >= 0 ? "up" : "down", much: Math.min(1, Math.abs(change) / (largest || 1)) };
}

/** Topics by the similarity of their words (report/layout.py), as large as they are common, coloured by effect. */
function mapCard(model, chosen, l, width) {
  const { data, K } = model;
  if (K < 3 || !data.topics.map) return null;
  const height = Math.round(clamp(width * 0.6, 260, 420));
  const places = data.topics.map, pad = 46;
  const sx = scale(extent(places.map((p) => p[0])), [pad, width - pad]), sy = scale(extent(places.map((p) => p[1])), [height - pad, pad]);
  const own = ownClasses(model);
  const largest = Math.max(...Array.from({ length: K }, (_, k) => Math.abs(reach(model, k, l).change)));
  const common = Math.max(...data.topics.prevalence);
  const full = (k) => 6 + (K > 20 ? 14 : 24) * Math.sqrt(data.topics.prevalence[k] / common);
  // Many circles on a phone are smaller: together they have a sixth of the picture, and names the rest.
  const area = data.topics.prevalence.reduce((sum, _, k) => sum + Math.PI * full(k) ** 2, 0);
  const size = (k) => full(k) * Math.min(1, Math.sqrt((width * height) / 6 / area));
  const title = "Map of the topics";
  const root = svg("svg", { class: "chart map", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${title}: topics that use the same words are near each other; the list above has the same topics by effect` });
  const order = Array.from({ length: K }, (_, k) => k).sort((a, b) => data.topics.prevalence[b] - data.topics.prevalence[a]);
  const at = apart(places.map(([x, y], k) => ({ x: sx(x), y: sy(y), r: size(k) })), width, height);
  const taken = [];
  const circles = [], names = [];
  for (const k of [chosen, ...order.filter((j) => j !== chosen)]) {
    const { x, y, r } = at[k], { kind, much } = own ? { kind: "accent", much: 0.5 } : tint(reach(model, k, l).change, largest);
    circles.push(svg("circle", { class: `${kind} bubble ${k === chosen ? "picked" : ""}`, cx: x, cy: y, r, "fill-opacity": (0.2 + 0.7 * much).toFixed(2), "data-tip": topicTip(model, k, topicOn(model, k)), onclick: () => update({ topic: k }) }));
    const text = fitName(topicName(data, k), width < 500 ? 20 : 26), wide = text.length * (k === chosen ? 8.4 : 6.4);
    const place = freePlace(at, k, wide, taken, width, height) || (k === chosen ? { left: clamp(x - wide / 2, 2, width - wide - 2), line: y + r + 13 } : null);
    if (!place) continue;
    taken.push([place.left, place.line, wide]);
    names.push(svg("text", { class: `label ${k === chosen ? "strong" : ""}`, x: place.left + wide / 2, y: place.line, "text-anchor": "middle" }, text));
  }
  root.append(...circles, ...names);
  return card(title, figure(title, root, () => ({ head: ["topic", "name", "x", "y", "share", `effect on ${predictorName(model, l)}`], rows: order.map((k) => [k, topicName(data, k), ...places[k], data.topics.prevalence[k], reach(model, k, l).change]) })),
    own ? el("p", { class: "legend" }, "Near each other: the same words. Size: share. Choose a class above, and the colour says what topics do to it.")
      : el("p", { class: "legend" }, el("span", { class: "key up" }), " raises ", el("span", { class: "key down" }), ` lowers ${thing(model, l)}, the fuller the more. Size: share. Near each other: the same words.`));
}

/** Where a name covers neither a circle nor another name: below its circle, above it or beside it; null if nowhere. */
function freePlace(at, k, wide, taken, width, height) {
  const { x, y, r } = at[k], middle = clamp(x - wide / 2, 2, width - wide - 2);
  const tried = [[middle, y + r + 13], [middle, y - r - 5], [x + r + 4, y + 4], [x - r - 4 - wide, y + 4]];
  const found = tried.find(([left, line]) => left >= 2 && left + wide <= width - 2 && line >= 11 && line <= height - 3
    && !taken.some((t) => left < t[0] + t[2] + 6 && left + wide + 6 > t[0] && Math.abs(line - t[1]) < 13)
    && !at.some((c, j) => j !== k && Math.hypot(c.x - clamp(c.x, left, left + wide), c.y - clamp(c.y, line - 10, line + 2)) < c.r + 1));
  return found ? { left: found[0], line: found[1] } : null;
}

/** Below 1, because a name stands under each circle: more room is needed downwards than beside. */
const LABEL_ROOM = 0.65;

/** Circles moved so far that none covers another's middle, and none leaves the picture: topics of few common words are all about as
 * far from each other, and two axes put many of them on one spot. */
function apart(circles, width, height) {
  const out = circles.map((c) => ({ ...c })), K = out.length;
  for (let turn = 0; turn < 200; turn++) {
    let moved = 0;
    for (let i = 0; i < K; i++) {
      for (let j = i + 1; j < K; j++) {
        const a = out[i], b = out[j], least = a.r + b.r + 4;
        // Two on one spot go apart in a direction of their own.
        const dx = b.x - a.x || Math.cos(i + 2 * j), dy = b.y - a.y || Math.sin(i + 2 * j), gap = Math.hypot(dx, LABEL_ROOM * dy);
        if (gap >= least) continue;
        const push = (0.5 * (least - gap)) / gap;
        a.x -= push * dx; a.y -= push * dy; b.x += push * dx; b.y += push * dy;
        moved = Math.max(moved, least - gap);
      }
    }
    for (const c of out) { c.x = clamp(c.x, c.r + 3, width - c.r - 3); c.y = clamp(c.y, c.r + 3, height - c.r - 17); }
    if (moved < 0.5) break;
  }
  return out;
}

/** A table of coloured cells: rows {name, tip?}, columns, cells {value, kind, much, tip, text, pick}. */
function cells({ title, width, rows, columns, cell, note }) {
  const left = Math.min(190, Math.round(width * 0.34)), top = 12 + Math.min(120, 6.2 * Math.max(...columns.map((c) => Math.min(c.length, 20))));
  const w = (width - left - Math.min(70, width * 0.12)) / columns.length, h = clamp(w, 16, 26);
  const height = Math.round(top + h * rows.length + 8);
  const root = svg("svg", { class: "chart cells", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": note });
  const every = Math.ceil(11 / w); // names that do not fit are left out; tooltips have them all
  columns.forEach((name, c) => { if (c % every === 0) root.append(svg("text", { class: "label", transform: `translate(${left + (c + 0.6) * w} ${top - 6}) rotate(-55)` }, brief(name, 20))); });
  rows.forEach((row, r) => {
    root.append(svg("text", { class: `label ${row.strong ? "strong" : ""}`, x: left - 6, y: top + (r + 0.5) * h + 4, "text-anchor": "end" }, (row.topic ? fitName : brief)(row.name, Math.floor((left - 8) / (row.strong ? 7.8 : 6.8)))));
    columns.forEach((_, c) => {
      const { kind, much, tip: said, text, pick } = cell(r, c);
      root.append(svg("rect", { class: `cell ${kind}`, x: left + c * w + 0.5, y: top + r * h + 0.5, width: Math.max(w - 1, 1), height: h - 1, "fill-opacity": much.toFixed(3), "data-tip": said, onclick: pick || null }));
      if (text && w > 26) root.append(svg("text", { class: `label in-cell ${much > 0.55 ? "over" : ""}`, x: left + (c + 0.5) * w, y: top + (r + 0.5) * h + 4, "text-anchor": "middle" }, text));
    });
  });
  return root;
}

function topicRows(model, order, chosen) {
  return order.map((k) => ({ name: topicName(model.data, k), strong: k === chosen, topic: true }));
}

/** What each topic does to the probability of each class. */
function heatCard(model, chosen, target, width) {
  const { data, K } = model;
  const C = target.labels.length;
  const change = (k, c) => reach(model, k, target.first + c).change;
  const best = (k) => Array.from({ length: C }, (_, c) => c).sort((a, b) => change(k, b) - change(k, a))[0];
  // Topics in the order of the class they speak for: what belongs together stands on the diagonal.
  const order = Array.from({ length: K }, (_, k) => k).sort((a, b) => best(a) - best(b) || change(b, best(b)) - change(a, best(a)));
  const largest = Math.max(...order.flatMap((k) => target.labels.map((_, c) => Math.abs(change(k, c)))));
  const title = "Topics and classes";
  const root = cells({
    title, width, columns: target.labels, rows: topicRows(model, order, chosen), note: `What each of ${K} topics does to the probability of each of ${C} classes; choosing a class above lists its topics`,
    cell: (r, c) => {
      const k = order[r], x = change(k, c);
      return { ...tint(x, largest), tip: `${topicName(data, k)} → ${target.labels[c]}: ${amountText(model, x, target.first + c)}${reach(model, k, target.first + c).shares ? ` (${levelText(model, reach(model, k, target.first + c).from, target.first + c)} to ${levelText(model, reach(model, k, target.first + c).to, target.first + c)})` : ""}`, pick: () => update({ topic: k, predictor: target.first + c }) };
    },
  });
  return card(title, figure(title, root, () => topicsData(model)),
    el("p", { class: "note" }, el("span", { class: "key up" }), " raises, ", el("span", { class: "key down" }), " lowers: how the probability of each class changes as a document goes from little to much of a topic. A click chooses both."));
}

/** Which classes are taken for which. */
function confusionCard(model, t, width) {
  const found = model.data.evaluation[t], target = model.data.targets[t];
  if (!found || !found.confusion || target.labels.length < 2) return null;
  const sums = found.confusion.map((row) => row.reduce((a, b) => a + b, 0));
  const title = "Actual and predicted classes";
  const right = found.confusion.reduce((sum, row, c) => sum + row[c], 0);
  const root = cells({
    title, width, columns: target.labels, rows: target.labels.map((name) => ({ name })), note: `Confusion matrix of ${found.n} documents: ${right} are predicted as they are`,
    cell: (r, c) => {
      const n = found.confusion[r][c], part = sums[r] ? n / sums[r] : 0;
      // By the root, and never nothing: one document in a hundred is to be seen, on dark ground as well.
      return { kind: r === c ? "right" : "wrong", much: n ? 0.1 + 0.9 * Math.sqrt(part) : 0, text: n ? format(n) : "", tip: `${format(n)} of ${format(sums[r])} documents of ${target.labels[r]} (${percent(part)}) are predicted as ${target.labels[c]}` };
    },
  });
  const most = sums.indexOf(Math.max(...sums));
  return card(title, el("p", {}, `Rows are what documents are, columns what is predicted: ${percent(right / found.n)} of ${format(found.n)} are right (the diagonal). Saying “${target.labels[most]}” of all would be right for ${percent(sums[most] / found.n)}.`),
    figure(title, root, () => ({ head: ["actual", "predicted", "documents"], rows: found.confusion.flatMap((row, a) => row.map((n, p) => [target.labels[a], target.labels[p], n])) })));
}

/** Topics over time, or by group, where such a column was given. */
function groupCards(model, chosen, width) {
  return (model.data.groups || []).flatMap((given) => [given.kind === "time" ? timeCard(model, given, chosen, width) : byCard(model, given, chosen, width), addsCard(model, given, chosen, width)]);
}

/** Documents that a group needs for its averages to be coloured: those of one or two documents would outshine all others. */
const FEW_DOCUMENTS = 10;

/** Whether a group has that many; where none has, all are coloured. */
function enough(given, g) {
  return given.n[g] >= FEW_DOCUMENTS || !given.n.some((n) => n >= FEW_DOCUMENTS);
}

function fewNote(given) {
  return given.labels.some((_, g) => !enough(given, g)) ? ` Not coloured: fewer than ${FEW_DOCUMENTS} documents.` : "";
}

/** What each topic adds to a group's (a time's) predictions, beside those of all documents; the sums are how far they differ. */
function addsCard(model, given, chosen, width) {
  const { data } = model, l = effectOn(), t = data.predictors[l].target, found = given.targets[t];
  if (!found) return null;
  const target = data.targets[t], unit = unitOf(model, l) || target.name, order = topicOrder(model, l);
  const title = `Differences in ${predictorName(model, l)} ${given.kind === "time" ? "over" : "by"} ${given.name}`;
  const largest = Math.max(...found.adds.flatMap((row, g) => (enough(given, g) ? row.map((v) => Math.abs(v ?? 0)) : [])), 1e-9);
  const decimals = decimalsOf([largest], 2);
  const mean = (values, g) => (values && values[g] !== null ? levelText(model, values[g], l, largest) : "–");
  const root = cells({
    title, width, columns: given.labels, rows: topicRows(model, order, chosen), note: `${title}: what each topic adds in each of ${given.labels.length}; CSV has the numbers`,
    cell: (r, g) => {
      const k = order[r], v = found.adds[g][k];
      if (v === null) return { kind: "accent", much: 0, tip: `${given.labels[g]}: no documents` };
      return { ...(enough(given, g) ? tint(v, largest) : { kind: "accent", much: 0 }), text: width / given.labels.length > 66 ? (v > 0 ? "+" : "") + fixed(v, decimals) : "", pick: () => update({ topic: k }),
        tip: `${topicName(data, k)}, ${given.labels[g]}: ${signed(v, 2)} ${unit} beside all documents. ${given.labels[g]} in all: predicted ${mean(found.predicted, g)}, actual ${mean(found.actual, g)}; ${format(given.n[g])} documents` };
    },
  });
  const rows = given.labels.flatMap((label, g) => order.map((k) => [label, given.n[g], found.predicted[g], found.actual ? found.actual[g] : null, k, topicName(data, k), found.adds[g][k]]));
  return card(title, figure(title, root, () => ({ head: [given.name, "documents", "mean predicted", "mean actual", "topic", "name", `adds, ${unit}`], rows })),
    el("p", { class: "legend" }, el("span", { class: "key up" }), " adds, ", el("span", { class: "key down" }), ` takes away, in ${unit}, beside the average of all documents; a column adds up to how far it is from them (but for covariates).`, fewNote(given)),
    table(`Mean ${predictorName(model, l)} by ${given.name}`, [given.name, "documents", "predicted", "actual"], given.labels.map((label, g) => [label, format(given.n[g]), mean(found.predicted, g), mean(found.actual, g)])));
}

function groupData(model, given) {
  return () => ({
    head: [given.name, "documents", "topic", "name", "share", "standard error"],
    rows: given.labels.flatMap((label, g) => model.data.topics.names.map((_, k) => [label, given.n[g], k, topicName(model.data, k), given.share[g][k], given.error[g][k]])),
  });
}

function timeCard(model, given, chosen, width) {
  const { data, K } = model;
  const height = Math.round(clamp(width * 0.5, 220, 340));
  const all = given.share.flatMap((row, g) => (enough(given, g) ? row : [])).filter((v) => v !== null);
  const last = given.labels.length - 1;
  const title = `Topics over ${given.name}`;
  const every = Math.max(1, Math.ceil(given.labels.length / Math.max(2, Math.floor(width / 90))));
  const { root, sx, sy } = frame({
    width, height, label: `${title}: the share of each topic in the documents of ${given.labels.length} times; CSV has the numbers`,
    x: { domain: [0, Math.max(last, 1)], label: given.name, ticks: given.labels.map((_, g) => g).filter((g) => g % every === 0), format: (g) => given.labels[g] },
    y: { domain: [0, 1.08 * Math.max(...all)], label: "share of relevant words", format: (v) => percent(v) },
  });
  const order = Array.from({ length: K }, (_, k) => k).filter((k) => k !== chosen).concat(chosen);
  // Averages of a few documents jump about: they are left out of the lines, and CSV has them.
  const seen = given.share.map((row, g) => (enough(given, g) ? row : row.map(() => null)));
  for (const k of order) {
    const points = seen.map((row, g) => [g, row[k]]);
    if (k === chosen) seen.forEach((row, g) => { if (row[k] !== null && given.error[g][k] !== null) root.append(svg("line", { class: "interval accent", x1: sx(g), x2: sx(g), y1: sy(Math.max(0, row[k] - 1.96 * given.error[g][k])), y2: sy(row[k] + 1.96 * given.error[g][k]) })); });
    root.append(svg("path", { class: k === chosen ? "line strong" : "line faint", d: path(points, sx, sy) }));
    seen.forEach((row, g) => { if (row[k] !== null) root.append(svg("circle", { class: k === chosen ? "accent" : "faint", cx: sx(g), cy: sy(row[k]), r: k === chosen ? 4 : 3, "data-tip": `${topicName(data, k)}, ${given.labels[g]}: ${share(row[k])} of ${format(given.n[g])} documents`, onclick: () => update({ topic: k }) })); });
  }
  return card(title, figure(title, root, groupData(model, given)), el("p", { class: "note" }, `Dark: ${topicName(data, chosen)}, with 95% intervals. A click on another line chooses it.${fewNote(given).replace("Not coloured", "Left out")}`));
}

function byCard(model, given, chosen, width) {
  const { data, K } = model;
  const title = `Topics by ${given.name}`;
  const order = topicOrder(model, effectOn());
  const mean = (k) => data.topics.prevalence[k];
  const largest = Math.max(...given.share.flatMap((row, g) => (enough(given, g) ? row.map((v, k) => Math.abs((v ?? mean(k)) - mean(k))) : [])), 1e-9);
  const root = cells({
    title, width, columns: given.labels, rows: topicRows(model, order, chosen), note: `${title}: which topics each of ${given.labels.length} groups has more or less of; CSV has the numbers`,
    cell: (r, c) => {
      const k = order[r], v = given.share[c][k];
      if (v === null) return { kind: "accent", much: 0, tip: `${given.labels[c]}: no documents` };
      return { kind: v >= mean(k) ? "more" : "less", much: enough(given, c) ? Math.abs(v - mean(k)) / largest : 0, text: percent(v), tip: `${topicName(data, k)}, ${given.labels[c]}: ${share(v)}${given.error[c][k] === null ? "" : ` (± ${share(1.96 * given.error[c][k])})`}, all documents ${share(mean(k))}; ${format(given.n[c])} documents`, pick: () => update({ topic: k }) };
    },
  });
  return card(title, figure(title, root, groupData(model, given)),
    el("p", { class: "legend" }, el("span", { class: "key more" }), " more of the topic than all documents have, ", el("span", { class: "key less" }), " less.", fewNote(given)));
}
