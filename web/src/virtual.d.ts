declare module 'virtual:ready' {
  import type { Translation } from 'wasmformer';
  interface Example extends Omit<Translation, 'attention'> {
    source: string;
    norm: 'post' | 'pre'; // the model's
    attention: Record<
      'encoder' | 'decoder' | 'cross',
      { layers: number; heads: number; rows: number; columns: number; perMille: number[] }
    >;
  }
  /** By model. */
  const ready: Partial<Record<string, Example>>;
  export default ready;
}

declare module 'virtual:models' {
  /** A translator's name is its source and target, 'de-en'; the url is relative to the page. */
  const models: { name: string; url: string; bytes: number }[];
  export default models;
}

declare module 'virtual:encoders' {
  export { default } from 'virtual:models';
}

declare module 'virtual:search-width' {
  /** The default of the package's searches. */
  const searchWidth: number;
  export default searchWidth;
}

declare module 'virtual:micro' {
  /** src/micro/transformer.cpp. */
  const source: string;
  export default source;
}

declare module 'virtual:version' {
  /** Version of the npm package. */
  const version: string;
  export default version;
}
