// Splits the tests of the page between two processes with one browser each, so that first loads happen only twice, not
// once for each test file.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
/** About how many seconds of the processor the longest files take; others take `USUAL`. */
const seconds = {
  'train-runs': 150, models: 110, looks: 80, picture: 65, tours: 60, classify: 60, 'first-screen': 50, isolation: 50,
  visitor: 45, 'train-data': 40, page: 35, element: 35, cockpit: 35, attention: 30,
};
const USUAL = 20;
const cost = (name) => seconds[name.replace('.test.mjs', '')] ?? USUAL;

/** The files of both halves, which take about as long. */
function halves() {
  const found = [{ names: [], sum: 0 }, { names: [], sum: 0 }];
  const tests = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'));
  for (const name of tests.sort((a, b) => cost(b) - cost(a))) {
    const shorter = found[0].sum <= found[1].sum ? found[0] : found[1];
    shorter.names.push(name);
    shorter.sum += cost(name);
  }
  return found.map(({ names }) => names);
}

/** Registers the tests of one half, 0 or 1. */
export async function importHalf(half) {
  for (const name of halves()[half]) await import(join(folder, name));
}
