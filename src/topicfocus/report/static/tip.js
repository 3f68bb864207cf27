// ---- tooltips: one box for the element under the pointer or with the focus ----

const tip = el("div", { id: "tip", role: "tooltip", hidden: true });

function showTip(text, x, y) {
  if (!text) { tip.hidden = true; return; }
  if (!tip.isConnected) document.body.append(tip);
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const wide = document.documentElement.clientWidth;
  tip.style.left = `${clamp(x + 14, 4, Math.max(4, wide - box.width - 4))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
}

function hideTip() {
  tip.hidden = true;
}

/** Everything with data-tip, by pointer and by keyboard. */
function watchTips(root) {
  root.addEventListener("pointermove", (event) => {
    const at = event.target.closest("[data-tip]");
    if (at) showTip(at.dataset.tip, event.clientX, event.clientY);
    else if (!event.target.closest(".surface")) hideTip();
  });
  root.addEventListener("pointerleave", hideTip);
  root.addEventListener("focusin", (event) => {
    const at = event.target.closest("[data-tip]");
    // A click focuses, too; then the pointer has shown the tooltip.
    if (!at || !at.matches(":focus-visible")) return;
    const box = at.getBoundingClientRect();
    showTip(at.dataset.tip, box.left + 20, box.bottom - 14);
  });
  root.addEventListener("focusout", hideTip);
  root.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  addEventListener("scroll", hideTip, { passive: true, capture: true });
}

/** Where a pointer is, in the units of a drawing's viewBox. */
function placeIn(root, event) {
  const area = root.getBoundingClientRect();
  const ratio = root.viewBox.baseVal.width / area.width;
  return [(event.clientX - area.left) * ratio, (event.clientY - area.top) * ratio];
}

/** The nearest of points [[x, y]] within `reach`, as its number, or -1. */
function nearest(points, [x, y], reach = 20) {
  let best = -1, distance = reach * reach;
  points.forEach(([px, py], i) => {
    const d = (px - x) ** 2 + (py - y) ** 2;
    if (d < distance) { distance = d; best = i; }
  });
  return best;
}

/** Tooltips of the points under a surface; `said` returns the text of a point. */
function tipNearest(surface, root, points, said) {
  surface.addEventListener("pointermove", (event) => {
    const i = event.buttons ? -1 : nearest(points, placeIn(root, event));
    showTip(i < 0 ? "" : said(i), event.clientX, event.clientY);
  });
  surface.addEventListener("pointerleave", hideTip);
}
