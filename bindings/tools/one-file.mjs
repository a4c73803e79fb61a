// The one-file build. `node bindings/tools/one-file.mjs script FOLDER` puts the package in FOLDER, its worker
// and a module into one classic script, FOLDER/standalone.js; `… page MODEL OUTPUT` writes an HTML file that has
// dist/standalone.js and a model inside.
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { main, root } from './shell.mjs';

/** Bundles `entry` (a text) with all that it imports; `inside` are the texts of the modules 'inside:NAME'. */
async function bundle(folder, entry, inside) {
  const texts = { ...inside, entry };
  const plugin = {
    name: 'inside',
    enforce: 'pre',
    resolveId(source, importer) {
      const [, inside, replaced] = /(?:^|\/)inside:(\w+)$|^\.\/(worker-script|module-urls)\.js$/.exec(source) ?? [];
      if (inside) return `\0inside:${inside}`;
      // Modules that an entry imports have side effects, whatever package.json says about the folder.
      if (source.startsWith(folder)) return { id: source, moduleSideEffects: true };
      if (replaced && importer?.startsWith(folder)) return join(root, `bindings/one-file/${replaced}.ts`);
      // The replacements share the package's classes.
      if (importer?.startsWith(join(root, 'bindings/one-file')) && source.startsWith('../js/')) return join(folder, source.slice('../js/'.length));
    },
    load: (id) => texts[/^\0inside:(.*)/.exec(id)?.[1]],
  };
  const [{ output }] = await build({
    root, configFile: false, publicDir: false, logLevel: 'warn', plugins: [plugin], define: { 'import.meta.url': '""' },
    build: { write: false, target: 'es2022', lib: { entry: 'inside:entry', formats: ['iife'], name: 'wasmformer', fileName: 'script' } },
  });
  return output[0].code;
}

// The plain SIMD build, which runs everywhere.
function modules(folder) {
  const read = (name) => readFileSync(join(folder, 'wasm', name));
  return {
    // It needs no address of the module, which it is given.
    glue: read('relaxed/wasmformer.mjs').toString().replaceAll('import.meta.url', '""'),
    module: `export default '${gzipSync(read('simd/wasmformer.wasm'), { level: 9 }).toString('base64')}';`,
  };
}

async function writeScript(folder) {
  const from = (name) => JSON.stringify(join(folder, name));
  const worker = await bundle(folder, `import ${from('worker/worker.js')};`, modules(folder));
  const entry = `export { Translator, Classifier, Tagger, Trainer, WasmformerError, storedModels } from ${from('index.js')};
    export { AttentionElement } from ${from('attention.js')};`;
  const script = await bundle(folder, entry, { worker: `export default ${JSON.stringify(worker)};` });
  writeFileSync(join(folder, 'standalone.js'), script);
}

function writePage(model, output) {
  if (!existsSync(model)) throw new Error(`[one-file] there is no model ${model}`);
  const script = readFileSync(join(root, 'dist/standalone.js'), 'utf8').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const inside = { MODEL: readFileSync(model).toString('base64'), SCRIPT: script };
  const page = readFileSync(join(root, 'bindings/one-file/page.html'), 'utf8');
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, page.replace(/(?<=>)(MODEL|SCRIPT)(?=<)/g, (name) => inside[name]));
  console.log(`${output} is ready, to be opened in a browser`);
}

await main(import.meta.url, async ([what, ...names]) => {
  const [first, second] = names.map((name) => resolve(name));
  await (what === 'script' ? writeScript(realpathSync(first)) : writePage(first, second));
});
