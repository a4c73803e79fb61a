// Decompressor of Zstandard; the build bundles it, so that the package has no dependencies.
/** @internal */
export { decompress } from 'fzstd';
