// Training is killed at a read, write, rename, fsync…, in the middle of a write, or at any moment, up to three times in a
// row; then it ends with the same bytes as a run that was never killed.
import { readdirSync } from 'node:fs';
import { spread } from './campaign.mjs';
import { commands, freshFolder, leftovers, prepare, run } from './native.mjs';

const training = () => Object.values(commands).filter(({ goOn }) => goOn);
const moments = (kind) => training().flatMap((command) =>
  Array.from({ length: command[kind] }, (_, n) => ({ command, fault: `${kind}:${n + 1}:kill:${n + 1}` })));
let kinds;

export default {
  prepare() {
    prepare();
    kinds = [moments('writes'), moments('files')];
  },
  cases: () => Infinity,
  /** First in the middle of every write and before every call, in turn, then at any moment. */
  attempt(i, random, figures) {
    const all = kinds[i % 2];
    const turn = i >> 1;
    const { command, fault } = turn < all.length ? all[spread(turn, all.length)] : { command: training()[turn % training().length], fault: '' };
    const folder = freshFolder(command);
    const often = 1 + random(3);
    const told = [];
    for (let n = 0; n < often; n++) {
      const at = n === 0 && fault ? fault : random(2) ? `files:${1 + random(command.files)}:kill:1000000` : '';
      const how = at ? { fault: at } : { after: 1 + random(200), by: random(4) ? 'SIGKILL' : 'SIGTERM' };
      const { status, signal, stderr } = run(command.args(folder), how);
      told.push(JSON.stringify(how));
      if (status === 0) break;
      // spawnSync closes the output of a program that it stops, which may end by SIGPIPE.
      const isStopped = how.by === 'SIGTERM' && (['SIGTERM', 'SIGPIPE'].includes(signal) || status === 143);
      if (signal !== 'SIGKILL' && !isStopped) return `${told} ended with ${signal ?? status}: ${stderr}`;
      figures.kills = (figures.kills ?? 0) + 1;
    }
    const problem = leftovers(command, folder);
    return problem && `${told}: ${problem} (${readdirSync(folder)})`;
  },
};
