// Live pages translated in place, by the package's own modules and by the example of an extension.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { Translator } from '../../dist/index.js';
import { start, until } from './support.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const model = join(root, 'tests/fixtures/tiny-de-en.safetensors');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
let session;
before(async () => {
  symlinkSync(join(root, 'dist'), join(folder, 'wasmformer'));
  symlinkSync(model, join(folder, 'model.safetensors'));
  symlinkSync(join(root, 'bindings/detect-model'), join(folder, 'wasmformer-detect'));
  const head = '<!doctype html><link rel="icon" href="data:,"><title>Titel</title>';
  const imports = { 'wasmformer-detect': './wasmformer-detect/index.js' };
  writeFileSync(join(folder, 'index.html'), `${head}<body>`);
  writeFileSync(join(folder, 'detecting.html'), `${head}<script type="importmap">${JSON.stringify({ imports })}</script><body>`);
  session = await start(folder, {});
});
after(async () => {
  await session.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A page of this markup, where `begin(options)` translates it into capitals, and `asked` are the sentences. */
async function live(markup) {
  const { page, errors } = await session.visit();
  await page.evaluate(async (markup) => {
    const { translateDocument } = await import('./wasmformer/webpages/index.js');
    document.body.innerHTML = markup;
    window.asked = [];
    const parts = (text) => Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => ({ start: index, end: index + word.length }));
    const translate = async (sentences, { signal }) => {
      await new Promise((resolve) => setTimeout(resolve, window.delay ?? 5));
      signal.throwIfAborted();
      window.asked.push(...sentences);
      return sentences.map((text) => {
        const source = parts(text);
        const order = source.map((_, i) => i);
        if (window.reorders) order.sort((a, b) => (a % 3) - (b % 3) || b - a); // tears apart what stood together
        const words = order.map((i) => text.slice(source[i].start, source[i].end).toUpperCase());
        const data = new Float32Array(order.length ** 2);
        order.forEach((from, at) => (data[at * order.length + from] = 1));
        const changed = window.reorders ? words.join(' ') : text.toUpperCase();
        return { text: changed, alignment: { source, target: parts(changed), data } };
      });
    };
    window.begin = (options, node = document.body) => (window.running = translateDocument({ info: {}, translate }, node, options));
  }, markup);
  return { page, errors, body: () => page.evaluate(() => document.body.innerHTML) };
}

test('words are translated in place, not code or fields; elements and listeners stay; undo restores everything', async () => {
  const markup = '<h1>one <b>two</b></h1><p id="p">three <a id="a" href="#">four <i>five</i></a> six<br>seven</p><ul><li>eight</li> <li>nine <code>x</code> ten</li></ul>'
    + '<pre>code</pre><script type="text/plain">if (a < b) c();</script><textarea>field</textarea><input value="value" placeholder="hint"><p translate="no">Name</p>'
    + '<p class="notranslate">Name</p><div contenteditable="true">mine</div><p>1 + 2</p><button>press</button><div>outer <p>inner</p> rest</div>';
  const { page, errors, body } = await live(markup);
  const original = await body();
  const result = await page.evaluate(async () => {
    const [link, texts] = [document.getElementById('a'), document.querySelector('li').firstChild];
    let clicks = 0;
    link.addEventListener('click', () => clicks++);
    link.focus();
    await window.begin({}).finished;
    document.getElementById('a').click();
    return { clicks, isSame: link === document.getElementById('a'), isText: texts === document.querySelector('li').firstChild, focus: document.activeElement === link };
  });
  assert.deepEqual(result, { clicks: 1, isSame: true, isText: true, focus: true });
  const capitals = original.replace(/(?<=>)[^<]+/g, (text, at) => {
    const before = original.slice(0, at);
    return /<(code|pre|script[^>]*|textarea|p translate="no"|p class="notranslate"|div contenteditable="true")>$/.test(before) ? text : text.toUpperCase();
  });
  assert.equal(await body(), capitals);
  await page.evaluate(() => window.running.undo());
  assert.equal(await body(), original);
  assert.deepEqual(errors, []);
});

test('visible text is translated first', async () => {
  const { page } = await live(Array.from({ length: 300 }, (_, i) => `<p style="height: 40px">word ${i}</p>`).join(''));
  await page.evaluate(() => scrollTo(0, 40 * 200));
  await page.evaluate(() => window.begin({}).finished);
  const asked = await page.evaluate(() => window.asked.map((text) => Number(text.split(' ')[1])));
  assert.equal(asked.length, 300);
  assert.ok(asked.slice(0, 8).every((number) => number > 130 && number < 230), asked.slice(0, 8).join());
});

test('later changes are translated, translated text is not translated again, and undo restores everything', async () => {
  const { page, errors, body } = await live('<p id="p">one <b>two</b> three</p><div id="d"></div>');
  const wait = (text) => until(page, `document.body.innerHTML.includes(${JSON.stringify(text)})`);
  await page.evaluate(() => window.begin({ observe: true }).finished);
  await page.evaluate(() => (document.getElementById('d').innerHTML = '<p>four <i>five</i></p>'));
  await wait('<p>FOUR <i>FIVE</i></p>');
  await page.evaluate(() => (document.querySelector('b').firstChild.data = 'changed'));
  await wait('<b>CHANGED</b>');
  await page.evaluate(() => document.getElementById('p').append('more', document.createElement('hr')));
  await wait('MORE');
  assert.deepEqual((await page.evaluate(() => window.asked)), ['one two three', 'four five', 'one changed three', 'more']);
  const end = await body();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(await body(), end, 'its own changes are no changes of the page');
  await page.evaluate(() => window.running.undo());
  assert.match(await body(), /<p>four <i>five<\/i><\/p>/);
  assert.match(await body(), /<b>changed<\/b>/);
  assert.match(await body(), /more<hr>/);
  await page.evaluate(() => document.getElementById('d').append('after'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.match(await body(), /after/);
  assert.deepEqual(errors, []);
});

test('fragments and detached elements are translated', async () => {
  const { page } = await live('');
  const found = await page.evaluate(async () => {
    const template = document.createElement('template');
    template.innerHTML = 'one <p>two <b>three</b></p>';
    const element = document.createElement('div');
    element.innerHTML = '<p>four</p>';
    for (const node of [template.content, element]) await window.begin({}, node).finished;
    return [template.innerHTML, element.innerHTML];
  });
  assert.deepEqual(found, ['ONE <p>TWO <b>THREE</b></p>', '<p>FOUR</p>']);
});

test('changes inside excluded elements are not translated', async () => {
  const { page, body } = await live('<svg><text>one</text></svg><pre><div>two</div></pre><div>in <code><div>three</div></code></div><object><p>four</p></object><p>last</p>');
  await page.evaluate(() => window.begin({ observe: true }).finished);
  await page.evaluate(() => document.querySelectorAll('svg text, pre div, code div, object p, body > p:last-child').forEach((one) => (one.firstChild.data = 'new')));
  await until(page, "document.body.innerHTML.includes('NEW')");
  assert.equal((await body()).match(/new/g).length, 4);
  assert.deepEqual(await page.evaluate(() => window.asked.filter((text) => text === 'new')), ['new']);
});

test('translate is read as the HTML standard says: in any case, and the innermost counts', async () => {
  const { page, body } = await live('<p translate="NO">one</p><p id="p" translate="no">two <span translate="yes">three <i translate="no">four</i></span> five</p>'
    + '<div translate="no"><p class="notranslate"><b translate="yes">six</b></p><p translate="">seven</p></div>');
  const original = await body();
  await page.evaluate(() => window.begin({ observe: true }).finished);
  const translated = original.replace('three', 'THREE').replace('seven', 'SEVEN');
  assert.equal(await body(), translated);
  await page.evaluate(() => (document.querySelector('#p > span').firstChild.data = 'eight'));
  await until(page, "document.querySelector('#p > span').textContent.startsWith('EIGHT')");
  await page.evaluate(() => document.getElementById('p').insertAdjacentHTML('beforeend', ' nine <b translate="yes">ten</b>'));
  await until(page, "document.querySelector('#p > b').textContent === 'TEN'");
  assert.match(await body(), / five nine <b/);
  await page.evaluate(() => window.running.undo());
  assert.equal(await body(), original.replace('three ', 'eight').replace(' five', ' five nine <b translate="yes">ten</b>'));
});

test('a page that sets its own text nodes sees only the translation of the new text, and undo gives its own text', async () => {
  const { page, errors, body } = await live('<p id="p">one two</p><p id="q">three <b>four</b>, five six!</p>');
  await page.evaluate(() => window.begin({ observe: true }).finished);
  const set = (path, text, shown) => page.evaluate(async ([path, text, shown]) => {
    window.own ??= { p: document.getElementById('p').firstChild, b: document.querySelector('b'), last: document.getElementById('q').lastChild };
    window.own[path].data = text;
    while (document.body.textContent !== shown) await new Promise((resolve) => setTimeout(resolve, 1));
  }, [path, text, shown]);
  await set('p', 'seven', 'SEVENTHREE FOUR, FIVE SIX!');
  await set('p', 'eight nine ten', 'EIGHT NINE TENTHREE FOUR, FIVE SIX!');
  await set('last', ' eleven', 'EIGHT NINE TENTHREE FOUR ELEVEN');
  assert.equal(await body(), '<p id="p">EIGHT NINE TEN</p><p id="q">THREE <b>FOUR</b> ELEVEN</p>');
  assert.equal(await page.evaluate(() => document.getElementById('p').childNodes.length), 1);
  await page.evaluate(() => window.own.b.remove());
  await until(page, "document.getElementById('q').textContent === 'THREE ELEVEN'");
  await page.evaluate(() => document.getElementById('q').prepend(window.own.p));
  await until(page, "document.body.textContent.includes('TENTHREE')");
  await page.evaluate(() => window.running.undo());
  assert.equal(await body(), '<p id="p"></p><p id="q">eight nine tenthree  eleven</p>');
  assert.deepEqual(errors, []);
});

test('40 pages that set, move, remove and add nodes show no old words, and undo gives their own nodes', async () => {
  const { page, errors } = await live('');
  const wrong = await page.evaluate(async () => {
    window.reorders = true;
    window.delay = 0;
    const markup = '<p>a b <i>c d</i> e</p><p>f <b>g <i>h</i> j k</b> l <a href="#">m n</a></p><div>o <p>q r</p> s</div>';
    const letters = (root) => root.textContent.toLowerCase().replace(/\s/g, '').split('').sort().join('');
    const wrong = [];
    let state = 1;
    const draw = (below) => Math.floor(((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) * below);
    for (let seed = 1; seed <= 40 && wrong.length < 3; seed++) {
      state = seed;
      const [shown, own] = [document.createElement('div'), document.createElement('div')];
      shown.innerHTML = own.innerHTML = markup;
      document.body.replaceChildren(shown);
      const all = (root) => {
        const walker = document.createTreeWalker(root);
        return Array.from({ length: 99 }, () => walker.nextNode()).filter(Boolean);
      };
      const pairs = all(shown).map((node, i) => [node, all(own)[i]]); // the page's nodes, and what they are without translation
      const running = window.begin({ observe: true }, shown);
      await running.finished;
      const one = (kind) => {
        const fit = pairs.filter(([, twin]) => own.contains(twin) && (kind === undefined || twin.nodeType === kind));
        return fit[draw(fit.length)];
      };
      const change = [
        () => one(3)?.forEach((node) => (node.data = ` x${seed} y `)),
        () => one()?.forEach((node) => node.remove()),
        () => {
          const [what, where] = [one(), one()];
          if (!what || !where || what[1].contains(where[1])) return;
          what.forEach((node, i) => where[i].parentNode.insertBefore(node, where[i]));
        },
        () => {
          const [where, added] = [one(), [0, 1].map(() => document.createElement('u'))];
          if (where) added.forEach((node, i) => (node.append(' new z '), where[i].parentNode.insertBefore(node, where[i])));
        },
      ];
      for (let step = 0; step < 6; step++) {
        change[draw(4)]();
        const begin = performance.now();
        const isDone = () => letters(shown) === letters(own) && !/[a-z]/.test(shown.textContent);
        do await new Promise((resolve) => setTimeout(resolve, 1));
        while (!isDone() && performance.now() - begin < 3000);
        if (!isDone()) wrong.push([seed, step, shown.innerHTML, own.innerHTML]);
      }
      running.undo();
      if (shown.innerHTML !== own.innerHTML) wrong.push([seed, 'undone', shown.innerHTML, own.innerHTML]);
    }
    return wrong;
  });
  assert.deepEqual(wrong, []);
  assert.deepEqual(errors, []);
});

test('footnote marks move as a whole, with the word before', async () => {
  const { page, body } = await live('<p>one<sup><a href="#r">[1]</a></sup> two three m<sup>2</sup></p>');
  const original = await body();
  await page.evaluate(async () => {
    window.reorders = true;
    const note = document.querySelector('sup');
    await window.begin({}).finished;
    note.className = 'same';
  });
  assert.equal(await body(), '<p>M<sup>2</sup> ONE<sup class="same"><a href="#r">[1]</a></sup> TWO THREE</p>');
  await page.evaluate(() => window.running.undo());
  assert.equal(await body(), original.replace('<sup>', '<sup class="same">'));
});

test('line breaks that the page shows stay', async () => {
  const text = '\n one <b>two</b>  three\n  four\n\nfive. six ';
  const styles = ['pre-wrap', 'break-spaces', 'pre', 'pre-line', 'normal', 'nowrap'];
  const { page } = await live(styles.map((style) => `<div style="white-space: ${style}">${text}</div>`).join('')
    + '<div style="white-space: pre-wrap"><p>one\n<span style="white-space: normal">two\nthree</span></p></div>');
  const shown = () => page.evaluate(() => Array.from(document.querySelectorAll('body > div'), (one) => one.innerText));
  const before = await shown();
  await page.evaluate(() => window.begin({}).finished);
  const upper = before.map((text) => text.toUpperCase());
  assert.deepEqual(await shown(), upper);
  assert.ok(upper[0].includes('\n  FOUR\n\n') && upper[3].includes('\nFOUR\n\n') && upper[6] === 'ONE\nTWO THREE', `${upper}`);
  await page.evaluate(() => window.running.undo());
  assert.deepEqual(await shown(), before);
});

test('finished waits for changes made meanwhile; undo during later work is not an error', async () => {
  const { page, errors, body } = await live('<p>one</p>');
  await page.evaluate(() => (window.delay = 500));
  await page.evaluate(async () => {
    const { finished } = window.begin({ observe: true });
    document.body.append('two');
    await finished;
  });
  assert.equal(await body(), '<p>ONE</p>TWO');
  await page.evaluate(async () => {
    document.querySelector('p').firstChild.data = 'three';
    await new Promise((resolve) => setTimeout(resolve, 50));
    window.running.undo();
    await new Promise((resolve) => setTimeout(resolve, 600));
  });
  assert.equal(await body(), '<p>three</p>two');
  assert.deepEqual(errors, []);
});

test('nodes removed from the page are not kept in memory', async () => {
  const { page } = await live('<p>one</p>');
  await page.evaluate(() => window.begin({ observe: true }).finished);
  await page.evaluate(async () => {
    window.old = [];
    for (let i = 0; i < 300; i++) {
      document.body.innerHTML = `<p>word ${i}</p>`;
      const { firstChild } = document.body;
      window.old.push(new WeakRef(firstChild));
      while (firstChild.textContent !== `WORD ${i}`) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const count = await page.evaluate(() => window.old.filter((one) => one.deref()).length);
  assert.ok(count < 100, `${count} are kept`);
});

test('aborting stops it with the reason; unknown options are refused', async () => {
  const { page, errors } = await live(Array.from({ length: 100 }, (_, i) => `<p>word ${i}</p>`).join(''));
  const found = await page.evaluate(async () => {
    const stop = new AbortController();
    const { finished } = window.begin({ observe: true, signal: stop.signal });
    while (window.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    stop.abort(new Error('enough'));
    const reason = await finished.then(() => 'none', ({ message }) => message);
    const count = window.asked.length;
    document.body.append('new text');
    await new Promise((resolve) => setTimeout(resolve, 100));
    window.running.undo();
    let refused;
    try {
      window.begin({ observed: true });
    } catch ({ message }) {
      refused = message;
    }
    return { reason, isLess: count < 100, isStopped: count === window.asked.length, text: document.body.textContent, refused };
  });
  assert.deepEqual({ ...found, text: '' }, { reason: 'enough', isLess: true, isStopped: true, text: '', refused: "[document] unknown option 'observed'; did you mean 'observe'?" });
  assert.ok(!/WORD/.test(found.text) && found.text.endsWith('new text'));
  assert.deepEqual(errors, []);
});

test('a real model in the page gives the words of its plain translations', async () => {
  const { page, errors } = await live('<p>Wo ist <a href="#">der <b>Bahnhof</b></a>?</p><p>Ich habe einen Hund.</p>');
  const shown = await page.evaluate(async () => {
    const { Translator } = await import('./wasmformer/index.js');
    const { translateDocument } = await import('./wasmformer/webpages/index.js');
    const translator = await Translator.load('model.safetensors');
    await translateDocument(translator, document.body).finished;
    return [...document.querySelectorAll('p')].map((one) => one.textContent);
  });
  const translator = await Translator.load(model);
  const plain = await translator.translate(['Wo ist der Bahnhof?', 'Ich habe einen Hund.']);
  translator.dispose();
  assert.deepEqual(shown, plain.map(({ text }) => text));
  assert.equal(await page.locator('a b').count(), 1);
  assert.deepEqual(errors, []);
});

/** Translates sentences in four languages with models of these pairs, which say what they were given; the text, or the error's code. */
async function bySource(path, pairs, options) {
  const { page } = await session.visit(undefined, path);
  return page.evaluate(async ({ pairs, options }) => {
    const { translateDocument } = await import('./wasmformer/webpages/index.js');
    const marking = (languages) => async (texts) => texts.map((text) => ({ text: `${languages}: ${text}` }));
    const models = pairs.map((languages) => ({ info: { languages }, translate: marking(languages) }));
    document.body.innerHTML = '<p>Wo ist mein Buch?</p><p>Where is my book?</p><p>Où est mon livre ?</p><p>Hvor er min bog?</p>';
    const { finished } = translateDocument(models.length === 1 ? models[0] : models, document.body, options);
    const code = await finished.then(() => undefined, (error) => error.code);
    return code ?? [...document.querySelectorAll('p')].map(({ textContent }) => textContent);
  }, { pairs, options });
}

test("with source 'auto', each sentence goes to the model of its language, and the others stay", async () => {
  const others = ['Where is my book?', 'Où est mon livre ?', 'Hvor er min bog?'];
  const german = await bySource('detecting.html', ['de-en'], { source: 'auto' });
  assert.deepEqual(german, ['de-en: Wo ist mein Buch?', ...others]);
  const both = await bySource('detecting.html', ['de-en', 'fr-en'], {});
  assert.deepEqual(both, ['de-en: Wo ist mein Buch?', others[0], `fr-en: ${others[1]}`, others[2]]);
  assert.deepEqual(await bySource('detecting.html', ['de-en'], {}), ['Wo ist mein Buch?', ...others].map((text) => `de-en: ${text}`));
  assert.equal(await bySource('', ['de-en'], { source: 'auto' }), 'not-installed');
});

test('the example extension translates a page offline and restores it', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'wasmformer-'));
  const extension = join(place, 'extension');
  cpSync(join(root, 'bindings/examples/extension'), extension, { recursive: true });
  cpSync(join(root, 'dist'), join(extension, 'wasmformer'), { recursive: true, filter: (path) => !/standalone\.js$|\bcli\b/.test(path) });
  cpSync(model, join(extension, 'model.safetensors'));
  const manifest = JSON.parse(readFileSync(join(extension, 'manifest.json'), 'utf8'));
  assert.equal(manifest.manifest_version, 3);
  // A test cannot press the button, which is what gives the extension the page.
  writeFileSync(join(extension, 'manifest.json'), JSON.stringify({ ...manifest, host_permissions: [`${new URL(session.address).origin}/*`] }));
  const context = await chromium.launchPersistentContext(join(place, 'profile'), {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: false,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', `--disable-extensions-except=${extension}`, `--load-extension=${extension}`],
  });
  t.after(async () => {
    await context.close();
    rmSync(place, { recursive: true, force: true });
  });
  const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker');
  const page = await context.newPage();
  await page.goto(session.address);
  await page.evaluate(() => (document.body.innerHTML = '<p>Ich habe einen <b>Hund</b>.</p>'));
  const press = () => worker.evaluate(async (origin) => {
    const [{ id }] = await chrome.tabs.query({ url: `${origin}/*` });
    await translateTab(id);
  }, new URL(session.address).origin);
  await press();
  const translator = await Translator.load(model);
  const { text } = await translator.translate('Ich habe einen Hund.', { beamSize: 1 });
  translator.dispose();
  await until(page, `document.querySelector('p').textContent === ${JSON.stringify(text)}`);
  assert.equal(await page.locator('p b').count(), 1);
  await press();
  await until(page, "document.body.innerHTML === '<p>Ich habe einen <b>Hund</b>.</p>'");
});
