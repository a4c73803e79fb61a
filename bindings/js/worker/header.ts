// Facts that a model file states in its safetensors header: 8 bytes of length, then JSON.
import type { TranslatorInfo } from '../shared/types.js';

const ownKeys = ['format', 'version', 'config', 'source_tokenizer', 'target_tokenizer', 'source_vocabulary', 'target_vocabulary', 'languages', 'run.texts'];
const precisions: Record<string, TranslatorInfo['precision']> = { F32: 'f32', F16: 'f16', I8: 'int8' };

type FileFacts = Pick<TranslatorInfo, 'parameters' | 'bytes' | 'precision' | 'languages' | 'metadata'>;

/** `file` must be one that the module has accepted. */
export function readHeader(file: Uint8Array): FileFacts {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  const { __metadata__: texts, ...tensors } = header as {
    __metadata__: Record<string, string>;
    [name: string]: { dtype: string; shape: number[] } | Record<string, string>;
  };
  const counts: Record<string, number> = {};
  for (const [name, { dtype, shape }] of Object.entries(tensors) as [string, { dtype: string; shape: number[] }][]) {
    // The scales of int8 rows are a matter of storage, not parameters, and the moments of a checkpoint the optimizer's.
    if (name.endsWith('.scale') || name.startsWith('optimizer.')) continue;
    counts[dtype] = (counts[dtype] ?? 0) + shape.reduce((product, size) => product * size, 1);
  }
  const [dtype] = Object.entries(counts).reduce((most, entry) => (entry[1] > most[1] ? entry : most), ['F32', 0]);
  return {
    parameters: Object.values(counts).reduce((sum, count) => sum + count, 0),
    bytes: file.byteLength,
    precision: precisions[dtype] ?? 'f32',
    languages: texts.languages ?? '',
    metadata: Object.fromEntries(Object.entries(texts).filter(([key]) => !ownKeys.includes(key))),
  };
}
