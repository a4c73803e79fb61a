// Named corpora in the folders that the user gives, and the recipe that names them.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { gunzipSync } from 'node:zlib';

/** JSON with comments. */
export function readRecipe(file) {
  const { config, error } = ts.parseConfigFileTextToJson(file, readFileSync(file, 'utf8'));
  if (error) throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`);
  return config;
}

/**
 * A function that gives the path of `tatoeba-en-de/train.tsv.gz`, or of any other name in a recipe: a folder may be
 * tatoeba-en-de itself or one that contains it.
 */
export function finder(folders) {
  return (name) => {
    const [first, ...rest] = name.split('/');
    const candidates = folders.flatMap((folder) =>
      [...basename(folder) === first ? [join(folder, ...rest)] : [], join(folder, name)]);
    const found = candidates.find((path) => existsSync(path));
    if (!found) throw new Error(`no source has ${name}; give a folder that is called ${first} or contains it`);
    return found;
  };
}

export function readText(file) {
  const bytes = readFileSync(file);
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8');
}
export const readLines = (file) => readText(file).split('\n').map((line) => line.replace(/\r$/, '')).filter(Boolean);
