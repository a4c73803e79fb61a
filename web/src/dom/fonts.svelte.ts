// What was measured must be measured again when a typeface arrives, which may be long after the text. No document: on servers.
class Fonts {
  /** Counts up with each. */
  arrived = $state(0);

  constructor() {
    globalThis.document?.fonts.addEventListener('loadingdone', () => (this.arrived += 1));
  }
}

export const fonts = new Fonts();
