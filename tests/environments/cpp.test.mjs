// The C++ library inside a project of its own, built whole for any processor, with each compiler that is here.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { which } from '../../bindings/tools/shell.mjs';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-cpp-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const model = join(root, 'tests/fixtures/tiny-de-en.safetensors');
const sentence = 'Wo ist mein Buch?';

const builds = [
  { compiler: 'g++', way: 'add_subdirectory', isShared: false },
  { compiler: 'clang++-19', way: 'FetchContent', isShared: true },
  { compiler: 'clang++-22', way: 'add_subdirectory', isShared: true },
];

for (const { compiler, way, isShared } of builds) {
  const kind = isShared ? 'a shared object' : 'an archive';
  test(`${way} with ${compiler}, ${kind}`, { skip: which(compiler) ? false : `${compiler} is not installed` }, () => {
    const place = join(folder, compiler);
    const run = (program, args) => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    run('cmake', ['-S', join(root, 'tests/install/inside'), '-B', place, '-G', 'Ninja', `-DCMAKE_CXX_COMPILER=${compiler}`,
      `-DWAY=${way}`, `-DWASMFORMER_FOLDER=${root}`, `-DBUILD_SHARED_LIBS=${isShared ? 'ON' : 'OFF'}`]);
    run('cmake', ['--build', place]);
    const [found, text] = run(join(place, 'inside'), [model, sentence]).trim().split('\n');
    assert.equal(found, version);
    assert.ok(text.length > 5, text);
    const commands = readFileSync(join(place, 'build.ninja'), 'utf8');
    assert.ok(commands.includes('-march=x86-64-v3') && !commands.includes('-march=native'));
  });
}
