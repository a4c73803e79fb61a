// The documentation: links resolve, and its commands and programs run, with small data and few steps.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { blocks, errorsUnder, examples, guides, isMessage, text } from './guides.mjs';

const root = join(import.meta.dirname, '..');
const documents = ['README.md', 'CHANGELOG.md', 'src/README.md', 'src/READING.md', 'bindings/README.md', 'bindings/MIGRATING.md', 'tests/bench/README.md',
  'tests/torture/README.md', 'web/models/README.md', 'web/public/labelled/README.md', 'web/README.md', 'tests/README.md', '.github/CONTRIBUTING.md', ...guides];

const folder = mkdtempSync(join(tmpdir(), 'wasmformer-docs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('links between files resolve', () => {
  const slug = (heading) => heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
  for (const document of documents) {
    const links = [...text(document).replace(/^```[^]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);
    for (const link of links.filter((link) => !/^https?:/.test(link))) {
      const [path, anchor] = link.split('#');
      const target = path === '' ? document : join(dirname(document), path);
      assert.ok(existsSync(join(root, target)), `${document}: ${link} does not exist`);
      const headings = anchor === undefined ? [] : [...text(target).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slug(heading));
      assert.ok(anchor === undefined || headings.includes(anchor), `${document}: ${link} is no heading`);
    }
  }
});

test('src/READING.md names functions where they are', () => {
  const named = [...text('src/READING.md').matchAll(/\[`(\w+)`\]\(([\w/.]+)\)/g)];
  assert.ok(named.length > 40);
  for (const [, name, file] of named)
    assert.match(text(join('src', file)), new RegExp(`\\b${name}\\b`), `src/READING.md: ${file} has no ${name}`);
});

test('README.md has at most 160 lines', () => assert.ok(text('README.md').split('\n').length <= 161));

test('CHANGELOG.md has the headings of Keep a Changelog', () => {
  const headings = text('CHANGELOG.md').match(/^#+ .*$/gm);
  assert.deepEqual(headings.slice(0, 2), ['# Changelog', '## [Unreleased]']);
  for (const heading of headings.slice(2))
    assert.match(heading, /^(## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d|### (Added|Changed|Deprecated|Removed|Fixed|Security))$/);
});

test('the packed file is named by its version', () => {
  const { version } = JSON.parse(text('package.json'));
  for (const document of ['README.md', 'bindings/docs/quick-start.md']) {
    const names = text(document).match(/wasmformer-[\d.]+\.tgz/g);
    assert.deepEqual([...new Set(names)], [`wasmformer-${version}.tgz`], document);
  }
});

// Lines of shell that other tests run, or variations of them.
const covered = [
  [/^npm run dev\b/, 'tests/dev/dev.test.mjs', 'startDevelopment'],
  [/^npm start\b/, 'tests/docs.test.mjs', 'start.mjs'],
  [/^npm (test|run (build|native|test:\w+))\b(?!.*cmake)/, 'tests/run.mjs', 'assemble'],
  [/^npm run docs\b/, 'tests/npm/tarball.test.mjs', 'writeDocs'],
  [/^npm run (--silent )?bench\b/, 'tests/bench/run.mjs', '--json'],
  [/^npm run torture\b/, 'tests/torture/torture.test.mjs', 'conduct'],
  [/^npm install .*wasmformer-.*\.tgz$/, 'tests/npm/tarball.test.mjs', "'install'"],
  [/^node bindings\/tools\/build.mjs one-file /, 'tests/e2e/one-file.test.mjs', 'one-file.mjs'],
  [/^npm run native && cmake --install /, 'tests/install/files.cmake', '--install'],
  [/^cmake -S bindings\/examples\/cpp /, 'tests/install/example.cmake', 'bindings/examples/cpp'],
  [/^build\/example\/translate /, 'tests/install/example.cmake', '/translate'],
  [/^(apt-get install libopenmpi-dev|cmake --preset native-mpi|mpirun )/, 'tests/cli/ranks.test.mjs', "'native-mpi'"],
  [/export-marian .*--format bin/, 'tests/exchange/marian/student_export_test.cpp', 'export_student'],
  [/^wasmformer=/, 'tests/docs.test.mjs', 'wasmformer='],
  [/^(node|deno run -A|bun) main\.mjs$/, 'tests/docs.test.mjs', 'each runtime runs the program of the quick start'],
];
const isCovered = (line) => covered.some(([pattern]) => pattern.test(line));

test('other tests run the commands that are not run here', () => {
  for (const [, file, words] of covered) assert.ok(text(file).includes(words), `${file} has no ${words}`);
  const scripts = Object.keys(JSON.parse(text('package.json')).scripts);
  for (const document of documents) {
    for (const [, name] of text(document).matchAll(/npm run (?:--silent )?([\w:]+)/g)) {
      assert.ok(scripts.includes(name), `${document}: npm run ${name}`);
    }
  }
});

function writeCorpora(place) {
  const pairs = text('tests/fixtures/tatoeba-en-de-test-200.tsv').trim().split('\n');
  const parts = { train: pairs.slice(0, 160), valid: pairs.slice(160, 180), test: pairs.slice(180) };
  for (const [name, lines] of Object.entries(parts)) {
    writeFileSync(join(place, `${name}.tsv`), `${lines.join('\n')}\n`);
    writeFileSync(join(place, `${name}.tsv.gz`), gzipSync(`${lines.join('\n')}\n`));
  }
  for (const [name, lines] of Object.entries({ train: parts.train, val: parts.valid, test_2016_flickr: parts.test })) {
    for (const [i, language] of ['en', 'de'].entries()) {
      const sentences = lines.map((line) => `${line.split('\t')[i]}\n`).join('');
      writeFileSync(join(place, `${name}.${language}.gz`), gzipSync(sentences));
    }
  }
  for (const [i, name] of ['novels', 'handbook', 'python'].entries())
    writeFileSync(join(place, `${name}.tsv.gz`), gzipSync(parts.train.slice(50 * i, 50 * i + 60).join('\n')));
  // The other way round, for the model that stands in for en-zh.
  const swapped = (word) => parts.train.map((line) => `${word}, ${line.split('\t').reverse().join(`\t${word}, `)}\n`).join('');
  for (const [name, lines] of Object.entries({ german: swapped('Ja'), french: swapped('Nein') }))
    writeFileSync(join(place, `${name}.tsv.gz`), gzipSync(lines));
  for (const name of ['german-valid', 'german-test', 'french-valid', 'french-test'])
    writeFileSync(join(place, `${name}.tsv.gz`), gzipSync(parts.valid.join('\n')));
  mkdirSync(join(place, 'long'));
  for (const part of ['train', 'valid']) writeFileSync(join(place, `long/${part}.tsv`), `${parts[part].join('\n')}\n`);
  writeFileSync(join(place, 'rules.tsv'), 'FF01\t21\n');
  for (const [name, lines] of Object.entries(parts)) {
    const texts = lines.map((line) => line.split('\t')[0]);
    const labelled = texts.map((text, i) => `${i % 2 ? 'odd' : 'even'}\t${text}\n`).join('');
    const tagged = (tags) => texts.map((text) => text.split(' ').map((word, i) => `${word}\t${tags[i % 2]}\n`).join('') + '\n').join('');
    for (const corpus of ['snips_intent', 'atis_intent', 'csl_category', 'sst2', 'chnsenticorp_hotel', 'trec'])
      writeFileSync(join(place, `${corpus}.${name}`), labelled);
    const marked = labelled.replace(/\t(\S+)(.*?)(\S+)$/gm, '\t<e1>$1</e1>$2 <e2>$3</e2>');
    writeFileSync(join(place, `semeval2010t8.${name}`), marked);
    for (const corpus of ['snips_slots', 'atis_slots', 'cluener']) writeFileSync(join(place, `${corpus}.${name}`), tagged(['O', 'B-word']));
    writeFileSync(join(place, `ud_en_ewt.${name}`), tagged(['NOUN', 'VERB']));
    writeFileSync(join(place, `acl_title.${name}`), `${lines.join('\n')}\n`);
  }
  writeFileSync(join(place, 'more.en'), 'The cat sleeps.\nWhere is the station?\n');
  writeFileSync(join(place, 'prose.en'), 'The cat sleeps.\nWhere is the station?\n');
  writeFileSync(join(place, 'sentences.txt'), 'Ich habe einen Hund.\nWo ist mein Buch?\n');
}

// Sizes and numbers of steps that take seconds.
const smaller = [
  [/--vocab-size \d+ --type bpe/g, '--vocab-size 400 --type bpe'],
  [/--preset \S+/g, '--preset tiny'],
  [/--max-steps \d+/g, '--max-steps 4'],
  [/ \d+ (?=[1-8]e-[34] )/g, ' 4 '],
  [/--validation \d+/g, '--validation 10'],
  [/(m30k .*) \d{4,5} /g, '$1 4 '],
  [/--(valid|test) [68]0/g, '--$1 10'],
  [/--count \$1/g, '--count 3000'],
  [/{14..23}/g, '{14..15}'],
  [/--least 0\.\d+/g, '--least 0'],
  [/ (staples|core(cases)?(-en)?)\.tsv:[\d.]+/g, ' short.tsv:1'], // these files are empty: so small a corpus has no common sentences
  [/warmup_steps=\d+/g, 'warmup_steps=1'],
  [/learning_rate=0\.00\d+/g, 'learning_rate=2e-4'],
];

for (const document of documents) {
  const all = blocks(document, 'sh').reduce((all, block) => (block.startsWith('# Continues the commands above.')
    ? [...all.slice(0, -1), `${all.at(-1)}\n${block}`] : [...all, block]), []);
  const scripts = all.map((block) => block.split('\n').filter((line) => !isCovered(line)).join('\n'))
    .filter((block) => /^(?!\s*#)\s*\S/m.test(block));
  for (const [i, block] of scripts.entries()) {
    test(`${document}: shell commands, part ${i + 1}`, () => {
      const place = join(folder, document.replaceAll('/', '-'), String(i));
      mkdirSync(join(place, 'run'), { recursive: true });
      writeCorpora(place);
      for (const model of ['run/best', 'de-en', 'en-de', 'en-zh', 'zh-en', 'web/public/models/de-en'])
        cpSync(join(root, 'tests/fixtures/tiny-de-en.safetensors'), join(place, `${model}.safetensors`));
      cpSync(join(root, 'tests/fixtures/sentencepiece/iwslt17-spm_bpe.model'), join(place, 'bpe9500.model'));
      for (const path of ['web/models', 'tests/fixtures/answers', 'web/cards'])
        cpSync(join(root, path), join(place, path), { recursive: true });
      symlinkSync(join(root, 'dist'), join(place, 'dist'));
      cpSync(join(root, 'tests/fixtures/marian/tiny'), join(place, 'opus-mt-fr-en'), { recursive: true });
      cpSync(join(root, 'tests/fixtures/bert/distilbert-tag'), join(place, 'distilbert-ner'), { recursive: true });
      const script = smaller.reduce((script, [pattern, to]) => script.replace(pattern, to), block);
      const program = `wasmformer=${join(root, 'build/native/wasmformer')}`;
      const { status, stderr } = spawnSync('bash', ['-euc', `${program}\n${script}`], { cwd: place, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    });
  }
}

/** A folder with the package and the models, and `program` in it as main.mjs. */
function project(name, program) {
  const place = join(folder, name.replaceAll('/', '-'));
  mkdirSync(join(place, 'node_modules'), { recursive: true });
  symlinkSync(root, join(place, 'node_modules/wasmformer'));
  for (const models of ['models', 'encoders']) symlinkSync(join(root, 'web/public', models), join(place, models));
  writeFileSync(join(place, 'package.json'), '{ "dependencies": { "wasmformer": "*" } }'); // for Deno
  writeFileSync(join(place, 'main.mjs'), program.replaceAll('steps: 500', 'steps: 20'));
  return place;
}

function runs(place, runtime = process.execPath, ...args) {
  const env = { ...process.env, XDG_CACHE_HOME: join(place, 'cache') };
  const { status, stdout, stderr } = spawnSync(runtime, [...args, 'main.mjs'], { cwd: place, env, encoding: 'utf8', timeout: 120_000 });
  assert.equal(status, 0, stderr);
  return stdout;
}

for (const document of documents) {
  for (const [i, block] of blocks(document, 'js').entries()) {
    test(`${document}: JavaScript, part ${i + 1}`, () => void runs(project(`js-${document}-${i}`, block)));
  }
}

test('each runtime runs the program of the quick start', () => {
  const guide = 'bindings/docs/quick-start.md';
  const place = project('runtimes', blocks(guide, 'js').find((block) => block.includes('dispose()')));
  const runtimes = blocks(guide, 'sh').find((block) => block.startsWith('node')).trim().split('\n');
  assert.deepEqual(runtimes.map((line) => line.split(' ')[0]), ['node', 'deno', 'bun']);
  for (const line of runtimes) {
    const [name, ...args] = line.replace(' main.mjs', '').split(' ');
    const program = name === 'node' ? process.execPath : join(root, 'node_modules/.bin', name);
    assert.ok(text(guide).includes(`prints \`${runs(place, program, ...args).trim()}\``), line);
  }
});

// That of translateDocument runs in tests/e2e/guides.test.mjs.
test('the examples in the sources run', () => {
  const files = readdirSync(join(root, 'bindings/js'), { recursive: true }).filter((name) => /\.ts$/.test(name));
  const found = files.flatMap((name) => examples(`bindings/js/${name}`).map((code) => [name, code]));
  assert.equal(found.length, 12);
  for (const [name, code] of found.filter(([, code]) => !code.includes('document'))) {
    const imports = `import { readFile, writeFile } from 'node:fs/promises';
import { Classifier, storedModels, Tagger, Trainer, Translator, WasmformerError } from 'wasmformer';
import { exportOnnx } from 'wasmformer/convert';
import { Engine } from 'wasmformer/engine';
import { cached, pivot } from 'wasmformer/pages';
import { pipeline } from 'wasmformer/pipeline';`;
    runs(project(`example-${name}-${found.findIndex((one) => one[1] === code)}`, `${imports}\n${code}`));
  }
});

for (const heading of ['What was asked for', 'The model', 'Training', 'Stopping, memory, disposal']) {
  test(`bindings/docs/errors.md: messages under “${heading}”`, () => {
    const lines = errorsUnder(heading);
    assert.ok(lines.length > 4);
    const calls = lines.map(({ call, before }) => `(translator) => { ${before}; return ${call}; }`).join(',\n');
    const place = project(`errors-${heading}`, `import { readFileSync } from 'node:fs';
import { Classifier, Trainer, Translator } from 'wasmformer';
import { importBert } from 'wasmformer/convert';
import { pivot } from 'wasmformer/pages';
const roberta = Buffer.from('{"model_type":"roberta"}');
const model = 'models/de-en.safetensors';
const bytes = readFileSync(model);
const integrity = 'sha256-AAAA';
const few = [['ein Hund', 'a dog'], ['eine Katze', 'a cat'], ['ein Haus', 'a house'], ['das Haus', 'the house']];
const long = 'Ich habe einen Hund. '.repeat(90);
async function diverge() {
  const trainer = await Trainer.create({ task: 'copy', config: { learning_rate: 1e12, clip_norm: 0, warmup_steps: 1 } });
  for await (const event of trainer.run({ steps: 30 })) event.step;
}
const messages = [];
for (const call of [${calls}]) {
  const translator = await Translator.load(model);
  messages.push(await Promise.resolve(translator).then(call).then(() => 'no error', (error) => error.message));
  translator.dispose();
}
console.log(JSON.stringify(messages));
process.exit();`);
    const messages = JSON.parse(runs(place));
    for (const [i, { call, message }] of lines.entries()) assert.ok(isMessage(messages[i], message), `${call}: ${messages[i]}`);
  });
}

test('bindings/docs/errors.md: the table of codes has all that have a code of their own, and no others', () => {
  const files = (folder, kind) => readdirSync(join(root, folder), { recursive: true }).filter((name) => kind.test(name)).map((name) => text(`${folder}/${name}`)).join('');
  const section = text('bindings/docs/errors.md').split('## Codes')[1].split('\n## ')[0];
  const told = section.split('\n').filter((line) => line.startsWith('| `')).flatMap((line) => [...line.split('|')[1].matchAll(/`([\w-]+)`/g)].map(([, code]) => code));
  // In C++ the codes after the rooms; in JavaScript those that are given a room.
  const [, entries] = text('src/schema/error_codes.h').split('ErrorCode::zip, "zip"');
  const ofCpp = [...entries.matchAll(/\{ErrorCode::\w+,\s*"([\w-]+)"/g)].map(([, code]) => code);
  const script = files('bindings/js', /\.ts$/);
  for (const code of ofCpp) assert.ok(told.includes(code), `${code} is not in the table`);
  for (const code of told) assert.ok(ofCpp.includes(code) || script.includes(`'${code}'`), `no source has ${code}`);
  for (const [, code] of script.matchAll(/new Wasmformer\w*Error\(\s*'([\w-]+)',[^;]*?\broom\b/g)) assert.ok(told.includes(code), `${code} is not in the table`);
});

test('bindings/docs/errors.md: the messages that cannot be tried are in the source', () => {
  const source = readdirSync(join(root, 'bindings/js'), { recursive: true }).filter((name) => /\.ts$/.test(name))
    .map((name) => text(`bindings/js/${name}`)).join('');
  const others = text('bindings/docs/errors.md').split('## Others')[1].matchAll(/^- `(?:\[[a-z]+\] )?(.+?) ?…?`/gm);
  for (const [, message] of others) assert.ok(source.includes(message), message);
});

test('npm start serves the page, with the headers that threads need', async () => {
  const server = spawn(process.execPath, [join(root, 'bindings/tools/start.mjs')], { env: { ...process.env, PORT: '0' } });
  try {
    let address;
    for await (const line of createInterface({ input: server.stdout })) {
      address = /The page is at (\S+)/.exec(line)?.[1];
      if (address) break;
    }
    const response = await fetch(address);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cross-origin-opener-policy'), 'same-origin');
    assert.match(await response.text(), /<title>/);
  } finally {
    server.kill();
  }
});
