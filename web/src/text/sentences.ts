// The package's own, so that the page cuts texts as translateText() does.
export { joint, split, type Part } from '../../../dist/shared/sentences.js';
