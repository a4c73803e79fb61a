// Memory runs out at the n-th allocation: only there, or from there on. The program says so in one sentence, and no file
// is lost or truncated.
import { spread } from './campaign.mjs';
import { commands, freshFolder, forever, judge, prepare, run } from './native.mjs';

const swept = 2000;
const kinds = () => Object.entries(commands).flatMap(([name, command]) => [0, forever].map((more) => ({ name, command, more })));

export default {
  prepare,
  cases: () => Infinity,
  /** Alternately a random n and the next n up to 2,000. */
  attempt(i, random) {
    const all = kinds();
    const { name, command, more } = all[i % all.length];
    const turn = Math.floor(i / all.length);
    const n = 1 + (turn % 2 && turn < 2 * swept ? spread(turn >> 1, swept) : random(command.memory));
    const folder = freshFolder(command);
    const fault = `memory:${n}:12:${n + more}`;
    const problem = judge(command, folder, run(command.args(folder), { fault }), /not enough memory|Cannot allocate memory/);
    return problem && `${name} with TORTURE=${fault}: ${problem}`;
  },
};
