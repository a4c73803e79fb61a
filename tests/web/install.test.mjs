// `npm start` installs every npm package that the page is built from, and none of those of the tests.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withoutTests } from '../../bindings/tools/setup.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sources = join(root, 'web/src');

/** The packages that files of the page import. The build itself makes `wasmformer` and names that begin with `virtual:`. */
function importedPackages() {
  const texts = readdirSync(sources, { recursive: true }).filter((name) => /\.(ts|svelte)$/.test(name))
    .map((name) => readFileSync(join(sources, name), 'utf8'));
  const paths = texts.flatMap((text) => [...text.matchAll(/^\s*import (?:[^'"]* from )?'([^.'][^']*)'/gm)]).map(([, path]) => path);
  const packages = paths.map((path) => path.match(/^(@[^/]+\/)?[^/]+/)[0]);
  return [...new Set(packages)].filter((name) => name !== 'wasmformer' && !name.startsWith('virtual:')).sort();
}

test('an installation without the packages of the tests has every package that the page imports', (t) => {
  const clone = mkdtempSync(join(tmpdir(), 'wasmformer-clone-'));
  t.after(() => rmSync(clone, { recursive: true }));
  for (const file of ['package.json', 'package-lock.json', 'tests/package.json', 'bindings/detect-model']) {
    cpSync(join(root, file), join(clone, file), { recursive: true });
  }
  execFileSync('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--loglevel=error', ...withoutTests], { cwd: clone });
  const packages = importedPackages();
  assert.ok(packages.includes('svelte') && packages.includes('wasmformer-detect'), packages.join());
  const missing = packages.filter((name) => !existsSync(join(clone, 'node_modules', name, 'package.json')));
  assert.deepEqual(missing, []);
  assert.ok(!existsSync(join(clone, 'node_modules/wasmformer-tests')));
});
