// The bundled model on 32 sentences at once, and on eight of them one at a time: greedy, as in the other jobs.
import { Translator } from '/dist/index.js';
import { sample } from './sample.mjs';

export default async function () {
  const corpus = await (await fetch('/tests/fixtures/tatoeba-en-de-test-200.tsv')).text();
  const sentences = corpus.split('\n').slice(0, 32).map((line) => line.split('\t')[1]);
  const load = (threads) => Translator.load('/web/public/models/de-en.safetensors', { threads });
  const translators = [await load(1)];
  const most = await load('auto');
  if (most.info.threads > 1) translators.push(most);
  return async (ms) => {
    const figures = { threads: most.info.threads, 'relaxed SIMD': Number(most.info.build === 'relaxed') };
    for (const translator of translators) {
      for (const [batch, chosen] of [[1, sentences.slice(0, 8)], [32, sentences]]) {
        const call = async () => {
          let tokens = 0;
          for (let i = 0; i < chosen.length; i += batch) {
            const all = await translator.translate(chosen.slice(i, i + batch), { beamSize: 1 });
            for (const { targetTokens } of all) tokens += targetTokens.length;
          }
          return tokens;
        };
        const tokens = await call();
        const { threads } = translator.info;
        const name = `${threads} thread${threads > 1 ? 's' : ''}, batch ${batch}, tokens/s`;
        figures[name] = (1000 * tokens) / (await sample(call, ms));
      }
    }
    return figures;
  };
}
