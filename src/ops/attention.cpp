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
  Index heads, d_k;
  bool causal;
  Scalar scale;
  Dropout drop;
  const std::int32_t* key_rows;
  Softmax* kept;  // of row i and head h at i · heads + h; null where nothing is recorded

  Index width() const { return padded(d_k); }
  Index stride() const { return padded(plan.max_keys); }  // from one row of scores to the next
  Index tile_size() const { return std::min(tile_rows, plan.max_queries) * stride(); }
  Index copy_size(Index rows) const { return width() == d_k ? 0 : rows * width(); }
};

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

// Rows [begin, begin + count) of a head as whole vectors: in place, or a copy with zeros after d_k features.
Rows head_rows(const Call& c, ConstView m, Index begin, Index count, Index column, Scratch& scratch,
               const std::int32_t* at = nullptr) {
  const Rows rows{m.data() + column + (at ? 0 : begin * m.cols()), m.cols(), at ? at + begin : nullptr};
  const Index width = c.width();
  if (width == c.d_k) return rows;
  Scalar* copy = scratch.take(count * width);
  std::fill_n(copy, count * width, Scalar(0));
  for (Index j = 0; j < count; ++j) std::copy_n(rows[j], c.d_k, copy + j * width);
  return {copy, width};
}

// The same of a result: `write` gets its rows, which are copied back after that.
template <class F>
void write_rows(const Call& c, View m, Index begin, Index count, Index column, Scratch scratch, F&& write) {
  const Rows rows = head_rows(c, ConstView(m.data(), m.rows(), m.cols()), begin, count, column, scratch);
  Scalar* out = const_cast<Scalar*>(rows.data);  // rows of m, or a copy of them: both can be written
  write(out, rows.stride);
  if (c.width() == c.d_k) return;
  for (Index i = 0; i < count; ++i) std::copy_n(rows[i], c.d_k, &m(begin + i, column));
}

// out[i, j] = scale a[first + i] · b[j] for the keys that each query of the tile sees.
void tile_scores(const Call& c, const Block& b, const Tile& t, Rows queries, Rows keys, Scalar scale, Scalar* out) {
  const auto seen = [&](Index i) { return b.visible(t.first + i, c.causal); };
  scores(Rows{queries[t.first], queries.stride}, keys, t.rows, seen, c.width(), scale, out, c.stride());
}

// out[i] = Σ_j w[i, j] keys[j], or += that, over the keys that are seen.
void tile_sums(const Call& c, const Block& b, const Tile& t, const Scalar* w, Rows keys, Scalar* out, Index out_stride,
               bool add) {
  for (Index i = 0; i < t.rows; i += sum_rows) {
    const Index m = std::min<Index>(sum_rows, t.rows - i), last = t.first + i + m - 1;
    weighted_sums(Weights{w + i * c.stride(), c.stride(), 1}, keys, b.visible(last, c.causal), m, c.width(),
                  out + i * out_stride, out_stride, add);
  }
}

void forward(const Call& c, const Block& b, Scratch scratch, View y, std::vector<Matrix>* probabilities) {
  Scalar* p = scratch.take(c.tile_size());
  const Rows qs = head_rows(c, c.q.value(), b.query, b.L, b.column, scratch),
             ks = head_rows(c, c.k.value(), b.key, b.S, b.column, scratch, c.key_rows),
             vs = head_rows(c, c.v.value(), b.key, b.S, b.column, scratch, c.key_rows);
  for_tiles(c, b, [&](const Tile& t) {
    tile_scores(c, b, t, qs, ks, c.scale, p);
    for (Index i = 0; i < t.rows; ++i) {
      const Index at = t.first + i, seen = b.visible(at, c.causal);
      Scalar* row = p + i * c.stride();
      const Softmax s = softmax(row, seen, padded(t.seen));
      if (c.kept) c.kept[(b.query + at) * c.heads + b.head] = s;
      if (probabilities) std::copy_n(row, seen, (*probabilities)[b.sentence].row(b.head * b.L + at).data());
      c.drop.apply(row, b.first + at * b.step, padded(t.seen));  // zeros after `seen`
    }
    write_rows(c, y, b.query + t.first, t.rows, b.column, scratch,
               [&](Scalar* out, Index stride) { tile_sums(c, b, t, p, vs, out, stride, /*add=*/false); });
  });
}

void backward(const Call& c, const Block& b, Scratch scratch, ConstView dy, View dq, View dk, View dv) {
  Scalar *p = scratch.take(c.tile_size()), *ds = scratch.take(c.tile_size());
  const Rows qs = head_rows(c, c.q.value(), b.query, b.L, b.column, scratch),
             ks = head_rows(c, c.k.value(), b.key, b.S, b.column, scratch),
             vs = head_rows(c, c.v.value(), b.key, b.S, b.column, scratch),
             dys = head_rows(c, dy, b.query, b.L, b.column, scratch);
  for_tiles(c, b, [&](const Tile& t) {
    // y = (p * mask) v with p = softmax(scores)
    tile_scores(c, b, t, qs, ks, c.scale, p);
    tile_scores(c, b, t, dys, vs, 1, ds);
    for (Index i = 0; i < t.rows; ++i) {
      const Index at = t.first + i, seen = b.visible(at, c.causal), first = b.first + at * b.step;
      Scalar *row = p + i * c.stride(), *gradient = ds + i * c.stride();
      softmax_again(row, seen, padded(t.seen), c.kept[(b.query + at) * c.heads + b.head]);
      c.drop.apply(gradient, first, padded(t.seen));
      softmax_backward(row, gradient, seen, padded(t.seen), c.scale);
      c.drop.apply(row, first, padded(t.seen));
    }
    // One after the other: q, k and v may be one variable.
    const auto add_to_keys = [&](View to, const Scalar* weights, Rows queries) {
      write_rows(c, to, b.key, b.S, b.column, scratch, [&](Scalar* out, Index stride) {
        weighted_sums(Weights{weights, 1, c.stride()}, Rows{queries[t.first], queries.stride}, t.rows, t.seen,
                      c.width(), out, stride, /*add=*/true);
      });
    };
    add_to_keys(dv, p, dys);
    add_to_keys(dk, ds, qs);
    write_rows(c, dq, b.query + t.first, t.rows, b.column, scratch,
               [&](Scalar* out, Index stride) { tile_sums(c, b, t, ds, ks, out, stride, /*add=*/true); });
  });
}

}  // namespace

Var attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans, std::span<const Span> key_spans,
              const AttentionOptions& options) {
  const AttentionPlan plan = plan_attention(tape, q, k, v, query_spans, key_spans, options);
  const Index d = q.cols(), d_k = d / options.heads;
  Var y = tape.variable(q.rows(), d, q.wants_gradient() || k.wants_gradient() || v.wants_gradient());
  const bool recorded = y.wants_gradient();
  WASMFORMER_CHECK(options.key_rows.empty() || !recorded, ErrorCode::attention,
                   "keys that are chosen row by row cannot be recorded");
  const Call c{.q = q,
               .k = k,
               .v = v,
               .plan = plan,
               .heads = options.heads,
               .d_k = d_k,
               .causal = options.causal,
               .scale = options.scaled ? 1 / std::sqrt(static_cast<Scalar>(d_k)) : Scalar(1),
               .drop = Dropout(tape, options.dropout, options.heads * numbered_keys),
               .key_rows = options.key_rows.empty() ? nullptr : options.key_rows.data(),
               .kept = recorded ? tape.scratch<Softmax>(q.rows() * options.heads) : nullptr};

  const Index tile = c.tile_size(), tile_copy = c.copy_size(std::min(tile_rows, plan.max_queries)),
              queries = c.copy_size(plan.max_queries), keys = c.copy_size(plan.max_keys);
  const Index size = tile + queries + 2 * keys + tile_copy;
  for_blocks(tape.pool(), plan, tape.scratch<Scalar>(plan.chunks * size), size, [&](const Block& b, Scalar* memory) {
    forward(c, b, {memory}, y.mutable_value(), options.probabilities);
  });

  if (recorded) {
    tape.record(y, [=, &tape](ConstView dy) {
      View dq = tape.zeroed_gradient(c.q), dk = tape.zeroed_gradient(c.k), dv = tape.zeroed_gradient(c.v);
      const Index size = 2 * (tile + queries + keys) + std::max(tile_copy, keys);
      for_blocks(tape.pool(), c.plan, tape.scratch<Scalar>(c.plan.chunks * size), size,
                 [&](const Block& b, Scalar* memory) { backward(c, b, {memory}, dy, dq, dk, dv); });
    });
  }
  return y;
}

}  // namespace wasmformer
