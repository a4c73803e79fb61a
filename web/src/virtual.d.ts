declare module 'virtual:ready' {
  import type { Translation } from 'wasmformer';
  interface Example extends Omit<Translation, 'attention'> {
    source: string;
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

declare module 'virtual:encoders' {
  const models: { name: string; url: string; bytes: number }[];
  export default models;
}

declare module 'virtual:version' {
  /** Of the npm package. */
  const version: string;
  export default version;
}
