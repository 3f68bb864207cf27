// ---- covariates: predicted differences in a typical document (report/topics.py) ----

/** [{name, values, from, to, change}], the strongest first; empty without covariates or documents. */
function covariateEffects(model, l) {
  const given = model.data.covariates;
  if (!given || !given.effects) return [];
  const e = given.effects;
  return given.names.map((name, j) => ({ name, values: e.values[j], from: e.low[j][l], to: e.high[j][l], change: e.high[j][l] - e.low[j][l] }))
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
}

/** "Beside the topics: stars from 2 to 5 −0.42". */
function covariateStory(model, l) {
  const rows = covariateEffects(model, l).slice(0, MOST_NAMED);
  if (!rows.length) return null;
  return el("p", {}, "Covariates: ", listedParts(rows.map((r) => [
    el("strong", { class: direction(r.change, Math.abs(rows[0].change)) }, shorten(r.name, 40)), ` from ${format(r.values[0])} to ${format(r.values[1])} `,
    el("strong", { class: "amount" }, changeShort(model, r.change, l, changeDecimals(r.change)))])), ".");
}

function covariateCard(model, l) {
  const rows = covariateEffects(model, l);
  if (!rows.length) return null;
  const title = "Covariates";
  const cells = rows.map((r) => [r.name, format(r.values[0]), format(r.values[1]), levelText(model, r.from, l, r.change), levelText(model, r.to, l, r.change), changeShort(model, r.change, l, changeDecimals(r.change))]);
  const head = ["covariate", "little", "much", "predicted, little", "predicted, much", "change"];
  return card(title, el("p", {}, `${thing(model, l).replace(/^the/, "The")} of a typical document at the 10th and the 90th percentile of each covariate, everything else unchanged.`),
    el("div", { class: "scroll", tabindex: 0 }, table(title, head, cells)),
    savers(title, () => barsDrawing(title, rows.map((r) => ({ name: r.name, from: r.from, to: r.to, text: changeShort(model, r.change, l) })), { label: thing(model, l), at: model.data.effects ? model.data.effects.typical[l] : null }),
      () => ({ head, rows: rows.map((r) => [r.name, ...r.values, r.from, r.to, r.change]) })));
}
