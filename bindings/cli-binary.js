// The program in Node lies in the package compressed, which takes a quarter of a megabyte off it. Threads are handed the module.
if (require('node:worker_threads').isMainThread) {
  const compressed = require('node:fs').readFileSync(__dirname + '/cli.wasm.br');
  Module['wasmBinary'] = require('node:zlib').brotliDecompressSync(compressed);
}
