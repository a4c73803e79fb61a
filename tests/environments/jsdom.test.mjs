// Tests of users with Vitest, in Node and in pages that are played in it.
import { test } from 'node:test';
import { join } from 'node:path';
import { project, recipe, run, untilTranslated } from './support.mjs';

const real = (environment) => `// @vitest-environment ${environment}
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { Translator } from 'wasmformer';
test('translates in ${environment}', async () => {
  expect(typeof globalThis.document).toBe('${environment === 'node' ? 'undefined' : 'object'}');
  const path = createRequire(process.cwd() + '/package.json').resolve('wasmformer/tiny.safetensors');
  const translator = await Translator.load(path);
  expect((await translator.translate('hello')).text).toBe('olleh');
  const again = await Translator.load(new URL('file://' + path), { threads: 1 });
  expect((await again.translate('hello')).text).toBe('olleh');
  translator.dispose();
  again.dispose();
}, 60_000);
`;

test('Vitest runs models in Node, in jsdom and in happy-dom, and the mock of the guide', async () => {
  const environments = ['node', 'jsdom', 'happy-dom'];
  const files = Object.fromEntries(environments.map((name) => [`${name}.test.js`, real(name)]));
  const place = project('vitest', {
    ...files, 'translate.test.js': recipe('translate.test.js', 'bindings/docs/testing.md'),
  }, ['vitest', 'jsdom', 'happy-dom']);
  const environment = 'Vitest: Node, jsdom and happy-dom, one after another';
  await untilTranslated(environment, () => run(join(place, 'node_modules/.bin/vitest'), ['run'], { cwd: place }));
});
