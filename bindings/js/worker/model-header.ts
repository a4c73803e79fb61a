// Reads the header of a model file before anything is computed. The module has read the file already.

interface Tensor {
  data_offsets: [begin: number, end: number];
}

const suffix = '.input_multiplier';

/**
 * Returns whether int8 products of the model scale their inputs by the largest of the whole batch, as those of Firefox's
 * models without multipliers do (src/gemm/quantized_rows.h): a translation then depends on the texts beside it.
 */
export function scalesWholeBatches(file: Uint8Array): boolean {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const begin = 8;
  const end = begin + Number(view.getBigUint64(0, true));
  const text = new TextDecoder().decode(file.subarray(begin, end));
  if (!text.includes(`${suffix}"`)) return false;
  return Object.entries(JSON.parse(text) as Record<string, Tensor>)
    .some(([name, { data_offsets }]) => name.endsWith(suffix) && view.getFloat32(end + data_offsets[0], true) === 0);
}
