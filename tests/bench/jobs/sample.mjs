/**
 * Milliseconds a call: the lower quartile of calls made for `budget` milliseconds, which other programs on the
 * machine disturb less than the median. Short calls are timed `calls` at a time.
 */
export async function sample(call, budget, calls = 1) {
  const samples = [];
  const end = performance.now() + budget;
  while (samples.length < 3 || performance.now() < end) {
    const start = performance.now();
    for (let i = 0; i < calls; i++) await call();
    samples.push((performance.now() - start) / calls);
  }
  return samples.sort((a, b) => a - b)[Math.floor(samples.length / 4)];
}

export const gemmSizes = [[1, 256, 8192], [8, 256, 256], [64, 256, 1024], [256, 512, 2048], [512, 512, 512]];

/** GFLOP/s of product(), which multiplies [m, k] by [k, n]. */
export async function gemmRate([m, k, n], product, budget) {
  const operations = 2 * m * k * n;
  return operations / (await sample(product, budget, Math.ceil(2e7 / operations))) / 1e6;
}

export const random = (count) => Float32Array.from({ length: count }, () => Math.random() - 0.5);

/** What is reported of translating `batch` sentences of `tokens` tokens in `ms` milliseconds. */
export function translated(batch, tokens, ms) {
  return { [`batch ${batch}, tokens/s`]: (1000 * batch * tokens) / ms, [`batch ${batch}, ms a sentence`]: ms / batch };
}
