// Training and translating with several ranks, as mpirun starts them.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mpiEnvironment as env } from '../mpi.mjs';
import { reportsIn } from './reports.mjs';
import { path, program, run, succeed, train } from './trained.mjs';

const withRanks = join(program, '../wasmformer_mpi');
const mpirun = (ranks, args, options = {}) =>
  spawnSync('mpirun', ['-n', ranks, withRanks, ...args], { encoding: 'utf8', env, ...options });
function succeedTogether(ranks, args, options) {
  const result = mpirun(ranks, args, options);
  assert.equal(result.status, 0, result.stderr);
  return result;
}
const reports = (output) => reportsIn(path(`${output}/log.jsonl`));
function assertSameLosses(output, expected, most = 1e-5) {
  assert.equal(reports(output).length, reports(expected).length);
  for (const [i, { step, loss }] of reports(expected).entries()) {
    assert.equal(reports(output)[i].step, step);
    assert.ok(Math.abs(reports(output)[i].loss - loss) < most, `step ${step}: ${reports(output)[i].loss} instead of ${loss}`);
  }
}

test('the program without MPI needs no MPI libraries', () => {
  assert.doesNotMatch(spawnSync('ldd', [program], { encoding: 'utf8' }).stdout, /mpi/);
  assert.match(spawnSync('ldd', [withRanks], { encoding: 'utf8' }).stdout, /libmpi/);
});

test('the preset native-mpi builds the program with MPI', () => {
  const root = join(import.meta.dirname, '../..');
  const { status, stderr } = spawnSync('cmake', ['--preset', 'native-mpi', '-B', path('native-mpi')], { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(readFileSync(path('native-mpi/build.ninja'), 'utf8'), /^build wasmformer: .*ranks_mpi\.cpp\.o/m);
});

test('two ranks have the same losses as one, with dropout and accumulated batches, and one can resume their run', () => {
  const options = ['--accumulate', '2', '--set', 'dropout=0.1', 'learning_rate=0.1', '--report-every', '1'];
  succeed(...train('one', ...options, '--max-steps', '200'));
  succeedTogether(2, train('two', ...options, '--max-steps', '200'));
  assertSameLosses('two', 'one');
  assert.ok(readFileSync(path('two/last.safetensors')).equals(readFileSync(path('one/last.safetensors'))), 'to the bit');
  succeedTogether(2, train('changing', ...options, '--max-steps', '30'));
  succeed(...train('changing', ...options, '--max-steps', '60', '--resume'));
  succeedTogether(3, train('changing', ...options, '--max-steps', '75', '--resume'));
  succeedTogether(4, train('changing', ...options, '--max-steps', '90', '--resume'));
  succeed(...train('one-short', ...options, '--max-steps', '90'));
  assertSameLosses('changing', 'one-short');
});

test('ranks translate parts of a file or a pipe and write the output in order', () => {
  const args = ['translate', '--model', path('run/best.safetensors'), '--n-best', '2'];
  const text = readFileSync(path('text'), 'utf8').split('\n').slice(0, 800).map((line, i) => (i % 97 === 5 ? '' : line));
  const input = `${text.join('\n')}\n`.repeat(8); // more than one part for each rank
  const alone = run(args, { input });
  assert.equal(alone.status, 0, alone.stderr);
  assert.match(alone.stdout, /\n6399 \|\|\| .*\n$/);
  for (const ranks of [1, 3]) assert.equal(succeedTogether(ranks, args, { input }).stdout, alone.stdout);
});

test("ranks share a teacher's work", () => {
  const student = (output) => train(output, '--teacher', path('run/best.safetensors'), '--mono', path('text'), '--accumulate', '2', '--max-steps', '3');
  succeed(...student('taught'));
  succeedTogether(2, student('taught-together'));
  const [alone, together] = ['taught', 'taught-together'].map((output) =>
    readdirSync(path(output)).filter((name) => name.startsWith('teacher')).map((name) => [name, readFileSync(path(`${output}/${name}`), 'utf8')]));
  assert.deepEqual(together, alone);
  assert.ok(readFileSync(path('taught-together/last.safetensors')).equals(readFileSync(path('taught/last.safetensors'))));
});

test('an error is printed once and ends all ranks', () => {
  const missing = mpirun(2, ['translate', '--model', path('run/best.safetensors'), '--input', path('missing')]);
  assert.notEqual(missing.status, 0);
  assert.match(missing.stderr, /wasmformer: rank 0: .*missing/);
  const model = mpirun(3, ['translate', '--model', path('missing.safetensors')], { input: 'eins\n' });
  assert.notEqual(model.status, 0);
  assert.equal(model.stderr.match(/^wasmformer: /gm).length, 1, model.stderr);
  const option = mpirun(3, ['translate', '--modle', path('run/best.safetensors')]);
  assert.equal(option.status, 2);
  assert.equal(option.stderr.match(/^wasmformer: .*did you mean '--model'/gm).length, 1, option.stderr);
});

test('a rank that dies ends the run, which can resume from complete files', async () => {
  const options = ['--report-every', '1', '--set', 'dropout=0.1', 'learning_rate=0.1'];
  const child = spawn('mpirun', ['-n', '2', withRanks, ...train('died', ...options, '--max-epochs', '1000')], { env });
  let text = '';
  const code = await new Promise((resolve) => {
    let isKilled = false;
    child.stderr.on('data', (bytes) => {
      text += bytes;
      const { stdout } = spawnSync('pgrep', ['-f', `${withRanks} train.*${path('died')}`], { encoding: 'utf8' });
      const ranks = stdout.trim().split('\n').map(Number).filter((pid) => pid !== child.pid);
      if (!isKilled && /epoch 3\./.test(text) && ranks.length === 2) {
        isKilled = true;
        process.kill(ranks.at(-1), 'SIGKILL');
      }
    });
    child.on('exit', resolve);
  });
  assert.notEqual(code, 0);
  const { step } = JSON.parse(JSON.parse(succeed('inspect', path('died/last.safetensors'), '--json').stdout).metadata.progress);
  assert.ok(step > 0);
  const steps = ['--max-steps', String(step + 5)];
  succeed(...train('died', ...options, ...steps, '--resume'));
  succeed(...train('undisturbed', ...options, ...steps));
  assertSameLosses('died', 'undisturbed');
});

test('SIGUSR1, which mpirun passes on, ends training after the step', async () => {
  const child = spawn('mpirun', ['-n', '2', withRanks, ...train('signalled', '--report-every', '1', '--max-epochs', '1000')], { env });
  let text = '';
  const code = await new Promise((resolve) => {
    child.stderr.on('data', (bytes) => (text += bytes) && /step 12 /.test(text) && child.kill('SIGUSR1'));
    child.on('exit', resolve);
  });
  assert.notEqual(code, 0);
  assert.match(text, /interrupted at step \d+; --resume continues from there/);
  const { step } = JSON.parse(JSON.parse(succeed('inspect', path('signalled/last.safetensors'), '--json').stdout).metadata.progress);
  assert.ok(text.includes(`interrupted at step ${step};`), text.slice(-300));
});
