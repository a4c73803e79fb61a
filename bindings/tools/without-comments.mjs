// Takes comments that fill whole lines out of the package's scripts: editors read those of the declarations. Comments
// within a line stay, since some tell bundlers what to do.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ofWholeLines = /^[ \t]*(\/\/.*|\/\*[^]*?\*\/)\n/gm;

/** The script without them. */
export const withoutComments = (script) => script.replace(ofWholeLines, '');

/** Rewrites all scripts in a folder and below. */
export function removeComments(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.js')) continue;
    const file = join(entry.parentPath, entry.name);
    writeFileSync(file, withoutComments(readFileSync(file, 'utf8')));
  }
}
