// How tokens are shown in the visitor's language.
import { t } from '../words/words';
import { nameOf } from './attention';

export const pieceName = (piece: string) => nameOf(piece, t);
