#include "ops/attention.h"

#include <cmath>

#include "ops/dropout.h"

namespace wasmformer {
namespace {

// One head of one sentence: L queries, S keys, d_k features.
struct Block {
  Index query, key, L, S, column, d_k;
  Index visible(Index i, bool causal) const { return causal ? S - L + i + 1 : S; }  // keys that query i sees
};

struct Blocks {
  std::span<const Span> query_spans, key_spans;
  Index heads, d_k;
  Index size() const { return static_cast<Index>(query_spans.size()) * heads; }
  Block operator[](Index i) const {
    const Span q = query_spans[i / heads], k = key_spans[i / heads];
    return {q.begin, k.begin, q.size, k.size, i % heads * d_k, d_k};
  }
};

void check(Var q, Var k, Var v, std::span<const Span> query_spans, std::span<const Span> key_spans,
           const AttentionOptions& options, std::span<const std::int32_t> key_rows) {
  WASMFORMER_CHECK(k.rows() == v.rows(),
                   "[attention] keys " << shape(k) << " and values " << shape(v) << " differ in rows");
  WASMFORMER_CHECK(q.cols() == k.cols() && k.cols() == v.cols(),
                   "[attention] queries " << shape(q) << ", keys " << shape(k) << " and values " << shape(v)
                                          << " differ in columns");
  WASMFORMER_CHECK(
      options.heads > 0 && q.cols() % options.heads == 0,
      "[attention] " << q.cols() << " features do not divide into " << options.heads << " heads");
  WASMFORMER_CHECK(query_spans.size() == key_spans.size(), "[attention] "
                                                               << query_spans.size() << " query spans and "
                                                               << key_spans.size() << " key spans");
  const Index keys = key_rows.empty() ? k.rows() : static_cast<Index>(key_rows.size());
  for (std::int32_t row : key_rows)
    WASMFORMER_CHECK(row >= 0 && row < k.rows(), "[attention] key row " << row << " is not below the "
                                                                        << k.rows() << " rows of the keys");
  for (std::size_t i = 0; i < query_spans.size(); ++i) {
    const Span a = query_spans[i], b = key_spans[i];
    WASMFORMER_CHECK(a.begin >= 0 && a.end() <= q.rows() && b.begin >= 0 && b.end() <= keys &&
                         b.size >= (options.causal ? a.size : Index(a.size > 0)),
                     "[attention] sentence " << i << ": queries " << a.begin << " to " << a.end()
                                             << " and keys " << b.begin << " to " << b.end()
                                             << " do not fit");
  }
}

}  // namespace

Var attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans,
              std::span<const Span> key_spans, const AttentionOptions& options,
              std::vector<Matrix>* probabilities, std::span<const std::int32_t> key_rows) {
  check(q, k, v, query_spans, key_spans, options, key_rows);
  const Index d = q.cols(), d_k = d / options.heads;
  const Scalar scale = 1 / std::sqrt(static_cast<Scalar>(d_k));
  const bool causal = options.causal;
  const Dropout drop(tape, options.dropout);
  const Blocks blocks{tape.keep(query_spans), tape.keep(key_spans), options.heads, d_k};
  Var y = tape.variable(q.rows(), d, q.wants_gradient() || k.wants_gradient() || v.wants_gradient());
  WASMFORMER_CHECK(key_rows.empty() || !y.wants_gradient(),
                   "[attention] keys that are chosen row by row cannot be recorded");
  const auto key_row = [&](Index j) { return key_rows.empty() ? j : Index{key_rows[j]}; };

  // first[i]: where the [L, S] probabilities of block i begin.
  Index* first = tape.scratch<Index>(blocks.size() + 1);
  first[0] = 0;
  for (Index i = 0; i < blocks.size(); ++i) first[i + 1] = first[i] + blocks[i].L * blocks[i].S;
  Scalar* p = tape.scratch<Scalar>(first[blocks.size()]);

  constexpr Index blocks_per_chunk = 32;
  tape.pool().parallel_for(blocks.size(), blocks_per_chunk, [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const Block b = blocks[n];
      for (Index i = 0; i < b.L; ++i) {
        const auto qi = q.value().row(b.query + i).segment(b.column, d_k);
        auto yi = y.mutable_value().row(b.query + i).segment(b.column, d_k);
        const Index seen = b.visible(i, causal), at = first[n] + i * b.S;
        Eigen::Map<RowVector> row(p + at, b.S);
        for (Index j = 0; j < seen; ++j)
          row(j) = qi.dot(k.value().row(key_row(b.key + j)).segment(b.column, d_k)) * scale;
        auto open = row.head(seen).array();
        open = (open - open.maxCoeff()).exp();
        open *= 1 / open.sum();
        row.tail(b.S - seen).setZero();
        yi.setZero();
        for (Index j = 0; j < seen; ++j)
          yi += (drop ? row(j) * drop(at + j) : row(j)) *
                v.value().row(key_row(b.key + j)).segment(b.column, d_k);
      }
    }
  });

  if (probabilities) {
    probabilities->clear();
    for (Index n = 0; n < blocks.size(); n += options.heads)
      probabilities->push_back(ConstView(p + first[n], options.heads * blocks[n].L, blocks[n].S));
  }

  if (y.wants_gradient()) {
    tape.record(y, [=, &tape](ConstView dy) {
      // y = (p * mask) v with p = softmax(q kᵀ scale)
      View dq = tape.zeroed_gradient(q), dk = tape.zeroed_gradient(k), dv = tape.zeroed_gradient(v);
      tape.pool().parallel_for(blocks.size(), blocks_per_chunk, [&](Index begin, Index end) {
        RowVector ds;
        for (Index n = begin; n < end; ++n) {
          const Block b = blocks[n];
          auto dkn = dk.block(b.key, b.column, b.S, d_k), dvn = dv.block(b.key, b.column, b.S, d_k);
          const auto kn = k.value().block(b.key, b.column, b.S, d_k),
                     vn = v.value().block(b.key, b.column, b.S, d_k);
          for (Index i = 0; i < b.L; ++i) {
            const auto qi = q.value().row(b.query + i).segment(b.column, d_k);
            const auto dyi = dy.row(b.query + i).segment(b.column, d_k);
            auto dqi = dq.row(b.query + i).segment(b.column, d_k);
            const Index seen = b.visible(i, causal), at = first[n] + i * b.S;
            const Eigen::Map<const RowVector> row(p + at, seen);
            ds.resize(seen);
            for (Index j = 0; j < seen; ++j) {
              const Scalar mask = drop ? drop(at + j) : Scalar(1);
              ds(j) = dyi.dot(vn.row(j)) * mask;
              dvn.row(j) += row(j) * mask * dyi;
            }
            // softmax: ds = p (dp - Σ dp p)
            ds.array() = row.array() * (ds.array() - ds.dot(row)) * scale;
            for (Index j = 0; j < seen; ++j) {
              dqi += ds(j) * kn.row(j);
              dkn.row(j) += ds(j) * qi;
            }
          }
        }
      });
    });
  }
  return y;
}

}  // namespace wasmformer
