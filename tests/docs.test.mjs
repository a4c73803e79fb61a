// The documentation: links resolve, and its commands and programs run, with small data and few steps.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { writeModelPackages } from '../bindings/tools/model-packages.mjs';
import { blocks, errorsUnder, examples, guides, isMessage, text } from './guides.mjs';
import { covered, runScript, scripts } from './shell-blocks.mjs';

const root = join(import.meta.dirname, '..');
const documents = ['README.md', 'README.zh.md', 'CHANGELOG.md', 'src/README.md', 'src/READING.md', 'bindings/README.md', 'bindings/MIGRATING.md', 'tests/bench/README.md', 'tests/bench/LAB.md',
  'tests/torture/README.md', 'web/models/README.md', 'web/models/LAB.md', 'web/public/labelled/README.md', 'web/README.md', 'tests/README.md', '.github/CONTRIBUTING.md', ...guides];

/** Their commands train and have a suite of their own, recipes.test.mjs. */
const ofModels = ['web/models/README.md', 'web/models/LAB.md'];

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

for (const document of ['src/READING.md', 'bindings/docs/zh/paper-to-code.md']) {
  test(`${document} names functions where they are`, () => {
    const named = [...text(document).matchAll(/\[`(\w+)`\]\(([\w/.]+)\)/g)];
    assert.ok(named.length > 40);
    for (const [, name, file] of named)
      assert.match(text(join(dirname(document), file)), new RegExp(`\\b${name}\\b`), `${document}: ${file} has no ${name}`);
  });
}

test('README.md has at most 160 lines', () => assert.ok(text('README.md').split('\n').length <= 161));

test('README.md has at most 150 lines, and its first line leads to the Chinese one', () => {
  const lines = text('README.md').split('\n');
  assert.ok(lines.length <= 151, `${lines.length - 1}`);
  assert.match(lines[0], /\]\(README\.zh\.md\)/);
});

test('CITATION.cff has the version and the license of the package', () => {
  const { version, license } = JSON.parse(text('package.json'));
  const citation = text('CITATION.cff');
  for (const line of ['cff-version: 1.2.0', `version: ${version}`, `license: ${license}`]) assert.ok(citation.includes(`\n${line}\n`) || citation.startsWith(line), line);
  assert.match(citation, /^message: .+\ntitle: .+$/m);
  assert.match(citation, /^authors:\n {2}- name: .+$/m);
});

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

test('other tests run the commands that are not run here', () => {
  for (const [, file, words] of covered) assert.ok(text(file).includes(words), `${file} has no ${words}`);
  const commands = Object.keys(JSON.parse(text('package.json')).scripts);
  for (const document of documents) {
    for (const [, name] of text(document).matchAll(/npm run (?:--silent )?([\w:]+)/g)) {
      assert.ok(commands.includes(name), `${document}: npm run ${name}`);
    }
  }
});

/** All Markdown in the repository, and that in English. */
const pages = spawnSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).stdout.trim().split('\n');
const english = pages.filter((page) => !/\bzh\b/.test(page));

test('every block of code runs in a test, or a mark before it says why not', () => {
  const isTried = (page, language) => {
    if (language === 'sh') return documents.includes(page);
    if (language === 'js') return documents.includes(page);
    if (language === 'html') return page === 'bindings/README.md' || guides.includes(page);
    // These have tests of their own: tests/js/types.test.mjs, tests/e2e/guides.test.mjs, tests/environments.
    return page === 'bindings/docs/recipes.md' || [
      'bindings/docs/attention.md ts', 'bindings/docs/deploying.md http', 'bindings/docs/testing.md ts',
    ].includes(`${page} ${language}`);
  };
  const marks = [];
  for (const page of pages) {
    for (const [, before, language] of text(page).matchAll(/(^.*\n|^)```(\w+)\n[^]*?^```$/gm)) {
      if (/^<!-- not run: .+ -->$/m.test(before)) marks.push(page);
      else assert.ok(isTried(page, language), `${page}: a block of ${language} is neither run nor marked`);
    }
  }
  assert.ok(marks.length <= 10, marks.join(', '));
});

test('the English documents are short: prose and tables have 25,000 words, and no part is too long to read', () => {
  const words = (part) => part.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  const most = { all: 25_000, page: 6_000, paragraph: 120, cell: 40 };
  let all = 0;
  for (const page of english) {
    const prose = text(page).replace(/^```[^]*?^```$/gm, '').replace(/<!--[^]*?-->/g, '');
    const lines = prose.split('\n');
    const cells = lines.filter((line) => line.startsWith('|')).flatMap((line) => line.split(/(?<!\\)\|/));
    const paragraphs = lines.filter((line) => !line.startsWith('|')).join('\n').split(/\n\s*\n|\n(?=[-*] |\d+\. )/);
    for (const [parts, limit] of [[paragraphs, most.paragraph], [cells, most.cell], [[prose], most.page]]) {
      for (const part of parts) assert.ok(words(part) <= limit, `${page}: ${words(part)} words: ${part.slice(0, 60)}`);
    }
    all += words(prose);
  }
  assert.ok(all <= most.all, `${all} words`);
});

for (const document of documents.filter((document) => !ofModels.includes(document))) {
  for (const [i, script] of scripts(document).entries()) {
    test(`${document}: shell commands, part ${i + 1}`, () => runScript(script, join(folder, document.replaceAll('/', '-'), String(i))));
  }
}

let packages;
/** The packages of the models, by their names. */
function modelPackages() {
  const place = join(folder, 'packages');
  packages ??= writeModelPackages(place).map((name) => [name, join(place, name)]);
  return packages;
}

/** A folder with the package and the models, and `program` in it as main.mjs. */
function project(name, program) {
  const place = join(folder, name.replaceAll('/', '-'));
  mkdirSync(join(place, 'node_modules'), { recursive: true });
  symlinkSync(root, join(place, 'node_modules/wasmformer'));
  for (const [name, from] of modelPackages()) symlinkSync(from, join(place, 'node_modules', name));
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
  const place = project('runtimes', blocks(guide, 'js').find((block) => block.includes("load('de-en')")));
  const runtimes = blocks(guide, 'sh').find((block) => block.startsWith('node')).trim().split('\n');
  assert.deepEqual(runtimes.map((line) => line.split(' ')[0]), ['node', 'deno', 'bun']);
  for (const line of runtimes) {
    const [name, ...args] = line.replace(' main.mjs', '').split(' ');
    const program = name === 'node' ? process.execPath : join(root, 'node_modules/.bin', name);
    assert.ok(text(guide).includes(`prints \`${runs(place, program, ...args).trim()}\``), line);
  }
});

test('the comments after console.log say what is printed', () => {
  const isTold = (block) => /console\.log\(.*\n\/\/ /.test(block);
  for (const [document, least] of [['bindings/docs/detecting.md', 3], ['bindings/README.md', 1]]) {
    const programs = blocks(document, 'js').filter(isTold);
    assert.ok(programs.length >= least, `${document}: ${programs.length}`);
    for (const [i, program] of programs.entries()) {
      const told = [...program.matchAll(/^\/\/ ?(.*)$/gm)].map(([, line]) => line);
      assert.deepEqual(runs(project(`printed-${document}-${i}`, program)).trim().split('\n'), told, document);
    }
  }
});

// That of translateDocument runs in tests/e2e/guides.test.mjs.
test('the examples in the sources run', () => {
  const files = readdirSync(join(root, 'bindings/js'), { recursive: true }).filter((name) => /\.ts$/.test(name));
  const found = files.flatMap((name) => examples(`bindings/js/${name}`).map((code) => [name, code]));
  assert.equal(found.length, 15);
  for (const [name, code] of found.filter(([, code]) => !code.includes('document'))) {
    const imports = `import { readFile, writeFile } from 'node:fs/promises';
import { Classifier, Learner, storedModels, Tagger, Trainer, Translator, WasmformerError } from 'wasmformer';
import { exportOnnx } from 'wasmformer/convert';
import { loadDetector } from 'wasmformer/detect';
import { Engine } from 'wasmformer/engine';
import { byLanguage, cached, pivot } from 'wasmformer/pages';
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
  const [, entries] = text('src/include/wasmformer/error.h').split('ErrorCode::zip, "zip"');
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
