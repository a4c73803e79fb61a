// The formulas that a stop is about: what follows ^ is raised, what follows _ is lowered.
import type { StopId } from './stops';

export const FORMULAS: Readonly<Partial<Record<StopId, readonly string[]>>> = {
  sines: ['PE(pos, 2i) = sin(pos / 10000^{2i/d})', 'PE(pos, 2i + 1) = cos(pos / 10000^{2i/d})'],
  warmup: ['rate = d^{−0.5} · min(step^{−0.5}, step · warmup_steps^{−1.5})'],
  smoothing: ['q = (1 − ε) · onehot(y) + ε/V', 'loss = −Σ_{w} q(w) · ln p(w)'],
  beam: ['score(y) = ln P(y) / lp(y)', 'lp(y) = ((5 + |y|) / 6)^{α}'],
};
