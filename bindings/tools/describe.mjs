// `node bindings/tools/describe.mjs FOLDER` asks the package in FOLDER for its options, and writes them to
// FOLDER/options.json and FOLDER/options.js.
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { main } from './shell.mjs';

await main(import.meta.url, async ([name]) => {
  const folder = resolve(name);
  const { Engine } = await import(pathToFileURL(join(folder, 'worker/engine.js')));
  const description = (await Engine.create({ build: 'simd' })).describe();
  writeFileSync(join(folder, 'options.json'), `${JSON.stringify(description)}\n`);
  writeFileSync(join(folder, 'options.js'), `export const options = ${JSON.stringify(description, undefined, 1)};\n`);
});
