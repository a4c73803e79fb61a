// node main.mjs [TASK]: teaches a small Transformer a made-up task, and shows how it gets better.
import { Trainer } from 'wasmformer';

const task = process.argv[2] ?? 'reverse';
const trainer = await Trainer.create({ task, seed: 1 });
const { parameters, training } = trainer.info;
console.log(`${task}: ${parameters} parameters, ${training.decay_steps} steps`);
for await (const { step, loss, validation } of trainer.run({ steps: training.decay_steps, validateEvery: 100 })) {
  if (!validation) continue;
  const { source, translation } = validation.samples[0];
  console.log(`step ${step}: loss ${loss.toFixed(3)}, ${validation.exactMatch.toFixed(1)} % right; ${source} → ${translation.text}`);
}
trainer.dispose();
