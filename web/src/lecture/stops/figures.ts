// The figure of each stop.
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
import type { StopId } from './stops';

export const FIGURES: Readonly<Record<StopId, Component>> = {
  shifted: Shifted,
  residual: Residual,
  norm: NormPlace,
  order: Order,
  scale: Scale,
  qkv: Projections,
  heads: Heads,
  mask: FutureMask,
  padding: Padding,
  parameters: Parameters,
  embedding: Embedding,
  add: Adding,
  sines: Positions,
  table1: Table1,
  tokens: Tokens,
  cost: Cost,
  warmup: WarmUp,
  smoothing: Smoothing,
  beam: Beam,
  table3: Table3,
};
