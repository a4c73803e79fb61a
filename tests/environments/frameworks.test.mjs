// The recipes for React, Vue and Svelte, built by Vite: a text that is typed is translated.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { addModel, expectedText, inBrowser, project, recipe, run, twoSentences } from './support.mjs';

const react = `import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useTranslation } from './useTranslation.js';
function App() {
  const [source, setSource] = useState('Danke!');
  const { text } = useTranslation('/model.safetensors', source);
  return <><textarea value={source} onChange={({ target }) => setSource(target.value)} /><output>{text}</output></>;
}
createRoot(document.querySelector('#app')).render(<StrictMode><App /></StrictMode>);
`;
const frameworks = {
  React: {
    files: { 'useTranslation.js': recipe('useTranslation.js'), 'main.jsx': react }, entry: 'main.jsx',
    packages: ['react', 'react-dom', '@vitejs/plugin-react'], plugin: "(await import('@vitejs/plugin-react')).default()",
  },
  Vue: {
    files: { 'App.vue': recipe('App.vue'), 'main.js': "import { createApp } from 'vue';\nimport App from './App.vue';\ncreateApp(App).mount('#app');\n" },
    entry: 'main.js', packages: ['vue', '@vitejs/plugin-vue'], plugin: "(await import('@vitejs/plugin-vue')).default()",
  },
  Svelte: {
    files: {
      'App.svelte': recipe('App.svelte'),
      'main.js': "import { mount } from 'svelte';\nimport App from './App.svelte';\nmount(App, { target: document.querySelector('#app') });\n",
    },
    entry: 'main.js', packages: ['svelte', '@sveltejs/vite-plugin-svelte'], plugin: "(await import('@sveltejs/vite-plugin-svelte')).svelte()",
  },
};

for (const [name, { files, entry, packages, plugin }] of Object.entries(frameworks)) {
  test(`${name}: the recipe translates what is typed`, async () => {
    const place = project(name, {
      ...files,
      'index.html': `<!doctype html><link rel="icon" href="data:,"><div id="app"></div><script type="module" src="./${entry}"></script>`,
      'vite.config.js': `export default { plugins: [${plugin}] };\n`,
    }, ['vite', ...packages]);
    addModel(place, 'public/model.safetensors');
    run(join(place, 'node_modules/.bin/vite'), ['build', '--logLevel', 'error'], { cwd: place });
    const expected = await expectedText(twoSentences);
    const { complaints } = await inBrowser(`Vite with ${name}`, join(place, 'dist'), async (page) => {
      await page.waitForFunction(() => document.querySelector('output')?.textContent, undefined, { timeout: 60_000 });
      await page.fill('textarea', twoSentences);
      await page.waitForFunction((text) => document.querySelector('output').textContent === text, expected, { timeout: 60_000 });
    });
    assert.deepEqual(complaints, []);
  });
}
