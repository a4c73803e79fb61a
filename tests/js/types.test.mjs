// The TypeScript side agrees with the module as it was built, and with how the package is used.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { blocks } from '../guides.mjs';

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');

function compiles(project) {
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
}

test('what the types promise compiles, and so does the one-file build', () =>
  compiles(fileURLToPath(new URL('tsconfig.json', import.meta.url))));

const root = fileURLToPath(new URL('../../', import.meta.url));
// All but TypeScript's own, which take the most time and say nothing about the package.
const checkingLibraries = { noEmit: true, strict: true, target: 'es2022', module: 'nodenext' };
const libraries = {
  'a browser project without the types of Node': { lib: ['ES2022', 'DOM'], types: [] },
  'a Node project without the types of browsers': {
    lib: ['ES2022'], types: ['node'], typeRoots: [join(root, 'node_modules/@types')],
  },
};
for (const [name, settings] of Object.entries(libraries)) {
  test(`the types compile in ${name}, with libraries checked`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const entries = ['index', 'pipeline/index', 'webpages/index', 'worker/engine', 'convert/index'];
    const imports = entries.map((entry) => `export * from ${JSON.stringify(join(root, 'dist', `${entry}.js`))};\n`);
    writeFileSync(join(folder, 'main.ts'), imports.join(''));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
      compilerOptions: { ...checkingLibraries, ...settings },
    }));
    compiles(folder);
  });
}

// Callers hand on their own options, which may be undefined.
const handedOn = (root) => `import { Translator, Trainer, Classifier, type LoadOptions, type TranslateOptions } from '${root}dist/index.js';
import { Engine, type EngineOptions } from '${root}dist/worker/engine.js';
import { importMarian } from '${root}dist/convert/index.js';
import { pipeline } from '${root}dist/pipeline/index.js';
import { translateDocument } from '${root}dist/webpages/index.js';
export async function mine(signal?: AbortSignal, threads?: number, beamSize?: number, on?: () => void, flag?: boolean) {
  const translator = await Translator.load('', { signal, threads, onProgress: on, cache: flag, workerURL: undefined } satisfies LoadOptions);
  await translator.translate('', { signal, beamSize, onPartial: on, alignment: flag, sampling: { seed: threads } } satisfies TranslateOptions);
  for await (const one of translator.translateAll([''], { signal, batchSize: threads, onError: on })) void one;
  await (await Classifier.load('', { signal })).classify('', { signal, topLabels: threads });
  const trainer = await Trainer.create({ signal, task: 'copy', config: { d_model: threads }, seed: threads });
  for await (const event of trainer.run({ signal, steps: threads })) void event;
  trainer.change({ learning_rate: threads });
  await trainer.save({ optimizer: flag, signal });
  await Engine.create({ threads, wasmURL: undefined } satisfies EngineOptions);
  await importMarian('', { signal, onProgress: on });
  await pipeline('translation', '', { signal, threads });
  translateDocument(translator, document, { observe: flag, signal });
}
`;

test('options may be undefined under exactOptionalPropertyTypes', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.ts'), handedOn(root));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { ...checkingLibraries, ...libraries['a browser project without the types of Node'], exactOptionalPropertyTypes: true },
  }));
  compiles(folder);
});

const [browsers, node] = Object.values(libraries);
const uses = {
  options: [node, `import { options, type OptionDescription } from 'wasmformer/options';
const [first]: OptionDescription[] = options.translate;
export const range: (number | undefined)[] = [first?.minimum, first?.maximum];
// @ts-expect-error: there is no such part
options.load;`],
  attention: [browsers, `import { AttentionElement, type AttentionChoice } from 'wasmformer/attention';
const element: AttentionElement = document.createElement('wasmformer-attention');
element.addEventListener('change', (event) => (element.form = (event as CustomEvent<AttentionChoice>).detail.form));
// @ts-expect-error: the forms are 'heat' and 'lines'
new AttentionElement().form = 'bars';`],
};
for (const [entry, [settings, program]] of Object.entries(uses)) {
  test(`a use of wasmformer/${entry} compiles with ${settings.lib} alone, with libraries checked`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/wasmformer'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'main.ts'), program);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
      compilerOptions: { ...checkingLibraries, ...settings },
    }));
    compiles(folder);
  });
}

test("the guide's declarations of the element for JSX and Svelte compile, and refuse what it does not take", (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  for (const [from, to] of [['', 'wasmformer'], ['node_modules/svelte', 'svelte'], ['node_modules/@types/react', '@types/react']]) {
    symlinkSync(join(root, from), join(folder, 'node_modules', to));
  }
  const declarations = blocks('bindings/docs/attention.md', 'ts');
  assert.equal(declarations.length, 2);
  for (const [i, declaration] of declarations.entries()) writeFileSync(join(folder, `element-${i}.ts`), declaration);
  writeFileSync(join(folder, 'main.tsx'), `import type { SvelteHTMLElements } from 'svelte/elements';
import type { Translation } from 'wasmformer';
declare const translation: Translation;
declare function svelte(attributes: SvelteHTMLElements['wasmformer-attention']): void;
<wasmformer-attention className="a" translation={translation} layer={2} ref={(element) => void element?.form} />;
svelte({ class: 'a', translation, layer: 2 });
// @ts-expect-error: the forms are 'heat' and 'lines'
<wasmformer-attention form="bars" />;
// @ts-expect-error: the same
svelte({ form: 'bars' });`);
  const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', jsx: 'react-jsx', types: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  compiles(folder);
});
