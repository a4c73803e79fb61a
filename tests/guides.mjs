// The guides in bindings/docs, and what their tests read from them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** Those in Chinese are in its folder zh. */
export const guides = ['bindings/docs', 'bindings/docs/zh'].flatMap((folder) =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`));
export const text = (document) => readFileSync(join(root, document), 'utf8');
export const blocks = (document, language) =>
  [...text(document).matchAll(/^```(\w+)\n([^]*?)^```$/gm)].filter((found) => found[1] === language).map((found) => found[2]);

/** The lines of the tables of errors.md under a heading: a call, perhaps after another one, and its message. */
export function errorsUnder(heading) {
  const section = text('bindings/docs/errors.md').split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  return [...section.matchAll(/^\| `(.+?)`(?: after `(.+?)`)? \| `(.+?)` \|/gm)].map(([, call, before = '', message]) => ({ call, before, message }));
}

/** Whether a message is that of the guide, where … stands for any text. */
export const isMessage = (message, expected) =>
  new RegExp(`^${expected.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^]+')}$`).test(message);

/** The code of each @example of a source. */
export const examples = (source) => [...text(source).matchAll(/^ \* @example\n((?: \* .*\n)+) \*\//gm)].map(([, code]) => code.replace(/^ \* /gm, ''));
