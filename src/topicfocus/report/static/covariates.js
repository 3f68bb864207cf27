// ---- covariates: predicted differences in a typical document (report/topics.py) ----

/** One row per covariate, the largest difference first, rare indicators last; none without covariates or documents. */
function covariateEffects(model, l) {
  const given = model.data.covariates;
  if (!given || !given.effects) return [];
  const e = given.effects;
  return given.names.map((name, j) => ({
    name, values: e.values[j], rare: e.rare[j], from: e.low[j][l], to: e.high[j][l], change: e.high[j][l] - e.low[j][l],
    low: e.lower ? e.lower[j][l] : null, high: e.upper ? e.upper[j][l] : null,
  })).sort((a, b) => a.rare - b.rare || Math.abs(b.change) - Math.abs(a.change));
}

/** The covariates with the largest differences whose intervals exclude zero. */
function covariateStory(model, l) {
  const rows = covariateEffects(model, l).filter((r) => !r.rare && (r.low === null || r.low > 0 || r.high < 0)).slice(0, MOST_NAMED);
  if (!rows.length) return null;
  return el("p", {}, el("strong", {}, "Covariates: "), listedParts(rows.map((r) => [
    el("strong", { class: direction(r.change, Math.abs(rows[0].change)) }, shorten(r.name, 40)), ` from ${format(r.values[0])} to ${format(r.values[1])} `,
    el("strong", { class: "amount" }, changeShort(model, r.change, l, changeDecimals(r.change)))])), ".");
}

function covariateCard(model, l) {
  const rows = covariateEffects(model, l), title = "Covariates";
  if (!rows.length) return null;
  const change = (r, x) => (x === null ? "–" : changeShort(model, x, l, changeDecimals(r.change)));
  const cells = rows.map((r) => [r.name, format(r.values[0]), format(r.values[1]), levelText(model, r.from, l, r.change), levelText(model, r.to, l, r.change), change(r, r.change), r.low === null ? "–" : `${change(r, r.low)} to ${change(r, r.high)}`]);
  const head = ["covariate", "low", "high", "prediction, low", "prediction, high", "difference", "95% interval"];
  const rare = rows.some((r) => r.rare) ? " Indicators that are the same at both percentiles are compared at their smallest and largest value." : "";
  return card(title, el("p", {}, `${capital(thing(model, l))} of a typical document at the 10th and the 90th percentile of each covariate, everything else unchanged.${rare}`),
    table(title, head, cells),
    rows[0].low === null ? null : el("p", { class: "note" }, "Intervals: the same difference estimated in the held-out documents."),
    savers(title, () => barsDrawing(title, rows.map((r) => ({ name: r.name, from: r.from, to: r.to, text: change(r, r.change) })), { label: thing(model, l), at: model.data.effects ? model.data.effects.typical[l] : null }),
      () => ({ head: ["covariate", "low", "high", "prediction, low", "prediction, high", "difference", "95% low", "95% high"], rows: rows.map((r) => [r.name, ...r.values, r.from, r.to, r.change, r.low, r.high]) })));
}
