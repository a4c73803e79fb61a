// The lines of src/micro/transformer.cpp that belong to a box of the picture. They are found by what the source declares
// and calls, so that they follow it when it changes.
import type { Part, Place, Stack } from '../place';

/** Lines between two empty ones: a declaration with the comment before it. Lines count from 0. */
export interface Block {
  name: string; // of the struct or function that it declares; '' if it declares neither
  sections: string[]; // of the paper, as its comment has them or else the heading above
  first: number;
  last: number;
}

const DECLARED = /^(?:struct (\w+) \{|(?:\w[\w:]*(?:<[^>]*>)? )+(\w+)\(.*\{$)/m;
const SECTION = /(?<![\w.])[3-6](?:\.\d)+/g;
const isHeading = (line: string) => /^\/\/ -{4,} .* -{4,}$/.test(line);
const isComment = (line: string) => line.startsWith('//');
const sectionsIn = (lines: readonly string[]) => lines.join('\n').match(SECTION) ?? [];

export function blocksOf(source: string): Block[] {
  const lines = source.split('\n');
  const blocks: Block[] = [];
  let heading: string[] = [];
  for (let first = 0; first < lines.length; first++) {
    if (lines[first].trim() === '') continue;
    let last = first;
    while (lines[last + 1]?.trim()) last++;
    const own = lines.slice(first, last + 1);
    if (isHeading(own[0])) heading = sectionsIn(own.slice(0, 1));
    const before = own.slice(0, own.findIndex((line) => !isComment(line))).filter((line) => !isHeading(line));
    const [, struct, called] = DECLARED.exec(own.filter((line) => !isComment(line)).join('\n')) ?? [];
    const stated = sectionsIn(before);
    blocks.push({ name: struct ?? called ?? '', sections: stated.length > 0 ? stated : heading, first, last });
    first = last;
  }
  return blocks;
}

/** Part of the source: a declaration, or only its lines that have a call. */
export interface Mark {
  name: string;
  having?: string;
}

const LAYERS: Readonly<Record<Stack, string>> = { enc: 'EncoderLayer', dec: 'DecoderLayer', out: 'Transformer' };
/** The norms of a layer count through its sublayers. */
const NORMS: Readonly<Record<'enc' | 'dec', readonly Part[]>> = {
  enc: ['selfNorm', 'ffnNorm'],
  dec: ['selfNorm', 'crossNorm', 'ffnNorm'],
};
const named = (...names: string[]) => names.map((name) => ({ name }));

function attentionMarks(stack: Stack, part: Part): Mark[] {
  const call = part === 'cross' ? 'cross_attention(' : 'self_attention(';
  const isMasked = stack === 'dec' && part === 'self';
  const parts = named('MultiHeadAttention', 'Head', 'attention', 'softmax', ...(isMasked ? ['mask_future'] : []));
  return [...parts, { name: LAYERS[stack], having: call }];
}

function normMarks(stack: 'enc' | 'dec', part: Part): Mark[] {
  const at = NORMS[stack].indexOf(part) + 1;
  const call = at > 0 ? [{ name: LAYERS[stack], having: `norm_${at}(` }] : []; // the last norm of a stack is no layer's
  return [{ name: 'LayerNorm' }, ...call];
}

function partMarks(stack: Stack, part: Part): Mark[] {
  if (part === 'embed') return [...named('embedding', 'positional_encoding'), { name: 'Transformer', having: 'embedding(E' }];
  if (part === 'linear') return [{ name: 'Transformer', having: 'transpose(E)' }];
  if (part === 'softmax') return [...named('softmax'), { name: 'Transformer', having: 'softmax(' }];
  if (part === 'beam') return named('decode_greedily');
  if (part === 'ffn') return [{ name: 'FeedForward' }, { name: LAYERS[stack], having: 'feed_forward(' }];
  return part.endsWith('orm') ? normMarks(stack as 'enc' | 'dec', part) : attentionMarks(stack, part);
}

/** Parts of the source that belong to a place, the most important first. */
export function marksOf({ stack, layer, part }: Place): Mark[] {
  if (!stack) return named('Transformer');
  if (part) return partMarks(stack, part);
  if (layer !== undefined) return named(LAYERS[stack]);
  return [{ name: LAYERS[stack] }, { name: 'Transformer', having: stack === 'enc' ? 'encoder' : 'decoder' }];
}

/** Lines of a mark; none if the source does not have it. */
export function linesOf(mark: Mark, blocks: readonly Block[], lines: readonly string[]): number[] {
  const block = blocks.find(({ name }) => name === mark.name);
  if (!block) return [];
  const all = Array.from({ length: block.last - block.first + 1 }, (_, i) => block.first + i);
  return all.filter((line) => !isHeading(lines[line]) && (!mark.having || lines[line].includes(mark.having)));
}

/** Sections of the paper that the lines of a mark are about. */
export const sectionsOf = ({ name }: Mark, blocks: readonly Block[]): readonly string[] =>
  blocks.find((block) => block.name === name)?.sections ?? [];
