// The figure of the positions that are added; in a model that adds none, of its embeddings.
const POSITIONS = '[data-testid=scene] figure:is(:nth-of-type(2), :only-of-type)';

// CSS selectors of the subject of each stop of a tour: the first that fits into the window is ringed, or else the last.
const TARGETS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  inside: [
    ['[data-testid=figure]', '[data-place="enc"]', '[data-place="enc.embed"]'],
    [POSITIONS, `${POSITIONS} canvas`],
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
