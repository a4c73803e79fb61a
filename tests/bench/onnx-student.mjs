// A student as ONNX graphs: its decoder has a recurrent cell (SSRU) where a Transformer attends to the tokens so far.
// Sentences of a batch may differ in length; `mask` is added to the scores of attention to the source.
import { positions } from './endings.mjs';
import { Model, cachePorts, expose, layersOf, named, port } from './onnx.mjs';

class Student extends Model {
  mask = 'mask';

  positions() {
    return positions(this.shape, 512);
  }

  remember(x, layer, [cell]) {
    const value = `${layer}.self_attn.v_proj.weight`;
    const update = this.product(x, value, this.tensors.get(value), this.precision);
    const gate = this.op('Sigmoid', [this.linear(x, `${layer}.self_attn.q_proj`)]);
    const kept = this.op('Mul', [gate, this.op('Sub', [cell, update])]);
    const next = this.op('Add', [update, kept]);
    return [this.norm(x, this.op('Relu', [next]), `${layer}.self_attn_layer_norm`), [next]];
  }
}

const mask = port('mask', 'float', ['batch', 1, 1, 'source']);
const cellPorts = (shape, name) => layersOf(shape).map((i) => port(`${name}${i}`, 'float', ['batch', 1, shape.d]));

/** One call a batch of sentences and one a token of each: the bytes of [encoder, decoder]. */
export function studentGraphs(shape, precision, tensors) {
  const encoder = new Student(shape, precision, '', undefined, tensors);
  expose(encoder, encoder.encode('source', 'at'), 'c');
  const decoder = new Student(shape, precision, '', undefined, tensors);
  const cells = layersOf(shape).map((i) => [`cell${i}`]);
  const [next, present] = decoder.step('ids', 'at', cells, named(shape, 'c'));
  decoder.rename(next, 'next');
  present.forEach(([cell], i) => decoder.rename(cell, `next${i}`));
  const cross = cachePorts(shape, 'c', 'source', true);
  return [
    encoder.bytes([port('source', 'int64', ['batch', 'source']), port('at', 'int64', ['source']), mask], cross),
    decoder.bytes([port('ids', 'int64', ['batch', 1]), port('at', 'int64', [1]), mask, ...cellPorts(shape, 'cell'), ...cross],
      [port('next', 'int64', ['batch', 1]), ...cellPorts(shape, 'next')]),
  ];
}
