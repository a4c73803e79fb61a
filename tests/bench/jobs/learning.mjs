// In a page: trains with the package, and reports each validation.
import { Trainer } from '/dist/index.js';

/** The columns of a gzipped TSV file. */
async function rowsOf(file) {
  const { body } = await fetch(file);
  const text = await new Response(body.pipeThrough(new DecompressionStream('gzip'))).text();
  return text.trimEnd().split('\n').map((line) => line.split('\t'));
}

/** Pairs of the first two columns, or with `swap` of the second and the first. */
const pairsOf = (rows, swap) => rows.map(([a, b]) => (swap ? [b, a] : [a, b]));

/** Of rows of label, text and the tags of its words. */
const labelledOf = (rows) => ({
  labelled: rows.map(([label, text]) => [label, text]),
  tagged: rows.map(([, text, tags]) => [text.split(' '), tags.split(' ')]),
});

/** `hold`: rows at the end that are for validation. */
export default async function learn({ options, train, hold, run }, report) {
  let data = {};
  if (train) {
    const rows = await rowsOf(train.file);
    const held = rows.splice(rows.length - hold);
    if (train.labelled) {
      const { labelled, tagged } = labelledOf(held);
      data = { ...labelledOf(rows), validLabelled: labelled, validTagged: tagged };
    } else {
      data = { pairs: pairsOf(rows, train.swap), validation: pairsOf(held, train.swap) };
    }
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
