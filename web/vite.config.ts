import { existsSync, readdirSync, statSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { isolation } from './serve.mjs';
import { examples } from './src/strings.ts';

const modelFolder = new URL('./public/models/', import.meta.url);

function bundledModels() {
  const files = existsSync(modelFolder) ? readdirSync(modelFolder).filter((file) => file.endsWith('.safetensors')) : [];
  return files.sort().map((file) => ({
    languages: file.replace(/\.safetensors$/, ''),
    url: `models/${file}`,
    bytes: statSync(new URL(file, modelFolder)).size,
  }));
}

/** What the first model makes of its first example, to be shown until that model has loaded; null without one. */
async function firstTranslation() {
  const [model] = bundledModels();
  const source = examples[model?.languages.split('-')[0]]?.[0];
  if (!source) return null;
  const { translateExample } = await import(new URL('./example.mjs', import.meta.url).href);
  return translateExample(new URL(`./public/${model.url}`, import.meta.url), source);
}

/** `import value from 'virtual:NAME'`: a value that is made when the page is built. */
function virtualModule(name: string, make: () => unknown): Plugin {
  const id = `\0virtual:${name}`;
  return {
    name: `virtual-${name}`,
    resolveId: (wanted) => (wanted === `virtual:${name}` ? id : undefined),
    load: async (wanted) => (wanted === id ? `export default ${JSON.stringify(await make())}` : undefined),
  };
}

/** Nothing inline, nothing from elsewhere. Only in the built page: the development server injects scripts. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function contentSecurityPolicy(): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: policy }, injectTo: 'head-prepend' },
    ],
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: './', // any folder of any static host
  plugins: [svelte({ configFile: false }), virtualModule('models', bundledModels), virtualModule('example', firstTranslation), contentSecurityPolicy()],
  build: { outDir: '../build/page', emptyOutDir: true, assetsInlineLimit: 0, target: 'es2022', modulePreload: false },
  worker: { format: 'es' },
  server: { headers: isolation },
  preview: { headers: isolation },
});
