// Parts of the figure that count parameters; loaded only when somebody asks for the count.
export { default as CountMarks } from './CountMarks.svelte';
export { default as CountSums } from './CountSums.svelte';
export { countsOf, sumsOf, type BoxCount } from './parameters';
