// Runs go to and fro between the program and the package, and are the same in both.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Trainer } from '../../dist/index.js';
import { reportsIn } from './reports.mjs';

const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const program = join(import.meta.dirname, '../../build/native/wasmformer');
// Small enough for 200 steps that are not steep: down a steep descent, rounding in the last place grows.
const sizes = { norm: 'post', d_model: 32, ffn_dim: 64, num_heads: 2, encoder_layers: 1, decoder_layers: 1, batch_tokens: 400 };
const task = { name: 'reverse', pairs: 1000 };

/** The reports of `wasmformer train`. */
function train(output, ...args) {
  const { status, stderr } = spawnSync(program, ['train', '--output', join(folder, output), ...args], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return reportsIn(join(folder, output, 'log.jsonl'));
}

async function events(trainer, options) {
  const all = [];
  for await (const event of trainer.run(options)) all.push(event);
  return all;
}

for (const [name, config, count] of [['a small model', sizes, 200], ['the preset of tasks', {}, 50]]) {
  test(`${count} steps of one seed, ${name}: the loss curves of program and package differ by less than 1e-3`, async (t) => {
    const set = Object.entries(config).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const steps = ['--max-steps', String(count), '--report-every', '1'];
    const native = train(`curve of ${name}`, '--task', task.name, '--pairs', String(task.pairs), ...set, ...steps);
    const trainer = await Trainer.create({ task, config });
    t.after(() => trainer.dispose());
    const all = await events(trainer, { steps: count, reportEvery: 1 });
    const ours = new Map(all.map((event) => [event.step, event]));
    let worst = 0;
    let compared = 0;
    for (const { step, loss, learning_rate } of native.filter(({ step }) => ours.has(step))) {
      worst = Math.max(worst, Math.abs(loss - ours.get(step).loss));
      assert.ok(Math.abs(ours.get(step).learningRate - learning_rate) < 1e-9);
      compared++;
    }
    t.diagnostic(`loss falls from ${native[0].loss.toFixed(3)} to ${native.at(-1).loss.toFixed(3)}; worst difference ${worst.toExponential(1)}`);
    assert.ok(compared >= 0.95 * count);
    assert.ok(native.at(-1).loss < native[0].loss - 0.5);
    assert.ok(worst < 1e-3, `they differ by ${worst}`);
  });
}

for (const [name, data] of [
  ['a task', { task }],
  ['pairs', { pairs: Array.from({ length: 200 }, (_, i) => [`Nummer ${i}`, `number ${i}`]), tokenizer: { type: 'char' } }],
]) {
  test(`a run on ${name} starts in the package, continues in the program, and returns`, async () => {
    const output = `run on ${name}`;
    const whole = await Trainer.create({ ...data, config: sizes, threads: 1 });
    const expected = await events(whole, { steps: 24, reportEvery: 1 });
    whole.dispose();

    const first = await Trainer.create({ ...data, config: sizes, threads: 1 });
    await events(first, { steps: 8 });
    mkdirSync(join(folder, output));
    const file = await first.save({ metadata: { 'run.history': '[1, 2]' } });
    writeFileSync(join(folder, output, 'last.safetensors'), Buffer.from(await file.arrayBuffer()));
    first.dispose();

    const reports = train(output, '--resume', '--max-steps', '16', '--report-every', '1');
    assert.deepEqual([reports[0].step, reports.at(-1).step], [9, 16]);
    for (const { step, loss } of reports) assert.ok(Math.abs(loss - expected[step - 1].loss) < 1e-3);

    const back = await Trainer.resume(join(folder, output, 'last.safetensors'), { threads: 1 });
    assert.equal(back.info.step, 16);
    assert.equal(back.info.metadata['run.history'], '[1, 2]');
    for (const { step, loss } of await events(back, { steps: 8, reportEvery: 1 })) {
      assert.ok(Math.abs(loss - expected[step - 1].loss) < 1e-3, `step ${step}`);
    }
    back.dispose();
  });
}
