// Labeled texts to train an encoder on: those that come with the page, and the visitor's own lines.
import type { LabeledText, TaggedText, TrainerOptions } from 'wasmformer';
import { costOf } from './cost';
import { rowsAt } from '../shared/text/shipped';

/** Texts of a file that validate, from its end; how long to train, and the pieces, so that one press teaches it. */
export const LABELLED = {
  snips: {
    validation: 700,
    steps: 1200,
    tokenizer: { type: 'bpe', vocabSize: 4000 },
    example: 'play some jazz → PlayMusic',
  },
  csl: { validation: 1000, steps: 1500, tokenizer: { type: 'char' }, example: '高血压患者的运动疗法 → 医学' },
  ewt: {
    validation: 1000,
    steps: 2000,
    tokenizer: { type: 'bpe', vocabSize: 6000 },
    example: 'I saw it → PRON VERB PRON',
  },
} as const;
export type LabelledName = keyof typeof LABELLED;
const OWN_STEPS = 1000;
/**
 * Cost of a card's run. Two layers with 393,216 parameters in all and 1,024 tokens per batch: the C++ preset for
 * encoders.
 */
export const workOfLabelled = (name: LabelledName) => costOf(393_216, 1024, LABELLED[name].steps);

export type LabeledData = Pick<
  TrainerOptions,
  'labeled' | 'tagged' | 'validLabeled' | 'validTagged' | 'validation' | 'tokenizer'
>;

/** Settings that differ from the encoder's preset. `steps`: those in which the rate falls to 0. */
export const configFor = (steps: number) =>
  ({
    schedule: 'cosine',
    learning_rate: 2e-3,
    warmup_steps: Math.min(200, Math.floor(steps / 4)),
    decay_steps: steps,
  }) as const;

export async function shipped(name: LabelledName): Promise<LabeledData & { steps: number }> {
  const rows = await rowsAt(`labelled/${name}.tsv.gz`);
  const { validation, steps, tokenizer } = LABELLED[name];
  const labeled = rows[0][0] ? rows.map(([label, text]): LabeledText => [label, text]) : undefined;
  const tagged = rows[0][2]
    ? rows.map(([, text, tags]): TaggedText => [text.split(' '), tags.split(' ')])
    : undefined;
  return {
    steps,
    tokenizer,
    labeled: labeled?.slice(0, -validation),
    tagged: tagged?.slice(0, -validation),
    validLabeled: labeled?.slice(-validation),
    validTagged: tagged?.slice(-validation),
  };
}

export type Odd = { why: 'noTab'; row: number; text: string } | { why: 'oneLabel' | 'tooFew' };

/** The visitor's own lines of label, tab and text, or the first thing that is wrong with them. */
export function own(text: string): (LabeledData & { steps: number }) | Odd {
  const lines = text.split(/\r\n?|\n/);
  const labeled: LabeledText[] = [];
  for (const [place, line] of lines.entries()) {
    if (!line.trim()) continue;
    const [label, ...rest] = line.split('\t').map((cell) => cell.replace(/\s+/g, ' ').trim());
    if (!label || !rest.join('')) return { why: 'noTab', row: place + 1, text: line.slice(0, 60) };
    labeled.push([label, rest.join(' ')]);
  }
  if (labeled.length < 4) return { why: 'tooFew' };
  if (new Set(labeled.map(([label]) => label)).size < 2) return { why: 'oneLabel' };
  const validation = Math.max(1, Math.min(500, Math.round(labeled.length / 10)));
  return { labeled, validation, steps: OWN_STEPS };
}
