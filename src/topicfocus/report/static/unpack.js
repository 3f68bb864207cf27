// ---- data: from the page's JSON to arrays (report/render.py packs them) ----

const ARRAYS = {
  f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, i2: Int16Array, u1: Uint8Array,
};

async function inflate(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  // A plain loop: Uint8Array.from takes ten times as long for a string.
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackRecord(record) {
  const planes = await inflate(record.z);
  if (record.t === "json") return JSON.parse(new TextDecoder().decode(planes));
  const type = ARRAYS[record.t];
  const width = type.BYTES_PER_ELEMENT;
  const n = planes.length / width;
  const bytes = new Uint8Array(planes.length);
  for (let b = 0; b < width; b++) {
    for (let i = 0; i < n; i++) bytes[i * width + b] = planes[b * n + i];
  }
  const values = new type(bytes.buffer);
  if (record.s !== undefined) return Float64Array.from(values, (v) => v * record.s);
  if (record.log !== undefined) {
    return Float64Array.from(values, (v) => (v === 65535 ? 0 : Math.exp(-v * record.log)));
  }
  return values;
}

/** The same structure with every packed record replaced by its array. */
async function unpackAll(value) {
  if (Array.isArray(value)) {
    if (value.length && typeof value[0] !== "object") return value;
    return Promise.all(value.map(unpackAll));
  }
  if (value === null || typeof value !== "object") return value;
  if (typeof value.z === "string" && typeof value.t === "string") return unpackRecord(value);
  const keys = Object.keys(value);
  const parts = await Promise.all(keys.map((key) => unpackAll(value[key])));
  return Object.fromEntries(keys.map((key, i) => [key, parts[i]]));
}

function cumulate(steps) {
  const out = new Uint32Array(steps.length);
  let at = 0;
  for (let i = 0; i < steps.length; i++) out[i] = at += steps[i];
  return out;
}
