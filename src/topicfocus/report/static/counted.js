// ---- the interval of a count, in whole numbers: families/count_intervals.py ----

const MOST_COUNTED = 1000;

/** The smallest k with P(y <= k) >= each of the levels, y negative binomial of this mean and variance. */
function countQuantiles(mean, variance, levels) {
  if (!(mean > 0)) return levels.map(() => 0);
  const s = Math.max(0, (variance - mean) / (mean * mean));
  // P(k + 1)/P(k), from the likeliest count up and down until nothing is added: no P is too small for a float.
  const up = (k) => (mean * (1 + k * s)) / ((k + 1) * (1 + mean * s));
  const top = Math.max(0, Math.floor(mean - 1 - mean * s) + 1);
  const below = [], above = [1];
  for (let k = top - 1, p = 1; k >= 0 && p > 1e-17; k--) { p /= up(k); below.push(p); }
  for (let k = top, p = 1; p > 1e-17; k++) { p *= up(k); above.push(p); }
  const first = top - below.length, p = [...below.reverse(), ...above];
  const total = p.reduce((a, b) => a + b, 0);
  return levels.map((level) => {
    let sum = 0, i = 0;
    for (; i < p.length; i++) { sum += p[i]; if (sum >= level * total) break; }
    return first + Math.min(i, p.length - 1);
  });
}

/** Both ends of the 80% interval of a count; of large ones by the cube root of a gamma distribution. */
function countInterval(mean, std) {
  if (std <= MOST_COUNTED) {
    const [low, high] = countQuantiles(mean, std * std, [0.1, 0.9]);
    return { mean, std, low, high };
  }
  const ninth = (std / mean) ** 2 / 9;
  const end = (z) => Math.round(mean * Math.max(0, 1 - ninth + z * Math.sqrt(ninth)) ** 3);
  return { mean, std, low: end(-Z80), high: end(Z80) };
}
