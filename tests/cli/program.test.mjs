// The program (the native one, or WASMFORMER_PROGRAM), as a user runs it: the whole chain on a small corpus, stopping
// and resuming, and bad input.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';

const program = process.env.WASMFORMER_PROGRAM ?? join(import.meta.dirname, '../../build/native/wasmformer');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const path = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

const run = (args, options = {}) => spawnSync(program, args, { encoding: 'utf8', ...options });
function succeed(...args) {
  const result = run(args);
  assert.equal(result.status, 0, `${args.join(' ')}: ${result.stderr}`);
  return result;
}
// Fails with exactly one line that matches.
function refuse(pattern, args, options) {
  const result = run(args, options);
  assert.notEqual(result.status, 0, args.join(' '));
  const lines = result.stderr.trim().split('\n');
  assert.match(lines.at(-1), pattern);
  assert.ok(!/terminate|Assertion|core dumped/.test(result.stderr), result.stderr);
  assert.equal(result.signal, null);
}

// With files of so many kilobytes at most, as on a disk that is nearly full.
const limited = (kilobytes, args) =>
  spawnSync('bash', ['-c', `trap "" XFSZ; ulimit -f ${kilobytes}; exec "$0" "$@"`, program, ...args], { encoding: 'utf8' });

// Numbers in words: "three four" and back as "4 3".
const words = ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'];
function pairs(count, salt) {
  return Array.from({ length: count }, (_, i) => {
    const digits = [...String((i * 7919 + salt) % 1000).padStart(3, '0')];
    return [digits.map((d) => words[d]).join(' '), digits.reverse().join(' ')];
  });
}
const training = ['train', '--valid-data', path('valid.tsv'), '--tokenizer', path('tok.model'), '--preset', 'tiny',
  '--set', 'd_model=32', '--set', 'ffn_dim=64', '--set', 'warmup_steps=50', '--batch-tokens', '200', '--languages', 'de-en'];
const train = (output, ...more) => [...training, '--data', path('train.tsv.gz'), '--output', path(output), ...more];

before(() => {
  const tsv = (rows) => rows.map((row) => row.join('\t') + '\n').join('');
  writeFileSync(path('train.tsv.gz'), gzipSync(tsv(pairs(400, 1))));
  writeFileSync(path('valid.tsv'), tsv(pairs(20, 5)));
  for (const [i, name] of ['source', 'target'].entries())
    writeFileSync(path(name), pairs(20, 5).map((row) => row[i] + '\n').join(''));
  writeFileSync(path('text'), pairs(400, 1).flat().join('\n') + '\n');
  succeed('tokenizer', '--input', path('text'), '--vocab-size', '40', '--type', 'char', '--output', path('tok.model'));
  succeed(...train('run', '--max-steps', '300', '--report-every', '10', '--keep', '2'));
});

test('training leaves a best and a last checkpoint and a log of whole lines', () => {
  assert.deepEqual(readdirSync(path('run')).filter((name) => !name.startsWith('epoch')).sort(),
    ['best.safetensors', 'last.safetensors', 'log.jsonl']);
  const log = readFileSync(path('run/log.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(log.at(-1).step, 300);
  for (const key of ['epoch', 'loss', 'learning_rate', 'target_tokens_per_second', 'seconds', 'valid_loss', 'bleu'])
    assert.equal(typeof log.at(-1)[key], 'number', key);
  assert.ok(log.at(-1).loss < log[0].loss, 'the loss falls');
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
  const losses = (output) => readFileSync(path(`${output}/log.jsonl`), 'utf8').trim().split('\n').map((line) => JSON.parse(line).loss);
  assert.deepEqual(losses('stopped'), losses('whole'));
});

test('a run on pairs that are held back is resumed with the same pairs', () => {
  const held = (output, ...more) => ['train', '--data', path('train.tsv.gz'), '--validation', '30', '--seed', '0', '--tokenizer', path('tok.model'),
    '--preset', 'tiny', '--set', 'd_model=32', '--set', 'ffn_dim=64', '--batch-tokens', '200', '--output', path(output), ...more];
  const { stderr } = succeed(...held('held', '--max-steps', '5'));
  assert.match(stderr, /train: 370 pairs\nvalid: 30 pairs/);
  succeed(...held('held', '--max-steps', '9', '--resume'));
  succeed(...held('held-whole', '--max-steps', '9'));
  assert.ok(readFileSync(path('held/last.safetensors')).equals(readFileSync(path('held-whole/last.safetensors'))));
  refuse(/other training pairs/, held('held', '--max-steps', '12', '--resume').map((word) => (word === '30' ? '31' : word)));
  refuse(/nothing to validate on: .*--validation N/, held('bad', '--max-steps', '1').filter((word) => word !== '--validation' && word !== '30'));
});

test('a folder is as if the program had never been killed in it', () => {
  const kept = (...more) => train('kept', '--max-epochs', '3', '--keep', '2', ...more);
  succeed(...kept());
  const files = readdirSync(path('kept')).sort();
  assert.deepEqual(files, ['best.safetensors', 'epoch-2.safetensors', 'epoch-3.safetensors', 'last.safetensors', 'log.jsonl']);
  for (const name of ['last.safetensors.unfinished', 'epoch-4.safetensors.unfinished', 'epoch-1.safetensors'])
    writeFileSync(path(`kept/${name}`), '');
  writeFileSync(path('kept/notes.unfinished'), '');
  succeed(...kept('--resume'));
  assert.deepEqual(readdirSync(path('kept')).sort(), [...files, 'notes.unfinished']);
});

test('a resumed run is refused before training where nothing can be written, or the log is damaged', () => {
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

test('a run that is killed at any moment leaves whole files', async () => {
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

test('translate, evaluate, average and inspect', () => {
  const model = path('run/best.safetensors');
  const plain = succeed('translate', '--model', model, '--input', path('source')).stdout;
  assert.equal(plain.split('\n').length, 21);
  const fromStdin = run(['translate', '--model', model, '--beam-size', '4'], { input: readFileSync(path('source')) });
  assert.equal(fromStdin.stdout, plain);
  const best = succeed('translate', '--model', model, '--input', path('source'), '--n-best', '3').stdout.trim().split('\n');
  assert.equal(best.length, 60);
  best.forEach((line, i) => assert.match(line, new RegExp(`^${Math.floor(i / 3)} \\|\\|\\| .* \\|\\|\\| -?\\d+\\.\\d+$`)));
  const scores = best.slice(0, 3).map((line) => Number(line.split(' ||| ')[2]));
  assert.deepEqual(scores, [...scores].sort((a, b) => b - a));

  succeed('translate', '--model', model, '--input', path('source'), '--attention', path('attention.json'));
  const [{ cross, source_tokens, target_tokens }] = JSON.parse(readFileSync(path('attention.json')));
  assert.deepEqual([cross.rows, cross.columns], [target_tokens.length, source_tokens.length]);
  for (let row = 0; row < cross.layers * cross.heads * cross.rows; ++row) {
    const sum = cross.data.slice(row * cross.columns, (row + 1) * cross.columns).reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 1) < 1e-5);
  }

  const scored = JSON.parse(succeed('evaluate', '--model', model, '--source', path('source'), '--reference', path('target'),
    '--output', path('hypotheses'), '--json').stdout);
  assert.equal(scored.sentences, 20);
  assert.equal(readFileSync(path('hypotheses'), 'utf8'), plain);
  assert.ok(scored.bleu >= 0 && scored.chrf > 10 && scored.bleu_signature.includes('13a'));
  const byCharacter = JSON.parse(succeed('evaluate', '--model', model, '--source', path('source'), '--reference', path('target'),
    '--bleu-tokenize', 'char', '--json').stdout);
  assert.ok(byCharacter.bleu_signature.includes('tok:char'));
  assert.equal(byCharacter.bleu, scored.bleu, 'each word of the targets is a digit');
  const { by_length: groups, length_ratio: ratio } = JSON.parse(succeed('evaluate', '--model', model, '--source', path('source'),
    '--reference', path('target'), '--by-length', '--json').stdout);
  assert.equal(groups.reduce((sum, { sentences }) => sum + sentences, 0), 20);
  assert.ok(ratio > 0 && groups.every((group) => group.length_ratio > 0 && group.bleu >= 0));
  refuse(/bleu-tokenize.*zh/, ['evaluate', '--model', model, '--bleu-tokenize', 'intl']);

  const epochs = readdirSync(path('run')).filter((name) => name.startsWith('epoch')).map((name) => path(`run/${name}`));
  succeed('average', '--output', path('average.safetensors'), '--precision', 'f16', ...epochs);
  const facts = JSON.parse(succeed('inspect', path('average.safetensors'), '--json').stdout);
  assert.equal(facts.config.d_model, 32);
  assert.equal(facts.metadata.languages, 'de-en');
  assert.ok(facts.tensors.F16 > 0 && !facts.tensors.F32);
});

test('translate masks source tokens and heads, starts with a prefix, and samples', () => {
  const model = path('run/best.safetensors');
  const translate = (...options) => {
    const result = run(['translate', '--model', model, '--scores', '--attention', path('maps.json'), ...options], { input: 'eins zwei drei\n' });
    assert.equal(result.status, 0, result.stderr);
    const [{ cross, encoder }] = JSON.parse(readFileSync(path('maps.json')));
    const [score, text] = result.stdout.trim().split('\t');
    return { text, cross, encoder, numbers: [score, ...cross.data].join() };
  };
  const plain = translate();
  const masked = translate('--mask-source', '1,2');
  assert.notEqual(masked.numbers, plain.numbers);
  for (const { data, columns } of [masked.cross, masked.encoder])
    data.forEach((p, i) => assert.equal(p === 0, [1, 2].includes(i % columns), `column ${i % columns}`));
  const headless = translate('--mask-heads', 'cross:0:0,encoder:1:1');
  assert.notEqual(headless.numbers, plain.numbers);
  assert.equal(translate('--mask-heads', 'encoder:1:1,cross:0:0').numbers, headless.numbers);
  assert.notEqual(translate('--mask-heads', 'cross:0:0').numbers, headless.numbers);
  assert.ok(translate('--prefix', '9 9').text.startsWith('9 9'));

  const warm = (...options) => translate('--temperature', '3', ...options).text;
  const texts = ['1', '2', '3', '4'].map((seed) => warm('--sample-seed', seed));
  assert.ok(new Set(texts).size > 1, texts.join(' | '));
  assert.equal(warm('--sample-seed', '1'), texts[0]);
  assert.equal(warm('--top-k', '1'), translate('--beam-size', '1').text);
  assert.equal(warm('--top-p', '1e-9'), translate('--beam-size', '1').text);

  const bad = (pattern, ...options) => refuse(pattern, ['translate', '--model', model, ...options], { input: 'eins\n' });
  bad(/source position 99 is not in the 6 tokens/, '--mask-source', '99');
  bad(/all 6 tokens of a sentence are masked/, '--mask-source', '0,1,2,3,4,5');
  bad(/'cross:0' is not attention:layer:head/, '--mask-heads', 'cross:0');
  bad(/masked_heads\[0\]\.attention must be encoder, decoder or cross, not "heart"/, '--mask-heads', 'heart:0:0');
  bad(/masked_heads\[0\] is layer 0, head 77, but there are/, '--mask-heads', 'cross:0:77');
  bad(/beam_size is 3, but sampling draws one text; leave one of them out/, '--temperature', '2', '--beam-size', '3');
  bad(/temperature must be a number above 0, not 0/, '--temperature', '0');
});

test('a quantised model is less than half the size, says nearly the same, and is refused where floats are needed', () => {
  const small = path('small.safetensors');
  const model = path('run/best.safetensors');
  succeed('quantize', '--model', model, '--output', small, '--metadata', 'limits=short = long', 'licence=none');
  const facts = (file) => JSON.parse(succeed('inspect', file, '--json').stdout);
  assert.ok(facts(small).tensors.I8 > 0);
  assert.deepEqual(facts(small).metadata, { ...facts(model).metadata, limits: 'short = long', licence: 'none' });
  assert.equal(facts(small).parameters, facts(model).parameters);
  // Weights take four bytes as floats; the tokenizer and the text beside them stay as long as they were.
  assert.ok(facts(model).bytes - facts(small).bytes > 4 * facts(model).parameters / 2);
  const score = (file) => JSON.parse(succeed('evaluate', '--model', file, '--source', path('source'), '--reference',
    path('target'), '--json').stdout);
  assert.ok(Math.abs(score(small).chrf - score(model).chrf) < 5);
  refuse(/small\.safetensors.*int8 already/, ['quantize', '--model', small, '--output', path('smaller.safetensors')]);
  refuse(/int8.*average the float models/, ['average', '--output', path('mean.safetensors'), small, model]);
});

test('a model is fine-tuned from where it stands, one of int8 too; a kept model says its own step', () => {
  const small = path('to-tune.safetensors');
  const facts = (file) => JSON.parse(succeed('inspect', file, '--json').stdout);
  succeed('quantize', '--model', path('run/best.safetensors'), '--output', small, '--metadata', 'bleu=99', 'licence=none');
  const tune = (output, ...more) => ['train', '--from', small, '--data', path('train.tsv.gz'), '--valid-data', path('valid.tsv'),
    '--output', path(output), '--max-epochs', '2', '--keep', '2', '--report-every', '1', ...more];
  succeed(...tune('tuned', '--set', 'dropout=0', '--set', 'learning_rate=0.002'));
  const losses = (output) => readFileSync(path(output + '/log.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line).loss);
  assert.ok(losses('tuned')[0] < losses('run')[0] / 2, 'it begins with what the model knows');
  const { metadata } = facts(path('tuned/epoch-1.safetensors'));
  const steps = losses('tuned').length / 2;
  assert.deepEqual([metadata.licence, metadata.bleu, metadata.steps], ['none', undefined, String(steps)]);
  assert.equal(facts(path('tuned/last.safetensors')).metadata.steps, String(2 * steps));
  assert.match(metadata.training, /"dropout":0\.0,.*"schedule":"constant","learning_rate":0\.002/);
  refuse(/keeps its sizes/, tune('bad', '--set', 'd_model=64'));
  refuse(/--from excludes --preset|--preset excludes --from/, tune('bad', '--preset', 'tiny'));
  refuse(/tuned\/last\.safetensors exists already/, tune('tuned'));
  refuse(/absent\.safetensors/, tune('bad').map((word) => (word === small ? path('absent.safetensors') : word)));
});

test('a made-up task needs no files: characters are its pieces, and a resumed run makes the same pairs', () => {
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
  assert.match(stdout, /\n +learning_rate +peak rate; for noam/);
  assert.doesNotMatch(stdout, /pad_id/);
  assert.match(stdout, /exit code is 130/);
});

test('bad input gets one sentence', () => {
  const model = path('run/best.safetensors');
  writeFileSync(path('short'), 'eins\nzwei\n');
  writeFileSync(path('empty'), '');
  writeFileSync(path('long.tsv'), `eins\t1\n${'eins '.repeat(5000)}\t1\n`);
  writeFileSync(path('latin1'), Buffer.from([0x66, 0xfc, 0x6e, 0x66, 0x0a]));
  writeFileSync(path('one-column.tsv'), 'eins\n');
  writeFileSync(path('cut.safetensors'), readFileSync(model).subarray(0, 5000));
  const corpus = (source, target) => [...training, '--source', source, '--target', target, '--output', path('bad'), '--max-steps', '1'];
  refuse(/source.*20.*short.*2|short.*2.*source.*20/s, corpus(path('source'), path('short')));
  refuse(/no sentence pairs|empty/, corpus(path('empty'), path('empty')));
  refuse(/latin1.*UTF-8/, corpus(path('latin1'), path('latin1')));
  refuse(/line 1 of .*one-column\.tsv has 1 column/, [...training, '--data', path('one-column.tsv'), '--output', path('bad'), '--max-steps', '1']);
  refuse(/absent/, corpus(path('absent'), path('absent')));
  refuse(/max-epochs, --max-steps or --max-minutes/, train('bad'));
  refuse(/learning_rat/, train('bad', '--max-steps', '1', '--set', 'learning_rat=1'));
  refuse(/num_heads/, train('bad', '--max-steps', '1', '--set', 'num_heads=5'));
  refuse(/exists already.*--resume/, train('run', '--max-steps', '1'));
  refuse(/last\.safetensors/, train('nowhere', '--resume', '--max-steps', '1'));
  refuse(/gigantic/, train('bad', '--max-steps', '1').map((word) => (word === 'tiny' ? 'gigantic' : word)));
  refuse(/other settings/, train('run', '--resume', '--max-steps', '301', '--set', 'ffn_dim=128'));
  refuse(/translate has no option '--colour'$/, ['translate', '--model', model, '--colour', 'blue']);
  refuse(/translate has no option '--beam'; did you mean '--beam-size'\?/, ['translate', '--model', model, '--beam', '4']);
  refuse(/translate has no option '--modle'; did you mean '--model'\?/, ['translate', '--modle', model]);
  refuse(/unknown command 'transalte'; did you mean 'translate'\?/, ['transalte', '--model', model]);
  refuse(/no command; there are tokenizer, train, translate/, []);
  refuse(/beam_size must be a whole number from 1 to 64, not 0/, ['translate', '--model', model, '--beam-size', '0']);
  refuse(/max_length is 2000000000, but the model's max_length is 512/, ['translate', '--model', model, '--max-length', '2000000000']);
  refuse(/sentence 2 has \d+ tokens; the model takes at most 512/, ['evaluate', '--model', model, '--data', path('long.tsv')]);
  refuse(/cut\.safetensors/, ['translate', '--model', path('cut.safetensors')], { input: 'eins\n' });
  refuse(/tok\.model/, ['inspect', path('tok.model')]);
  refuse(/latin1/, ['tokenizer', '--input', path('latin1'), '--vocab-size', '20', '--output', path('bad.model')]);
  refuse(/vocab/i, ['tokenizer', '--input', path('text'), '--vocab-size', '100000', '--output', path('bad.model')]);
  assert.ok(!existsSync(path('bad')) && !existsSync(path('bad.model')), 'nothing is left behind');
  assert.equal(succeed('translate', '--model', model, '--input', path('empty')).stdout, '');
  assert.equal(run(['translate', '--model', model], { input: '\n🙂🙂\n' }).stdout.split('\n').length, 3);
});

test('a full disk stops training with a sentence and keeps the last whole checkpoint', () => {
  succeed(...train('full', '--max-steps', '10'));
  const before = readFileSync(path('full/last.safetensors'));
  const result = limited(8, train('full', '--resume', '--max-steps', '40'));
  assert.notEqual(result.status, 0);
  assert.match(result.stderr, /(last|best)\.safetensors|log\.jsonl/);
  assert.ok(readFileSync(path('full/last.safetensors')).equals(before));
  assert.deepEqual(readdirSync(path('full')).filter((name) => !/^(best|last)\.safetensors$|^log\.jsonl$/.test(name)), []);
});

test('--version and --help print and succeed; help has ranges and defaults', () => {
  assert.match(succeed('--version').stdout, /^wasmformer \d+\.\d+\.\d+\n$/);
  assert.match(succeed('--help').stdout, /translate/);
  const help = succeed('translate', '--help').stdout.replace(/\s+/g, ' ');
  assert.ok(help.includes('--beam-size hypotheses kept at each step; 1 is greedy search (a whole number from 1 to 64; default 4)'), help);
  for (const flag of ['--length-penalty', '--n-best', '--max-length', '--temperature', '--top-k', '--top-p', '--sample-seed', '--prefix',
    '--mask-source', '--mask-heads', '--scores', '--attention'])
    assert.ok(help.includes(`${flag} `), flag);
  assert.ok(!help.includes('--beam-trace') && !help.includes('--seed '));
});

test('translate answers a pipe line by line, before its input ends', async () => {
  const child = spawn(program, ['translate', '--model', path('run/best.safetensors'), '--beam-size', '1']);
  const lines = (async function *() {
    let text = '';
    for await (const part of child.stdout) {
      const whole = (text + part).split('\n');
      text = whole.pop();
      yield* whole;
    }
  })();
  const expected = run(['translate', '--model', path('run/best.safetensors'), '--beam-size', '1'], { input: 'eins zwei\ndrei\n' }).stdout.split('\n');
  for (const [i, line] of ['eins zwei', 'drei'].entries()) {
    child.stdin.write(line + '\n');
    assert.equal((await lines.next()).value, expected[i]);
  }
  child.stdin.end();
  assert.equal((await lines.next()).done, true);
  assert.equal(await new Promise((resolve) => child.on('exit', resolve)), 0);
});

test('translate takes any number of lines in bounded memory', { skip: process.env.WASMFORMER_PROGRAM }, () => {
  const words = 'eins zwei drei vier'.split(' ');
  const peak = (count) => {
    writeFileSync(path('many'), Array.from({ length: count }, (_, i) => words[i % 4] + '\n').join(''));
    const script = 'import resource, subprocess, sys\n'
      + 'subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w"), check=True)\n'
      + 'print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)';
    const { stdout, stderr } = spawnSync('python3', ['-c', script, path('many.out'), program, 'translate', '--model', path('run/best.safetensors'),
      '--input', path('many'), '--beam-size', '1', '--max-length', '2'], { encoding: 'utf8' });
    assert.equal(readFileSync(path('many.out'), 'utf8').split('\n').length, count + 1, stderr);
    return Number(stdout); // KiB
  };
  const few = peak(5000), many = peak(200000);
  assert.ok(many - few < 30000, `${few} KiB for 5,000 lines, ${many} KiB for 200,000`);
});

test('a line that is too long is named and left empty, and the others are translated', () => {
  const model = path('run/best.safetensors');
  const alone = run(['translate', '--model', model], { input: 'eins\nzwei\n' }).stdout.split('\n');
  const { status, stdout, stderr } = run(['translate', '--model', model], { input: `eins\n${'eins '.repeat(5000)}\nzwei\n` });
  assert.deepEqual(stdout.split('\n'), [alone[0], '', alone[1], '']);
  assert.notEqual(status, 0);
  assert.match(stderr, /line 2 has \d+ tokens; the model takes at most 512; its translation is empty/);
  assert.match(stderr, /1 of 3 lines is too long for the model/);
});

test('sampled translations do not depend on the batches', () => {
  const sampled = (...more) => succeed('translate', '--model', path('run/best.safetensors'), '--input', path('source'), '--temperature', '2',
    '--sample-seed', '3', ...more).stdout;
  assert.equal(sampled('--batch-tokens', '1'), sampled());
});

test('output that cannot be written is an error of one sentence', { skip: !existsSync('/dev/full') }, () => {
  const model = path('run/best.safetensors');
  const to = (redirection, ...args) => spawnSync('bash', ['-c', `"$0" "$@" ${redirection}`, program, ...args], { encoding: 'utf8' });
  for (const args of [['translate', '--model', model, '--input', path('source')], ['inspect', model], ['inspect', model, '--json'], ['--help'],
    ['evaluate', '--model', model, '--source', path('source'), '--reference', path('target')]]) {
    const full = to('> /dev/full', ...args);
    assert.equal(full.status, 1, args.join(' '));
    assert.equal(full.stderr, "wasmformer: [files] cannot write 'standard output': No space left on device\n");
  }
  // Node opens /dev/null in the place of a closed output.
  if (!process.env.WASMFORMER_PROGRAM) assert.notEqual(to('>&-', 'inspect', model).status, 0);
  // A limit on the size of files, without the shell's own trap.
  const limited = to(`> ${path('limited')}`, 'inspect', model, '--json');
  assert.equal(limited.status, 0);
  const { status, stderr } = spawnSync('bash', ['-c', 'ulimit -f 1; exec "$0" "$@" > "$OUT"', program, 'inspect', model, '--json'],
    { encoding: 'utf8', env: { ...process.env, OUT: path('limited') } });
  assert.equal(status, 1);
  assert.match(stderr, /cannot write 'standard output': File too large/);
});

test('bench measures products, translation and training', () => {
  const figures = JSON.parse(succeed('bench', '--json', '--seconds', '0.01').stdout);
  assert.equal(Object.keys(figures).length, 6);
  for (const [name, value] of Object.entries(figures)) assert.ok(Number.isFinite(value) && value > 0, name);
});
