// Cloudflare's server of Workers with the recipe, as a bundler makes it ready.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { addModel, answerOf, expectedText, project, recipe, twoSentences, untilTranslated } from './support.mjs';

/** What the recipe says to Cloudflare's program, which reads these comments. */
const { main, compatibility_date: date, assets } = JSON.parse(recipe('wrangler.jsonc').replace(/^\/\/.*/gm, ''));

const configuration = (port) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      compatibilityDate = "${date}",
      modules = [(name = "bundle.js", esModule = embed "bundle.js"), (name = "wasmformer.wasm", wasm = embed "wasmformer.wasm")],
      bindings = [(name = "${assets.binding}", service = "assets")],
    )),
    (name = "assets", disk = (path = "${assets.directory}")),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;

test('the Cloudflare Worker of the recipes translates in workerd', async (t) => {
  const place = project('workerd', { [main]: recipe('worker.js') }, ['workerd']);
  mkdirSync(join(place, assets.directory));
  // As wrangler does: a module of WebAssembly stays a file of its own.
  const plugin = {
    name: 'modules',
    setup: ({ onResolve }) => onResolve({ filter: /\.wasm$/ }, () => ({ path: './wasmformer.wasm', external: true })),
  };
  await build({
    entryPoints: [join(place, main)], bundle: true, format: 'esm', outfile: join(place, 'bundle.js'), plugins: [plugin],
    external: ['node:*'], logLevel: 'error',
  });
  copyFileSync(join(place, 'node_modules/wasmformer/dist/wasm/relaxed/wasmformer.wasm'), join(place, 'wasmformer.wasm'));
  const port = 30_000 + process.pid % 10_000;
  const address = `http://127.0.0.1:${port}/`;
  writeFileSync(join(place, 'config.capnp'), configuration(port));
  const said = await untilTranslated('workerd', async () => {
    const server = spawn(join(place, 'node_modules/.bin/workerd'), ['serve', 'config.capnp'], { cwd: place, stdio: 'inherit' });
    t.after(() => server.kill());
    const withoutModel = await answerOf(address);
    addModel(place, `${assets.directory}/model.safetensors`);
    const answers = await Promise.all([`${address}?text=${encodeURIComponent(twoSentences)}`, address].map((one) => fetch(one)));
    return [withoutModel.status, ...await Promise.all(answers.map((answer) => answer.json()))];
  });
  assert.deepEqual(said, [500, { text: await expectedText(twoSentences) }, { text: '' }]);
});
