declare module 'virtual:example' {
  import type { Translation } from 'wasmformer';
  interface Example extends Omit<Translation, 'attention'> {
    source: string;
    attention: Record<
      'encoder' | 'decoder' | 'cross',
      { layers: number; heads: number; rows: number; columns: number; perMille: number[] }
    >;
  }
  const example: Example | null;
  export default example;
}

declare module 'virtual:models' {
  export interface ModelEntry {
    /** Source and target, 'de-en'. */
    languages: string;
    /** Relative to the page. */
    url: string;
    bytes: number;
  }
  const models: ModelEntry[];
  export default models;
}
