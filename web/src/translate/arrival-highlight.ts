// On arrival the words of the translation light up in turn, for three seconds or until the visitor does something.
import { END_PIECE } from '../shared/attention/attention';
import { look } from './focus.svelte';
import { translation } from './translation.svelte';

const LASTS = 3000; // ms
const BEFORE = 500;
const HINTS = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart'] as const;
let isDone = false;

/** Once in a visit; for an effect that runs again when there is a translation. */
export function sweep() {
  const { shown } = translation;
  if (isDone || !shown || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const count = shown.targetTokens.filter(({ piece }) => piece !== END_PIECE).length;
  let at = 0;
  let timer = setTimeout(step, BEFORE);
  function step() {
    if (at >= count || translation.shown !== shown) return end();
    look.at(at++, null);
    timer = setTimeout(step, LASTS / count);
  }
  function end(event?: Event) {
    clearTimeout(timer);
    for (const hint of HINTS) removeEventListener(hint, end, { capture: true });
    const isPointed = event?.target instanceof Element && event.target.closest('.piece'); // which has lit up already
    if (at > 0 && !isPointed) look.away();
    isDone = true;
  }
  for (const hint of HINTS) addEventListener(hint, end, { capture: true, passive: true });
  return () => end();
}
