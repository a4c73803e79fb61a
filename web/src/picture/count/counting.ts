// What the figure needs to count parameters, which comes when it is asked for.
export { default as CountMarks } from './CountMarks.svelte';
export { default as CountSums } from './CountSums.svelte';
export { countsOf, sumsOf, type BoxCount } from './parameters';
