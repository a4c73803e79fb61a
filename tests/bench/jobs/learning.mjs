// In a page: trains with the package, and reports each validation.
import { Trainer } from '/dist/index.js';

/** Of a gzipped TSV file: its first two columns, or with `swap` the second and the first. */
async function pairsOf({ file, swap }) {
  const { body } = await fetch(file);
  const text = await new Response(body.pipeThrough(new DecompressionStream('gzip'))).text();
  const pairs = text.trimEnd().split('\n').map((line) => line.split('\t').slice(0, 2));
  return swap ? pairs.map(([a, b]) => [b, a]) : pairs;
}

/** `hold`: pairs at the end that are for validation. */
export default async function learn({ options, train, hold, run }, report) {
  const data = {};
  if (train) {
    data.pairs = await pairsOf(train);
    data.validation = data.pairs.splice(data.pairs.length - hold);
  }
  const begin = performance.now();
  const trainer = await Trainer.create({ ...data, ...options });
  for await (const { validation, ...event } of trainer.run(run ?? { steps: trainer.info.training.decay_steps })) {
    if (!validation) continue;
    const { samples, ...figures } = validation;
    await report({ wall: (performance.now() - begin) / 1000, ...event, valid_loss: figures.loss, ...figures, loss: event.loss });
  }
  trainer.dispose();
}
