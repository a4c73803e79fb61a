// `npm run torture [-- --only NAME] [--hours N] [--seed N] [--case N]`: see README.md.
import { parseArgs } from 'node:util';
import { conduct } from './campaign.mjs';

// Shares of the time: five minutes, or --hours.
const shares = {
  kills: 0.25, ranks: 0.05, allocations: 0.15, memory: 0.05, disk: 0.15, inputs: 0.05, aborts: 0.05, together: 0.05, tab: 0.1, monkey: 0.05,
  browsers: 0.05, cycles: 0.05, races: 0.05, fuzz: 0.1,
};

const { values } = parseArgs({
  options: Object.fromEntries(['only', 'hours', 'seed', 'case'].map((name) => [name, { type: 'string' }])),
});
const number = (name) => {
  const value = values[name] === undefined ? undefined : Number(values[name]);
  if (value !== undefined && !(value >= 0)) throw new Error(`--${name} must be a number, not ${values[name]}`);
  return value;
};

let total = [0, 0];
try {
  const [seed, hours, only] = [number('seed') ?? Date.now() % 1_000_000, number('hours'), number('case')];
  const names = Object.keys(shares).filter((name) => name === (values.only ?? name));
  if (names.length === 0) throw new Error(`there is no campaign '${values.only}'; there are ${Object.keys(shares).join(', ')}`);
  const time = (hours ?? 1 / 12) * 3600 / names.reduce((sum, name) => sum + shares[name], 0);
  console.log(`seed ${seed}`);
  for (const name of names) {
    const { default: campaign } = await import(`./${name}.mjs`);
    const counts = await conduct(name, campaign, { seed, only, seconds: time * shares[name], isLong: hours !== undefined });
    total = total.map((count, i) => count + counts[i]);
  }
} catch (error) {
  console.error(error.message);
  total[1]++;
}
console.log(`${total[0]} passed, ${total[1]} failed`);
process.exit(total[1] > 0 || total[0] === 0 ? 1 : 0);
