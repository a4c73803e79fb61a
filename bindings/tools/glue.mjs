// `node bindings/tools/glue.mjs FOLDER` makes Emscripten's scripts in FOLDER, the package, ready for bundlers and smaller.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { main } from './shell.mjs';

// Embind writes a string without checking whether there was memory for it.
const strings = [/_malloc\(4 ?\+ ?length ?\+ ?1\)/, '($&||Module["outOfMemory"]())'];
// Each thread runs the module's script again, in a worker: from the address that bindings/js/worker/instance.ts gives, since
// bundlers rename the script, Vite refuses Emscripten's own line, and no page may start a worker of another host.
const threads = [/new Worker\(new URL\([^()]*\),/, 'new Worker(Module["threadScript"],'];
// Ends the threads of a module, for Engine.dispose().
const ending = [/PThread\.init\(\);/, 'Module["endThreads"]=()=>PThread.terminateAllThreads();$&'];

const factoryTypes = `/** Emscripten's script: starts a module. */
declare const factory: (settings: object) => Promise<unknown>;
export default factory;
`;

// What bundlers that leave a module as it is, such as Cloudflare's, make of its import.
const moduleTypes = `/** A compiled module, for Engine.create(). */
declare const module: object;
export default module;
`;

function changed(glue, [own, ours]) {
  if (!own.test(glue)) throw new Error(`[build] the script of this Emscripten does not contain ${own}`);
  return glue.replace(own, ours);
}

/** The script of a module, with threads or without, with what the package needs of it. */
export function adapted(glue, hasThreads) {
  const text = changed(glue, strings);
  return hasThreads ? changed(changed(text, threads), ending) : text;
}

await main(import.meta.url, async ([folder]) => {
  const { minify } = await import('vite'); // here, since `npm run dev` may have to install it first
  const at = (name) => join(resolve(folder), 'wasm', name);
  // Relaxed and plain SIMD differ in the modules only.
  for (const suffix of ['', '-threads']) {
    const [kept, same] = ['relaxed', 'simd'].map((build) => at(`${build}${suffix}/wasmformer.mjs`));
    if (!readFileSync(kept).equals(readFileSync(same))) throw new Error(`[build] ${kept} and ${same} differ`);
    rmSync(same);
  }
  async function write(file, text) {
    const { code, errors } = await minify(file, text);
    if (errors.length > 0) throw new Error(`[build] ${file} could not be made smaller: ${errors[0].message}`);
    writeFileSync(file, code);
  }
  for (const name of ['relaxed/wasmformer', 'relaxed-threads/wasmformer', 'extras/extras']) {
    const file = at(`${name}.mjs`);
    await write(file, adapted(readFileSync(file, 'utf8'), name.includes('threads')));
  }
  // For those who import them, for Engine.create().
  for (const build of ['relaxed', 'relaxed-threads']) writeFileSync(at(`${build}/wasmformer.d.mts`), factoryTypes);
  writeFileSync(at('relaxed/module.d.mts'), moduleTypes);
  const program = at('cli/cli.cjs');
  if (existsSync(program)) await write(program, readFileSync(program, 'utf8'));
});
