// Two ranks train; a rank is killed before a file operation or at any moment, or mpirun is killed or receives a signal, up
// to three times in a row, and one or two ranks resume. The run ends with the same bytes as one of a single rank that was never killed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mpiEnvironment as env } from '../mpi.mjs';
import { commands, freshFolder, leftovers, path, prepare, program } from './native.mjs';

const withRanks = join(dirname(program), 'wasmformer_mpi');
// They add two batches before each update, so that two ranks give the same bytes as one.
const runs = [commands.resume, commands.taught, commands.tagger];
const counts = [0, 1].map((rank) => path(`count-${rank}`));

/** Starts mpirun; `settings[i]` are variables of rank i. */
function start(command, folder, settings) {
  const contexts = settings.map((variables) => ['-n', '1', 'env', ...variables, withRanks, ...command.args(folder)]);
  const child = spawn('mpirun', contexts.flatMap((context, i) => (i > 0 ? [':', ...context] : context)), { env });
  child.output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (child.output += text));
  child.end = new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
  return child;
}

const STILL = 'it still runs';
const within = (ms, promise) => Promise.race([promise, sleep(ms, STILL, { ref: false })]);

/** The processes of ranks that train in a folder. */
function ranksIn(folder) {
  const { stdout } = spawnSync('pgrep', ['-f', `^${withRanks} train.*${folder}`], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean).map(Number);
}

async function gone(folder) {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(50)) if (ranksIn(folder).length === 0) return true;
  spawnSync('pkill', ['-KILL', '-f', `^${withRanks} train.*${folder}`]);
  return false;
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch ({ code }) {
    if (code !== 'ESRCH') throw code; // it may have just ended
  }
}

// How a run is ended: before which file operation (`at`) of which `rank`, or by what (`by`) after how many ms (`after`).
const ends = (command) => ({
  file: (random) => ({ rank: random(2), at: (rank) => 1 + random(command.rankFiles[rank]) }),
  rank: (random) => ({ after: random(command.duration), by: (child, folder) => kill(ranksIn(folder).at(-random(2)) ?? child.pid, 'SIGKILL') }),
  mpirun: (random) => ({ after: random(command.duration), by: (child) => kill(child.pid, 'SIGKILL') }),
  terminate: (random) => ({ after: random(command.duration), by: (child) => kill(child.pid, 'SIGTERM') }),
  usr1: (random) => ({ after: command.duration * (0.4 + 0.6 * random()), by: (child) => kill(child.pid, 'SIGUSR1') }),
});

const preload = `LD_PRELOAD=${path('shim.so')}`;

export default {
  async prepare() {
    if (!existsSync(withRanks) || spawnSync('mpirun', ['--version']).error) return console.log('ranks: mpirun or the program with MPI is missing');
    prepare();
    for (const command of runs) {
      const folder = freshFolder(command);
      const begin = Date.now();
      const child = start(command, folder, counts.map((file) => [preload, `TORTURE_COUNT=${file}`]));
      const code = await child.end;
      command.duration = Date.now() - begin;
      const problem = code === 0 ? leftovers(command, folder) : child.output;
      if (problem) throw new Error(`two ranks: ${problem}`);
      command.rankFiles = counts.map((file) => Number(readFileSync(file, 'utf8').split(' ')[0]));
    }
  },
  cases: () => (runs[0].duration ? Infinity : 0),
  async attempt(i, random, figures) {
    const command = runs[i % runs.length];
    const folder = freshFolder(command);
    const done = [];
    for (let n = 1 + random(3); n > 0; n--) {
      const ways = Object.entries(ends(command));
      const [name, way] = ways[(i + done.length) % ways.length];
      const { rank, at, after, by } = way(random);
      const variables = [[], []];
      if (at) variables[rank] = [preload, `TORTURE=files:${at(rank)}:kill:1000000`];
      done.push(`${name} ${at ? variables[rank][1] : Math.round(after)}`);
      const child = start(command, folder, variables);
      if (by) {
        await within(after, child.end);
        by(child, folder);
      }
      const code = await within(30_000, child.end);
      if (!(await gone(folder))) return `${done}: ranks still run (mpirun: ${code}): ${child.output.slice(-600)}`;
      if (code === STILL) { // Open MPI's mpirun may wait forever after a rank has died in MPI_Init
        kill(child.pid, 'SIGKILL');
        figures['mpirun without ranks'] = (figures['mpirun without ranks'] ?? 0) + 1;
      }
      if (code === 0) break;
      figures[name] = (figures[name] ?? 0) + 1;
    }
    if (random(2)) {
      const child = start(command, folder, [[], []]);
      const code = await within(60_000, child.end);
      if (code !== 0) return `${done}: two ranks cannot resume: ${code} ${child.output.slice(-600)}`;
    }
    const problem = leftovers(command, folder);
    return problem && `${done}: ${problem}`;
  },
};
