// The pages on the bundled models: their commands run, with small data and few steps.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runScript, scripts } from './shell-blocks.mjs';

const folder = mkdtempSync(join(tmpdir(), 'wasmformer-recipes-'));
after(() => rmSync(folder, { recursive: true, force: true }));

for (const document of ['web/models/README.md', 'web/models/LAB.md']) {
  for (const [i, script] of scripts(document).entries()) {
    const place = join(folder, document.replaceAll('/', '-'), String(i));
    test(`${document}: shell commands, part ${i + 1}`, () => runScript(script, place));
  }
}
