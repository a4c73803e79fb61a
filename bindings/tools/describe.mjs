// `node bindings/tools/describe.mjs FOLDER` asks the module in FOLDER, the package, for its options, writes them to
// FOLDER/options.json, and renews their TypeScript types, the version and the digests of models.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renewModels, renewOptionTypes, renewVersion } from './generate-types.mjs';
import { main, step } from './shell.mjs';

/** The plain SIMD module, which runs everywhere. */
async function startModule(folder) {
  const { default: factory } = await import(pathToFileURL(join(folder, 'wasm/relaxed/wasmformer.mjs')));
  const compiled = await WebAssembly.compile(readFileSync(join(folder, 'wasm/simd/wasmformer.wasm')));
  const instantiateWasm = (imports, receive) => receive(new WebAssembly.Instance(compiled, imports), compiled);
  return factory({ instantiateWasm });
}

await main(import.meta.url, async ([name]) => {
  const folder = resolve(name);
  const description = (await startModule(folder)).describe();
  writeFileSync(join(folder, 'options.json'), `${JSON.stringify(description)}\n`);
  renewVersion();
  renewModels();
  if (renewOptionTypes(description)) step('The options have changed, so bindings/js/generated/options.ts has, too');
});
