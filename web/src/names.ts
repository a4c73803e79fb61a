// How pieces are called in the visitor's language.
import { nameOf } from './attention';
import { t } from './state/settings.svelte';

export const pieceName = (piece: string) => nameOf(piece, t);
