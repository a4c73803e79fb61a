// The worker's script. In the one-file build bindings/one-file/own-worker.ts takes the place of this file.

/** Whether there are builds with threads. */
export const hasThreads = true;

// For addresses that bundlers are to leave alone.
const here = import.meta.url;

export const workerScript = (): URL => new URL('./worker.js', here);

export function openOwnWorker(): Worker {
  const script = workerScript();
  if (isElsewhere(script)) return new Worker(startable(script), { type: 'module' });
  // Bundlers know this form, and put the worker's own script in place of the address.
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}

/** Whether a script comes from another host than the page, as from a CDN. (Webpack says file: of every script.) */
function isElsewhere({ protocol, origin }: URL): boolean {
  return protocol.startsWith('http') && typeof location === 'object' && origin !== location.origin;
}

/** An address that a worker may be started from: no page may start one of another host, but its own may import it. */
export function startable(script: URL): URL {
  if (!isElsewhere(script)) return script;
  const text = `import ${JSON.stringify(script.href)};`;
  return new URL(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}
