import { Translator } from 'wasmformer';

const [source, target] = ['source', 'target'].map((id) => document.getElementById(id));
const translator = await Translator.load('./de-en.safetensors', {
  onProgress: (loaded, total) => (target.value = total ? `${Math.round((100 * loaded) / total)} % of the model` : `${loaded} bytes of the model`),
});

let typing = new AbortController();
source.addEventListener('input', translate);
await translate();

async function translate() {
  typing.abort(); // what is translated has been typed over
  const { signal } = (typing = new AbortController());
  try {
    for await (const text of translator.stream(source.value, { signal })) target.value = text;
  } catch (error) {
    if (!signal.aborted) target.value = error.message;
  }
}
