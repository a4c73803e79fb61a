// The pure parts of the picture "How it works": where everything stands, what an address names, and in which order boxes compute.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { load } from './load.mjs';

let geometry, place, timeline, thumbs, chips, attention;
const sizes = { encoderLayers: 3, decoderLayers: 3, heads: 4, norm: 'post' };
before(async () => {
  [geometry, place, timeline, thumbs, chips] = await Promise.all(
    ['geometry', 'place', 'timeline', 'thumbs', 'chips'].map((name) => load(`picture/${name}.ts`)));
  attention = await load('picture/arithmetic.ts');
});

const all = () => [true, false].flatMap((tall) => ['post', 'pre'].flatMap((norm) =>
  [[1, 1], [3, 3], [6, 6], [6, 1], [2, 5]].map(([encoderLayers, decoderLayers]) =>
    ({ sizes: { encoderLayers, decoderLayers, heads: 4, norm }, tall }))));
const inside = (a, b) => a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
const apart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

test('every layer and sublayer of a model is drawn, inside its layer and without overlap', () => {
  for (const { sizes, tall } of all()) {
    const name = JSON.stringify({ ...sizes, tall });
    const drawn = geometry.layOut(sizes, tall);
    const of = (kind) => drawn.boxes.filter((box) => box.kind === kind);
    assert.equal(of('layer').length, sizes.encoderLayers + sizes.decoderLayers, name);
    assert.equal(of('attention').length, sizes.encoderLayers + 2 * sizes.decoderLayers, name);
    assert.equal(of('ffn').length, sizes.encoderLayers + sizes.decoderLayers, name);
    const norms = 2 * sizes.encoderLayers + 3 * sizes.decoderLayers;
    assert.equal(of('norm').length, norms + (sizes.norm === 'pre' ? 2 : 0), `${name}: pre-norm stacks end with a norm`);
    const small = drawn.boxes.filter(({ kind }) => kind !== 'stack' && kind !== 'layer');
    small.forEach((box, i) => {
      assert.ok(inside(box, { x: 0, y: 0, width: drawn.width, height: drawn.height }), `${name}: ${box.id} is outside`);
      for (const other of small.slice(i + 1)) assert.ok(apart(box, other), `${name}: ${box.id} overlaps ${other.id}`);
      const frame = box.place.layer !== undefined && geometry.boxAt(drawn, box.place.stack, box.place.layer);
      if (frame) assert.ok(inside(box, frame), `${name}: ${box.id} leaves its layer`);
    });
    assert.equal(new Set(drawn.boxes.map(({ id }) => id)).size, drawn.boxes.length, name);
  }
});

test('numbers flow upwards within a stack; cross-attention reads the top of the encoder', () => {
  for (const { sizes, tall } of all()) {
    const { wires, boxes } = geometry.layOut(sizes, tall);
    const at = (id) => boxes.find((box) => box.id === id);
    for (const { kind, points, to } of wires) {
      if (kind !== 'memory' && kind !== 'loop') assert.ok(points[0][1] >= points.at(-1)[1], `${to}: ${kind} goes down`);
    }
    const memory = wires.filter(({ kind }) => kind === 'memory');
    assert.equal(memory.length, 2 * sizes.decoderLayers, 'K and V of each decoder layer');
    for (const { to, from, points } of memory) {
      assert.match(to, /^dec\.\d+\.cross$/);
      assert.match(from, /^enc\./);
      assert.equal(points.at(-1)[1], at(to).y + at(to).height);
    }
    // Every box has something that goes into it.
    for (const { id, kind } of boxes) {
      if (kind !== 'stack' && kind !== 'layer') assert.ok(wires.some(({ to }) => to === id), `nothing goes into ${id}`);
    }
  }
});

test('a recurrent decoder has a box with one arrow in place of masked self-attention, and no heads in it', () => {
  for (const { sizes, tall } of all()) {
    const recurrent = { ...sizes, recurrent: true };
    const { boxes, wires, marks } = geometry.layOut(recurrent, tall);
    const units = boxes.filter(({ kind }) => kind === 'unit').map(({ id }) => id);
    assert.deepEqual(units, Array.from({ length: sizes.decoderLayers }, (_, layer) => `dec.${layer + 1}.self`));
    for (const id of units) assert.equal(wires.filter(({ to, kind }) => to === id && kind === 'flow').length, sizes.norm === 'pre' ? 2 : 1);
    assert.equal(boxes.filter(({ kind }) => kind === 'attention').length, sizes.encoderLayers + sizes.decoderLayers);
    assert.equal(marks.length, 3 * (sizes.encoderLayers + sizes.decoderLayers), 'Q, K and V of the attentions');
    const { parse, format } = place;
    assert.equal(format(parse('dec.1.self.h2.1-1', recurrent)), 'dec.1.self');
    assert.equal(format(parse('enc.1.self.h2', recurrent)), 'enc.1.self.h2');
  }
});

test('with rotary positions, nothing is added to the embeddings', async () => {
  for (const { sizes, tall } of all()) {
    const [drawn, plain] = [geometry.layOut({ ...sizes, rotary: true }, tall), geometry.layOut(sizes, tall)];
    assert.deepEqual([drawn.waves.length, plain.waves.length], [0, 2]);
    assert.equal(drawn.sums.length, plain.sums.length - 2);
    for (const stack of ['enc', 'dec']) {
      const flows = ({ wires }) => wires.filter(({ from, to }) => from === `${stack}.embed` && to === from).map(({ points }) => points);
      const [[straight], [toSum]] = [flows(drawn), flows(plain)];
      assert.deepEqual([flows(drawn).length, flows(plain).length], [1, 2], `${stack}: no arrow from positions`);
      assert.ok(straight.at(-1)[1] < toSum.at(-1)[1], `${stack}: the arrow passes the place of the sum`);
    }
  }
});

test('a model without norms has no norm boxes, and one without residual connections no wires around sublayers', () => {
  for (const tall of [true, false]) {
    for (const norm of ['post', 'pre', 'none']) {
      for (const noResidual of [true, false]) {
        const name = JSON.stringify({ tall, norm, noResidual });
        const model = { ...sizes, norm, noResidual };
        const { boxes, wires, sums } = geometry.layOut(model, tall);
        const count = { post: 15, pre: 17, none: 0 }[norm];
        assert.equal(boxes.filter(({ kind }) => kind === 'norm').length, count, name);
        assert.equal(wires.filter(({ kind }) => kind === 'residual').length, noResidual ? 0 : 15, name);
        assert.equal(sums.length, 2 + (norm === 'post' || noResidual ? 0 : 15), name);
        const small = boxes.filter(({ kind }) => kind !== 'stack' && kind !== 'layer');
        small.forEach((box, i) => {
          for (const other of small.slice(i + 1)) assert.ok(apart(box, other), `${name}: ${box.id} overlaps ${other.id}`);
          const frame = box.place.layer !== undefined && geometry.boxAt({ boxes }, box.place.stack, box.place.layer);
          if (frame) assert.ok(inside(box, frame), `${name}: ${box.id} leaves its layer`);
        });
        const drawn = new Set(boxes.map(({ id }) => id));
        for (const { box } of timeline.stages(model, 0)) assert.ok(drawn.has(box) || box === 'chart', `${name}: ${box}`);
        assert.equal(place.format(place.parse('enc.1.selfNorm', model)), norm === 'none' ? 'enc.1' : 'enc.1.selfNorm');
      }
    }
  }
});

test('with a recurrent decoder, only encoder attention and cross-attention can be chosen', async () => {
  const { kindsOf } = await load('shared/attention/attention.ts');
  const maps = (layers) => ({ data: [], layers, heads: 4, rows: 1, columns: 1 });
  assert.deepEqual(kindsOf({ encoder: maps(6), decoder: maps(0), cross: maps(2) }), ['encoder', 'cross']);
  assert.deepEqual(kindsOf({ encoder: maps(3), decoder: maps(3), cross: maps(3) }), ['encoder', 'decoder', 'cross']);
});

test('the camera centers what it frames', () => {
  const { scale, x, y } = geometry.camera({ x: 100, y: 50, width: 200, height: 100 }, 400, 400);
  assert.deepEqual([scale, x, y], [2, -200, 0]);
  const drawn = geometry.layOut(sizes);
  const layer = geometry.boxAt(drawn, 'dec', 1);
  assert.ok(inside(layer, geometry.framed(drawn, { stack: 'dec', layer: 1, part: 'self' })));
});

test('arrow keys move to the next box in their direction', () => {
  const drawn = geometry.layOut(sizes);
  const boxes = drawn.boxes.filter(({ kind }) => kind !== 'stack' && kind !== 'layer');
  const from = (id, down, right) => geometry.nearest(boxes, boxes.find((box) => box.id === id), down, right)?.id;
  assert.equal(from('dec.1.self', -1, 0), 'dec.1.selfNorm');
  assert.equal(from('dec.1.self', 1, 0), 'dec.embed');
  assert.match(from('enc.2.ffn', 0, 1), /^dec\./);
  assert.match(from('dec.2.cross', 0, -1), /^enc\./);
  assert.equal(from('out.softmax', -1, 0), 'out.beam');
  assert.equal(from('out.beam', -1, 0), undefined);
});

test('a point moves along a connector from start to end', () => {
  const points = [[0, 10], [0, 0], [20, 0]];
  assert.deepEqual([0, 1 / 3, 0.5, 1].map((share) => geometry.along(points, share)), [[0, 10], [0, 0], [5, 0], [20, 0]]);
  assert.match(geometry.path(points), /^M0 10L.*L20 0$/);
});

test('an address names a place that the model has', () => {
  const { parse, format, trail, outer, beside } = place;
  for (const text of ['', 'enc', 'dec', 'dec.2', 'dec.2.cross', 'dec.2.cross.h3', 'dec.2.cross.h3.5-2', 'enc.1.ffnNorm', 'enc.embed', 'out.softmax', 'out.beam']) {
    assert.equal(format(parse(text, sizes)), text);
  }
  assert.deepEqual(parse('dec.2.cross.h3.5-2', sizes),
    { stack: 'dec', layer: 1, part: 'cross', head: 2, cell: { row: 4, column: 1 } });
  const kept = { 'dec.9.self': 'dec', 'enc.2.cross': 'enc.2', 'enc.0': 'enc', 'dec.1.self.h5': 'dec.1.self', 'dec.1.ffn.h1': 'dec.1.ffn',
    'dec.1.self.h1.0-2': 'dec.1.self.h1', 'nothing.1': '', 'enc.norm': 'enc', out: '', 'out.embed': '', 'dec.1.self.h2.x': 'dec.1.self.h2' };
  for (const [text, wanted] of Object.entries(kept)) assert.equal(format(parse(text, sizes)), wanted, text);
  assert.equal(format(parse('enc.norm', { ...sizes, norm: 'pre' })), 'enc.norm');
  const deep = parse('dec.2.cross.h3.5-2', sizes);
  assert.deepEqual(trail(deep).map(format), ['', 'dec', 'dec.2', 'dec.2.cross', 'dec.2.cross.h3', 'dec.2.cross.h3.5-2']);
  assert.equal(format(outer(deep)), 'dec.2.cross.h3');
  assert.deepEqual(outer({}), {});
  assert.equal(format(beside(parse('dec.1.ffn', sizes), 1, sizes)), 'dec.2.ffn');
  assert.equal(beside(parse('dec.3.ffn', sizes), 1, sizes), null);
  assert.equal(format(beside(parse('dec.3.self.h2', sizes), -1, sizes)), 'dec.3.self.h1');
});

test('the encoder computes once; every box of a step computes in an order that its connectors allow', () => {
  for (const { sizes } of all()) {
    const [first, later] = [0, 1].map((step) => timeline.stages(sizes, step).map(({ box }) => box));
    assert.ok(first.includes('enc.1.self') && !later.some((box) => box.startsWith('enc')));
    const { boxes, wires } = geometry.layOut(sizes);
    const small = boxes.filter(({ kind }) => kind !== 'stack' && kind !== 'layer').map(({ id }) => id);
    assert.deepEqual(first.toSorted(), [...small, 'chart'].toSorted());
    for (const { from, to, kind } of wires) {
      if (from && kind !== 'loop' && from !== to) assert.ok(first.indexOf(from) < first.indexOf(to), `${from} before ${to}`);
    }
  }
  const last = timeline.stages(sizes, 0).length;
  const { moved } = timeline;
  assert.deepEqual(moved(sizes, 2, { step: 0, stage: last }, 1), { step: 1, stage: 0 });
  assert.deepEqual(moved(sizes, 2, { step: 1, stage: 0 }, -1), { step: 0, stage: last });
  assert.equal(moved(sizes, 2, { step: 0, stage: 0 }, -1), null);
  assert.equal(moved(sizes, 2, { step: 1, stage: timeline.stages(sizes, 1).length }, 1), null);
});

const numbers = (...rows) => ({ data: Float32Array.from(rows.flat()), rows: rows.length, columns: rows[0].length });
const cells = (shades) => shades.reduce((count, { d }) => count + d.split('M').length - 1, 0);

test('thumbnails show weights as shades, rows not computed yet, and the mask', () => {
  const map = numbers([1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]);
  assert.equal(cells(thumbs.heat(map, 30, 30)), 4, 'weights of 0 are not drawn');
  assert.equal(cells(thumbs.heat(map, 30, 30, 1)), 1, 'nor rows that are not there yet');
  assert.deepEqual(thumbs.heat(map, 30, 30).map(({ level }) => level).toSorted(), [4, 8]);
  // Of a large map the greatest weight of neighbours shows.
  const large = { data: new Float32Array(10_000), rows: 100, columns: 100 };
  large.data[5555] = 1;
  assert.deepEqual(thumbs.heat(large, 30, 30).map(({ level }) => level), [8]);
  assert.equal(thumbs.masked(3, 30, 30), 'M10 0V10H20V20H30V0z');
  assert.equal(thumbs.masked(1, 30, 30), '');
  assert.deepEqual(thumbs.signed(numbers([-1, 1, 0]), 30, 10).map(({ level }) => level).toSorted((a, b) => a - b), [-5, 5]);
});

test('mean and deviation of a row, and how far a sublayer moved it', () => {
  const { mean, deviation } = thumbs.moments(numbers([0, 0], [1, 5]), 1);
  assert.deepEqual([mean, deviation], [3, 2]);
  assert.deepEqual([...thumbs.normalized(numbers([0, 0], [1, 5])).data], [0, 0, -1, 1]);
  assert.deepEqual(thumbs.change(numbers([3, 4], [1, 0]), numbers([3, 4], [1, 2])), [0, 2]);
  assert.deepEqual([...thumbs.added(numbers([1, 2]), numbers([3, 4])).data], [4, 6]);
});

const near = (a, b, most = 1e-5) => assert.ok(Math.abs(a - b) < most, `${a} is not ${b}`);

test('the arithmetic of a cell, by hand: products, scores, weights and output, with the mask and without the scale', () => {
  const { arithmetic } = attention;
  // Two heads of four numbers; the second one is looked at.
  const internals = {
    queries: numbers([9, 9, 9, 9, 1, 2, 0, -1]),
    keys: numbers([9, 9, 9, 9, 2, 0, 1, 0], [9, 9, 9, 9, 1, 1, 5, -1], [9, 9, 9, 9, 0, 0, 0, 0]),
    values: numbers([9, 9, 9, 9, 1, 0, 0, 0], [9, 9, 9, 9, 0, 1, 0, 4], [9, 9, 9, 9, 0, 0, 1, 0]),
  };
  const sum = arithmetic(internals, 2, 1, 0, 1, 3);
  assert.deepEqual([...sum.products], [1, 2, 0, 1]);
  assert.equal(sum.dot, 4);
  assert.deepEqual(sum.scores, [1, 2, 0]);
  const all = Math.E + Math.E ** 2 + 1;
  sum.weights.forEach((weight, i) => near(weight, [Math.E, Math.E ** 2, 1][i] / all));
  near(sum.output[3], (4 * Math.E ** 2) / all);
  assert.deepEqual(arithmetic(internals, 2, 1, 0, 1, 3, false).scores, [2, 4, 0]);
  const causal = arithmetic(internals, 2, 1, 0, 0, 2);
  assert.deepEqual(causal.scores, [1, 2, -Infinity]);
  assert.equal(causal.weights[2], 0);
  // Keys of two numbers in a head, values of four.
  const narrow = { ...internals, queries: numbers([9, 9, 2, 1]), keys: numbers([9, 9, 1, 0], [9, 9, 0, 1], [9, 9, 0, 0]) };
  const { output } = arithmetic(narrow, 2, 1, 0, 0, 3, false);
  assert.equal(output.length, 4);
  near(output[3], (4 * Math.E) / (Math.E ** 2 + Math.E + 1));
});

test('norms are lengths of rows; the residual stream goes through every sublayer', () => {
  const { norms, residual } = attention;
  assert.deepEqual(norms(numbers([3, 4], [0, 2])), [5, 2]);
  const [after, deeper] = [numbers([3, 4]), numbers([0, 7])];
  const layer = { afterSelfAttention: after, afterCrossAttention: after, afterFeedForward: deeper };
  const stack = { tokenEmbedding: numbers([1, 0]), positions: numbers([0, 1]), layers: [layer, layer] };
  const [first, ...rest] = residual(stack).map(({ stage, norms: [norm] }) => [stage, norm]);
  assert.equal(first[0], 'input');
  near(first[1], Math.SQRT2);
  const of = [['self', 5], ['cross', 5], ['feedForward', 7]];
  assert.deepEqual(rest, [...of, ...of]);
});

test('tokens take at most two rows without overlap, and the middle ones are dropped if necessary', () => {
  for (const count of [1, 5, 12, 40, 200]) {
    const { chips: row, scale } = chips.chips(Array(count).fill(40), 400, 20);
    assert.ok(new Set(row.map(({ y }) => y)).size <= 2, `${count}`);
    row.forEach((chip, i) => {
      assert.ok(chip.x >= -1e-6 && chip.x + chip.width <= 400 + 1e-6, `${count}: ${i} is outside`);
      const next = row[i + 1];
      if (next && next.y === chip.y) assert.ok(next.x >= chip.x + chip.width, `${count}: ${i} overlaps`);
    });
    assert.ok(scale > 0.5);
    assert.equal(row[0].index, 0);
    assert.equal(row.at(-1).index, count - 1);
    assert.equal(row.some(({ index }) => index < 0), row.length < count);
  }
});

test('while it plays, the first box of each kind stays until its explanation can be read, at any speed', () => {
  const { kindOf, lengthOf, SPEEDS, stages } = timeline;
  const all = stages(sizes, 0);
  const kinds = new Set(all.map(kindOf));
  assert.ok(kinds.size < all.length / 2, 'layers repeat their kinds');
  assert.equal(new Set(['enc.1.selfNorm', 'enc.2.ffnNorm'].map((id) => kindOf(all.find(({ box }) => box === id)))).size, 1);
  assert.notEqual(kindOf(all.find(({ box }) => box === 'enc.1.self')), kindOf(all.find(({ box }) => box === 'dec.1.self')));
  for (const stage of all) {
    assert.ok(lengthOf(stage, 0, true, 1) >= 2500, 'time to read');
    assert.ok(lengthOf(stage, 0, false, 1) < 1000);
    assert.ok(lengthOf(stage, 1, false, 1) < lengthOf(stage, 0, false, 1), 'later tokens go faster');
  }
  const [attention] = all;
  const lengths = SPEEDS.map((speed) => lengthOf(attention, 0, true, speed));
  assert.deepEqual(lengths.map((length) => length / lengths.at(-1)), [8, 4, 2, 1]);
});

test('the parameters of the boxes add up to what the engine counts, for bundled models and every kind of part', async () => {
  const [{ countsOf, sumsOf }, { Translator, Trainer }] =
    await Promise.all([load('picture/count/parameters.ts'), import('../../dist/index.js')]);
  const check = ({ config, parameters }, name) => assert.equal(sumsOf(countsOf(config)).total, parameters, name);
  for (const name of ['de-en', 'en-zh']) { // post-norm and pre-norm
    const file = readFileSync(new URL(`../../web/public/models/${name}.safetensors`, import.meta.url));
    const translator = await Translator.load(new Uint8Array(file));
    check(translator.info, name);
    // By hand, of a feed-forward network: two matrices and their biases.
    const { d_model: d, ffn_dim: inner, encoder_layers: n, decoder_layers: m } = translator.info.config;
    const { count, boxes } = sumsOf(countsOf(translator.info.config)).sums.find(({ what }) => what === 'ffn');
    assert.deepEqual([count, boxes], [(n + m) * (2 * d * inner + inner + d), n + m]);
    translator.dispose();
  }
  const changes = [
    {}, { norm: 'none' }, { norm: 'pre' }, { tie_embeddings: 'none' }, { tie_embeddings: 'target' }, { positions: 'learned' },
    { attention: 'additive', key_dim: 5 }, { attention: 'bilinear', key_dim: 3 }, { decoder_self: 'ssru' },
    { output_bias: false }, { residual: false, encoder_layers: 1 },
  ];
  for (const change of changes) {
    const config = { d_model: 16, ffn_dim: 24, num_heads: 2, encoder_layers: 2, decoder_layers: 3, ...change };
    const trainer = await Trainer.create({ task: { name: 'reverse', pairs: 20 }, config });
    check(trainer.info, JSON.stringify(change));
    trainer.dispose();
  }
});

test('each box finds its lines of the paper in 300 lines by what these declare and call', async () => {
  const { blocksOf, linesOf, marksOf, sectionsOf } = await load('picture/code/source.ts');
  const source = readFileSync(new URL('../../src/micro/transformer.cpp', import.meta.url), 'utf8');
  const lines = source.trimEnd().split('\n');
  const blocks = blocksOf(source);
  const textOf = (at) => marksOf(place.parse(at, sizes)).flatMap((mark) => linesOf(mark, blocks, lines)).map((line) => lines[line]).join('\n');
  const boxes = geometry.layOut(sizes).boxes;
  for (const { id, place: of } of boxes) {
    if (id === 'out') continue;
    for (const mark of marksOf(of)) assert.ok(linesOf(mark, blocks, lines).length > 0, `${id}: ${JSON.stringify(mark)}`);
  }
  assert.match(textOf('enc.1.ffn'), /relu\(x \* W_1 \+ b_1\) \* W_2/);
  assert.match(textOf('enc.1.ffn'), /feed_forward\(x\)/);
  assert.match(textOf('dec.2.self'), /-INFINITY/);
  assert.doesNotMatch(textOf('enc.2.self'), /-INFINITY/);
  assert.match(textOf('dec.1.cross'), /cross_attention\(x, memory, memory, false\)/);
  assert.match(textOf('dec.1.ffnNorm'), /norm_3\(x \+ dropout/);
  assert.match(textOf('enc.embed'), /pow\(10000/);
  assert.match(textOf('out.linear'), /transpose\(E\)/);
  assert.match(textOf('out.beam'), /max_element/);
  const sections = (at) => sectionsOf(marksOf(place.parse(at, sizes))[0], blocks);
  assert.deepEqual(['enc.1.self', 'enc.1.ffn', 'enc.embed'].map(sections), [['3.2.2'], ['3.3'], ['3.4']]);
});

test('numbers beside the lines are the rows that the model computed for that token', async () => {
  const { liveOf } = await load('picture/code/live.ts');
  const [{ Translator }, source] = await Promise.all([import('../../dist/index.js'), load('picture/code/source.ts')]);
  const text = readFileSync(new URL('../../src/micro/transformer.cpp', import.meta.url), 'utf8');
  const blocks = source.blocksOf(text);
  const model = readFileSync(new URL('../fixtures/tiny-de-en.safetensors', import.meta.url));
  const translator = await Translator.load(new Uint8Array(model));
  const result = await translator.translate('Ich habe einen Hund.', { internals: true, attention: true });
  const { config } = translator.info;
  translator.dispose();
  const { encoder_layers: encoderLayers, decoder_layers: decoderLayers, num_heads: heads, norm } = config;
  const own = { encoderLayers, decoderLayers, heads, norm };
  const live = (at, row) => liveOf(result, place.parse(at, own), own, config, row);
  const [, , , weights, concat] = live('enc.1.self.h2', 1);
  const columns = result.sourceTokens.length;
  assert.deepEqual([...weights.row], [...result.attention.encoder.map(0, 1).slice(columns, 2 * columns)]);
  const { output } = result.internals.encoder.layers[0].selfAttention;
  assert.deepEqual([...concat.row], [...output.data.slice(config.d_model, 2 * config.d_model)]);
  const [, ffn] = live('dec.1.ffn', 0);
  assert.deepEqual([...ffn.row], [...result.internals.decoder.layers[0].feedForward.output.data.slice(0, config.d_model)]);
  for (const at of ['enc.embed', 'enc.1.self', 'dec.1.cross', 'dec.1.ffn', 'enc.1.selfNorm']) {
    for (const { at: mark, name } of live(at, 0)) assert.ok(source.linesOf(mark, blocks, text.split('\n')).length > 0, `${at}: ${name}`);
  }
});
