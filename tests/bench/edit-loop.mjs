// How long a changed line takes to be seen in the page of `npm run dev`, in Chromium:
//   node tests/bench/edit-loop.mjs [--rounds 3] [--debug]
// It adds a line to a component, to a script of the package and to two files of src/ops, waits until the page has it, and
// takes it away again. It fails when one of these files has changes that are not committed.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startDevelopment } from '../../bindings/tools/dev.mjs';
import { chromium as chromiumPath } from '../../bindings/tools/setup.mjs';
import { root } from '../../bindings/tools/shell.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, debug: { type: 'boolean' } } });
const { chromium } = await import('playwright-core');

/** Each: a file, the line to add, given a number, and how the page shows it. */
const edits = {
  'a line of Svelte': {
    file: 'web/src/App.svelte',
    line: (n) => `<i id="edit-${n}"></i>`,
    seen: (page, n) => page.waitForSelector(`#edit-${n}`, { state: 'attached', timeout: 120_000 }),
  },
  'a line of the package': {
    file: 'bindings/js/index.ts',
    line: (n) => `(globalThis as { edit?: number }).edit = ${n};`,
    seen: (page, n) => page.waitForFunction((n) => globalThis.edit === n, n, { timeout: 120_000 }),
  },
  'a line of ops/pooling.cpp': cpp('src/ops/pooling.cpp'),
  'a line of ops/attention.cpp': cpp('src/ops/attention.cpp'),
};

function cpp(file) {
  return {
    file,
    line: (n) => `namespace wasmformer { int edited_${n}() { return ${n}; } }`,
    before: (page) => page.evaluate(() => void (globalThis.isOld = true)),
    seen: (page) => page.waitForFunction(() => !globalThis.isOld && document.querySelector('main'), undefined, { timeout: 600_000 }),
  };
}

const files = Object.values(edits).map(({ file }) => file);
const changed = execFileSync('git', ['status', '--porcelain', '--', ...files], { cwd: root, encoding: 'utf8' });
if (changed) throw new Error(`Commit first:\n${changed}`);

const server = await startDevelopment({ debug: values.debug, port: 0 });
const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  await page.goto(server.resolvedUrls.local[0]);
  await page.waitForSelector('main');
  let n = Date.now() % 1e6;
  for (const [name, { file, line, before, seen }] of Object.entries(edits)) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    const seconds = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      n += 1;
      await before?.(page);
      const started = performance.now();
      writeFileSync(path, `${text}${line(n)}\n`);
      try {
        await seen(page, n);
      } finally {
        writeFileSync(path, text);
      }
      seconds.push((performance.now() - started) / 1000);
      // Until what the removal makes again is done.
      await page.waitForTimeout(before ? 1000 * seconds.at(-1) + 2000 : 1000);
    }
    seconds.sort((a, b) => a - b);
    console.log(`${name}: ${seconds[Math.floor(seconds.length / 2)].toFixed(1)} s (${seconds.map((one) => one.toFixed(1)).join(', ')})`);
  }
} finally {
  await browser.close();
  await server.close();
}
process.exit(0);
