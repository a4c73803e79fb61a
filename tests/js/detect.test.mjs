// wasmformer/detect with its model: which languages texts are in, what is unknown, where the model is found.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { loadDetector } from '../../dist/detect/index.js';
import { byLanguage } from '../../dist/webpages/index.js';
import { everydaySentences, scoreDeclarations } from '../../web/models/detect/evaluate.mjs';
import { recipe } from '../../web/models/detect/texts.mjs';
import { serve } from './support.mjs';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'bindings/detect-model');
const path = join(folder, 'detect.safetensors');
const bytes = readFileSync(path);
const detector = await loadDetector(path);
const languageOf = (text) => detector.detect(text)[0].language;

test('everyday sentences, pairs of close languages among them', () => {
  const sentences = {
    en: 'Where is the nearest station?',
    de: 'Wo ist der nächste Bahnhof?',
    fr: 'Où est la gare la plus proche ?',
    es: '¿Dónde está la estación más cercana?',
    pt: 'Onde fica a estação mais próxima?',
    da: 'Hvad hedder du, og hvor kommer du fra?',
    no: 'Hva heter du, og hvor kommer du fra?',
    sv: 'Vad heter du, och var kommer du ifrån?',
    cs: 'Kde je nejbližší nádraží?',
    sk: 'Dobrý deň, chcel by som si kúpiť lístok na vlak.',
    hr: 'Gdje je kolodvor i kada dolazi vlak?',
    sl: 'Kje se nahaja najbližja postaja?',
    id: 'Saya tidak bisa datang karena sedang sakit.',
    ms: 'Saya tidak boleh datang kerana sedang sakit.',
    tr: 'En yakın istasyon nerede?',
    vi: 'Nhà ga gần nhất ở đâu?',
    el: 'Πού είναι ο πλησιέστερος σταθμός;',
    ru: 'Где находится ближайший вокзал?',
    uk: 'Де знаходиться найближчий вокзал?',
    bg: 'Къде се намира най-близката гара?',
    sr: 'Где се налази најближа станица?',
    he: 'איפה התחנה הקרובה ביותר?',
    ar: 'أين تقع أقرب محطة؟',
    fa: 'نزدیک‌ترین ایستگاه کجاست؟',
    hi: 'निकटतम स्टेशन कहाँ है?',
    th: 'สถานีที่ใกล้ที่สุดอยู่ที่ไหน',
    ja: '一番近い駅はどこですか。',
    ko: '가장 가까운 역이 어디에 있습니까?',
    zh: '今天天气很好，我们一起去公园吧。',
    'zh-Hant': '最近的車站在哪裡？',
  };
  for (const [language, text] of Object.entries(sentences)) assert.equal(languageOf(text), language, text);
});

test('the list is sorted, its confidences sum to at most 1, and the first is high for a clear sentence', () => {
  const found = detector.detect('Das Wetter ist heute schön, aber morgen soll es regnen.');
  assert.equal(found[0].language, 'de');
  assert.ok(found[0].confidence > 0.9);
  const confidences = detector.detect('Oslo').map(({ confidence }) => confidence);
  assert.deepEqual(confidences, [...confidences].sort((a, b) => b - a));
  const sum = confidences.reduce((a, b) => a + b);
  assert.ok(sum <= 1 + 1e-6 && sum > 0.3, String(sum));
});

test('what has no letters, or letters of a script that the model does not know, is unknown', () => {
  for (const text of ['', '12,5 % (3/4)', '👍🏽 ✓', 'ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ', 'འགྲོ་བ་མིའི་རིགས་རྒྱུད']) {
    assert.deepEqual(detector.detect(text), [{ language: 'und', confidence: 1 }], text);
  }
  assert.equal(languageOf('xkq zzrw pqqv wkkx jqz'), 'und');
});

test('plain everyday sentences are in their language, and hardly ever unknown', () => {
  for (const text of ["I'll study hard tomorrow.", 'I think Tom is rich.', 'I want to go home because I am tired.']) {
    assert.equal(languageOf(text), 'en', text);
  }
  for (const [language, sentences] of everydaySentences()) {
    assert.ok(sentences.length >= 250, `${language}: ${sentences.length}`);
    const found = sentences.map(languageOf);
    const share = (wanted) => found.filter((one) => one === wanted).length / found.length;
    assert.ok(share(language) >= 0.98, `${language}: ${share(language)}`);
    assert.ok(share('und') <= 0.01, `${language} unknown: ${share('und')}`);
  }
});

test('a language that is not written in the letters of a text is never found', () => {
  for (const text of ['法律面前人人平等。', '他喜欢冒险。', '鼷鼠黏黐']) {
    for (const { language } of detector.detect(text)) assert.ok(['zh', 'zh-Hant', 'ja'].includes(language), `${text}: ${language}`);
  }
  assert.equal(languageOf('他喜欢冒险。'), 'zh');
  assert.deepEqual(detector.detect('쀍뛟꿿')[0].language, 'ko');
  assert.match(languageOf('我昨天在 Berlin 买了 iPhone。'), /^zh/, 'foreign words');
  assert.equal(languageOf('The word 你好 means hello.'), 'en', 'a foreign word');
});

test('code and what is typed at random are unknown', () => {
  const texts = [
    'asdf jkl qwer uiop', 'hjkgfd sdfjkh wertz', 'фыва олдж йцук', 'for (let i = 0; i < n; i++) { sum += a[i]; }',
    'if (x != nullptr) { return std::move(x); }', 'const f = async (a) => { await g(a); };',
  ];
  for (const text of texts) assert.equal(languageOf(text), 'und', text);
});

test('case and the form of accents make no difference', () => {
  const text = 'Où êtes-vous allés hier soir ?';
  const { language, confidence } = detector.detect(text)[0];
  assert.equal(language, 'fr');
  assert.equal(detector.detect(text.toUpperCase())[0].confidence, confidence);
  assert.equal(detector.detect(text.normalize('NFD'))[0].confidence, confidence);
});

test('at least 50 languages, without und, each a language tag', () => {
  assert.ok(detector.languages.length >= 50, String(detector.languages.length));
  for (const tag of detector.languages) assert.doesNotThrow(() => new Intl.Locale(tag), tag);
  assert.ok(!detector.languages.includes('und'));
});

test('the declaration of human rights: 98 % of its sentences and 90 % of its windows of three words', () => {
  const known = Object.entries(recipe.declarations).filter(([language]) => language !== 'und');
  assert.deepEqual(known.map(([language]) => language).sort(), [...detector.languages].sort());
  const score = scoreDeclarations(detector, Object.fromEntries(known));
  assert.ok(score.mean('sentences') >= 0.98, `sentences ${score.mean('sentences')}`);
  assert.ok(score.mean('windows') >= 0.9, `windows ${score.mean('windows')}`);
});

test('a model from bytes, from an address of a file, and from a server', async (t) => {
  const url = await serve(t, (request, response) => {
    if (request.url === '/model') response.end(bytes);
    else response.writeHead(404).end();
  });
  const sources = [bytes, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), new URL(`file://${path}`), `${url}/model`];
  for (const source of sources) {
    assert.equal((await loadDetector(source)).detect('Guten Morgen, liebe Kinder!')[0].language, 'de');
  }
  await assert.rejects(loadDetector(`${url}/none`), { code: 'not-found' });
  await assert.rejects(loadDetector(join(root, 'none')), { code: 'read-failed' });
  await assert.rejects(loadDetector(join(root, 'package.json')), { code: 'not-a-model' });
  await assert.rejects(loadDetector(bytes.subarray(0, 400)), { code: 'not-a-model' });
});

/** A program's folder where the package is installed, but not its detector's model: what scripts print there, and the step that adds it. */
function placeWithoutModel(t) {
  const place = mkdtempSync(join(tmpdir(), 'wasmformer-detect-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const modules = join(place, 'node_modules');
  mkdirSync(join(modules, 'wasmformer'), { recursive: true });
  cpSync(join(root, 'package.json'), join(modules, 'wasmformer/package.json'));
  cpSync(join(root, 'dist'), join(modules, 'wasmformer/dist'), { recursive: true, filter: (from) => !from.includes('/wasm/') });
  return {
    printed: (script) => execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: place, encoding: 'utf8' }).trim(),
    installModel: () => symlinkSync(folder, join(modules, 'wasmformer-detect')),
  };
}

test('the installed package is found, and what to do is said where it is not', (t) => {
  const { printed, installModel } = placeWithoutModel(t);
  const script = `import { detect } from 'wasmformer/detect';
try { console.log((await detect('Guten Morgen, liebe Kinder!'))[0].language); } catch (error) { console.log(error.code); }`;
  assert.equal(printed(script), 'not-installed');
  installModel();
  assert.equal(printed(script), 'de');
});

test("byLanguage('auto') and registerDetector() use the installed package, and fail by its code where it is missing", (t) => {
  const { printed, installModel } = placeWithoutModel(t);
  const script = `import { byLanguage } from 'wasmformer/webpages';
import { LanguageDetector, registerDetector } from 'wasmformer/standard';
const model = { info: { languages: 'de-en' }, translate: async (texts) => texts.map((text) => ({ text: text.toUpperCase() })) };
registerDetector();
try {
  const sentences = await byLanguage('auto', [model]).translate(['Guten Morgen, liebe Kinder!', 'Où est mon livre ?']);
  const detector = await LanguageDetector.create({ expectedInputLanguages: ['fr'] });
  const [{ detectedLanguage }] = await detector.detect('Où est mon livre ?');
  console.log(JSON.stringify([...sentences.map(({ text }) => text), detectedLanguage]));
} catch ({ code }) {
  const error = await LanguageDetector.create().catch((error) => error);
  console.log(code, error.name, error.cause.code);
}`;
  assert.equal(printed(script), 'not-installed OperationError not-installed');
  installModel();
  assert.deepEqual(JSON.parse(printed(script)), ['GUTEN MORGEN, LIEBE KINDER!', 'Où est mon livre ?', 'fr']);
});

test('the model has at most 700 KB, and the code 4 KB with brotli', async () => {
  assert.ok(statSync(path).size <= 700_000, String(statSync(path).size));
  const { outputFiles: [{ contents }] } = await build({
    entryPoints: [join(root, 'dist/detect/index.js')], bundle: true, minify: true, format: 'esm', write: false, logLevel: 'error',
  });
  const size = brotliCompressSync(contents).length;
  assert.ok(size <= 4096, String(size));
});

/** A translator that says which one it is, and of what. */
const marking = (languages) => ({
  info: { languages },
  translate: async (texts) => texts.map((text) => ({ text: `${languages}(${text})` })),
});

test('byLanguage gives each sentence to the model of its language, and leaves others and those of the target as they are', async () => {
  const translator = byLanguage(detector, [marking('de-en'), marking('zh-en')]);
  assert.equal(translator.info.languages, 'mul-en');
  const texts = ['Wo ist der nächste Bahnhof?', 'Where is the nearest station?', '最近的車站在哪裡？', 'Où se trouve la gare la plus proche ?'];
  const found = await translator.translate(texts);
  assert.deepEqual(found.map(({ language }) => language), ['de', 'en', 'zh-Hant', 'fr']);
  assert.deepEqual(found.map(({ text }) => text), [`de-en(${texts[0]})`, texts[1], `zh-en(${texts[2]})`, texts[3]]);
});

test('byLanguage translates a text in several languages, and keeps what is between its sentences', async () => {
  const [german, english] = ['Wo ist der nächste Bahnhof?', 'Where is the nearest station?'];
  const translator = byLanguage(detector, [marking('de-en')]);
  const { text, sentences } = await translator.translateText(`${german}\n\n${english} ${german}\n`);
  assert.equal(text, `de-en(${german})\n\n${english} de-en(${german})\n`);
  assert.deepEqual(sentences.map(({ source, begin, translation }) => [source, begin, translation.language]), [
    [german, 0, 'de'], [english, german.length + 2, 'en'], [german, german.length + english.length + 3, 'de'],
  ]);
  await assert.rejects(translator.translateText([german]), TypeError);
  await assert.rejects(translator.translateText(german, { onPartial() {} }), { code: 'unknown-option' });
  const long = { info: { languages: 'de-en', config: { max_length: 12 } }, translate: marking('de-en').translate };
  assert.ok((await byLanguage(detector, [long]).translateText(german)).sentences.length > 1, 'no part is longer than the model takes');
});

test('byLanguage takes an unclear sentence for one of the language of the others', async () => {
  const unclear = { detect: (text) => [{ language: text === 'Anna' ? 'it' : 'de', confidence: text === 'Anna' ? 0.3 : 0.9 }] };
  const [, name] = await byLanguage(unclear, [marking('de-en')]).translate(['Das ist gut.', 'Anna']);
  assert.deepEqual(name, { text: 'de-en(Anna)', language: 'de' });
});

test('byLanguage keeps the markup of sentences that stay as they are', async () => {
  const { text } = await byLanguage(detector, [marking('de-en')]).translate('<p>This <b>sentence</b> is English.</p>', { html: true });
  assert.equal(text, '<p>This <b>sentence</b> is English.</p>');
});

test('byLanguage refuses models that do not fit together', () => {
  assert.throws(() => byLanguage(detector, [marking('de-en'), marking('de-en')]), /two models read 'de'/);
  assert.throws(() => byLanguage(detector, [marking('de-en'), marking('en-de')]), /into one language/);
  assert.throws(() => byLanguage(detector, [marking('')]), TypeError);
  assert.throws(() => byLanguage(detector, [byLanguage(detector, [marking('de-en')])]), /detects languages itself/);
  assert.throws(() => byLanguage('german', [marking('de-en')]), { code: 'option-value' });
});
