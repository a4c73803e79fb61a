// A student of Firefox: its files become a model, and no view wants the self-attention that its decoder lacks.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { settled } from './looks.mjs';
import { laptop, phone, share, show, translated } from './support.mjs';
import { withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const folder = join(import.meta.dirname, '../fixtures/marian/student');

test("a student's files are converted and used; views, map and picture work without decoder heads", () =>
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
    const views = { picture: '[data-testid=figure]', beam: '[role=treeitem]', intervene: '[data-testid=figure] [role=switch]', about: 'main dl' };
    for (const [view, drawn] of Object.entries(views)) {
      await page.evaluate((view) => (location.hash = `#${view}`), view);
      await page.locator(drawn).first().waitFor();
      await page.waitForFunction(settled);
      await show(page, `student-${view}`);
    }
    await page.evaluate(() => (location.hash = '#picture?at=dec.1.self'));
    await page.getByTestId('explanation').getByText('SSRU').first().waitFor();
    await show(page, 'student-cell');
  }));

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const parts = { model: 'model.int8.bin', lex: 'lex.tiny.s2t.bin', vocab: 'vocab.spm' };
const content = (part) => readFileSync(join(folder, parts[part]));
const zst = readFileSync(join(folder, '../lex.tiny.s2t.bin.zst'));
const packed = (part) => (part === 'lex' ? zst : gzipSync(content(part)));
const files = (part) => ({ path: `xxen/${parts[part]}.${part === 'lex' ? 'zst' : 'gz'}` });
const entry = (architecture, uncompressedHash) => ({
  architecture, releaseStatus: 'Release', sourceLanguage: 'fr', targetLanguage: 'en',
  files: { model: { ...files('model'), uncompressedSize: content('model').length, uncompressedHash }, lexicalShortlist: files('lex'), vocab: files('vocab') },
});
const mozilla = 'https://mozilla.example/db/models.json';
const list = {
  baseUrl: 'https://mozilla.example/files',
  models: { 'fr-en': [entry('tiny', sha256(content('model'))), entry('base', sha256('other'))] },
};

/** A page whose network has Mozilla's list and files. */
const withList = (options, use) =>
  withView(site, options, '#models', async (page) => {
    const headers = { 'Access-Control-Allow-Origin': '*' };
    await page.route('https://mozilla.example/**', (route) => {
      const part = Object.keys(parts).find((part) => route.request().url().includes(parts[part]));
      return route.fulfill({ headers, body: part ? packed(part) : JSON.stringify(list) });
    });
    await page.getByText(/^(in use|使用中)$/).waitFor();
    await use(page);
  });

async function fetchList(page, address) {
  await page.getByRole('textbox', { name: 'URL of a model' }).fill(address);
  await page.getByRole('button', { name: 'Download' }).click();
}

test('a list at an address shows languages, versions and sizes; a model from it is loaded, checked and kept', () =>
  withList(laptop, async (page) => {
    await fetchList(page, mozilla);
    await page.getByRole('heading', { name: 'Models in mozilla.example' }).waitFor();
    await page.getByText('tiny · Release · 0.2 MB').waitFor();
    await show(page, 'models-list');
    await page.getByRole('button', { name: 'Use fr-en (base ·' }).click();
    assert.match(await page.getByRole('alert').innerText(), /^The model could not be loaded: the digest of model\.int8\.bin\.gz is sha256-/);
    await page.getByRole('button', { name: 'Use fr-en (tiny ·' }).click();
    await page.getByText(/^French → English · 0\.\d MB · from a file, saved in this browser$/).waitFor();
    await page.waitForURL(/model=file%3Afirefox-tiny-fr-en/);
    assert.equal(await page.getByRole('alert').count(), 0);
  }));

test('a list can be chosen as a file, on a Chinese phone; other files give a one-sentence error', () =>
  withList({ ...phone, locale: 'zh-CN' }, async (page) => {
    const choose = async (name, text) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: '选择文件' }).click()]);
      await chooser.setFiles([{ name, mimeType: 'application/json', buffer: Buffer.from(text) }]);
    };
    await choose('models.json', '<html>');
    assert.match(await page.getByRole('alert').innerText(), /^无法读取列表：models\.json 不是 JSON。$/);
    await choose('models.json', JSON.stringify(list));
    await page.getByRole('heading', { name: 'models.json 中的模型' }).waitFor();
    await page.getByText('法语 → 英语').filter({ visible: true }).last().waitFor();
    await show(page, 'models-list-zh');
    await page.getByRole('button', { name: '使用 fr-en (tiny' }).click();
    await page.waitForURL(/model=file%3Afirefox-tiny-fr-en/);
  }));
