// The texts that bindings/tools/one-file.mjs inserts.
declare module 'inside:worker' {
  const script: string;
  export default script;
}
declare module 'inside:glue' {
  const factory: unknown;
  export default factory;
}
declare module 'inside:module' {
  /** The plain SIMD build, gzip in base64. */
  const module: string;
  export default module;
}
