// Keeps the page for offline use, and adds the page's own headers to this site's answers where the host does not send
// them: threads need an isolated page, and workers the security policy. The build puts a line before this with what to
// keep (shell, modules by build, and the rest), the version and the headers. The package keeps the models.
const prefix = 'wasmformer-page-';
const kept = caches.open(prefix + version);

addEventListener('install', (event) => event.waitUntil(kept.then((cache) => cache.addAll(shell))));

addEventListener('activate', (event) => {
  const old = caches.keys().then((names) =>
    names.filter((name) => name.startsWith(prefix) && name !== prefix + version));
  event.waitUntil(old.then((names) => Promise.all(names.map((name) => caches.delete(name)))));
  // Not waited for: in Firefox it also waits for the page's threads, which sleep until there is work; activation would
  // take a minute, and all that the page loads meanwhile would fail.
  void clients.claim();
});

addEventListener('message', (event) => {
  const { data, ports } = event;
  if (data.type === 'update') skipWaiting();
  // The module came before this worker did; most of it is still in the browser's own cache.
  if (data.type === 'module') void keep(modules[data.name]);
  if (data.type === 'everything') {
    const [port] = ports;
    event.waitUntil(keep([...shell, ...modules[data.name], ...rest]).then(size).then(
      (bytes) => port.postMessage({ bytes }), (error) => port.postMessage({ error: String(error) })));
  }
});

async function keep(urls) {
  const cache = await kept;
  const missing = await Promise.all(urls.map(async (url) => ((await cache.match(url)) ? [] : [url])));
  await cache.addAll(missing.flat());
}

/** Bytes of all that is kept. */
async function size() {
  const cache = await kept;
  const sizes = (await cache.keys()).map(async (url) => (await (await cache.match(url)).blob()).size);
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

addEventListener('fetch', (event) => {
  const { method, mode, url } = event.request;
  if (new URL(url).origin !== location.origin) return;
  if (method !== 'GET' || url.includes('/models/')) event.respondWith(fetch(event.request).then(withHeaders));
  else event.respondWith(mode === 'navigate' ? newest(event.request) : unchanging(event.request));
});

/** The page itself may have changed; without the network the kept one serves. */
async function newest(request) {
  try {
    return withHeaders(await fetch(request));
  } catch (error) {
    const page = await (await kept).match('./');
    if (!page) throw error;
    return withHeaders(page);
  }
}

/** Other files change their names when they change. */
async function unchanging(request) {
  const cache = await kept;
  const found = await cache.match(request, { ignoreVary: true });
  if (found) return withHeaders(found);
  const response = await fetch(request);
  if (response.ok && /\/(assets|pairs)\//.test(request.url)) await cache.put(request, response.clone()).catch(() => {});
  return withHeaders(response);
}

function withHeaders(response) {
  const missing = Object.entries(headers).filter(([name]) => !response.headers.has(name));
  // A redirect cannot be copied; it is followed to an answer that can.
  if (response.type !== 'basic' || missing.length === 0) return response;
  const all = new Headers(response.headers);
  for (const [name, value] of missing) all.set(name, value);
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers: all });
}
