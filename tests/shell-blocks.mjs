// Runs the shell commands of a document, with small data and few steps.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
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
  [/^build\/example\/translate /, 'tests/install/example.cmake', '/translate'],
  [/^(apt-get install libopenmpi-dev|cmake --preset native-mpi|mpirun )/, 'tests/cli/ranks.test.mjs', "'native-mpi'"],
  [/export-marian .*--format bin/, 'tests/exchange/marian/student_export_test.cpp', 'export_student'],
  [/^node web\/models\/prepare\.mjs /, 'tests/js/prepare.test.mjs', "'prepare.mjs'), 'de-en'"],
  [/^\$wasmformer train --config web\/models\//, 'tests/cli/config_file.test.mjs', 'the recipe of'],
  [/^wasmformer=/, 'tests/shell-blocks.mjs', 'wasmformer='],
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
  [/--budget \d+/g, '--budget 0.02'],
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

/** The scripts of a document without the lines that other tests run. */
export function scripts(document) {
  const all = blocks(document, 'sh').reduce((all, block) => (block.startsWith('# Continues the commands above.')
    ? [...all.slice(0, -1), `${all.at(-1)}\n${block}`] : [...all, block]), []);
  return all.map((block) => block.split('\n').filter((line) => !isCovered(line)).join('\n'))
    .filter((block) => /^(?!\s*#)\s*\S/m.test(block));
}

/** Runs one of them in the folder `place`, which it makes. */
export function runScript(script, place) {
  mkdirSync(join(place, 'run'), { recursive: true });
  writeCorpora(place);
  for (const model of ['run/best', 'trained/last', 'de-en', 'en-de', 'en-zh', 'zh-en', 'web/public/models/de-en'])
    cpSync(join(root, 'tests/fixtures/tiny-de-en.safetensors'), join(place, `${model}.safetensors`));
  cpSync(join(root, 'tests/fixtures/sentencepiece/iwslt17-spm_bpe.model'), join(place, 'bpe9500.model'));
  for (const path of ['web/models', 'tests/fixtures/answers', 'web/cards'])
    cpSync(join(root, path), join(place, path), { recursive: true });
  symlinkSync(join(root, 'dist'), join(place, 'dist'));
  cpSync(join(root, 'tests/fixtures/marian/tiny'), join(place, 'opus-mt-fr-en'), { recursive: true });
  cpSync(join(root, 'tests/fixtures/bert/distilbert-tag'), join(place, 'distilbert-ner'), { recursive: true });
  const small = smaller.reduce((script, [pattern, to]) => script.replace(pattern, to), script);
  const program = `wasmformer=${join(root, 'build/native/wasmformer')}`;
  const { status, stderr } = spawnSync('bash', ['-euc', `${program}\n${small}`], { cwd: place, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
