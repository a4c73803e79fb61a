#include "ops/attention.h"

#include <cmath>

#include "ops/attention_blocks.h"
#include "ops/attention_kernels.h"
#include "ops/dropout.h"

namespace wasmformer {
namespace {

using namespace attention_kernels;
using Block = AttentionBlock;

constexpr Index tile_rows = 16;  // queries whose scores are in memory at a time

// One call, as forward and backward read it.
struct Call {
  Var q, k, v;
  AttentionPlan plan;
  Index heads;
  bool causal;
  Scalar scale;
  Dropout drop;
  const std::int32_t* key_rows;
  Softmax* kept;  // of row i and head h at i · heads + h; null where nothing is recorded

  Index stride() const { return padded(plan.max_keys); }  // from one row of scores to the next
  Index tile_size() const { return std::min(tile_rows, plan.max_queries) * stride(); }
};

// The numbers that `rows` rows of a head take where they are copied to be whole vectors.
Index copy_size(Index features, Index rows) {
  const Index width = padded(features);
  return width == features ? 0 : rows * width;
}

// Queries [first, first + rows) of a block. The last of them sees `seen` keys.
struct Tile {
  Index first, rows, seen;
};

template <class F>
void for_tiles(const Call& c, const Block& b, F&& f) {
  for (Index first = 0; first < b.L; first += tile_rows) {
    const Index rows = std::min(tile_rows, b.L - first);
    f(Tile{first, rows, b.visible(first + rows - 1, c.causal)});
  }
}

// Memory of a chunk; take() gives out the next piece.
struct Scratch {
  Scalar* next;
  Scalar* take(Index count) { return std::exchange(next, next + padded(count)); }
};

// Rows [begin, begin + count) of a head as whole vectors: in place, or a copy with zeros after its features.
Rows head_rows(ConstView m, Index begin, Index count, Span columns, Scratch& scratch,
               const std::int32_t* at = nullptr) {
  const Rows rows{m.data() + columns.begin + (at ? 0 : begin * m.cols()), m.cols(), at ? at + begin : nullptr};
  const Index width = padded(columns.size);
  if (width == columns.size) return rows;
  Scalar* copy = scratch.take(count * width);
  std::fill_n(copy, count * width, Scalar(0));
  for (Index j = 0; j < count; ++j) std::copy_n(rows[j], columns.size, copy + j * width);
  return {copy, width};
}

// The same of a result: `write` gets its rows, which are copied back after that.
template <class F>
void write_rows(View m, Index begin, Index count, Span columns, Scratch scratch, F&& write) {
  const Rows rows = head_rows(ConstView(m.data(), m.rows(), m.cols()), begin, count, columns, scratch);
  Scalar* out = const_cast<Scalar*>(rows.data);  // rows of m, or a copy of them: both can be written
  write(out, rows.stride);
  if (padded(columns.size) == columns.size) return;
  for (Index i = 0; i < count; ++i) std::copy_n(rows[i], columns.size, &m(begin + i, columns.begin));
}

// out[i, j] = scale a[first + i] · b[j], over `width` columns, for the keys that each query of the tile sees.
void tile_scores(const Call& c, const Block& b, const Tile& t, Rows queries, Rows keys, Index width, Scalar scale,
                 Scalar* out) {
  const auto seen = [&](Index i) { return b.visible(t.first + i, c.causal); };
  scores(Rows{queries[t.first], queries.stride}, keys, t.rows, seen, width, scale, out, c.stride());
}

// out[i] = Σ_j w[i, j] keys[j], or += that, over the keys that are seen, for `width` columns.
void tile_sums(const Call& c, const Block& b, const Tile& t, const Scalar* w, Rows keys, Index width, Scalar* out,
               Index out_stride, bool add) {
  for (Index i = 0; i < t.rows; i += sum_rows) {
    const Index m = std::min<Index>(sum_rows, t.rows - i), last = t.first + i + m - 1;
    weighted_sums(Weights{w + i * c.stride(), c.stride(), 1}, keys, b.visible(last, c.causal), m, width,
                  out + i * out_stride, out_stride, add);
  }
}

void forward(const Call& c, const Block& b, Scratch scratch, View y, std::vector<Matrix>* probabilities) {
  Scalar* p = scratch.take(c.tile_size());
  const Rows qs = head_rows(c.q.value(), b.query, b.L, b.key_columns, scratch),
             ks = head_rows(c.k.value(), b.key, b.S, b.key_columns, scratch, c.key_rows),
             vs = head_rows(c.v.value(), b.key, b.S, b.value_columns, scratch, c.key_rows);
  const Index d_k = padded(b.key_columns.size), d_v = padded(b.value_columns.size);
  for_tiles(c, b, [&](const Tile& t) {
    tile_scores(c, b, t, qs, ks, d_k, c.scale, p);
    for (Index i = 0; i < t.rows; ++i) {
      const Index at = t.first + i, seen = b.visible(at, c.causal);
      Scalar* row = p + i * c.stride();
      const Softmax s = softmax(row, seen, padded(t.seen));
      if (c.kept) c.kept[(b.query + at) * c.heads + b.head] = s;
      if (probabilities) std::copy_n(row, seen, (*probabilities)[b.sentence].row(b.head * b.L + at).data());
      c.drop.apply(row, b.first + at * b.step, padded(t.seen));  // zeros after `seen`
    }
    write_rows(y, b.query + t.first, t.rows, b.value_columns, scratch,
               [&](Scalar* out, Index stride) { tile_sums(c, b, t, p, vs, d_v, out, stride, /*add=*/false); });
  });
}

void backward(const Call& c, const Block& b, Scratch scratch, ConstView dy, View dq, View dk, View dv) {
  Scalar *p = scratch.take(c.tile_size()), *ds = scratch.take(c.tile_size());
  const Rows qs = head_rows(c.q.value(), b.query, b.L, b.key_columns, scratch),
             ks = head_rows(c.k.value(), b.key, b.S, b.key_columns, scratch),
             vs = head_rows(c.v.value(), b.key, b.S, b.value_columns, scratch),
             dys = head_rows(dy, b.query, b.L, b.value_columns, scratch);
  const Index d_k = padded(b.key_columns.size), d_v = padded(b.value_columns.size);
  for_tiles(c, b, [&](const Tile& t) {
    // y = (p * mask) v with p = softmax(scores)
    tile_scores(c, b, t, qs, ks, d_k, c.scale, p);
    tile_scores(c, b, t, dys, vs, d_v, 1, ds);
    for (Index i = 0; i < t.rows; ++i) {
      const Index at = t.first + i, seen = b.visible(at, c.causal), first = b.first + at * b.step;
      Scalar *row = p + i * c.stride(), *gradient = ds + i * c.stride();
      softmax_again(row, seen, padded(t.seen), c.kept[(b.query + at) * c.heads + b.head]);
      c.drop.apply(gradient, first, padded(t.seen));
      softmax_backward(row, gradient, seen, padded(t.seen), c.scale);
      c.drop.apply(row, first, padded(t.seen));
    }
    // One after the other: q, k and v may be one variable.
    const auto add_to_keys = [&](View to, Span columns, const Scalar* weights, Rows queries) {
      write_rows(to, b.key, b.S, columns, scratch, [&](Scalar* out, Index stride) {
        weighted_sums(Weights{weights, 1, c.stride()}, Rows{queries[t.first], queries.stride}, t.rows, t.seen,
                      padded(columns.size), out, stride, /*add=*/true);
      });
    };
    add_to_keys(dv, b.value_columns, p, dys);
    add_to_keys(dk, b.key_columns, ds, qs);
    write_rows(dq, b.query + t.first, t.rows, b.key_columns, scratch,
               [&](Scalar* out, Index stride) { tile_sums(c, b, t, ds, ks, d_k, out, stride, /*add=*/true); });
  });
}

}  // namespace

Var attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans, std::span<const Span> key_spans,
              const AttentionOptions& options) {
  const AttentionPlan plan = plan_attention(tape, q, k, v, query_spans, key_spans, options);
  const Index d_k = q.cols() / options.heads, d_v = v.cols() / options.heads;
  Var y = tape.variable(q.rows(), v.cols(), q.wants_gradient() || k.wants_gradient() || v.wants_gradient());
  const bool recorded = y.wants_gradient();
  WASMFORMER_CHECK(options.key_rows.empty() || !recorded, ErrorCode::attention,
                   "keys that are chosen row by row cannot be recorded");
  const Call c{.q = q,
               .k = k,
               .v = v,
               .plan = plan,
               .heads = options.heads,
               .causal = options.causal,
               .scale = options.scaled ? 1 / std::sqrt(static_cast<Scalar>(d_k)) : Scalar(1),
               .drop = Dropout(tape, options.dropout, options.heads * numbered_keys),
               .key_rows = options.key_rows.empty() ? nullptr : options.key_rows.data(),
               .kept = recorded ? tape.scratch<Softmax>(q.rows() * options.heads) : nullptr};

  // Numbers for the copies of all queries, of all keys and values, and of the results of a tile.
  const auto copies = [d_k, d_v](Index rows) { return copy_size(d_k, rows) + copy_size(d_v, rows); };
  const Index tile = c.tile_size(), tile_copy = copies(std::min(tile_rows, plan.max_queries)),
              queries = copies(plan.max_queries), keys = copies(plan.max_keys);
  const Index size = tile + queries + keys + tile_copy;
  for_blocks(tape.pool(), plan, tape.scratch<Scalar>(plan.chunks * size), size, [&](const Block& b, Scalar* memory) {
    forward(c, b, {memory}, y.mutable_value(), options.probabilities);
  });

  if (recorded) {
    tape.record(y, [=, &tape](ConstView dy) {
      View dq = tape.zeroed_gradient(c.q), dk = tape.zeroed_gradient(c.k), dv = tape.zeroed_gradient(c.v);
      const Index size = 2 * tile + queries + keys + std::max(tile_copy, keys);
      for_blocks(tape.pool(), c.plan, tape.scratch<Scalar>(c.plan.chunks * size), size,
                 [&](const Block& b, Scalar* memory) { backward(c, b, {memory}, dy, dq, dk, dv); });
    });
  }
  return y;
}

}  // namespace wasmformer
