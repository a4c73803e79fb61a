// The HTML tokenizer of htmlparser2; the build bundles it, so that the package has no dependencies.
/** @internal */
export { Tokenizer } from 'htmlparser2';
