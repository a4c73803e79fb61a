// What places are called in the visitor's language.
import { pieceName } from '../shared/attention/piece-names';
import { w } from './words';
import { attentionAt, type Inside } from './numbers';
import type { Place, Sizes } from './place';

/** The name of the innermost part of a place; `whole`: with where it is, for those who cannot see it. */
export function nameOf(place: Place, sizes: Sizes, whole = false, result?: Inside): string {
  const { stack, layer, part, head, cell } = place;
  const name = cell && result ? cellName(place, result)
    : head !== undefined ? w('head', { head: head + 1 })
      : part ? partName(place, sizes)
        : layer !== undefined ? w('layer', { layer: layer + 1 })
          : stack ? w(`stack_${stack}`) : w('model');
  if (!whole || stack === 'out') return name;
  const where = [
    stack && (part || layer !== undefined) ? w(`stack_${stack}`) : '',
    layer !== undefined && part ? w('layer', { layer: layer + 1 }) : '',
    head !== undefined ? partName(place, sizes) : '',
  ];
  return [...where, name].filter(Boolean).join(' · ');
}

/** What a part is in the paper: the words about it are called after that. */
export function partKey({ stack, part }: Place, sizes: Sizes) {
  if (part === 'embed') return stack === 'enc' ? 'embedIn' : 'embedOut';
  if (part === 'self') return stack === 'enc' ? 'self' : sizes.recurrent ? 'ssru' : 'masked';
  if (part === 'norm') return 'lastNorm';
  if (part!.endsWith('Norm')) return sizes.norm === 'post' ? 'addNorm' : 'norm';
  return part as 'cross' | 'ffn' | 'linear' | 'softmax' | 'beam';
}

const partName = (place: Place, sizes: Sizes) => w(`part_${partKey(place, sizes)}`);

function cellName(place: Place, result: Inside): string {
  const { rows, columns } = attentionAt(result, place);
  const { row, column } = place.cell!;
  return w('cell', { from: pieceName(rows[row] ?? ''), to: pieceName(columns[column] ?? '') });
}
