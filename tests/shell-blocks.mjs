// Runs the shell commands of a document, with small data and few steps.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { blocks, text } from './guides.mjs';

const root = join(import.meta.dirname, '..');

// Lines of shell that other tests run, or variations of them.
export const covered = [
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
  [/^echo .* \| build\/example\/translate /, 'tests/install/example.cmake', '/translate'],
  [/^cmake -S \. -B build\/lib /, 'tests/install/library_only.cmake', 'WASMFORMER_LIBRARY_ONLY=ON'],
  [/^(export PKG_CONFIG_PATH=|g\+\+ .*pkg-config)/, 'tests/install/pkg_config.cmake', '-std=c++20'],
  [/^(apt-get install libopenmpi-dev|cmake --preset native-mpi|mpirun )/, 'tests/cli/ranks.test.mjs', "'native-mpi'"],
  [/export-marian .*--format bin/, 'tests/exchange/marian/student_export_test.cpp', 'export_student'],
  [/^node web\/models\/prepare\.mjs /, 'tests/js/prepare.test.mjs', "'prepare.mjs'), 'de-en'"],
  [/^\$wasmformer train --config web\/models\//, 'tests/cli/config_file.test.mjs', 'the recipe of'],
  [/^(wasmformer|prefix)=/, 'tests/shell-blocks.mjs', 'wasmformer='],
  [/^(node|deno run -A|bun) main\.mjs$/, 'tests/docs.test.mjs', 'each runtime runs the program of the quick start'],
];
const isCovered = (line) => covered.some(([pattern]) => pattern.test(line));

function writeCorpora(place) {
  const pairs = text('tests/fixtures/tatoeba-en-de-test-200.tsv').trim().split('\n');
  const parts = { train: pairs.slice(0, 160), valid: pairs.slice(160, 180), test: pairs.slice(180) };
  for (const [name, lines] of Object.entries(parts)) {
    writeFileSync(join(place, `${name}.tsv`), `${lines.join('\n')}\n`);
    writeFileSync(join(place, `${name}.tsv.gz`), gzipSync(`${lines.join('\n')}\n`));
  }
  writeFileSync(join(place, 'novels.tsv.gz'), gzipSync(parts.train.slice(0, 60).join('\n')));
  for (const [name, lines] of Object.entries(parts)) {
    const texts = lines.map((line) => line.split('\t')[0]);
    const labelled = texts.map((text, i) => `${i % 2 ? 'odd' : 'even'}\t${text}\n`).join('');
    const tagLines = (text) => text.split(' ').map((word, i) => `${word}\t${i % 2 ? 'B-word' : 'O'}\n`).join('');
    writeFileSync(join(place, `snips_intent.${name}`), labelled);
    writeFileSync(join(place, `snips_slots.${name}`), texts.map((text) => `${tagLines(text)}\n`).join(''));
    writeFileSync(join(place, `sst2.${name}.tsv`), labelled);
    writeFileSync(join(place, `wnut17.${name}.tsv`), texts.map((text) => `${tagLines(text)}\n`).join(''));
  }
  writeIwslt(place, parts);
  writeMulti30k(place, parts);
  mkdirSync(join(place, 'web/public/pairs'), { recursive: true });
  const chinese = gunzipSync(readFileSync(join(root, 'web/public/pairs/en-zh.tsv.gz'))).toString().split('\n').slice(0, 60);
  writeFileSync(join(place, 'web/public/pairs/en-zh.tsv.gz'), gzipSync(chinese.join('\n')));
  writeFileSync(join(place, 'sentences.txt'), 'Ich habe einen Hund.\nWo ist mein Buch?\n');
}

/** The same pairs in the format of IWSLT 2016: text among lines of tags, and XML. */
function writeIwslt(place, parts) {
  const write = (name, lines) => writeFileSync(join(place, name), `${lines.join('\n')}\n`);
  for (const [side, column] of [['en', 0], ['de', 1]]) {
    const texts = (lines) => lines.map((line) => line.split('\t')[column]);
    const segments = (lines) => texts(lines).map((text, i) => `<seg id="${i + 1}"> ${text} </seg>`);
    write(`train.tags.de-en.${side}`, ['<url>http://example.org</url>', '<title>A talk</title>', ...texts(parts.train)]);
    write(`IWSLT16.TED.tst2013.de-en.${side}.xml`, ['<doc docid="1">', ...segments(parts.valid), '</doc>']);
    write(`IWSLT16.TED.tst2014.de-en.${side}.xml`, ['<doc docid="2">', ...segments(parts.test), '</doc>']);
  }
}

/** The same pairs under the names of Multi30k's files. */
function writeMulti30k(place, { train, valid }) {
  mkdirSync(join(place, 'multi30k'));
  for (const [name, lines] of [['train', train], ['val', valid]]) {
    for (const [side, column] of [['en', 0], ['de', 1]]) {
      const texts = lines.map((line) => line.split('\t')[column]);
      writeFileSync(join(place, `multi30k/${name}.${side}.gz`), gzipSync(`${texts.join('\n')}\n`));
    }
  }
}

/** The package and a model as npm puts them into a project. */
function installPackages(place) {
  mkdirSync(join(place, 'node_modules/wasmformer'), { recursive: true });
  symlinkSync(join(root, 'dist'), join(place, 'node_modules/wasmformer/dist'));
  cpSync(join(root, 'tests/fixtures/tiny-de-en.safetensors'), join(place, 'node_modules/wasmformer-de-en/de-en.safetensors'));
}

// Sizes and numbers of steps that take seconds.
const smaller = [
  [/--vocab-size \d+ --type bpe/g, '--vocab-size 400 --type bpe'],
  [/--preset \S+/g, '--preset tiny'],
  [/--max-steps \d+/g, '--max-steps 4'],
  [/--budget \d+/g, '--budget 0.02'],
  [/--max-minutes \S+/g, '--max-minutes 0.02'],
  [/--(valid|test) 80/g, '--$1 10'],
  [/warmup_steps=\d+/g, 'warmup_steps=1'],
  [/learning_rate=0\.00\d+/g, 'learning_rate=2e-4'],
];

/** The scripts of a document without the lines that other tests run. */
export function scripts(document) {
  return blocks(document, 'sh').map((block) => block.split('\n').filter((line) => !isCovered(line)).join('\n'))
    .filter((block) => /^(?!\s*#)\s*\S/m.test(block));
}

/** Runs one of them in the folder `place`, which it makes. */
export function runScript(script, place) {
  mkdirSync(join(place, 'run'), { recursive: true });
  writeCorpora(place);
  for (const model of ['run/best', 'trained/last', 'de-en', 'web/public/models/de-en'])
    cpSync(join(root, 'tests/fixtures/tiny-de-en.safetensors'), join(place, `${model}.safetensors`));
  for (const path of ['web/models', 'tests/fixtures/answers'])
    cpSync(join(root, path), join(place, path), { recursive: true });
  symlinkSync(join(root, 'dist'), join(place, 'dist'));
  installPackages(place);
  cpSync(join(root, 'tests/fixtures/marian/tiny'), join(place, 'opus-mt-fr-en'), { recursive: true });
  cpSync(join(root, 'tests/fixtures/bert/distilbert-tag'), join(place, 'distilbert-ner'), { recursive: true });
  const small = smaller.reduce((script, [pattern, to]) => script.replace(pattern, to), script);
  const program = `wasmformer=${join(root, 'build/native/wasmformer')}`;
  const { status, stderr } = spawnSync('bash', ['-euc', `${program}\n${small}`], { cwd: place, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
