// One sentence about each setting: the package's own, in Chinese from a table, or for what only the page has, its words.
import { options } from 'wasmformer/options';
import inChinese from './help.zh.json?url';
import { speech } from '../shared/words/speech.svelte';
import type { Key } from './fields';
import { trainWords } from './words';

/** Keys whose sentences are words of the page: what the package does not describe, or takes in another form. */
const OWN = [
  'pairs',
  'validation',
  'lowercase',
  'longest',
  'vocab',
  'joint',
  'preset',
  'budget',
  'steps',
  'epochs',
  'minutes',
  'seed',
  'learning_rate',
] as const;
type Own = (typeof OWN)[number];

let chinese = $state.raw<Partial<Record<string, string>>>({});
let isAsked = false;

/** Brings the Chinese sentences; until they are here, or if they cannot be fetched, there are none. */
function bring() {
  if (isAsked) return;
  isAsked = true;
  const failed = () => void (isAsked = false);
  fetch(inChinese).then(async (file) => (chinese = await file.json())).catch(failed);
}

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}.`;

/** '' where there is nothing to say. */
export function helpOf(key: Key): string {
  if ((OWN as readonly string[]).includes(key)) return trainWords(`h_${key as Own}`);
  if (speech.locale !== 'zh') {
    const help = options.config.find(({ name }) => name === key)?.help;
    return help ? sentence(help) : '';
  }
  bring();
  return chinese[key] ?? '';
}
