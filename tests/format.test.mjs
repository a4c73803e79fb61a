// The sources are formatted, and break no lint rule.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

test('npm run format would change nothing', () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../bindings/tools/format.mjs'), '--check'], { stdio: 'inherit' });
});
