// Training as a user does it: what a run leaves behind, stopping and resuming, fine-tuning, made-up tasks, a full disk.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { recordsIn, reportsIn } from './reports.mjs';
import { limited, path, program, refuse, run, succeed, train, training } from './trained.mjs';

test('training writes a best and a last checkpoint and a log of complete lines', () => {
  assert.deepEqual(readdirSync(path('run')).filter((name) => !name.startsWith('epoch')).sort(),
    ['best.safetensors', 'last.safetensors', 'log.jsonl', 'options.json']);
  const log = reportsIn(path('run/log.jsonl'));
  assert.equal(log.at(-1).step, 300);
  for (const key of ['epoch', 'loss', 'learning_rate', 'target_tokens_per_second', 'seconds', 'valid_loss', 'bleu'])
    assert.equal(typeof log.at(-1)[key], 'number', key);
  assert.ok(log.at(-1).loss < log[0].loss, 'the loss falls');
});

test('the log begins with a record of the run, and every record has the time of the day', () => {
  const [first, ...reports] = recordsIn(path('run/log.jsonl'));
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const { type, step, seconds, train: pairs, valid, threads, seed, left_out: leftOut } = first;
  assert.deepEqual({ type, step, seconds, pairs, valid, threads, seed, leftOut }, { type: 'run', step: 0, seconds: 0, pairs: 400, valid: 20, threads: 1, seed: 1, leftOut: 0 });
  assert.equal(first.version, version);
  assert.equal(first.parameters, JSON.parse(succeed('inspect', path('run/best.safetensors'), '--json').stdout).parameters);
  assert.deepEqual([first.options['max-steps'], first.options.set.d_model], [300, 32]);
  assert.deepEqual(first.options, JSON.parse(readFileSync(path('run/options.json'), 'utf8')).train);
  const times = [first, ...reports].map(({ time }) => Date.parse(time));
  assert.ok(times.every((time, i) => time >= (times[i - 1] ?? 0) && Math.abs(time - Date.now()) < 3_600_000), times.join());
  assert.match(first.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  succeed(...train('logged', '--max-steps', '2', '--report-every', '1'));
  succeed(...train('logged', '--max-steps', '4', '--report-every', '1', '--resume'));
  assert.deepEqual(recordsIn(path('logged/log.jsonl')).map(({ type, step }) => type ?? step), ['run', 1, 2, 3, 4]);
});

test('a run that is resumed beyond its goal says so, and how to go on', () => {
  succeed(...train('reached', '--max-steps', '6'));
  const again = succeed(...train('reached', '--resume', '--max-steps', '5'));
  assert.match(again.stderr, /nothing to do: the run has reached its goal, at step 6 .*; to go on, give a higher --max-steps$/m);
  assert.match(succeed(...train('reached', '--resume', '--max-steps', '6', '--quiet')).stderr, /nothing to do/);
  assert.doesNotMatch(succeed(...train('reached', '--resume', '--max-steps', '7')).stderr, /nothing to do/);
});

test('a goal in minutes ends with a validation and both checkpoints, like every goal', () => {
  succeed(...train('minutes', '--max-minutes', '0.01', '--report-every', '1'));
  const last = JSON.parse(readFileSync(path('minutes/log.jsonl'), 'utf8').trim().split('\n').at(-1));
  assert.equal(typeof last.valid_loss, 'number');
  const { metadata } = JSON.parse(succeed('inspect', path('minutes/last.safetensors'), '--json').stdout);
  assert.equal(JSON.parse(metadata.progress).step, last.step);
  assert.ok(existsSync(path('minutes/best.safetensors')));
});

test('a budget chooses what is not given, says what, and ends with its schedule; resumed, it has ended', () => {
  const budget = ['train', '--data', path('train.tsv.gz'), '--validation', '30', '--report-every', '1',
    '--set', 'd_model=32', 'num_heads=2', 'ffn_dim=64', 'max_length=64', '--output', path('budget')];
  const { stderr } = succeed(...budget, '--budget', '0.03');
  assert.match(stderr, /^budget: d_model=32 ffn_dim=64 .*optimizer=muon .*; about \d+ steps of \d+ ms, [\d.]+ passes over the texts$/m);
  const entries = () => reportsIn(path('budget/log.jsonl'));
  const log = entries();
  const peak = Math.max(...log.map((entry) => entry.learning_rate));
  assert.ok(log.at(-1).learning_rate < 0.2 * peak, `${log.at(-1).learning_rate} of ${peak}`);
  assert.ok(log.at(-1).seconds < 3 * 1.8, `${log.at(-1).seconds} s`);
  succeed(...budget, '--budget', '0.03', '--resume');
  assert.deepEqual(entries(), log);
  refuse(/budget/, [...budget.slice(0, -1), path('none'), '--budget', '0']);
  refuse(/decay_steps is given, but a budget decides/, [...budget.slice(0, -1), path('none'), '--budget', '1', '--set', 'decay_steps=9']);
});

test('a budget that a large model exceeds is a warning that says how long its steps take', () => {
  const large = ['train', '--data', path('train.tsv.gz'), '--validation', '5', '--preset', 'small', '--set', 'max_length=64', '--output', path('too-large'), '--quiet'];
  const { stderr } = succeed(...large, '--budget', '0.001');
  assert.match(stderr, /the run takes longer than --budget: its settings need at least 2 steps of \d+\.\d s; give more minutes or a smaller model$/m);
});

test('a run that is interrupted and resumed ends with the same bytes, with any number of threads', async () => {
  const child = spawn(program, train('stopped', '--max-steps', '60', '--report-every', '1'));
  const code = await new Promise((resolve) => {
    child.stderr.on('data', (text) => /step 12 /.test(text) && child.kill('SIGINT'));
    child.on('exit', resolve);
  });
  assert.equal(code, 130, 'so that train && evaluate goes no further');
  const { step } = JSON.parse(JSON.parse(succeed('inspect', path('stopped/last.safetensors'), '--json').stdout).metadata.progress);
  assert.ok(step >= 12 && step < 60, `stopped at ${step}`);
  succeed(...train('stopped', '--resume', '--max-steps', '60', '--report-every', '1', '--threads', '2'));
  succeed(...train('whole', '--max-steps', '60', '--report-every', '1'));
  for (const name of ['last.safetensors', 'best.safetensors'])
    assert.ok(readFileSync(path(`stopped/${name}`)).equals(readFileSync(path(`whole/${name}`))), name);
  const losses = (output) => reportsIn(path(`${output}/log.jsonl`)).map(({ loss }) => loss);
  assert.deepEqual(losses('stopped'), losses('whole'));
});

test('a run with held-out pairs is resumed with the same pairs', () => {
  const held = (output, ...more) => ['train', '--data', path('train.tsv.gz'), '--validation', '30', '--seed', '0', '--tokenizer', path('tok.model'),
    '--preset', 'tiny', '--set', 'd_model=32', '--set', 'ffn_dim=64', '--batch-tokens', '200', '--output', path(output), ...more];
  const { stderr } = succeed(...held('held', '--max-steps', '5'));
  assert.match(stderr, /train: 370 pairs\nvalid: 30 pairs/);
  succeed(...held('held', '--max-steps', '9', '--resume'));
  succeed(...held('held-whole', '--max-steps', '9'));
  assert.ok(readFileSync(path('held/last.safetensors')).equals(readFileSync(path('held-whole/last.safetensors'))));
  refuse(/trained on other pairs/, held('held', '--max-steps', '12', '--resume').map((word) => (word === '30' ? '31' : word)));
  refuse(/nothing to validate on: .*--validation N/, held('bad', '--max-steps', '1').filter((word) => word !== '--validation' && word !== '30'));
});

test('corpora have weights, and augmented pairs are added, also when a run is resumed', () => {
  const mixed = (output, ...more) => [...training, '--data', path('train.tsv.gz') + ':0.5', path('valid.tsv') + ':2',
    '--augment', 'concat=0.5', 'lowercase=0.25', '--output', path(output), ...more];
  assert.match(succeed(...mixed('mixed', '--max-steps', '5')).stderr, /train: 420 pairs/);
  succeed(...mixed('mixed', '--max-steps', '9', '--resume'));
  succeed(...mixed('mixed-whole', '--max-steps', '9'));
  assert.ok(readFileSync(path('mixed/last.safetensors')).equals(readFileSync(path('mixed-whole/last.safetensors'))));
  const other = (from, to) => mixed('bad', '--max-steps', '1').map((word) => word.replace(from, to));
  refuse(/weight in --data .*tsv:0 must be above 0/, other(/:2$/, ':0'));
  refuse(/unknown .*'concta'.*did you mean 'concat'/, other('concat', 'concta'));
  refuse(/another augment/, mixed('mixed', '--max-steps', '12', '--resume').map((word) => word.replace('concat=0.5', 'concat=1')));
  refuse(/small is the earlier name of lowercase; give one of them/, other('concat=0.5', 'small=1'));
  succeed(...mixed('mixed', '--max-steps', '10', '--resume').map((word) => word.replace('concat', 'join').replace('lowercase', 'small')));
});

test('resuming cleans up what a killed program left in the folder', () => {
  const kept = (...more) => train('kept', '--max-epochs', '3', '--keep', '2', ...more);
  succeed(...kept());
  const files = readdirSync(path('kept')).sort();
  assert.deepEqual(files, ['best.safetensors', 'epoch-2.safetensors', 'epoch-3.safetensors', 'last.safetensors', 'log.jsonl', 'options.json']);
  for (const name of ['last.safetensors.unfinished', 'epoch-4.safetensors.unfinished', 'epoch-1.safetensors'])
    writeFileSync(path(`kept/${name}`), '');
  writeFileSync(path('kept/notes.unfinished'), '');
  succeed(...kept('--resume'));
  assert.deepEqual(readdirSync(path('kept')).sort(), [...files, 'notes.unfinished'].sort());
});

test('resuming is refused before training if nothing can be written or the log is damaged', () => {
  succeed(...train('log', '--max-steps', '4', '--report-every', '1'));
  const whole = readFileSync(path('log/log.jsonl'), 'utf8');
  const lines = whole.split('\n');
  for (const damaged of ['{"step":"a"}', '{"step":1e30,"seconds":1}', '{"step":2}', 'x']) {
    writeFileSync(path('log/log.jsonl'), [lines[0], damaged, ...lines.slice(2)].join('\n'));
    refuse(/line 2 of .*log\.jsonl is damaged/, train('log', '--max-steps', '9', '--resume'));
  }
  writeFileSync(path('log/log.jsonl'), whole);
  const result = limited(0, train('log', '--max-steps', '9', '--resume'));
  assert.equal(result.status, 1);
  assert.match(result.stderr, /^wasmformer: .*cannot write '.*log\.jsonl'/, 'before anything else');
});

test('a run killed at any moment leaves complete files', async () => {
  for (let i = 0; i < 6; ++i) {
    const output = `killed${i}`;
    const child = spawn(program, train(output, '--max-epochs', '50', '--report-every', '1'));
    await new Promise((resolve) => {
      child.on('exit', resolve);
      setTimeout(() => child.kill('SIGKILL'), 150 + 130 * i);
    });
    for (const name of ['best.safetensors', 'last.safetensors'])
      if (existsSync(path(`${output}/${name}`))) succeed('inspect', path(`${output}/${name}`));
    if (existsSync(path(`${output}/log.jsonl`)))
      for (const line of readFileSync(path(`${output}/log.jsonl`), 'utf8').split('\n').filter(Boolean)) JSON.parse(line);
  }
});

test("fine-tuning starts from a model's weights, including int8; a kept model records its own step", () => {
  const small = path('to-tune.safetensors');
  const facts = (file) => JSON.parse(succeed('inspect', file, '--json').stdout);
  succeed('quantize', '--model', path('run/best.safetensors'), '--output', small, '--metadata', 'bleu=99', 'bleu.zh=99', 'hours=9', 'licence=none', 'licence.zh=无');
  const tune = (output, ...more) => ['train', '--from', small, '--data', path('train.tsv.gz'), '--valid-data', path('valid.tsv'),
    '--output', path(output), '--max-epochs', '2', '--keep', '2', '--report-every', '1', ...more];
  succeed(...tune('tuned', '--set', 'dropout=0', '--set', 'learning_rate=0.002'));
  const losses = (output) => reportsIn(path(`${output}/log.jsonl`)).map(({ loss }) => loss);
  assert.ok(losses('tuned')[0] < losses('run')[0] / 2, 'it begins with what the model knows');
  const { metadata } = facts(path('tuned/epoch-1.safetensors'));
  const steps = losses('tuned').length / 2;
  assert.deepEqual([metadata.licence, metadata['licence.zh'], metadata.bleu, metadata['bleu.zh'], metadata.hours, metadata.steps],
    ['none', '无', undefined, undefined, undefined, String(steps)]);
  assert.equal(facts(path('tuned/last.safetensors')).metadata.steps, String(2 * steps));
  assert.match(metadata.training, /"dropout":0\.0,.*"schedule":"constant","learning_rate":0\.002/);
  refuse(/keeps its sizes/, tune('bad', '--set', 'd_model=64'));
  refuse(/--from excludes --preset|--preset excludes --from/, tune('bad', '--preset', 'tiny'));
  refuse(/tuned\/last\.safetensors exists already/, tune('tuned'));
  refuse(/absent\.safetensors/, tune('bad').map((word) => (word === small ? path('absent.safetensors') : word)));
});

test('a quantized model has no state of its run', () => {
  const metadata = (file) => JSON.parse(succeed('inspect', file, '--json').stdout).metadata;
  assert.ok('progress' in metadata(path('run/last.safetensors')));
  succeed('quantize', '--model', path('run/last.safetensors'), '--output', path('finished.safetensors'));
  assert.ok(!('progress' in metadata(path('finished.safetensors'))));
});

test('a made-up task needs no files: its pieces are characters, and a resumed run makes the same pairs', () => {
  const task = (output, ...more) => ['train', '--task', 'reverse', '--pairs', '300', '--set', 'd_model=32', '--set', 'optimizer=adamw',
    '--set', 'weight_decay=0.01', '--set', 'schedule=cosine', '--set', 'decay_steps=400', '--set', 'learning_rate=0.003',
    '--set', 'batch_tokens=300', '--report-every', '1', '--output', path(output), ...more];
  succeed(...task('task', '--max-steps', '6'));
  succeed(...task('task', '--max-steps', '12', '--resume'));
  succeed(...task('task-whole', '--max-steps', '12'));
  assert.ok(readFileSync(path('task/last.safetensors')).equals(readFileSync(path('task-whole/last.safetensors'))));
  const { exact_match } = JSON.parse(readFileSync(path('task/log.jsonl'), 'utf8').trim().split('\n').at(-1));
  assert.ok(exact_match >= 0 && exact_match <= 100);
  const result = run(['translate', '--model', path('task/best.safetensors'), '--max-length', '9'], { input: 'wasm\n' });
  assert.match(result.stdout, /^[a-z]*\n$/);
  refuse(/trained on the task reverse, 300 pairs; repeat/, task('task', '--max-steps', '13', '--resume').map((word) => (word === '300' ? '301' : word)));
  refuse(/--pairs requires --task/, train('bad', '--max-steps', '1', '--pairs', '10'));
  refuse(/no task 'revers'.*reverse/, task('bad', '--max-steps', '1').map((word) => (word === 'reverse' ? 'revers' : word)));
  refuse(/--task makes its own pairs; leave .*train\.tsv\.gz out/, task('bad', '--max-steps', '1', '--data', path('train.tsv.gz')));
  refuse(/20000 pairs of roman are asked for; there can be 1 to 3700/, ['train', '--task', 'roman', '--pairs', '20000', '--output', path('bad'), '--max-steps', '1']);
  assert.ok(!existsSync(path('bad')));
});

test('train --help lists the keys of --set, and says how an interrupted run ends', () => {
  const { stdout } = succeed('train', '--help');
  assert.match(stdout, /--validation/);
  assert.match(stdout, /\n +d_model +features of a token/);
  assert.match(stdout, /\n +learning_rate +peak learning rate; for noam/);
  assert.doesNotMatch(stdout, /pad_id/);
  assert.match(stdout, /exit code is 130/);
});

test('a full disk stops training with a message and keeps the last complete checkpoint', () => {
  succeed(...train('full', '--max-steps', '10'));
  const before = readFileSync(path('full/last.safetensors'));
  const result = limited(8, train('full', '--resume', '--max-steps', '40'));
  assert.notEqual(result.status, 0);
  assert.match(result.stderr, /(last|best)\.safetensors|log\.jsonl/);
  assert.ok(readFileSync(path('full/last.safetensors')).equals(before));
  assert.deepEqual(readdirSync(path('full')).filter((name) => !/^(best|last)\.safetensors$|^log\.jsonl$|^options\.json$/.test(name)), []);
});
