// Section 5.3, equation 3: the learning rate of a step.
export const rate = (step: number, d: number, warmup: number) =>
  d ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);

/** Decay of the mean of squared gradients, section 5.3. */
export const BETA_2 = 0.98;

/** Number of gradients that the mean of squared gradients of Adam rests on after `step` steps: its effective sample size. */
export function gradientsAveraged(step: number, beta2: number): number {
  const sum = 1 - beta2 ** step;
  const squares = ((1 - beta2) * (1 - beta2 ** (2 * step))) / (1 + beta2);
  return (sum * sum) / squares;
}
