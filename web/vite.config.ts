import { existsSync, readdirSync, statSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const modelFolder = new URL('./public/models/', import.meta.url);

/** `import models from 'virtual:models'`: what lies in public/models. */
function bundledModels(): Plugin {
  const name = 'virtual:models';
  return {
    name: 'bundled-models',
    resolveId: (id) => (id === name ? '\0' + name : undefined),
    load(id) {
      if (id !== '\0' + name) return;
      const files = existsSync(modelFolder) ? readdirSync(modelFolder).filter((file) => file.endsWith('.safetensors')) : [];
      const entries = files.sort().map((file) => ({
        languages: file.replace(/\.safetensors$/, ''),
        url: `models/${file}`,
        bytes: statSync(new URL(file, modelFolder)).size,
      }));
      return `export default ${JSON.stringify(entries)}`;
    },
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

// A cross-origin isolated page may use threads.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  root: import.meta.dirname,
  base: './', // any folder of any static host
  plugins: [svelte({ configFile: false }), bundledModels(), contentSecurityPolicy()],
  build: { outDir: '../build/page', emptyOutDir: true, assetsInlineLimit: 0, target: 'es2022', modulePreload: false },
  worker: { format: 'es' },
  server: { headers },
});
