// ---- plots of all topics: topics x classes, classes x classes, topics over time or by group ----

/** The colour of a difference, and its opacity: its size relative to the largest. */
function tint(change, largest) {
  return { kind: change >= 0 ? "up" : "down", much: Math.min(1, Math.abs(change) / (largest || 1)) };
}

/** A table of coloured cells: rows {name, tip?}, columns, cells {value, kind, much, tip, text, pick}. */
function cells({ title, width, rows, columns, cell, note }) {
  const left = Math.min(190, Math.round(width * 0.34)), top = 12 + Math.min(120, 6.2 * Math.max(...columns.map((c) => Math.min(c.length, 20))));
  const w = (width - left - Math.min(70, width * 0.12)) / columns.length, h = clamp(w, 16, 26);
  const height = Math.round(top + h * rows.length + 8);
  const root = svg("svg", { class: "chart cells", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": note });
  const every = Math.ceil(11 / w); // names that do not fit are only in tooltips
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
  return order.map((k) => ({ name: topicLabel(model.data, k), strong: k === chosen, topic: true }));
}

/** The predicted difference of each topic in the probability of each class. */
function heatCard(model, chosen, target, width) {
  const { data, K } = model;
  const C = target.labels.length;
  const change = (k, c) => reach(model, k, target.first + c).change;
  const best = (k) => Array.from({ length: C }, (_, c) => c).sort((a, b) => change(k, b) - change(k, a))[0];
  // Topics in the order of their classes, so that the largest differences are on the diagonal.
  const order = Array.from({ length: K }, (_, k) => k).sort((a, b) => best(a) - best(b) || change(b, best(b)) - change(a, best(a)));
  const largest = Math.max(...order.flatMap((k) => target.labels.map((_, c) => Math.abs(change(k, c)))));
  const title = "Topics and classes";
  const root = cells({
    title, width, columns: target.labels, rows: topicRows(model, order, chosen), note: `The predicted difference of each of ${K} topics in the probability of each of ${C} classes; choose a class to list its topics`,
    cell: (r, c) => {
      const k = order[r], x = change(k, c);
      return { ...tint(x, largest), tip: `${topicLabel(data, k)} → ${target.labels[c]}: ${amountText(model, x, target.first + c)}${reach(model, k, target.first + c).shares ? ` (${levelText(model, reach(model, k, target.first + c).from, target.first + c)} to ${levelText(model, reach(model, k, target.first + c).to, target.first + c)})` : ""}`, pick: () => update({ topic: k, predictor: target.first + c }) };
    },
  });
  return card(title, figure(title, root, () => topicsData(model)),
    el("p", { class: "note" }, el("span", { class: "key up" }), " higher, ", el("span", { class: "key down" }), " lower probability of the class in documents with much of the topic than in documents with little. Click a cell to choose its topic and class."));
}

/** The confusion matrix. */
function confusionCard(model, t, width) {
  const found = model.data.evaluation[t], target = model.data.targets[t];
  if (!found || !found.confusion || target.labels.length < 2) return null;
  const sums = found.confusion.map((row) => row.reduce((a, b) => a + b, 0));
  const title = "Actual and predicted classes";
  const right = found.confusion.reduce((sum, row, c) => sum + row[c], 0);
  const root = cells({
    title, width, columns: target.labels, rows: target.labels.map((name) => ({ name })), note: `Confusion matrix of ${found.n} documents, of which ${right} are predicted correctly`,
    cell: (r, c) => {
      const n = found.confusion[r][c], part = sums[r] ? n / sums[r] : 0;
      // The opacity follows the root, from 0.1: one document in a hundred is visible.
      return { kind: r === c ? "right" : "wrong", much: n ? 0.1 + 0.9 * Math.sqrt(part) : 0, text: n ? format(n) : "", tip: `${format(n)} of ${format(sums[r])} documents of ${target.labels[r]} (${percent(part)}) are predicted as ${target.labels[c]}` };
    },
  });
  const most = sums.indexOf(Math.max(...sums));
  return card(title, el("p", {}, `Rows are actual classes, columns predicted ones: ${percent(right / found.n)} of ${format(found.n)} documents are predicted correctly (the diagonal). Predicting “${target.labels[most]}” for all would be correct for ${percent(sums[most] / found.n)}.`),
    figure(title, root, () => ({ head: ["actual", "predicted", "documents"], rows: found.confusion.flatMap((row, a) => row.map((n, p) => [target.labels[a], target.labels[p], n])) })));
}

/** Topics by group and over time, if such columns were given. */
function groupCards(model, chosen, width) {
  return (model.data.groups || []).flatMap((given) => [given.kind === "time" ? timeCard(model, given, chosen, width) : byCard(model, given, chosen, width), addsCard(model, given, chosen, width)]);
}

/** The number of documents from which a group's averages are coloured: averages of one or two documents are extreme. */
const FEW_DOCUMENTS = 10;

/** Whether a group has this number; if no group has, all are coloured. */
function enough(given, g) {
  return given.n[g] >= FEW_DOCUMENTS || !given.n.some((n) => n >= FEW_DOCUMENTS);
}

function fewNote(given) {
  return given.labels.some((_, g) => !enough(given, g)) ? ` Not coloured: fewer than ${FEW_DOCUMENTS} documents.` : "";
}

/** The contribution of each topic to the difference between a group's predictions and those of all documents. */
function addsCard(model, given, chosen, width) {
  const { data } = model, l = effectOn(), t = data.predictors[l].target, found = given.targets[t];
  if (!found) return null;
  const target = data.targets[t], unit = unitOf(model, l) || target.name, order = topicOrder(model, l);
  const title = `Differences in ${predictorName(model, l)} by ${given.name}`;
  const largest = Math.max(...found.adds.flatMap((row, g) => (enough(given, g) ? row.map((v) => Math.abs(v ?? 0)) : [])), 1e-9);
  const decimals = decimalsOf([largest], 2);
  const mean = (values, g) => (values && values[g] !== null ? levelText(model, values[g], l, largest) : "–");
  const root = cells({
    title, width, columns: given.labels, rows: topicRows(model, order, chosen), note: `${title}: the contribution of each topic in each of ${given.labels.length} groups; the CSV file has the numbers`,
    cell: (r, g) => {
      const k = order[r], v = found.adds[g][k];
      if (v === null) return { kind: "accent", much: 0, tip: `${given.labels[g]}: no documents` };
      return { ...(enough(given, g) ? tint(v, largest) : { kind: "accent", much: 0 }), text: width / given.labels.length > 66 ? (v > 0 ? "+" : "") + fixed(v, decimals) : "", pick: () => update({ topic: k }),
        tip: `${topicLabel(data, k)}, ${given.labels[g]}: ${signed(v, 2)} ${unit} relative to all documents. ${given.labels[g]}: predicted ${mean(found.predicted, g)}, actual ${mean(found.actual, g)}; ${format(given.n[g])} documents` };
    },
  });
  const rows = given.labels.flatMap((label, g) => order.map((k) => [label, given.n[g], found.predicted[g], found.actual ? found.actual[g] : null, topicNumber(data, k), topicName(data, k), found.adds[g][k]]));
  return card(title, figure(title, root, () => ({ head: [given.name, "documents", "mean predicted", "mean actual", "topic", "name", `contribution, ${unit}`], rows })),
    el("p", { class: "legend" }, el("span", { class: "key up" }), " positive, ", el("span", { class: "key down" }), ` negative contribution, in ${unit}, relative to the average of all documents. A column adds up to the difference of its group from this average (without covariates).`, fewNote(given)),
    table(`Mean ${predictorName(model, l)} by ${given.name}`, [given.name, "documents", "predicted", "actual"], given.labels.map((label, g) => [label, format(given.n[g]), mean(found.predicted, g), mean(found.actual, g)])));
}

function groupData(model, given) {
  return () => ({
    head: [given.name, "documents", "topic", "name", "token proportion", "standard error"],
    rows: given.labels.flatMap((label, g) => model.data.topics.names.map((_, k) => [label, given.n[g], topicNumber(model.data, k), topicName(model.data, k), given.share[g][k], given.error[g][k]])),
  });
}

function timeCard(model, given, chosen, width) {
  const { data, K } = model;
  const height = Math.round(clamp(width * 0.5, 220, 340));
  const all = given.share.flatMap((row, g) => (enough(given, g) ? row : [])).filter((v) => v !== null);
  const last = given.labels.length - 1;
  const title = `Topic proportions by ${given.name}`;
  const every = Math.max(1, Math.ceil(given.labels.length / Math.max(2, Math.floor(width / 90))));
  const { root, sx, sy } = frame({
    width, height, label: `${title}: the token proportion of each topic at ${given.labels.length} times; the CSV file has the numbers`,
    x: { domain: [0, Math.max(last, 1)], label: given.name, ticks: given.labels.map((_, g) => g).filter((g) => g % every === 0), format: (g) => given.labels[g] },
    y: { domain: [0, 1.08 * Math.max(...all)], label: "token proportion", format: (v) => percent(v) },
  });
  const order = Array.from({ length: K }, (_, k) => k).filter((k) => k !== chosen).concat(chosen);
  // Averages of few documents are not drawn; the CSV file has them.
  const seen = given.share.map((row, g) => (enough(given, g) ? row : row.map(() => null)));
  for (const k of order) {
    const points = seen.map((row, g) => [g, row[k]]);
    if (k === chosen) seen.forEach((row, g) => { if (row[k] !== null && given.error[g][k] !== null) root.append(svg("line", { class: "interval accent", x1: sx(g), x2: sx(g), y1: sy(Math.max(0, row[k] - 1.96 * given.error[g][k])), y2: sy(row[k] + 1.96 * given.error[g][k]) })); });
    root.append(svg("path", { class: k === chosen ? "line strong" : "line faint", d: path(points, sx, sy) }));
    seen.forEach((row, g) => { if (row[k] !== null) root.append(svg("circle", { class: k === chosen ? "accent" : "faint", cx: sx(g), cy: sy(row[k]), r: k === chosen ? 4 : 3, "data-tip": `${topicLabel(data, k)}, ${given.labels[g]}: ${share(row[k])} of ${format(given.n[g])} documents`, onclick: () => update({ topic: k }) })); });
  }
  return card(title, figure(title, root, groupData(model, given)), el("p", { class: "note" }, `Dark: topic ${topicLabel(data, chosen)}, with 95% intervals. Click another line to choose its topic.${fewNote(given).replace("Not coloured", "Left out")}`));
}

function byCard(model, given, chosen, width) {
  const { data, K } = model;
  const title = `Topic proportions by ${given.name}`;
  const order = topicOrder(model, effectOn());
  const mean = (k) => data.topics.prevalence[k];
  const largest = Math.max(...given.share.flatMap((row, g) => (enough(given, g) ? row.map((v, k) => Math.abs((v ?? mean(k)) - mean(k))) : [])), 1e-9);
  const root = cells({
    title, width, columns: given.labels, rows: topicRows(model, order, chosen), note: `${title}: the token proportion of each topic in ${given.labels.length} groups; the CSV file has the numbers`,
    cell: (r, c) => {
      const k = order[r], v = given.share[c][k];
      if (v === null) return { kind: "accent", much: 0, tip: `${given.labels[c]}: no documents` };
      return { kind: v >= mean(k) ? "more" : "less", much: enough(given, c) ? Math.abs(v - mean(k)) / largest : 0, text: percent(v), tip: `${topicLabel(data, k)}, ${given.labels[c]}: ${share(v)}${given.error[c][k] === null ? "" : ` (± ${share(1.96 * given.error[c][k])})`}, all documents ${share(mean(k))}; ${format(given.n[c])} documents`, pick: () => update({ topic: k }) };
    },
  });
  return card(title, figure(title, root, groupData(model, given)),
    el("p", { class: "legend" }, el("span", { class: "key more" }), " more of the topic than the average of all documents, ", el("span", { class: "key less" }), " less.", fewNote(given)));
}
