// What was measured must be measured again when a typeface arrives, which may be long after the text. Servers have no document.
class Fonts {
  /** How many times typefaces have arrived. */
  arrived = $state(0);

  constructor() {
    globalThis.document?.fonts.addEventListener('loadingdone', () => (this.arrived += 1));
  }
}

export const fonts = new Fonts();
