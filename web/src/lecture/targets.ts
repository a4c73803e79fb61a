// CSS selectors of the subject of each stop of a tour: the first that fits into the window is ringed, or else the last.
const TARGETS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  inside: [
    ['[data-testid=figure]', '[data-place="enc"]', '[data-place="enc.embed"]'],
    ['[data-testid=scene] figure:nth-of-type(2)', '[data-testid=scene] figure:nth-of-type(2) canvas'],
    ['[data-testid=head]'],
    ['[data-testid=scene] .head .map'],
    ['[data-testid=logits]', '[data-testid=logits] .chosen'],
    ['[role=tree]', '[role=treeitem]'],
  ],
  attention: [
    ['[data-testid=scene] :has(> * > [data-testid=head])', '[data-testid=head]'],
    ['[data-testid=score]'],
    ['[data-testid=scene] .head .map'],
    ['[data-testid=outcome]', '[data-place="dec.3.cross"]'],
    ['[data-testid=outcome]', '[data-testid=figure] .tokens'],
  ],
};

export const targetOf = (tour: string, stop: number): readonly string[] => TARGETS[tour]?.[stop - 1] ?? [];
