// The HTML tokenizer of htmlparser2; the build puts it inside, so that the package needs no other.
/** @internal */
export { Tokenizer } from 'htmlparser2';
