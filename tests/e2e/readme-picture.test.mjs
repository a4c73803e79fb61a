// The picture of README.md is the first screen. WASMFORMER_SCREENSHOTS=1 takes it again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { share, translated } from './support.mjs';

const picture = fileURLToPath(new URL('../../web/screenshot.png', import.meta.url));
const screen = { viewport: { width: 1366, height: 900 } };

let site;
before(async () => (site = await share()));
after(() => site.stop());

/** Width and height of a PNG file, whose first chunk begins with them. */
const sizeOf = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)];

test('the picture of README.md has the size of the screen that it shows, and everything on it is in view', async () => {
  const { page, errors } = await site.visit(screen);
  await translated(page);
  for (const name of ['Translate', 'Inside', 'Lecture', 'Laboratory', 'Train', 'Models', 'About', 'Classify and tag'])
    assert.ok(await page.getByRole('link', { name, exact: true }).first().isVisible(), name);
  assert.ok(await page.locator('[role=application]').first().isVisible());
  const { width, height } = screen.viewport;
  await page.locator('.target [data-token="1"]').hover();
  await page.getByText(/“met” attends most to “getroffen”/).waitFor();
  if (process.env.WASMFORMER_SCREENSHOTS) await page.screenshot({ path: picture });
  assert.deepEqual(sizeOf(readFileSync(picture)), [width, height]);
  assert.deepEqual(errors, []);
});
