// How many of the first things that a visitor types a model translates sensibly:
//   node web/models/answers.mjs MODEL.safetensors tests/fixtures/answers/de-en.tsv [--beam-size 4] [--wrong]
// Each line of a list is a sentence, a tab and a regular expression that matches every accepted answer, without
// capitals and punctuation.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** In small letters, without punctuation except within numbers; one space between words, none beside Chinese. */
export const plain = (text) => text.normalize('NFKC').toLowerCase().replace(/[‘’`´]/g, "'")
  .replace(/(?<!\d)[.,:]|[.,:](?!\d)|[!?;"“”„«»。，、！？…()]/gu, ' ').replace(/\s+/g, ' ')
  .replace(/(?<=\p{Script=Han}) | (?=\p{Script=Han})/gu, '').trim();

export function readAnswers(file) {
  return readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => {
    const [sentence, pattern, ...rest] = line.split('\t');
    if (!pattern || rest.length > 0) throw new Error(`${file}: '${line}' is not a sentence, a tab and a pattern`);
    return { sentence, accepted: new RegExp(`^(${pattern})$`, 'u') };
  });
}

/** `translate(sentence)` gives a promise of the translation. */
export async function countAnswers(answers, translate) {
  const wrong = [];
  for (const { sentence, accepted } of answers) {
    const text = await translate(sentence);
    if (!accepted.test(plain(text))) wrong.push({ sentence, text });
  }
  return { right: answers.length - wrong.length, all: answers.length, wrong };
}

async function main() {
  const { values, positionals: [model, ...lists] } = parseArgs({
    allowPositionals: true, options: { 'beam-size': { type: 'string', default: '4' }, wrong: { type: 'boolean' } },
  });
  if (!model || lists.length === 0) throw new Error('usage: answers.mjs MODEL LIST... [--beam-size N] [--wrong]');
  const { Translator } = await import('../../dist/index.js');
  const translator = await Translator.load(new Uint8Array(readFileSync(model)));
  for (const list of lists) {
    const translate = async (sentence) =>
      (await translator.translate(sentence, { beamSize: Number(values['beam-size']) })).text;
    const { right, all, wrong } = await countAnswers(readAnswers(list), translate);
    console.log(`${list}: ${right} of ${all}`);
    if (values.wrong) for (const { sentence, text } of wrong) console.log(`  ${sentence} -> ${text}`);
  }
  translator.dispose();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
