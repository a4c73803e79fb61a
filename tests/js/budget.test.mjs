// A budget of minutes: what it chooses, what it says of it, and that the run ends with its schedule.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Trainer } from '../../dist/index.js';

const pairs = Array.from({ length: 300 }, (_, i) => [`das ist ${i}`, `that is ${i}`]);
const small = { d_model: 32, num_heads: 2, ffn_dim: 64, max_length: 64 };

test('a budget chooses settings, tells the steps that it expects, and ends the run with its schedule', async () => {
  const trainer = await Trainer.create({ pairs, tokenizer: { type: 'char' }, budget: 0.05, config: small });
  const { budget, config, training } = trainer.info;
  assert.deepEqual([config.d_model, config.positions, training.optimizer], [32, 'rotary', 'muon']);
  assert.equal(training.decay_steps, budget.steps);
  assert.ok(budget.steps > 1 && budget.epochs > 0 && budget.secondsPerStep > 0 && budget.seconds <= 3);
  const rates = [];
  for await (const event of trainer.run({ reportEvery: 1 })) rates.push(event.learningRate);
  assert.ok(rates.at(-1) < 0.2 * Math.max(...rates), `${rates.at(-1)} after ${Math.max(...rates)}`);
  trainer.dispose();
});

test('a goal that is given counts, not the budget', async () => {
  const trainer = await Trainer.create({ pairs, tokenizer: { type: 'char' }, budget: 60, config: small });
  let step = 0;
  for await (const event of trainer.run({ steps: 3 })) step = event.step;
  assert.equal(step, 3);
  trainer.dispose();
});
