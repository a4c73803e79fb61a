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
