// The paper in one file (src/micro): it keeps what it promises at its head. tests/micro/micro_gradient_test.cpp compares its
// numbers with the engine's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const source = join(import.meta.dirname, '../../src/micro/transformer.cpp');
const text = readFileSync(source, 'utf8');
const [, command] = text.match(/^\/\/ {3}(c\+\+ .*) && \.\/transformer$/m);

const folder = mkdtempSync(join(tmpdir(), 'wasmformer-micro-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('the paper in one file has 300 lines of code of at most 110 columns, and no templates', () => {
  const lines = text.trimEnd().split('\n');
  const code = lines.filter((line) => !/^\s*(\/\/.*)?$/.test(line));
  assert.ok(code.length <= 300, `${code.length} lines of code`);
  assert.ok(lines.length <= 380, `${lines.length} lines`);
  assert.deepEqual(lines.filter((line) => [...line].length > 110), []);
  assert.doesNotMatch(text, /\btemplate\b|\]\(auto|#include "/);
});

test('the paper in one file names each section and equation that it is about', () => {
  for (const name of ['3.1', '3.2', '3.2.1', '3.2.2', '3.2.3', '3.3', '3.4', '3.5', '5.1', '5.3', '5.4', '6.1', 'equation 1', 'Equation 2', 'equation 3']) {
    assert.match(text, new RegExp(`//.*(?<![\\d.])${name.replaceAll('.', '\\.')}(?!\\d|\\.\\d)`), name);
  }
});

test('the paper in one file compiles by its command without a warning, and learns to reverse words', () => {
  copyFileSync(source, join(folder, 'transformer.cpp'));
  const [compiler, ...args] = command.split(' ');
  execFileSync(compiler, [...args, '-Wall', '-Wextra', '-Werror'], { cwd: folder, stdio: 'inherit' });
  const lines = execFileSync(join(folder, 'transformer'), { encoding: 'utf8' }).trimEnd().split('\n');
  const losses = lines.flatMap((line) => line.match(/loss (\d+\.\d+)/)?.slice(1).map(Number) ?? []);
  assert.ok(losses.length >= 5 && losses.at(-1) < losses[0] / 3, `${losses}`);
  const [, share] = lines.at(-1).match(/: (\d+\.\d) %$/);
  assert.ok(Number(share) >= 99, lines.at(-1));
});
