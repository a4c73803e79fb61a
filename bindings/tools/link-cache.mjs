// Runs the linker, or copies the files that the same link made before: em++ takes 40 seconds for each module, and most
// changes do not touch it. `node link-cache.mjs STORE ROOT LINKER ARGUMENT…`; ROOT is the project's folder, which
// may differ from clone to clone. CMake puts this before em++ (ccache.cmake), as ccache keeps no links.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync,
  statSync, utimesSync,
} from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { main } from './shell.mjs';

/** Links that are kept, of 1 to 8 MB each; the longest out of use go first. */
const MOST_KEPT = 100;

const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Returns the version of Emscripten, whose libraries become part of a module although no argument names them. */
function versionOf(linker) {
  const program = realpathSync(linker);
  const version = join(dirname(program), 'emscripten-version.txt');
  return existsSync(version) ? readFileSync(version, 'utf8') : `${program} ${statSync(program).mtimeMs}`;
}

/** The hash of all that decides the link: its arguments, the files among these, and the linker. */
function keyOf(root, linker, args) {
  const hash = createHash('sha256').update(versionOf(linker));
  for (const argument of args) {
    hash.update(`\0${argument.replaceAll(root, '')}\0`);
    if (isFile(argument)) hash.update(readFileSync(argument));
  }
  return hash.digest('hex');
}

/** The files that a link to `output` writes: wasmformer.mjs, wasmformer.wasm, wasmformer.d.ts. */
function outputs(output) {
  const { dir, name } = parse(output);
  return readdirSync(dir || '.').filter((file) => file.startsWith(`${name}.`)).map((file) => join(dir, file));
}

function keep(store, key, files) {
  mkdirSync(store, { recursive: true });
  const unfinished = mkdtempSync(join(store, 'unfinished-'));
  for (const file of files) copyFileSync(file, join(unfinished, basename(file)));
  try {
    renameSync(unfinished, join(store, key));
  } catch {
    rmSync(unfinished, { recursive: true }); // another clone was first
  }
  const paths = readdirSync(store).map((name) => join(store, name));
  const lastUsed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const byAge = paths.map((path) => ({ path, used: lastUsed(path) })).sort((a, b) => b.used - a.used);
  for (const { path } of byAge.slice(MOST_KEPT)) rmSync(path, { recursive: true, force: true });
}

/** Copies the files of a kept link to `folder`, as if the linker had written them. Returns false if none is kept. */
function takeKept(store, key, folder) {
  const kept = join(store, key);
  if (!existsSync(kept)) return false;
  for (const name of readdirSync(kept)) copyFileSync(join(kept, name), join(folder, name));
  utimesSync(kept, new Date(), new Date());
  return true;
}

/** Returns the exit code. Links whose arguments stand in a file, or that hold paths for a debugger, are not kept. */
export function link(store, root, linker, args) {
  const output = args[args.indexOf('-o') + 1];
  const canBeKept = args.includes('-o') && !args.some((argument) => /^@|^-g/.test(argument));
  const key = canBeKept ? keyOf(root, linker, args) : undefined;
  if (key && takeKept(store, key, dirname(output))) return 0;
  if (key) for (const file of outputs(output)) rmSync(file);
  const { status } = spawnSync(linker, args, { stdio: 'inherit' });
  if (key && status === 0) {
    try {
      keep(store, key, outputs(output));
    } catch (error) {
      console.error(`The link is not kept: ${error.message}`); // the disk is full, say
    }
  }
  return status ?? 1;
}

await main(import.meta.url, ([store, root, linker, ...args]) => {
  process.exitCode = link(store, root, linker, args);
});
