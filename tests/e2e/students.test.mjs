// A student of Firefox: its files become a model, and no view wants the self-attention that its decoder lacks.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { laptop, show, start, translated } from './support.mjs';
import { withView } from './views.mjs';

let site;
before(async () => (site = await start()));
after(() => site.stop());

const folder = join(import.meta.dirname, '../fixtures/marian/student');

test('the files of a student are converted and used; views, map and picture do without the decoder\'s heads', () =>
  withView(site, laptop, '#models', async (page) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files' }).click()]);
    await chooser.setFiles(['model.f32.bin', 'vocab.spm', 'lex.tiny.s2t.bin'].map((name) => join(folder, name)));
    await page.waitForFunction(() => document.querySelector('select[aria-label=Model]')?.selectedOptions[0]?.text.includes('Marian'));
    await page.evaluate(() => (location.hash = '#translate'));
    const sentence = readFileSync(join(folder, 'input.txt'), 'utf8').split('\n')[3];
    await page.getByRole('textbox').first().fill(sentence);
    await translated(page);
    const kinds = page.getByRole('radiogroup');
    assert.ok(!/decoder/i.test(await kinds.first().innerText()), 'two kinds of attention');
    await show(page, 'student-translate');
    for (const view of ['picture', 'beam', 'intervene', 'about']) {
      await page.evaluate((view) => (location.hash = `#${view}`), view);
      await page.locator('main').waitFor();
      await page.waitForTimeout(1500);
      await show(page, `student-${view}`);
    }
    await page.evaluate(() => (location.hash = '#picture?at=dec.1.self'));
    await page.getByTestId('explanation').getByText('SSRU').first().waitFor();
    await show(page, 'student-cell');
  }));
