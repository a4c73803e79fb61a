// Projects in temporary folders, each with the packed package and the newest version of what it is used with.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { Translator } from '../../dist/index.js';
import { buildModelPackages } from '../../bindings/tools/build.mjs';
import { headlessChromium } from '../../bindings/tools/setup.mjs';
import { serve } from '../../web/serve.mjs';
import { text } from '../guides.mjs';

const root = join(import.meta.dirname, '../..');
export const model = join(root, 'tests/fixtures/tiny-de-en.safetensors');
export const bundledModel = join(root, 'web/public/models/de-en.safetensors');
export const sentence = 'Das Wetter ist heute schön, aber morgen soll es regnen.';

/** A text of two sentences, which the model translates in another way when it gets them as one. */
export const twoSentences = `${sentence} Wo ist mein Buch?`;

/** What the package in this Node makes of a text, by default with the small model. */
export async function expectedText(text = sentence, file = model) {
  const translator = await Translator.load(file);
  const found = await translator.translateText(text);
  translator.dispose();
  return found.text;
}

export const run = (program, args, options) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], timeout: 300_000, ...options });
const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];

const folder = mkdtempSync(join(tmpdir(), 'wasmformer-environments-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let packed;
function tarball() {
  packed ??= JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root }))[0].filename;
  return join(folder, packed);
}

/** The packed file of the package of a bundled model, such as 'de-en'. */
export function packedModel(name) {
  buildModelPackages();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return join(root, `build/model-packages/wasmformer-${name}-${version}.tgz`);
}

/** A folder with `files` (texts by name), the package and these other packages of npm. */
export function project(name, files, packages = []) {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', ['install', ...quiet, tarball(), ...packages], { cwd: place });
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(place, file)), { recursive: true });
    writeFileSync(join(place, file), content);
  }
  return place;
}

export function addModel(place, name = 'model.safetensors') {
  mkdirSync(dirname(join(place, name)), { recursive: true });
  copyFileSync(model, join(place, name));
}

/** The program or the file of settings of a guide whose first line is a comment with this name of a file. */
export function recipe(name, guide = 'bindings/docs/recipes.md') {
  const found = [...text(guide).matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, code]) => code)
    .find((code) => code.split('\n', 1)[0].replace(/^(\/\/|<!--) | -->$/g, '') === name);
  if (!found) throw new Error(`${guide} has no ${name}`);
  return found;
}

/**
 * Runs `work`, from the start of a program or the opening of a page until it has a translation. The benchmark of the
 * environments asks for the seconds, by the name of a file to write to.
 */
export async function untilTranslated(environment, work) {
  const begin = performance.now();
  const result = await work();
  const file = process.env.WASMFORMER_SECONDS;
  if (file) appendFileSync(file, `${environment}\t${(performance.now() - begin) / 1000}\n`);
  return result;
}

let port = 20_000 + process.pid % 10_000;

/** Starts a program for Node, with the arguments that `argumentsFor` its port gives, until the test ends; gives its address. */
export function startServer(t, place, argumentsFor) {
  port += 1;
  const env = { ...process.env, PORT: String(port), HOSTNAME: '127.0.0.1' };
  const server = spawn(process.execPath, argumentsFor(port), { cwd: place, env, stdio: ['ignore', 'ignore', 'inherit'] });
  t.after(() => server.kill());
  return `http://127.0.0.1:${port}`;
}

/** The answer of a server that has just been started. */
export async function answerOf(address) {
  const longest = 60_000, pause = 50;
  for (let waited = 0; waited < longest; waited += pause) {
    const answer = await fetch(address).catch(() => undefined);
    if (answer) return answer;
    await setTimeout(pause);
  }
  throw new Error('the server does not answer');
}

/**
 * Runs `use` with the page at the address, until it has translated; returns its result and what the page complained of.
 */
export async function inBrowserAt(environment, address, use) {
  const browser = await chromium.launch({ executablePath: headlessChromium(), args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await (await browser.newContext()).newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    const result = await untilTranslated(environment, async () => {
      await page.goto(address);
      return use(page);
    }).catch((error) => {
      throw new Error(`${error.message}; ${complaints.join('; ')}`);
    });
    return { result, complaints };
  } finally {
    await browser.close();
  }
}

/** The same with the page of a folder, which is served with `headers`. */
export async function inBrowser(environment, place, use, headers = {}) {
  const { server, address } = await serve(place, 0, headers);
  try {
    return await inBrowserAt(environment, address, use);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
