// Fetches the packages that the recipe names into the user's cache folder, with apt-get, and writes the texts of each
// beside them, one line per text with its language:
//   node web/models/detect/texts.mjs [--output DIR]
// What is there is not fetched again.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readRecipe } from '../prepare/sources.mjs';
import { textsOfPackage } from './sources.mjs';

export const recipe = readRecipe(join(dirname(fileURLToPath(import.meta.url)), 'recipe.json'));
export const textFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'wasmformer', 'detect');

const languageOfLocale = new Map(Object.entries(recipe.languages)
  .flatMap(([language, locales]) => locales.map((locale) => [locale.toLowerCase(), language])));

/** The language of a locale such as `pt_BR` or `zh-Hant`, or undefined. */
export function languageOf(locale) {
  const name = locale.toLowerCase().replaceAll('_', '-');
  if (languageOfLocale.has(name)) return languageOfLocale.get(name);
  return /^[a-z]+-([a-z]{2}|\d{3})$/.test(name) ? languageOfLocale.get(name.split('-')[0]) : undefined;
}

/** The names of all packages: of each group, those of its languages. */
export const packages = Object.entries(recipe.packages).flatMap(([name, { of }]) =>
  (of ? of.split(' ').map((language) => `${name}-${language}`) : [name]));

function fetchPackages(folder) {
  const isThere = (name) => readdirSync(folder).some((file) => file.startsWith(`${name}_`));
  const missing = packages.filter((name) => !isThere(name));
  if (missing.length > 0) execFileSync('apt-get', ['download', ...missing], { cwd: folder, stdio: 'inherit' });
}

/** The file with the texts of a package. */
export const textsFile = (folder, name) => join(folder, 'texts', `${name}.tsv`);

function writeTexts(folder, name) {
  const output = textsFile(folder, name);
  if (existsSync(output)) return;
  const file = readdirSync(folder).find((file) => file.startsWith(`${name}_`));
  const lines = new Set();
  for (const [locale, text] of textsOfPackage(join(folder, file))) {
    const language = languageOf(locale);
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
  for (const name of packages) writeTexts(folder, name);
}
