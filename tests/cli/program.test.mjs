// The commands around training, as a user runs them, and bad input.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { path, program, refuse, run, succeed, train, training } from './trained.mjs';

test('translate, evaluate, average and inspect', () => {
  const model = path('run/best.safetensors');
  const plain = succeed('translate', '--model', model, '--input', path('source')).stdout;
  assert.equal(plain.split('\n').length, 21);
  const fromStdin = run(['translate', '--model', model, '--beam-size', '4'], { input: readFileSync(path('source')) });
  assert.equal(fromStdin.stdout, plain);
  const best = succeed('translate', '--model', model, '--input', path('source'), '--n-best', '3').stdout.trim().split('\n');
  assert.equal(best.length, 60);
  best.forEach((line, i) => assert.match(line, new RegExp(`^${Math.floor(i / 3)} \\|\\|\\| .* \\|\\|\\| -?\\d+\\.\\d+$`)));
  const few = run(['translate', '--model', model, '--n-best', '3'], { input: 'Danke!\n\nJa.\n' }).stdout.trimEnd().split('\n');
  assert.deepEqual(few.map((line) => line.split(' ||| ')[0]), ['0', '0', '0', '1', '2', '2', '2']);
  assert.equal(few[3], '1 |||  ||| 0.0000');
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
  refuse(/cannot write.*absent/, ['evaluate', '--model', path('no-model'), '--output', path('absent/x')]); // before the model is read
  refuse(/bleu-tokenize.*zh/, ['evaluate', '--model', model, '--bleu-tokenize', 'intl']);

  const epochs = readdirSync(path('run')).filter((name) => name.startsWith('epoch')).map((name) => path(`run/${name}`));
  succeed('average', '--output', path('average.safetensors'), '--precision', 'f16', ...epochs);
  const facts = JSON.parse(succeed('inspect', path('average.safetensors'), '--json').stdout);
  assert.equal(facts.config.d_model, 32);
  assert.equal(facts.metadata.languages, 'de-en');
  assert.ok(facts.tensors.F16 > 0 && !facts.tensors.F32);

  const averageWith = (setting) => {
    succeed('train', '--from', model, '--data', path('valid.tsv'), '--validation', '2', '--output', path(setting),
      '--max-steps', '1', '--set', setting);
    return ['average', '--output', path('average.safetensors'), path(`${setting}/last.safetensors`), model];
  };
  succeed(...averageWith('dropout=0.37'));
  refuse(/encoder_layers=1.* differ in their config/, averageWith('encoder_layers=1'));
});

// Emscripten's files cannot be pipes.
test('a model can be read from a pipe, since its file is read once', { skip: process.env.WASMFORMER_PROGRAM }, () => {
  const model = path('run/best.safetensors');
  const piped = (...args) => spawnSync('bash', ['-c', 'cat "$0" | "$@"', model, program, ...args], { encoding: 'utf8' });
  assert.equal(piped('inspect', '/dev/stdin', '--json').stdout, succeed('inspect', model, '--json').stdout);
  const evaluated = piped('evaluate', '--model', '/dev/stdin', '--data', path('valid.tsv'));
  assert.match(evaluated.stdout, /^BLEU /, evaluated.stderr);
  const tuned = piped('train', '--from', '/dev/stdin', '--data', path('train.tsv.gz'), '--valid-data', path('valid.tsv'),
    '--output', path('piped'), '--max-steps', '2');
  assert.equal(tuned.status, 0, tuned.stderr);
});

test('--attention writes a line per sentence to a .ndjson file, and the same objects as an array to any other', () => {
  const translate = (file) => succeed('translate', '--model', path('run/best.safetensors'), '--input', path('source'), '--attention', file);
  translate(path('maps.json'));
  translate(path('maps.ndjson'));
  const lines = readFileSync(path('maps.ndjson'), 'utf8').split('\n');
  assert.equal(lines.pop(), '');
  assert.equal(lines.length, 20);
  assert.deepEqual(lines.map((line) => JSON.parse(line)), JSON.parse(readFileSync(path('maps.json'), 'utf8')));
  run(['translate', '--model', path('run/best.safetensors'), '--attention', path('none.ndjson')], { input: '' });
  assert.equal(readFileSync(path('none.ndjson'), 'utf8'), '');
});

test('an array of attention beyond 100 MB is warned of once, lines are not', () => {
  const text = `${'eins '.repeat(90).trim()}\n`.repeat(5);
  const translate = (file) =>
    run(['translate', '--model', path('run/best.safetensors'), '--beam-size', '1', '--max-length', '2', '--attention', file], { input: text });
  const { status, stderr } = translate(path('large.json'));
  assert.equal(status, 0, stderr);
  assert.ok(statSync(path('large.json')).size > 100e6);
  assert.match(stderr, /large\.json has more than 100 MB already; a name that ends in \.ndjson/);
  assert.equal(stderr.trim().split('\n').length, 1);
  assert.equal(translate(path('large.ndjson')).stderr, '');
  for (const name of ['large.json', 'large.ndjson']) rmSync(path(name));
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

test('a quantized model is less than half the size, translates nearly the same, and is refused where floats are needed', () => {
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
  const smallest = path('smallest.safetensors');
  for (const from of [model, small]) {
    succeed('quantize', '--bits', '4', '--model', from, '--output', smallest);
    const saved = facts(small).bytes - facts(smallest).bytes;
    assert.ok(saved > 0.4 * facts(model).parameters, `${saved} bytes less than int8`);
    assert.ok(Math.abs(score(smallest).chrf - score(model).chrf) < 8);
  }
  refuse(/smallest\.safetensors.*4 bits already/, ['quantize', '--bits', '4', '--model', smallest, '--output', path('none')]);
  succeed('quantize', '--model', smallest, '--output', path('noted.safetensors'), '--metadata', 'licence=CC0');
  assert.deepEqual([facts(path('noted.safetensors')).tensors, facts(path('noted.safetensors')).metadata.licence], [facts(smallest).tensors, 'CC0']);
  refuse(/small\.safetensors.*int8 already/, ['quantize', '--model', small, '--output', path('smaller.safetensors')]);
  const card = path('card.json');
  writeFileSync(card, JSON.stringify({ 'limits.zh': '短句' }));
  succeed('quantize', '--model', small, '--output', path('described.safetensors'), '--metadata', card, 'licence=CC0');
  assert.deepEqual(facts(path('described.safetensors')).metadata, { ...facts(small).metadata, 'limits.zh': '短句', licence: 'CC0' });
  const weights = (file) => readFileSync(file).subarray(8 + Number(readFileSync(file).readBigUInt64LE()));
  assert.ok(weights(path('described.safetensors')).equals(weights(small)));
  writeFileSync(card, '["a"]');
  refuse(/card\.json is not a JSON object/, ['quantize', '--model', small, '--output', small, '--metadata', card]);
  refuse(/int8.*average the float models/, ['average', '--output', path('mean.safetensors'), small, model]);
});

test('set-metadata changes what a file says about itself, and nothing else', () => {
  const model = path('named.safetensors');
  copyFileSync(path('run/best.safetensors'), model);
  writeFileSync(path('facts.json'), JSON.stringify({ corpus: 'numbers', licence: 'CC0' }));
  const inspect = (file) => JSON.parse(succeed('inspect', file, '--json').stdout);
  const before = inspect(model);
  succeed('set-metadata', model, 'note=two words', 'languages=', path('facts.json'));
  const { metadata, ...rest } = inspect(model);
  const { languages: _, ...kept } = before.metadata;
  assert.deepEqual(metadata, { ...kept, note: 'two words', corpus: 'numbers', licence: 'CC0' });
  assert.deepEqual([rest.parameters, rest.tensors, rest.config], [before.parameters, before.tensors, before.config]);
  const translate = (...given) => succeed('translate', ...given, '--input', path('source')).stdout;
  assert.equal(translate(model), translate('--model', path('run/best.safetensors')));
  refuse(/config is part of the model/, ['set-metadata', model, 'config={}']);
  refuse(/'note' is not KEY=VALUE/, ['set-metadata', model, 'note']);
});

test('bad input gives a one-sentence error', () => {
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
  refuse(/nowhere.last\.safetensors does not exist.*leave --resume out.*--output/, train('nowhere', '--resume', '--max-steps', '1'));
  refuse(/gigantic/, train('bad', '--max-steps', '1').map((word) => (word === 'tiny' ? 'gigantic' : word)));
  refuse(/other settings/, train('run', '--resume', '--max-steps', '301', '--set', 'ffn_dim=128'));
  refuse(/unknown option '--colour' of translate$/, ['translate', '--model', model, '--colour', 'blue']);
  refuse(/unknown option '--beam' of translate; did you mean '--beam-size'\?/, ['translate', '--model', model, '--beam', '4']);
  refuse(/unknown option '--modle' of translate; did you mean '--model'\?/, ['translate', '--modle', model]);
  refuse(/unknown command 'transalte'; did you mean 'translate'\?/, ['transalte', '--model', model]);
  refuse(/no command; the commands are tokenizer, train, translate/, []);
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

test('--version and --help print and succeed; help shows ranges and defaults', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.equal(succeed('--version').stdout, `wasmformer ${version}\n`);
  assert.match(succeed('--help').stdout, /translate/);
  const help = succeed('translate', '--help').stdout.replace(/\s+/g, ' ');
  assert.ok(help.includes('--beam-size N hypotheses kept at each step; 1 is greedy search (a whole number from 1 to 64; default 4)'), help);
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

test('translate reads a file of more than 128 KiB to its end', () => {
  // The program reads 128 KiB at a time. Most lines are empty, which takes no time to translate.
  const lines = Array.from({ length: 200 * 1024 }, (_, i) => (i % 1000 === 0 ? '1 2 3' : ''));
  writeFileSync(path('large'), `${lines.join('\n')}\n`);
  const { stdout } = succeed('translate', '--model', path('run/best.safetensors'), '--beam-size', '1', '--input', path('large'));
  const translations = stdout.split('\n').slice(0, -1);
  assert.equal(translations.length, lines.length);
  translations.forEach((translation, i) => assert.equal(translation !== '', lines[i] !== '', `line ${i + 1}`));
});

test('a line that is too long is reported and left empty, and the others are translated', () => {
  const model = path('run/best.safetensors');
  const alone = run(['translate', '--model', model], { input: 'eins\nzwei\n' }).stdout.split('\n');
  const { status, stdout, stderr } = run(['translate', '--model', model], { input: `eins\n${'eins '.repeat(5000)}\nzwei\n` });
  assert.deepEqual(stdout.split('\n'), [alone[0], '', alone[1], '']);
  assert.notEqual(status, 0);
  assert.match(stderr, /line 2 has \d+ tokens; the model takes at most 512; its translation is empty/);
  assert.match(stderr, /1 of 3 lines is too long for the model/);
});

test('a line that is not UTF-8 is reported and left empty, and the others are translated', () => {
  const model = path('run/best.safetensors');
  const alone = run(['translate', '--model', model], { input: 'eins\nzwei\n' }).stdout.split('\n');
  const input = Buffer.concat([Buffer.from('eins\n'), Buffer.from([0x67, 0xfc, 0x0a]), Buffer.from('zwei\n')]);
  const { status, stdout, stderr } = run(['translate', '--model', model], { input });
  assert.deepEqual(stdout.split('\n'), [alone[0], '', alone[1], '']);
  assert.equal(status, 1);
  assert.match(stderr, /line 2 is not UTF-8; its translation is empty/);
  assert.match(stderr, /1 of 3 lines is not UTF-8 and left empty/);
});

test('sampled translations do not depend on batching', () => {
  const sampled = (...more) => succeed('translate', '--model', path('run/best.safetensors'), '--input', path('source'), '--temperature', '2',
    '--sample-seed', '3', ...more).stdout;
  assert.equal(sampled('--batch-tokens', '1'), sampled());
});

test('a failed write gives a one-sentence error', { skip: !existsSync('/dev/full') }, () => {
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

test('bench measures matrix products, translation and training', () => {
  refuse(/--seconds: must be a number greater than 0, not 0$/, ['bench', '--seconds', '0']);
  const figures = JSON.parse(succeed('bench', '--json', '--seconds', '0.01').stdout);
  assert.equal(Object.keys(figures).length, 6);
  for (const [name, value] of Object.entries(figures)) assert.ok(Number.isFinite(value) && value > 0, name);
});
