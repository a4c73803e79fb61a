// The module that trains tokenizers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { trainTokenizer } from '../../dist/worker/conversion.js';

const root = join(import.meta.dirname, '../..');
const fixture = readFileSync(join(root, 'tests/fixtures/tatoeba-en-de-test-200.tsv'), 'utf8').trim().split(/[\t\n]/);
// Numbers make 4,000 lines of 400.
const sentences = Array.from({ length: 10 }, (_, i) => fixture.map((line, k) => `${line} Nr. ${k * i} é ﬁ 天气`)).flat();

const normalization = 'nmt_nfkc';

for (const type of ['bpe', 'unigram']) {
  test(`${type}: the file matches the native program's, byte for byte`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [input, output] = [join(folder, 'text'), join(folder, 'model')];
    writeFileSync(input, sentences.join('\n'));
    const { status, stderr } = spawnSync(join(root, 'build/native/wasmformer'),
      ['tokenizer', '--input', input, '--type', type, '--vocab-size', '700', '--output', output], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.ok(readFileSync(output).equals(await trainTokenizer(sentences, { type, vocabSize: 700, normalization })));
  });

  test(`${type}: too little text gives a one-sentence error`, async () => {
    const rejects = (text, message) => assert.rejects(trainTokenizer(text, { type, vocabSize: 100, normalization }), { name: 'Error', message });
    await rejects([], '[tokenizer] there is no text to learn from');
    await rejects(['', ' \t '], '[tokenizer] there is no text to learn from');
    await rejects(['a b'], /^\[tokenizer\] vocab_size is 100, too high for this text; it can be \d+ at most$/);
  });
}

test('half a surrogate pair counts as U+FFFD', async () => {
  const [half, whole] = await Promise.all(['\uD800', '\uFFFD'].map((x) => trainTokenizer([`${x} ab ab abc`], { type: 'bpe', vocabSize: 12, normalization })));
  assert.deepEqual(half, whole);
});
