/** The address of the model, for loadDetector() of `wasmformer/detect`. */
declare const model: URL;
export default model;
