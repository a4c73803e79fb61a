// Compiled, never run: the types of the custom element as its users meet them.
import type { AttentionChoice, AttentionElement } from '../../dist/attention.js';
import type { Translation } from '../../dist/index.js';

declare const translation: Translation;
const element: AttentionElement = document.createElement('wasmformer-attention');
element.translation = translation;
element.translation = null;
element.kind = 'decoder';
element.layer = null;
element.head = 'mean';
element.form = 'lines';
element.addEventListener('change', (event) => {
  const { kind, layer, head, form } = (event as CustomEvent<AttentionChoice>).detail;
  Object.assign(element, { kind, layer, head, form });
});
// @ts-expect-error: there is no such attention
element.kind = 'self';
// @ts-expect-error: heads are numbers
element.head = '1';
