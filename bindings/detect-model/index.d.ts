/** The address of the model. */
declare const model: URL;
export default model;
