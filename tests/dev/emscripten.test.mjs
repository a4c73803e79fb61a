// The version of Emscripten: which are accepted, and the sentence that refuses others, by the set-up and by CMake.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { isAccepted, refusal, testedVersion, versionIn } from '../../bindings/tools/emscripten.mjs';

const toolchain = join(import.meta.dirname, '../../bindings/tools/emscripten.cmake');
const printed = (version) => `emcc (Emscripten gcc/clang-like replacement + linker emulating GNU ld) ${version} (a1b2c3)`;

test('one version of Emscripten is tested, and later patches of it are accepted', () => {
  assert.equal(testedVersion, '3.1.69');
  const accepted = { '3.1.69': true, '3.1.74': true, '3.1.100': true, '3.1.6': false, '3.1.68': false, '3.2.70': false, '4.0.0': false, '2.1.69': false };
  for (const [version, expected] of Object.entries(accepted)) assert.equal(isAccepted(version), expected, version);
});

test('the version is read from what em++ prints', () => {
  assert.equal(versionIn(`shared:INFO: sanity checks\n${printed('4.0.15')}\nCopyright (C) 2014`), '4.0.15');
  assert.equal(versionIn('em++: no such file'), undefined);
});

test('the set-up names the tested version, never the latest, and refuses another one in one sentence', () => {
  const command = /: git clone \S+ && cd emsdk && \.\/emsdk install 3\.1\.69 && \.\/emsdk activate 3\.1\.69 && source \S+$/;
  for (const version of [undefined, '4.0.15']) {
    assert.match(refusal(version), command);
    assert.doesNotMatch(refusal(version), /latest/);
  }
  assert.match(refusal(undefined), /^em\+\+ 3\.1\.69 is missing:/);
  assert.match(refusal('4.0.15'), /^em\+\+ 4\.0\.15 is refused, since the modules are built and tested with Emscripten 3\.1\.69:/);
});

test('CMake refuses the em++ of another version in the same way', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-emscripten-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'em++'), `#!/bin/sh\necho '${printed('4.0.15')}'\n`);
  chmodSync(join(folder, 'em++'), 0o755);
  const env = { ...process.env, PATH: folder + delimiter + process.env.PATH, XDG_CACHE_HOME: folder };
  const { status, stderr } = spawnSync('cmake', ['-P', toolchain], { env, encoding: 'utf8' });
  assert.notEqual(status, 0);
  const sentence = stderr.replaceAll(/\s+/g, ' ');
  assert.match(sentence, /em\+\+ is Emscripten 4\.0\.15, which is refused, since the modules are built and tested with 3\.1\.69\./);
  assert.match(sentence, /Emscripten 3\.1\.69 is missing: run `node bindings\/tools\/setup\.mjs`/);
});
