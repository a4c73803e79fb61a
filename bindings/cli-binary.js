// Emscripten waits by Atomics.waitAsync on memory of a thread that may have ended, and such a waiter takes the wake-up
// of whoever gets that memory next: once in thousands of calls the program hung. Without it, messages wake threads.
Atomics.waitAsync = undefined;
// The program in Node lies in the package compressed, which takes a quarter of a megabyte off it. Threads are handed the module.
if (require('node:worker_threads').isMainThread) {
  const compressed = require('node:fs').readFileSync(__dirname + '/cli.wasm.br');
  Module['wasmBinary'] = require('node:zlib').brotliDecompressSync(compressed);
}
// cli.ts reports what ends the program, in one sentence.
Module['printErr'] = () => {};
