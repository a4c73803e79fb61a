// Pure functions over the tree of a beam search.
import type { BeamNode } from 'wasmformer';
import { lengthPenalty } from '../shared/text/length-penalty';

/** The nodes from the root's child down to this one. */
export function pathTo(nodes: readonly BeamNode[], index: number): number[] {
  const path: number[] = [];
  for (let i = index; nodes[i].parent >= 0; i = nodes[i].parent) path.unshift(i);
  return path;
}

/** The nodes of these tokens from the root on, as far as the tree has them. */
export function pathOf(nodes: readonly BeamNode[], ids: readonly number[]): number[] {
  const path: number[] = [];
  for (const id of ids) {
    const next = nodes.findIndex((node) => node.id === id && node.parent === (path.at(-1) ?? 0));
    if (next < 0) break;
    path.push(next);
  }
  return path;
}

/** The pieces of a path as text. */
export function textOf(nodes: readonly BeamNode[], path: readonly number[]): string {
  const text = path.map((i) => nodes[i].piece).filter((piece) => piece !== '</s>');
  return text.join('').replaceAll('▁', ' ').trim();
}

export interface Ranked {
  index: number;
  score: number;
}

/** Every hypothesis that ended, in the order that this length penalty gives; the best first. */
export function rank(nodes: readonly BeamNode[], alpha: number): Ranked[] {
  return nodes
    .flatMap((node, index) => (node.state === 'ended' || node.reason === 'score' ? [index] : []))
    .map((index) => ({ index, score: nodes[index].sum / lengthPenalty(nodes[index].length, alpha) }))
    .sort((a, b) => b.score - a.score);
}

export interface Place {
  index: number;
  x: number;
  y: number;
  children: number[];
}

/**
 * Places the nodes: a column for each step, as wide as its widest piece. The path to the best hypothesis is one
 * row on top; every other branch begins a row of its own, as high up as there is room. Without `pruned`, only paths to
 * a hypothesis are there.
 */
export function placeTree(
  nodes: readonly BeamNode[],
  pruned: boolean,
  widths: readonly number[],
  rowHeight: number,
  gap: number,
): { places: Place[]; width: number; height: number } {
  // Best score of the hypotheses that each node leads to.
  const best = nodes.map((node) => (node.state === 'ended' ? node.score : -Infinity));
  for (let i = nodes.length - 1; i > 0; --i) best[nodes[i].parent] = Math.max(best[nodes[i].parent], best[i]);
  const children: number[][] = nodes.map(() => []);
  nodes.forEach((node, i) => (pruned || best[i] > -Infinity) && children[node.parent]?.push(i));
  for (const siblings of children) siblings.sort((a, b) => best[b] - best[a] || nodes[b].sum - nodes[a].sum);

  const places: Place[] = [];
  const free: number[] = []; // the first free row of each step
  const columns: number[] = [];
  const branch = (first: number) => {
    const chain = [first];
    while (children[chain.at(-1)!].length > 0) chain.push(children[chain.at(-1)!][0]);
    const row = Math.max(...chain.map((i) => free[nodes[i].length] ?? 0));
    for (const index of chain) {
      const { length } = nodes[index];
      free[length] = row + 1;
      columns[length] = Math.max(columns[length] ?? 0, widths[index]);
      places.push({ index, x: length, y: (row + 0.5) * rowHeight, children: children[index] });
    }
    for (const index of chain.toReversed()) children[index].slice(1).forEach(branch);
  };
  branch(0);
  const starts = columns.map((_, step) => columns.slice(0, step).reduce((sum, width) => sum + width + gap, 0));
  for (const place of places) place.x = starts[place.x];
  return { places, width: starts.at(-1)! + columns.at(-1)!, height: Math.max(...free) * rowHeight };
}
