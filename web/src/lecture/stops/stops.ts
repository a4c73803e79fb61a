// The stops of the lecture: each a section of the paper with a claim, a figure and a question.
import type { Component } from 'svelte';
import Adding from '../figures/Adding.svelte';
import Beam from '../figures/Beam.svelte';
import Cost from '../figures/Cost.svelte';
import Embedding from '../figures/Embedding.svelte';
import FutureMask from '../figures/FutureMask.svelte';
import Heads from '../figures/Heads.svelte';
import NormPlace from '../figures/NormPlace.svelte';
import Order from '../figures/Order.svelte';
import Padding from '../figures/Padding.svelte';
import Parameters from '../figures/Parameters.svelte';
import Positions from '../figures/Positions.svelte';
import Projections from '../figures/Projections.svelte';
import Residual from '../figures/Residual.svelte';
import Scale from '../figures/Scale.svelte';
import Shifted from '../figures/Shifted.svelte';
import Smoothing from '../figures/Smoothing.svelte';
import Table1 from '../figures/Table1.svelte';
import Table3 from '../figures/Table3.svelte';
import Tokens from '../figures/Tokens.svelte';
import WarmUp from '../figures/WarmUp.svelte';

export const CHOICES = ['a', 'b', 'c'] as const;
export type Answer = (typeof CHOICES)[number];

export interface Stop {
  id: StopId;
  section: string; // of the paper
  figure: Component;
  right: Answer;
  see?: string; // where the picture of the model, or training, shows the same
}

const all = [
  ['shifted', '3.1', Shifted, 'b', 'picture?at=dec.embed'],
  ['residual', '3.1', Residual, 'a', 'picture?at=enc.1.selfNorm'],
  ['norm', '3.1', NormPlace, 'c', 'picture?at=enc'],
  ['order', '3.2', Order, 'b', 'picture?at=enc.embed'],
  ['scale', '3.2.1', Scale, 'c', 'picture?at=dec.3.cross.h4.2-9'],
  ['qkv', '3.2.2', Projections, 'a', 'picture?at=enc.1.self.h1'],
  ['heads', '3.2.2', Heads, 'b', 'picture?at=dec.3.cross'],
  ['mask', '3.2.3', FutureMask, 'a', 'picture?at=dec.1.self'],
  ['padding', '3.2.3', Padding, 'c', undefined],
  ['parameters', '3.3', Parameters, 'b', 'picture?at=enc.1.ffn'],
  ['embedding', '3.4', Embedding, 'a', 'picture?at=enc.embed'],
  ['add', '3.5', Adding, 'c', 'picture?at=enc.embed'],
  ['sines', '3.5', Positions, 'b', 'picture?at=enc.embed'],
  ['table1', '4', Table1, 'a', undefined],
  ['tokens', '5.1', Tokens, 'b', undefined],
  ['cost', '5.2', Cost, 'c', 'train'],
  ['warmup', '5.3', WarmUp, 'b', 'train'],
  ['smoothing', '5.4', Smoothing, 'a', 'train'],
  ['beam', '6.1', Beam, 'c', 'beam'],
  ['table3', '6.2', Table3, 'a', 'train'],
] as const satisfies readonly (readonly [string, string, Component, Answer, string | undefined])[];

export type StopId = (typeof all)[number][0];

export const STOPS: readonly Stop[] = all.map(([id, section, figure, right, see]) => ({ id, section, figure, right, see }));
/** The last page, which sums up. */
export const END = 'end';
