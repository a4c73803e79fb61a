// Serves the built page as any static host would, with the two headers that isolate it, so that it may use threads.
// `node web/serve.mjs [PORT]`; the tests import serve().
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
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

/** Resolves to the server and its address. Port 0 takes a free one; every answer has `headers`. */
export async function serve(folder, port = 0, headers = isolation) {
  const server = createServer(async (request, response) => {
    try {
      const path = normalize(decodeURIComponent(new URL(request.url, 'http://host').pathname));
      const file = join(folder, path.endsWith(sep) ? join(path, 'index.html') : path);
      const found = await stat(file);
      if (!found.isFile()) throw new Error(`${file} is not a file`);
      response.writeHead(200, {
        'Content-Type': types[extname(file)] ?? 'application/octet-stream',
        'Content-Length': found.size,
        'Last-Modified': found.mtime.toUTCString(),
        'Cache-Control': 'no-cache',
        ...headers,
      });
      if (request.method === 'HEAD') response.end();
      else createReadStream(file).pipe(response);
    } catch {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n');
    }
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return { server, address: `http://localhost:${server.address().port}/` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { address } = await serve(fileURLToPath(new URL('../build/page/', import.meta.url)), Number(process.argv[2] ?? 8080));
  console.log(`The page is at ${address}  (Ctrl+C ends)`);
}
