// In a page: trains with the package, and reports each validation.
import { Trainer } from '/dist/index.js';

const lines = async (url) => {
  const { body } = await fetch(url);
  return (await new Response(body.pipeThrough(new DecompressionStream('gzip'))).text()).trimEnd().split('\n');
};

/** Of one TSV file, or of two files of lines. */
async function pairsOf({ files, swap }) {
  const [first, second] = await Promise.all(files.map(lines));
  const pairs = second ? first.map((source, i) => [source, second[i]]) : first.map((line) => line.split('\t').slice(0, 2));
  return swap ? pairs.map(([a, b]) => [b, a]) : pairs;
}

/** Resolves to the model file in base64. `hold`: pairs at the end that are for validation. */
export default async function learn({ options, train, valid, hold, tokenizer, run }, report) {
  const data = {};
  if (train) {
    data.pairs = await pairsOf(train);
    data.validation = valid ? await pairsOf(valid) : data.pairs.splice(data.pairs.length - hold);
  }
  if (tokenizer) data.tokenizer = new Uint8Array(await (await fetch(tokenizer)).arrayBuffer());
  const begin = performance.now();
  const trainer = await Trainer.create({ ...data, ...options });
  for await (const { validation, ...event } of trainer.run(run ?? { steps: trainer.info.training.decay_steps })) {
    if (!validation) continue;
    const { samples, ...figures } = validation;
    await report({ wall: (performance.now() - begin) / 1000, ...event, valid_loss: figures.loss, ...figures, loss: event.loss });
  }
  const blob = await trainer.save({ optimizer: false });
  trainer.dispose();
  const url = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
  return url.slice(url.indexOf(',') + 1);
}
