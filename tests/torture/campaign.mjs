// A campaign is { prepare(options), cases(), attempt(i, random, figures) }: its cases are numbered, and the same
// seed and number give the same case. attempt() returns what is wrong, or nothing; it may count in `figures`. With
// `isWhole` all cases run, however long they take.

/** Random numbers in [0, 1), or with an argument, integers from 0 to below it (mulberry32). */
export function randomOf(seed, i) {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(i + 1, 0x85ebca6b)) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const value = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    return below === undefined ? value : Math.floor(value * below);
  };
}

/** The i-th case to run of `count`: the first few are spread evenly over all cases, and every case has its turn. */
export function spread(i, count) {
  const divides = (a, b) => (b === 0 ? a : divides(b, a % b));
  let stride = Math.max(1, Math.floor(count * 0.618));
  while (divides(count, stride) !== 1) stride++;
  return (i % count) * stride % count;
}

/** Runs cases from `first` on until time is up, or only the case `only`; resolves to [passed, failed]. */
export async function conduct(name, campaign, { seed, first = 0, only, seconds, most = Infinity, tell = console.log, ...options }) {
  const figures = {};
  const begin = Date.now();
  await campaign.prepare({ seed, seconds, ...options });
  const end = Date.now() + 1000 * seconds;
  const last = Math.min(only === undefined ? first + most : only + 1, campaign.cases());
  let [passed, failed] = [0, 0];
  for (let i = only ?? first; i < last && (campaign.isWhole || passed + failed === 0 || Date.now() < end); i++) {
    const problem = await campaign.attempt(i, randomOf(seed, i), figures);
    if (problem) tell(`${name}: case ${i} failed: ${problem}\n  repeat: npm run torture -- --only ${name} --seed ${seed} --case ${i}`);
    if (problem) failed++;
    else passed++;
  }
  await campaign.finish?.();
  const more = Object.entries(figures).map(([what, count]) => `, ${count} ${what}`).join('');
  tell(`${name}: ${passed} passed, ${failed} failed${more}, in ${((Date.now() - begin) / 1000).toFixed(0)} s`);
  return [passed, failed];
}
