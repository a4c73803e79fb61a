// Written by bindings/tools/generate-types.mjs. Do not edit.

/** The version of this package. */
export const version: string = '0.1.0';
