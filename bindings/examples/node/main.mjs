// node main.mjs MODEL [SENTENCE…]: translates, and says where each target piece looked in the source.
import { Translator } from 'wasmformer';

const [model, ...words] = process.argv.slice(2);
const translator = await Translator.load(model);
const { text, score, sourceTokens, targetTokens, attention } = await translator.translate(
  words.join(' ') || 'Ich habe einen Hund.',
  { attention: true },
);
console.log(`${text}   (score ${score.toFixed(2)}, ${translator.info.threads} threads)`);

// The last layer's mean over its heads: rows are target pieces, columns source pieces.
const { layers, heads, rows, columns, map } = attention.cross;
for (let row = 0; row < rows; row++) {
  const weights = Array.from({ length: columns }, (_, column) =>
    Array.from({ length: heads }, (_, head) => map(layers - 1, head)[row * columns + column] / heads).reduce((a, b) => a + b));
  const best = weights.indexOf(Math.max(...weights));
  console.log(`${targetTokens[row].piece.padEnd(12)} ${sourceTokens[best].piece.padEnd(12)} ${weights[best].toFixed(2)}`);
}
translator.dispose();
