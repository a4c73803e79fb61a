// `node tests/codes.mjs [FILE…]` runs test files against a copy of dist in which every error's message is its code, and no
// assertion compares messages: what fails then reads a sentence. Needs a built dist.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const place = join(root, 'build/codes');
const given = process.argv.slice(2);
// They quote sentences in ways of their own, or run what a copy of dist lacks.
const quoting = ['convert', 'corpus', 'described', 'distillation', 'encoders', 'list', 'load', 'options', 'package', 'public-types', 'rooms', 'settings', 'types'];
const own = readdirSync(join(root, 'tests/js')).filter((name) => name.endsWith('.test.mjs') && !quoting.includes(name.slice(0, -'.test.mjs'.length)));
const files = given.length > 0 ? given : [...own.map((name) => `tests/js/${name}`), 'tests/web/run.test.mjs', 'tests/web/text.test.mjs'];

rmSync(place, { recursive: true, force: true });
for (const folder of ['tests', 'build']) mkdirSync(join(place, folder), { recursive: true });
cpSync(join(root, 'dist'), join(place, 'dist'), { recursive: true });
for (const folder of ['js', 'web', 'e2e']) cpSync(join(root, 'tests', folder), join(place, 'tests', folder), { recursive: true });
for (const name of readdirSync(join(root, 'tests')).filter((name) => name.endsWith('.mjs'))) cpSync(join(root, 'tests', name), join(place, 'tests', name));
for (const name of ['package.json', 'node_modules', 'web', 'src', 'bindings', 'tests/fixtures', 'build/native', 'build/wasm']) symlinkSync(join(root, name), join(place, name));

// The one place of each script in which a sentence becomes a message: bindings/js/shared/errors.ts.
const sentence = /(function messageOf\(_code, sentence\) \{\s*)return sentence;/;
const scripts = readdirSync(join(place, 'dist'), { recursive: true }).filter((name) => name.endsWith('.js')).map((name) => join(place, 'dist', name));
const changed = scripts.filter((script) => sentence.test(readFileSync(script, 'utf8')));
if (changed.length === 0) throw new Error('dist has no place in which a sentence becomes a message');
for (const script of changed) writeFileSync(script, readFileSync(script, 'utf8').replace(sentence, '$1return _code;'));

// An expected message only says that there is an error.
writeFileSync(join(place, 'unquoted.mjs'), `import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
const quotes = (expected) => expected instanceof RegExp || (typeof expected === 'object' && expected !== null && 'message' in expected);
for (const name of ['rejects', 'throws']) {
  const check = assert[name];
  assert[name] = (what, expected, ...more) => (quotes(expected) ? check(what, ...more) : check(what, expected, ...more));
}
syncBuiltinESMExports();
`);
const { status } = spawnSync(process.execPath, ['--import', './unquoted.mjs', '--test', ...files], { cwd: place, stdio: 'inherit' });
process.exit(status ?? 1);
