// The cards of the bundled models, in both languages.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('../../web/', import.meta.url));
const models = ['models', 'encoders'].flatMap((folder) => readdirSync(join(web, 'public', folder))
  .filter((file) => file.endsWith('.safetensors')).map((file) => join(web, 'public', folder, file)));

function metadataOf(file) {
  const open = openSync(file);
  const read = (length, place) => {
    const bytes = Buffer.alloc(length);
    readSync(open, bytes, 0, length, place);
    return bytes;
  };
  const header = JSON.parse(read(Number(read(8, 0).readBigUInt64LE()), 8));
  closeSync(open);
  return header.__metadata__;
}

/** The texts that a model's file has from its recipe's card or, if it was not made by one, from `web/cards`. */
function cardOf(name) {
  const files = [`cards/${name}.json`, `models/${name}/card.json`].map((file) => join(web, file));
  return JSON.parse(readFileSync(files.find((file) => existsSync(file)), 'utf8'));
}

test('each bundled model has a Chinese card with the same figures as the English one', () => {
  assert.ok(models.length >= 7);
  for (const model of models) {
    const name = basename(model, '.safetensors');
    const metadata = metadataOf(model);
    const card = cardOf(name);
    for (const key of ['corpus', 'licence', 'bleu', 'chrf', 'valid', 'limits']) {
      const [en, zh] = [metadata[key], card[`${key}.zh`]];
      if (en && /[a-z]{3}/.test(en.replace(/CC BY|CC0|Apache/g, ''))) assert.ok(zh, `${name}: ${key}.zh is missing`);
      const figures = (text) => (text.match(/\d[\d.,]*\d/g) ?? []).sort();
      if (zh) assert.deepEqual(figures(zh), figures(en), `${name}: ${key}`);
    }
    for (const [key, value] of Object.entries(card)) assert.equal(metadata[key], value, `${name}: ${key}`);
    const unknown = Object.keys(card).filter((key) => !(key.replace(/\.zh$/, '') in metadata));
    assert.deepEqual(unknown, [], name);
  }
});
