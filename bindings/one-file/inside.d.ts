// What bindings/tools/one-file.mjs puts in.
declare module 'inside:worker' {
  const script: string;
  export default script;
}
declare module 'inside:glue' {
  const factory: unknown;
  export default factory;
}
declare module 'inside:modules' {
  /** The module of this build, gzip in base64. */
  export const relaxed: string;
  /** What makes the plain one of it, likewise. */
  export const changes: string;
}
