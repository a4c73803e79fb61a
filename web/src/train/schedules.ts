/** Whether the rate of a schedule comes down to 0 at decay_steps. */
export const comesToZero = (schedule: string) => schedule === 'cosine' || schedule === 'linear';
