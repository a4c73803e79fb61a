// How pieces are called in the visitor's language.
import { END_PIECE, surface } from './attention';
import { t } from './state/settings.svelte';

export function pieceName(piece: string): string {
  if (piece === END_PIECE) return t('end');
  return piece === '<s>' ? t('begin') : surface(piece) || '␣';
}
