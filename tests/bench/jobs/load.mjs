// From Translator.load of the bundled model, stored by an earlier round, to the first token of a sentence.
import { Translator } from '/dist/index.js';

export default async () => async () => {
  const start = performance.now();
  const translator = await Translator.load('/web/public/models/de-en.safetensors');
  const first = await new Promise((resolve, reject) => {
    translator.translate('Wo ist mein Buch?', { onToken: () => resolve(performance.now()) }).catch(reject);
  });
  translator.dispose();
  return { 'ms from load to first token': first - start };
};
