// The model, in a page of the extension that nobody sees; model.safetensors lies beside it.
import { Translator } from './wasmformer/index.js';
const model = Translator.load('model.safetensors');
chrome.runtime.onMessage.addListener((sentences, sender, answer) => {
  // Messages carry no typed arrays.
  const plain = ({ text, alignment }) => ({ text, alignment: { ...alignment, data: [...alignment.data] } });
  model.then((translator) => translator.translate(sentences, { alignment: true, beamSize: 1 }))
    .then((found) => found.map(plain))
    .then((found) => answer({ found }), ({ message }) => answer({ message }));
  return true; // it answers later
});
