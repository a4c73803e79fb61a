// node main.mjs PAIRS.tsv MODEL.safetensors [MINUTES]: trains on one's own sentence pairs (source TAB target). The run is
// kept in MODEL.safetensors.run and goes on there the next time; MODEL.safetensors is what Translator.load takes.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Trainer, Translator } from 'wasmformer';

const [pairs, file, minutes = '10'] = process.argv.slice(2);
const run = `${file}.run`;
const trainer = existsSync(run)
  ? await Trainer.resume(run)
  : await Trainer.create({ tsv: readFileSync(pairs, 'utf8'), preset: 'multi30k-tiny', config: { norm: 'pre', batch_tokens: 2048 } });

async function keep(path, options) {
  writeFileSync(`${path}.part`, Buffer.from(await (await trainer.save(options)).arrayBuffer()));
  renameSync(`${path}.part`, path); // whole or not at all
}
for await (const { step, loss, validation } of trainer.run({ minutes: Number(minutes) })) {
  console.log(`step ${step}: loss ${loss.toFixed(3)}${validation ? `, BLEU ${validation.bleu.toFixed(1)}` : ''}`);
  if (validation) await keep(run);
}
await keep(run);
await keep(file, { optimizer: false });
trainer.dispose();

const translator = await Translator.load(file);
const [source] = readFileSync(pairs, 'utf8').split('\t', 1);
console.log(`${source} → ${(await translator.translate(source)).text}`);
translator.dispose();
