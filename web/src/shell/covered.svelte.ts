// The lower edge of the window, as far as a bar lies over it: what must be seen makes itself smaller.
export class Covered {
  height = $state(0); // px
}

export const createCovered = () => new Covered();
