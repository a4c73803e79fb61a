#include "ops/additive_attention.h"

#include "ops/attention_blocks.h"
#include "ops/attention_kernels.h"
#include "ops/dropout.h"

namespace wasmformer {
namespace {

using attention_kernels::padded;
using Block = AttentionBlock;
using Vector = simd::Vector<Scalar>;

// One call, as forward and backward read it.
struct Call {
  Var q, k, v;
  const Parameter* w;
  AttentionPlan plan;
  bool causal;
  Dropout drop;
  const std::int32_t* key_rows;

  Index key(const Block& b, Index j) const { return key_rows ? key_rows[b.key + j] : b.key + j; }
};

// p[0, S) of query i, with zeros for keys that it does not see.
void probabilities_of(const Call& c, const Block& b, Index i, Scalar* p) {
  const Index seen = b.visible(i, c.causal);
  const auto [column, d_k] = b.key_columns;
  const Scalar *q = &c.q.value()(b.query + i, column), *w = &c.w->value(0, column);
  for (Index j = 0; j < seen; ++j) {
    const Scalar* k = &c.k.value()(c.key(b, j), column);
    Vector sum{};
    simd::each_vector<Scalar>(d_k, [&](Index a, auto count) {
      const Vector t = simd::tanh(simd::load(q + a, count) + simd::load(k + a, count));
      sum = simd::multiply_add(simd::load(w + a, count), t, sum);
    });
    p[j] = simd::reduce<Scalar>(sum, std::plus<>{});
  }
  attention_kernels::softmax(p, seen, padded(b.S));
}

void forward(const Call& c, const Block& b, Scalar* p, View y, std::vector<Matrix>* probabilities) {
  const auto [column, d_v] = b.value_columns;
  for (Index i = 0; i < b.L; ++i) {
    probabilities_of(c, b, i, p);
    if (probabilities) std::copy_n(p, b.S, (*probabilities)[b.sentence].row(b.head * b.L + i).data());
    c.drop.apply(p, b.first + i * b.step, b.S);
    auto out = y.row(b.query + i).segment(column, d_v);
    out.setZero();
    for (Index j = 0, seen = b.visible(i, c.causal); j < seen; ++j)
      out += p[j] * c.v.value().row(c.key(b, j)).segment(column, d_v);
  }
}

// p, ds: memory for S numbers each, as whole vectors; dw: the gradient of all of w.
void backward(const Call& c, const Block& b, Scalar* p, Scalar* ds, ConstView dy, View dq, View dk, View dv,
              Scalar* dw) {
  const auto add = [](Scalar* sum, Vector x, auto count) { simd::store(sum, simd::load(sum, count) + x, count); };
  const Index column = b.key_columns.begin;
  const auto head = [&](auto& m, Index r) { return m.row(r).segment(b.value_columns.begin, b.value_columns.size); };
  for (Index i = 0; i < b.L; ++i) {
    const Index seen = b.visible(i, c.causal), first = b.first + i * b.step, row = b.query + i;
    // y = (p * mask) v with p = softmax(s)
    probabilities_of(c, b, i, p);
    const ConstView v = c.v.value();
    for (Index j = 0; j < padded(b.S); ++j) ds[j] = j < seen ? head(dy, row).dot(head(v, b.key + j)) : Scalar(0);
    c.drop.apply(ds, first, b.S);
    attention_kernels::softmax_backward(p, ds, seen, padded(b.S), 1);
    c.drop.apply(p, first, b.S);
    for (Index j = 0; j < seen; ++j) head(dv, b.key + j) += p[j] * head(dy, row);
    // s = w · t with t = tanh(q + k)
    for (Index j = 0; j < seen; ++j) {
      const Scalar *q = &c.q.value()(row, column), *k = &c.k.value()(b.key + j, column), *w = &c.w->value(0, column);
      simd::each_vector<Scalar>(b.key_columns.size, [&](Index a, auto count) {
        const Vector t = simd::tanh(simd::load(q + a, count) + simd::load(k + a, count)), d = simd::splat(ds[j]);
        const Vector inner = d * simd::load(w + a, count) * (1 - t * t);
        add(&dq(row, column + a), inner, count);
        add(&dk(b.key + j, column + a), inner, count);
        add(dw + column + a, d * t, count);
      });
    }
  }
}

}  // namespace

Var additive_attention(Tape& tape, Var q, Var k, Var v, const Parameter& w, std::span<const Span> query_spans,
                       std::span<const Span> key_spans, const AttentionOptions& options) {
  const AttentionPlan plan = plan_attention(tape, q, k, v, query_spans, key_spans, options);
  const Index d = q.cols();
  WASMFORMER_CHECK(w.rows == 1 && w.cols == d, ErrorCode::attention,
                   "additive scores of " << d << " features need weights [1, " << d << "], not [" << w.rows << ", "
                                         << w.cols << "]");
  const bool wanted = q.wants_gradient() || k.wants_gradient() || v.wants_gradient() || w.wants_gradient();
  Var y = tape.variable(q.rows(), v.cols(), wanted);
  WASMFORMER_CHECK(options.key_rows.empty() || !y.wants_gradient(), ErrorCode::attention,
                   "keys that are chosen row by row cannot be recorded");
  const Call c{.q = q,
               .k = k,
               .v = v,
               .w = &w,
               .plan = plan,
               .causal = options.causal,
               .drop = Dropout(tape, options.dropout, options.heads * numbered_keys),
               .key_rows = options.key_rows.empty() ? nullptr : options.key_rows.data()};
  const Index row = padded(plan.max_keys);
  for_blocks(tape.pool(), plan, tape.scratch<Scalar>(plan.chunks * row), row,
             [&](const Block& b, Scalar* p) { forward(c, b, p, y.mutable_value(), options.probabilities); });

  if (y.wants_gradient()) {
    tape.record(y, [=, &tape](ConstView dy) {
      View dq = tape.zeroed_gradient(c.q), dk = tape.zeroed_gradient(c.k), dv = tape.zeroed_gradient(c.v);
      // Each chunk sums its own gradient of w, after its two rows.
      const Index size = 2 * row + d;
      View memory(tape.scratch<Scalar>(c.plan.chunks * size), c.plan.chunks, size);
      memory.setZero();
      for_blocks(tape.pool(), c.plan, memory.data(), size,
                 [&](const Block& b, Scalar* p) { backward(c, b, p, p + row, dy, dq, dk, dv, p + 2 * row); });
      if (c.w->wants_gradient()) c.w->gradient += memory.rightCols(d).colwise().sum();
    });
  }
  return y;
}

}  // namespace wasmformer
