// Loads modules of web/src without a browser: their pure functions, and stores with stand-ins for what surrounds them.
import { fileURLToPath } from 'node:url';
import { compileModule } from 'svelte/compiler';
import { createServer, createServerModuleRunner } from 'vite';

/** What is made when the page is built: without these, a page without models. */
const made = { models: [], encoders: [], ready: {}, version: '0', micro: '', 'search-width': 4 };

const moduleOf = (value) => `export default ${JSON.stringify(value)}`;

/** As in the page, state is reactive: `$state`, `$derived` and `$effect` are compiled as for a browser. */
const svelteModules = {
  name: 'svelte-modules',
  transform: (code, id) => (/\.svelte\.ts$/.test(id) ? compileModule(code, { filename: id, generate: 'client' }).js : undefined),
};

/** `virtual:NAME` as the build makes it, or as `virtual` says; the package, if `wasmformer` stands in for it. */
function standIns({ virtual = {}, wasmformer }) {
  const values = { ...made, ...virtual };
  globalThis.standIn = wasmformer;
  return {
    name: 'stand-ins',
    enforce: 'pre',
    resolveId: (name) => (name.startsWith('virtual:') || (wasmformer && name === 'wasmformer') ? `\0${name}` : undefined),
    load: (id) => {
      if (id === '\0wasmformer') return `export const { ${Object.keys(wasmformer).join(', ')} } = globalThis.standIn;`;
      return id.startsWith('\0virtual:') ? moduleOf(values[id.slice('\0virtual:'.length)]) : undefined;
    },
  };
}

/** Modules of web/src that share what they import, for one name or several. */
export async function load(names, { virtual, wasmformer } = {}) {
  const vite = await createServer({
    configFile: false, root: fileURLToPath(new URL('../../web/', import.meta.url)), logLevel: 'silent', appType: 'custom',
    server: { middlewareMode: true, watch: null, ws: false }, optimizeDeps: { noDiscovery: true },
    plugins: [standIns({ virtual, wasmformer }), svelteModules],
    ssr: { noExternal: ['svelte', 'esm-env'], resolve: { conditions: ['browser', 'module', 'import', 'default'] } },
  });
  const runner = createServerModuleRunner(vite.environments.ssr, { hmr: false });
  try {
    const modules = await Promise.all([names].flat().map((name) => runner.import(`/src/${name}`)));
    // Words are fetched while a feature's script runs.
    const loaded = [...runner.evaluatedModules.idToModuleMap.values()];
    await Promise.all(loaded.map(({ exports }) => exports?.arrived));
    return Array.isArray(names) ? modules : modules[0];
  } finally {
    await runner.close();
    await vite.close();
  }
}
