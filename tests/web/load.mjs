// Loads modules of web/src without a browser, for their pure functions.
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/** A module of web/src. */
export async function load(name) {
  const vite = await createServer({
    configFile: false, root: fileURLToPath(new URL('../../web/', import.meta.url)), logLevel: 'silent', appType: 'custom',
    server: { middlewareMode: true, watch: null, ws: false }, optimizeDeps: { noDiscovery: true },
  });
  try {
    return await vite.ssrLoadModule(`/src/${name}`);
  } finally {
    await vite.close();
  }
}
