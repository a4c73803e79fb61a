// Many calls, aborts, errors, and the end of a translator.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Translator } from '../../dist/index.js';
import { fixturePath, sentences, withTranslator } from './support.mjs';

/** Also gives the worker, which the package keeps to itself. */
async function loadWithWorker() {
  const { postMessage } = Worker.prototype;
  let worker;
  Worker.prototype.postMessage = function (...values) {
    worker = this;
    return postMessage.apply(this, values);
  };
  const translator = await Translator.load(fixturePath);
  Worker.prototype.postMessage = postMessage;
  return { translator, worker };
}

const index = new URL('../../dist/index.js', import.meta.url).href;
const node = (script, ...flags) =>
  promisify(execFile)(process.execPath, [...flags, '--input-type=module', '-e', script]);

test('concurrent calls take turns, and each gets its own answer', () =>
  withTranslator(async (translator) => {
    const expected = [];
    for (const sentence of sentences) expected.push((await translator.translate(sentence)).text);
    const finished = [];
    const long = translator.translate(Array(300).fill(sentences[2])).then(() => finished.push('long'));
    const texts = await Promise.all(sentences.map(async (sentence) => (await translator.translate(sentence)).text));
    finished.push('short');
    await long;
    assert.deepEqual(texts, expected);
    assert.deepEqual(finished, ['short', 'long']);
  }));

test('an abort stops a call at any step, and the translator stays usable', () =>
  withTranslator(async (translator) => {
    const { text } = await translator.translate(sentences[2]);
    for (let step = 1; step <= 6; step++) {
      const controller = new AbortController();
      let seen = 0;
      const call = translator.translate(sentences[2], {
        signal: controller.signal,
        onToken() {
          if (++seen === step) controller.abort();
        },
      });
      await assert.rejects(call, { name: 'AbortError' });
      assert.equal(seen, step, 'nothing is reported after the abort');
      assert.equal((await translator.translate(sentences[2])).text, text);
    }
  }));

test('an abort ends the work itself, not only the wait for it', async () => {
  const { translator, worker } = await loadWithWorker();
  const controller = new AbortController();
  let steps = 0;
  worker.on('message', ({ update }) => {
    if (update?.type === 'partial') steps++;
  });
  const onPartial = () => controller.abort();
  const call = translator.translate(Array(300).fill(sentences[2]), { signal: controller.signal, onPartial });
  await assert.rejects(call, { name: 'AbortError' });
  // It would share the steps with this call, and end after it.
  await translator.translate(sentences[2]);
  const before = steps;
  await translator.translate(sentences[2]);
  assert.equal(steps, before);
  translator.dispose();
});

test('a call made while a batch is translated does not wait for the rest of the batch', () =>
  withTranslator(async (translator) => {
    const finished = [];
    let partials = 0;
    let short;
    const onPartial = () => {
      partials++;
      short ??= translator.translate(sentences[0]).then(() => finished.push('short'));
    };
    await translator.translate(Array(300).fill(sentences[2]), { onPartial }).then(() => finished.push('long'));
    await short;
    assert.ok(partials > 10, `${partials} steps`);
    assert.deepEqual(finished, ['short', 'long']);
  }));

test('the next call is answered before an aborted batch could have been finished', async () => {
  const { translator, worker } = await loadWithWorker();
  let steps = 0;
  worker.on('message', ({ update }) => {
    if (update?.type === 'partial') steps++;
  });
  const texts = Array(300).fill(sentences[2]);
  await translator.translate(texts, { onToken() {} });
  const all = steps;
  for (const end of ['abort', 'break']) {
    steps = 0;
    const controller = new AbortController();
    for await (const _ of translator.stream(texts, { signal: controller.signal })) {
      if (end === 'break') break;
      controller.abort();
      break;
    }
    await translator.translate(sentences[0]);
    assert.ok(steps < all / 2, `${end}: ${steps} of ${all} steps`);
  }
  translator.dispose();
});

test('an abort before a call rejects with its reason; one after the end has no effect', () =>
  withTranslator(async (translator) => {
    const reason = new Error('typed on');
    await assert.rejects(translator.translate('Danke!', { signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    await translator.translate('Danke!', { signal: controller.signal });
    controller.abort();
    await translator.translate('Danke!');
  }));

test('an error in onPartial ends the call with that error', () =>
  withTranslator(async (translator) => {
    const mine = new Error('mine');
    const onPartial = () => {
      throw mine;
    };
    await assert.rejects(translator.translate(sentences[0], { onPartial }), mine);
    await translator.translate(sentences[0]);
  }));

test('what is no signal, and what are no options, is refused by every method', () =>
  withTranslator(async (translator) => {
    const signal = new AbortController(); // instead of its signal
    const methods = ['translate', 'translateText', 'translateAll', 'stream', 'streamText'];
    const first = async (method, options) => {
      const result = translator[method](method === 'translateAll' ? ['Hund'] : 'Hund', options);
      return Symbol.asyncIterator in result ? result.next() : result;
    };
    for (const method of methods) {
      await assert.rejects(() => first(method, { signal }), { message: /signal must be an AbortSignal/ }, method);
      await assert.rejects(() => first(method, null), { message: /options must be an object, not null/ }, method);
    }
    await assert.rejects(translator.translate('<p>Hund</p>', { html: true, signal }), { message: /signal must be an AbortSignal/ });
    const circle = {};
    circle.own = circle;
    await assert.rejects(translator.translate('Hund', { sampling: circle }), { message: /the options are no JSON/ });
  }));

test("the worker's errors show the caller's stack, and the worker's as the cause", () =>
  withTranslator(async (translator) => {
    async function askTooMuch() {
      await translator.translate('Haus '.repeat(5000));
    }
    await assert.rejects(askTooMuch(), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.stack, /askTooMuch/);
      assert.ok(error.stack.includes(error.message));
      assert.match(error.cause.stack, /worker\/worker\.js/);
      return true;
    });
  }));

test('dispose rejects pending and later calls, and may be repeated', async () => {
  const translator = await Translator.load(fixturePath);
  const waiting = translator.translate(Array(200).fill(sentences[2]));
  translator.dispose();
  await assert.rejects(waiting, { message: '[translator] it has been disposed of' });
  await assert.rejects(translator.translate('Danke!'), { message: '[translator] it has been disposed of' });
  translator.dispose();
  translator[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
});

test('if the worker dies, all calls are rejected with a message', async () => {
  const { translator, worker } = await loadWithWorker();
  const calls = sentences.map((sentence) => translator.translate(Array(100).fill(sentence)));
  await worker.terminate();
  for (const call of calls) await assert.rejects(call, /^Error: \[translator\] the worker has stopped: /);
  await assert.rejects(translator.translate('Danke!'), /the worker has stopped/);
  const another = await Translator.load(fixturePath);
  assert.notEqual((await another.translate('Danke!')).text, '');
  another.dispose();
});

test('stream() yields the text as it grows and returns the translation; leaving its loop ends the work', () =>
  withTranslator(async (translator) => {
    const expected = await translator.translate(sentences[2], { beamSize: 2 });
    const partials = [];
    await translator.translate(sentences[2], { beamSize: 2, onPartial: (text) => partials.push(text) });
    const stream = translator.stream(sentences[2], { beamSize: 2 });
    const told = [];
    let next = await stream.next();
    for (; !next.done; next = await stream.next()) told.push(next.value);
    assert.deepEqual(told, partials);
    assert.equal(told.at(-1), expected.text);
    assert.deepEqual(next.value, expected);
    for await (const texts of translator.stream(Array(300).fill(sentences[2]))) {
      assert.equal(texts.length, 300);
      break;
    }
    const reason = new Error('typed on');
    const controller = new AbortController();
    await assert.rejects(async () => {
      for await (const _ of translator.stream(sentences[2], { signal: controller.signal })) controller.abort(reason);
    }, reason);
    assert.throws(() => translator.stream('Danke!', { onToken() {} }), /^TypeError: \[translate\] stream\(\) has no option 'onToken'/);
    await assert.rejects(translator.stream('Danke!', { beamsize: 2 }).next(), /unknown option 'beamsize'/);
    assert.equal((await translator.translate(sentences[2], { beamSize: 2 })).text, expected.text);
  }));

test('a program exits after its calls, without dispose', async () => {
  const model = JSON.stringify(fixturePath);
  const { stdout } = await node(`
    import { Translator } from ${JSON.stringify(index)};
    const unused = await Translator.load(${model});
    const translator = await Translator.load(${model});
    translator.translate('Danke!').then(({ text }) => console.log(text));`);
  assert.notEqual(stdout.trim(), '');
});

test('a garbage-collected translator ends its worker, but not during a call', async () => {
  const { stdout } = await node(
    `import { Worker } from 'node:worker_threads';
    import { setTimeout } from 'node:timers/promises';
    import { Translator } from ${JSON.stringify(index)};
    const { postMessage } = Worker.prototype;
    let worker;
    Worker.prototype.postMessage = function (...values) {
      worker = this;
      return postMessage.apply(this, values);
    };
    const collecting = setInterval(gc, 5);
    const translate = async (text) => (await Translator.load(${JSON.stringify(fixturePath)})).translate(text);
    const { length } = await translate(Array(100).fill('Danke!'));
    let isGone = false;
    worker.on('exit', () => (isGone = true));
    while (!isGone) await setTimeout(5);
    clearInterval(collecting);
    console.log(length);`,
    '--expose-gc',
  );
  assert.equal(stdout.trim(), '100');
});

test('importing the package needs no browser and has no side effects', async () => {
  const { stdout, stderr } = await node(`
    const before = Object.getOwnPropertyNames(globalThis).join();
    await import(${JSON.stringify(index)});
    console.log(before === Object.getOwnPropertyNames(globalThis).join());`);
  assert.deepEqual([stdout.trim(), stderr], ['true', '']);
});
