// Cloudflare's server of Workers with the recipe, as a bundler makes it ready.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { addModel, answerOf, expectedText, project, recipe, sentence, untilTranslated } from './support.mjs';

const configuration = (port) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      compatibilityDate = "2026-01-01",
      modules = [(name = "bundle.js", esModule = embed "bundle.js"), (name = "wasmformer.wasm", wasm = embed "wasmformer.wasm")],
      bindings = [(name = "ASSETS", service = "assets")],
    )),
    (name = "assets", disk = (path = "assets")),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;

test('the Cloudflare Worker of the recipes translates in workerd', async (t) => {
  const place = project('workerd', { 'worker.js': recipe('worker.js') }, ['workerd']);
  addModel(place, 'assets/model.safetensors');
  // As wrangler does: a module of WebAssembly stays a file of its own.
  const plugin = {
    name: 'modules',
    setup: ({ onResolve }) => onResolve({ filter: /\.wasm$/ }, () => ({ path: './wasmformer.wasm', external: true })),
  };
  await build({
    entryPoints: [join(place, 'worker.js')], bundle: true, format: 'esm', outfile: join(place, 'bundle.js'), plugins: [plugin],
    external: ['node:*'], logLevel: 'error',
  });
  copyFileSync(join(place, 'node_modules/wasmformer/dist/wasm/relaxed/wasmformer.wasm'), join(place, 'wasmformer.wasm'));
  const port = 30_000 + process.pid % 10_000;
  writeFileSync(join(place, 'config.capnp'), configuration(port));
  const said = await untilTranslated('workerd', async () => {
    const server = spawn(join(place, 'node_modules/.bin/workerd'), ['serve', 'config.capnp'], { cwd: place, stdio: 'inherit' });
    t.after(() => server.kill());
    const answer = await answerOf(`http://127.0.0.1:${port}/?text=${encodeURIComponent(sentence)}`);
    return answer.text();
  });
  assert.equal(said, JSON.stringify({ text: await expectedText() }));
});
