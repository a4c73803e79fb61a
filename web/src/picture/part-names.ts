// Names of places in the visitor's language.
import { pieceName } from '../shared/attention/piece-names';
import { pictureWords } from './words';
import { attentionAt, type Inside } from './numbers';
import type { Place, Sizes } from './place';

function innermostName(place: Place, sizes: Sizes, result?: Inside): string {
  const { stack, layer, part, head, cell } = place;
  if (cell && result) return cellName(place, result);
  if (head !== undefined) return pictureWords('head', { head: head + 1 });
  if (part) return partName(place, sizes);
  if (layer !== undefined) return pictureWords('layer', { layer: layer + 1 });
  return pictureWords(stack ? `stack_${stack}` : 'model');
}

/** The name of the innermost part of a place; `whole`: with where it is, for those who cannot see it. */
export function nameOf(place: Place, sizes: Sizes, whole = false, result?: Inside): string {
  const { stack, layer, part, head } = place;
  const name = innermostName(place, sizes, result);
  if (!whole || stack === 'out') return name;
  const where = [
    stack && (part || layer !== undefined) ? pictureWords(`stack_${stack}`) : '',
    layer !== undefined && part ? pictureWords('layer', { layer: layer + 1 }) : '',
    head !== undefined ? partName(place, sizes) : '',
  ];
  return [...where, name].filter(Boolean).join(' · ');
}

/** Key of the words about a part, after its name in the paper. */
export function partKey({ stack, part }: Place, sizes: Sizes) {
  if (part === 'embed') return stack === 'enc' ? 'embedIn' : 'embedOut';
  if (part === 'self' && stack === 'enc') return 'self';
  if (part === 'self') return sizes.recurrent ? 'ssru' : 'masked';
  if (part === 'norm') return 'lastNorm';
  if (part!.endsWith('Norm')) return sizes.norm === 'post' && !sizes.noResidual ? 'addNorm' : 'norm';
  return part as 'cross' | 'ffn' | 'linear' | 'softmax' | 'beam';
}

const partName = (place: Place, sizes: Sizes) => pictureWords(`part_${partKey(place, sizes)}`);

function cellName(place: Place, result: Inside): string {
  const { queries, columns } = attentionAt(result, place);
  const { row, column } = place.cell!;
  return pictureWords('cell', { from: pieceName(queries[row] ?? ''), to: pieceName(columns[column] ?? '') });
}
