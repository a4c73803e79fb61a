// Figure 1 backwards in the package: losses and gradients of a right answer, steps, and what stays as it is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Learner, Translator } from '../../dist/index.js';
import { close, fixturePath } from './support.mjs';

const bundled = fileURLToPath(new URL('../../web/public/models/de-en.safetensors', import.meta.url));
const [source, target] = ['Ich habe einen Hund.', 'I have got a dog.'];
let translator, learner;
before(async () => {
  translator = await Translator.load(bundled);
  learner = await Learner.create(translator);
});
after(() => translator.dispose());

const code = (expected) => (error) => error.code === expected;
const norm = (values) => Math.hypot(...values);

test('backward: a loss for each token, and a gradient for each box, token and head of figure 1', async () => {
  const { config } = translator.info;
  const pass = await learner.backward(source, target);
  assert.equal(pass.targetTokens.map(({ piece }) => piece).join('').replaceAll('▁', ' ').trim(), `${target}</s>`);
  assert.deepEqual(pass.sourceTokens, await translator.tokenize(source));
  assert.equal(pass.losses.length, pass.targetTokens.length);
  close(pass.loss, pass.losses.reduce((sum, loss) => sum + loss, 0) / pass.losses.length, 1e-5);

  const names = pass.boxes.map(({ stack, layer, part }) => [stack, layer, part].filter((word) => word !== undefined).join(' '));
  assert.equal(new Set(names).size, names.length);
  for (const name of ['encoder embedding', 'encoder 0 selfAttention', `encoder ${config.encoder_layers - 1} feedForward`,
    'decoder embedding', `decoder ${config.decoder_layers - 1} crossAttention`, 'output output']) assert.ok(names.includes(name), name);
  for (const { stack, part, tokens, heads, norm: whole, parameterNorm } of pass.boxes) {
    assert.equal(tokens.length, stack === 'encoder' ? pass.sourceTokens.length : pass.targetTokens.length);
    close(norm(tokens) / whole, 1, 1e-4);
    assert.ok(parameterNorm > 0 && parameterNorm <= pass.parameterNorm * (1 + 1e-6));
    const hasHeads = part === 'crossAttention' || (part === 'selfAttention' && (stack === 'encoder' || config.decoder_self === 'attention'));
    assert.equal(heads.length, hasHeads ? tokens.length * config.num_heads : 0, `${stack} ${part}`);
  }
});

test('the losses of a translation are the log-probabilities of its tokens', async () => {
  const { text, targetTokens } = await learner.translate(source, { beamSize: 1 });
  const { losses } = await learner.backward(source, text);
  assert.equal(losses.length, targetTokens.length);
  for (const [i, { logProbability }] of targetTokens.entries()) close(losses[i], -logProbability, 1e-3);
});

test('a step lowers the loss, the translator stays as it is, and undo takes all steps back', async () => {
  const [translation, before] = [await translator.translate(source), await learner.backward(source, target)];
  assert.equal((await learner.step(source, target, { learningRate: 0.01 })).loss, before.loss, 'as it was before the step');
  const once = await learner.backward(source, target);
  assert.ok(once.loss < before.loss, `${once.loss} is not below ${before.loss}`);
  for (let i = 0; i < 20; i++) await learner.step(source, target);
  assert.equal((await learner.translate(source)).text, target);
  assert.deepEqual(await translator.translate(source), translation);
  await learner.undo();
  assert.deepEqual(await learner.backward(source, target), before);
});

test('what cannot be learned is refused with a code', async () => {
  await assert.rejects(learner.backward(source, ''), code('no-text'));
  await assert.rejects(learner.step('', target), code('no-text'));
  await assert.rejects(learner.backward(source, 'dog '.repeat(1000)), code('too-long'));
  await assert.rejects(learner.backward(source, undefined), TypeError);
  await assert.rejects(learner.step(source, target, { learningRate: 0 }), code('option-value'));
  await assert.rejects(learner.step(source, target, { rate: 1 }), code('unknown-option'));
  await assert.rejects(Learner.create({}), TypeError);
  const other = await Translator.load(fixturePath, { shareWith: translator });
  other.dispose();
  await assert.rejects(Learner.create(other), code('disposed'));
});

test('a learner outlives its translator, and frees the worker with itself', async () => {
  const own = await Translator.load(fixturePath);
  const learning = await Learner.create(own);
  own.dispose();
  assert.ok((await learning.backward(source, target)).loss > 0);
  learning.dispose();
  await assert.rejects(learning.backward(source, target), code('disposed'));
});
