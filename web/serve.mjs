// Serves the built page as any static host would, with the headers that isolate it, so that it may use threads, and
// that restrict what it may load. If a file has a compressed copy beside it, browsers that accept it get the copy.
// `node web/serve.mjs [PORT]`; the tests import serve().
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

export const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Nothing inline, no code and no style from elsewhere; a model may come from any https address. */
export const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self' https:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The page's own headers. As a header the policy binds workers too, which a <meta> does not reach. */
export const pageHeaders = { ...isolation, 'Content-Security-Policy': `${policy}; frame-ancestors 'self'` };

/** Endings of compressed copies by the name of their encoding (RFC 9110, section 8.4.1), best first. */
const copies = { br: '.br', gzip: '.gz' };

/** The encodings that a browser takes; one with quality 0 is refused. */
function acceptedEncodings(header = '') {
  const offers = header.split(',').map((offer) => offer.trim().split(/\s*;\s*/));
  return offers.filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? '')).map(([name]) => name);
}

/** Opens the best compressed copy that the browser accepts and that is not older than the file; undefined without one. */
async function openCopy(file, { mtimeMs }, accepted) {
  for (const [encoding, ending] of Object.entries(copies)) {
    const content = accepted.includes(encoding) ? await open(file + ending).catch(() => undefined) : undefined;
    if (!content) continue;
    if ((await content.stat()).mtimeMs >= mtimeMs) return { content, encoding };
    await content.close();
  }
  return undefined;
}

/** Resolves to the server and its address. Port 0 takes a free one; every answer has `headers`. */
export async function serve(folder, port = 0, headers = isolation) {
  const server = createServer(async (request, response) => {
    let content;
    try {
      const path = normalize(decodeURIComponent(new URL(request.url, 'http://host').pathname));
      const file = join(folder, path.endsWith(sep) ? join(path, 'index.html') : path);
      content = await open(file);
      const found = await content.stat();
      if (!found.isFile()) throw new Error(`${file} is not a file`);
      const copy = await openCopy(file, found, acceptedEncodings(request.headers['accept-encoding']));
      if (copy) {
        await content.close();
        content = copy.content;
      }
      response.writeHead(200, {
        'Content-Type': types[extname(file)] ?? 'application/octet-stream',
        'Content-Length': (await content.stat()).size,
        ...(copy && { 'Content-Encoding': copy.encoding }),
        Vary: 'Accept-Encoding',
        'Last-Modified': found.mtime.toUTCString(),
        'Cache-Control': 'no-cache',
        ...headers,
      });
      if (request.method === 'HEAD') response.end();
      else await pipeline(content.createReadStream(), response);
    } catch {
      // Once the headers are out, a file that cannot be read or a client that left can only end the connection.
      if (response.headersSent) response.destroy();
      else response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n');
    } finally {
      await content?.close();
    }
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return { server, address: `http://localhost:${server.address().port}/` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL('../build/page/', import.meta.url));
  const { address } = await serve(folder, Number(process.argv[2] ?? 8080), pageHeaders);
  console.log(`The page is at ${address}  (Ctrl+C ends)`);
}
