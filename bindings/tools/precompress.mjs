// Compressed copies beside the files of a built page, for servers that send them as they are (`FILE.br`, `FILE.gz`).
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** A higher quality gains nothing on models: 9 saves 0.03 % more, and takes twice as long. */
const QUALITY_OF_LARGE_FILES = 5;
const LARGE = 2e6; // bytes
/** A copy that saves less than this share is not worth its place. */
const LEAST_SAVED = 0.05;
/** Files at a time: Node.js compresses in the same few threads that read files, and a server needs some of them. */
const AT_ONCE = 2;

const brotli = (bytes) => promisify(brotliCompress)(bytes, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: bytes.length > LARGE ? QUALITY_OF_LARGE_FILES : constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  },
});
const compressors = { br: brotli, gz: (bytes) => promisify(gzip)(bytes, { level: 9 }) };
const isCopy = (name) => /\.(br|gz)(\.unfinished)?$/.test(name);

async function writeCopies(file) {
  const bytes = await readFile(file);
  const { mtimeMs } = await stat(file);
  for (const [ending, compress] of Object.entries(compressors)) {
    const to = `${file}.${ending}`;
    const known = await stat(to).catch(() => undefined);
    if (known && known.mtimeMs >= mtimeMs) continue;
    const copy = await compress(bytes);
    if (copy.length >= (1 - LEAST_SAVED) * bytes.length) {
      await rm(to, { force: true });
      continue;
    }
    // A server may be reading the folder, so a copy appears whole or not at all.
    await writeFile(`${to}.unfinished`, copy);
    await rename(`${to}.unfinished`, to);
  }
}

/** Writes the copies of all files in a folder that they make smaller; files that are compressed already have none. */
export async function precompress(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !isCopy(entry.name));
  const waiting = files.map(({ parentPath, path, name }) => join(parentPath ?? path, name));
  const compressNext = async () => {
    while (waiting.length > 0) await writeCopies(waiting.shift());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, compressNext));
}
