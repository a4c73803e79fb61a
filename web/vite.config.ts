import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { isolation, pageHeaders, policy } from './serve.mjs';
import { examples } from './src/translate/examples.ts';

function modelsIn(folder: string) {
  const place = new URL(`./public/${folder}/`, import.meta.url);
  const files = existsSync(place) ? readdirSync(place).filter((file) => file.endsWith('.safetensors')) : [];
  return files.sort().map((file) => ({
    name: file.replace(/\.safetensors$/, ''),
    url: `${folder}/${file}`,
    bytes: statSync(new URL(file, place)).size,
  }));
}

/** Imports the built package, which this file itself cannot where Vite has bundled it. */
const example = () => import(new URL('./example.mjs', import.meta.url).href);

/** The output of each starting model for its first example, shown until the model has loaded. */
async function readyTranslations() {
  const { translateExample } = await example();
  const all = modelsIn('models').filter(({ name }) => ['de-en', 'en-zh'].includes(name)).map(async ({ name, url }) => {
    const source = examples[name.split('-')[0]]?.[0];
    return source ? [[name, await translateExample(new URL(`./public/${url}`, import.meta.url), source)]] : [];
  });
  return Object.fromEntries((await Promise.all(all)).flat());
}

const microSource = () => readFileSync(new URL('../src/micro/transformer.cpp', import.meta.url), 'utf8');
const packageVersion = () => JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** `import value from 'virtual:NAME'`: a value that is made when the page is built. */
const virtualModule = (name: string, make: () => unknown) =>
  virtualScript(name, async () => `export default ${JSON.stringify(await make())}`);

function virtualScript(name: string, make: () => string | Promise<string>): Plugin {
  const id = `\0virtual:${name}`;
  return {
    name: `virtual-${name}`,
    resolveId: (wanted) => (wanted === `virtual:${name}` ? id : undefined),
    load: (wanted) => (wanted === id ? make() : undefined),
  };
}

/** The default width of beam search: a number in the built page, which loads no options at first. */
const builtSearchWidth = async () => `export default ${(await example()).beamSize};`;
/** The same where the page is served from its sources, and the package need not be built. */
const servedSearchWidth = () => `import { options } from 'wasmformer/options';
export default options.translate.find(({ name }) => name === 'beamSize').default;`;

/** In the built page only: the development server injects scripts. */
function contentSecurityPolicy(): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: policy }, injectTo: 'head-prepend' },
    ],
  };
}

/**
 * The service worker keeps what the page is made of, except for the modules: of those it keeps the one in use, and the
 * one that trains tokenizers once it was.
 */
function serviceWorker(): Plugin {
  const dist = new URL('../dist/wasm/', import.meta.url);
  return {
    name: 'service-worker',
    apply: 'build',
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const shell = files.map(({ fileName }) => fileName).filter((name) => !/\.(wasm|mjs|html|safetensors)$/.test(name));
      const names = (folder: string) =>
        readdirSync(new URL(folder, dist)).filter((name) => !name.endsWith('.d.mts')).map((name) => {
          const bytes = readFileSync(new URL(`${folder}/${name}`, dist));
          return files.find((file) => file.type === 'asset' && bytes.equals(Buffer.from(file.source)))!.fileName;
        });
      const builds = readdirSync(dist).filter((folder) => !['extras', 'cli'].includes(folder));
      // Plain SIMD has the script of relaxed SIMD.
      const script = (folder: string) => names(folder.replace('simd', 'relaxed')).filter((name) => name.endsWith('.mjs'));
      const filesOf = (folder: string) => [...new Set([...names(folder), ...script(folder)])];
      const modules = Object.fromEntries(builds.map((folder) => [folder, filesOf(folder)]));
      const texts = ['pairs', 'labelled'].flatMap((folder) =>
        readdirSync(new URL(`./public/${folder}/`, import.meta.url)).filter((name) => name.endsWith('.gz')).map((name) => `${folder}/${name}`));
      const detectors = files.map(({ fileName }) => fileName).filter((name) => name.endsWith('.safetensors'));
      const rest = [...names('extras'), ...texts, ...detectors]; // only kept where they are asked for
      const statics = ['./', 'icon.svg', 'manifest.webmanifest'];
      const html = readFileSync(new URL('./index.html', import.meta.url));
      const content = JSON.stringify({ shell: [...statics, ...shell], modules, rest });
      const version = createHash('sha256').update(content).update(html).update(JSON.stringify(pageHeaders)).digest('hex').slice(0, 12);
      const source = readFileSync(new URL('./src/shell/service-worker.js', import.meta.url), 'utf8');
      const line = `const { shell, modules, rest, version, headers } = ${JSON.stringify({ ...JSON.parse(content), version, headers: pageHeaders })};\n`;
      this.emitFile({ type: 'asset', fileName: 'service-worker.js', source: line + source });
    },
  };
}

/** LICENSES.txt: those of the package, of each library and font that the page is built from, and of its detector's model. */
function licences(): Plugin {
  const rule = '='.repeat(80);
  const partOf = (name: string, text: string) => `${rule}\n${name}, in the page\n${rule}\n\n${text}`;
  const fonts = ['@fontsource-variable/literata', '@fontsource-variable/source-sans-3'];
  const textOf = (name: string) => {
    const folder = new URL(`../node_modules/${name}/`, import.meta.url);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    return readFileSync(new URL(file, folder), 'utf8');
  };
  return {
    name: 'licences',
    apply: 'build',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      const libraries = modules.flatMap((id) => id.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []);
      const names = [...new Set([...libraries, ...fonts])].sort();
      const packageTexts = readFileSync(new URL('../bindings/LICENSES.txt', import.meta.url), 'utf8');
      const detector = readFileSync(new URL('../bindings/detect-model/README.md', import.meta.url), 'utf8');
      const pageTexts = [...names.map((name) => partOf(name, textOf(name))), partOf('wasmformer-detect', detector)];
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: [packageTexts, ...pageTexts].join('\n\n') });
    },
  };
}

/** assets/words/train.zh-….js for train/words/zh.json. */
function wordsFile(module: string | null): string | undefined {
  const [, feature, language] = /([\w-]+)\/words\/(\w+)\.json$/.exec(module ?? '') ?? [];
  return feature && `assets/words/${feature}.${language}-[hash].js`;
}

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  base: './', // any folder of any static host
  plugins: [svelte({ configFile: false }), virtualModule('models', () => modelsIn('models')),
    virtualModule('encoders', () => modelsIn('encoders')), virtualModule('ready', command === 'build' ? readyTranslations : () => ({})),
    virtualModule('version', packageVersion), virtualModule('micro', microSource), virtualScript('search-width', command === 'build' ? builtSearchWidth : servedSearchWidth), contentSecurityPolicy(), serviceWorker(),
    licences()],
  build: {
    outDir: '../build/page', emptyOutDir: true, assetsInlineLimit: 0, target: 'es2022', modulePreload: false,
    // What translates markup and aligns, which this page never asks for.
    rolldownOptions: {
      external: ['../webpages/html.js', '../shared/alignment.js'],
      output: {
        chunkFileNames: ({ facadeModuleId }) => wordsFile(facadeModuleId) ?? 'assets/[name]-[hash].js',
        // Small files that the first screen loads anyway are one.
        codeSplitting: { groups: [{ name: 'base', test: /preload-helper|dist.shared.errors/ }] },
      },
    },
  },
  // The built page leaves out what the package does in Node.
  define: command === 'build' ? { 'typeof process': '"undefined"' } : {},
  worker: { format: 'es' },
  server: { headers: isolation },
  preview: { headers: pageHeaders },
}));
