// Reads, writes and the like fail once or from then on (a full disk, a quota, a damaged or a read-only one), or are slow
// and partial, which must change nothing. After a failure the program says why in one sentence, and no file is lost or
// truncated.
import { spread } from './campaign.mjs';
import { commands, errnos, freshFolder, forever, judge, prepare, run } from './native.mjs';

let all;

export default {
  prepare() {
    prepare();
    all = Object.entries(commands).flatMap(([name, command]) => [
      { name, command, fault: `files:1:slow:${forever}` },
      ...Array.from({ length: command.files }, (_, n) => errnos.flatMap((errno) => [0, forever].map((more) =>
        ({ name, command, fault: `files:${n + 1}:${errno}:${n + 1 + more}` })))).flat(),
    ]);
  },
  cases: () => all.length,
  attempt(i) {
    const { name, command, fault } = all[spread(i, all.length)];
    const folder = freshFolder(command);
    const problem = judge(command, folder, run(command.args(folder), { fault }), /No space left|Input\/output error|[Qq]uota|Read-only/);
    return problem && `${name} with TORTURE=${fault}: ${problem}`;
  },
};
