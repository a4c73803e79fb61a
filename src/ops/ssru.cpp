#include "ops/ssru.h"

namespace wasmformer {
namespace {

template <class Row>
auto sigmoid(const Row& row) {
  return (1 + (-row.array()).exp()).inverse().matrix();
}

}  // namespace

Var ssru(Tape& tape, Var u, Var gate, std::span<const Span> spans, const CachedCells* kept) {
  WASMFORMER_CHECK(u.rows() == gate.rows() && u.cols() == gate.cols(), ErrorCode::ssru,
                   "inputs " << shape(u) << " and gates " << shape(gate) << " differ");
  const Index n = u.rows(), d = u.cols(), sentences = static_cast<Index>(spans.size());
  Var y = tape.variable(n, d, u.wants_gradient() || gate.wants_gradient());
  Var cells = tape.variable(n, d, /*wants_gradient=*/false);
  const auto each_sentence = [&tape, d, sentences](auto&& body) {
    constexpr Index elements_per_chunk = 4096;
    tape.pool().parallel_for(sentences, std::max<Index>(1, elements_per_chunk / d), body);
  };
  each_sentence([&](Index begin, Index end) {
    View c = cells.mutable_value(), f = y.mutable_value();
    const ConstView in = u.value();
    for (Index i = begin; i < end; ++i) {
      const std::int32_t* rows = kept ? &kept->rows[kept->sentences[i].end() - spans[i].size] : nullptr;
      const bool goes_on = kept && kept->sentences[i].size > spans[i].size;
      for (Index j = 0; j < spans[i].size; ++j) {
        const Index t = spans[i].begin + j;
        f.row(t) = sigmoid(gate.value().row(t));
        if (j > 0)
          c.row(t) = in.row(t) + f.row(t).cwiseProduct(c.row(t - 1) - in.row(t));
        else if (goes_on)
          c.row(t) = in.row(t) + f.row(t).cwiseProduct(kept->cells->row(rows[-1]) - in.row(t));
        else
          c.row(t) = in.row(t) - f.row(t).cwiseProduct(in.row(t));
        if (kept) kept->cells->row(rows[j]) = c.row(t);
        f.row(t) = c.row(t).cwiseMax(Scalar(0));
      }
    }
  });
  if (!y.wants_gradient()) return y;
  tape.record(y, [&tape, u, gate, cells, sentence = tape.keep(spans), each_sentence](ConstView upstream) {
    View du = tape.zeroed_gradient(u), dgate = tape.zeroed_gradient(gate);
    each_sentence([&](Index begin, Index end) {
      Matrix dc, f;
      for (Index i = begin; i < end; ++i) {
        dc.setZero(1, u.cols());
        for (Index t = sentence[i].end(); t-- > sentence[i].begin;) {
          const auto c = cells.value().row(t), in = u.value().row(t);
          dc.array() += (c.array() > 0).select(upstream.row(t).array(), Scalar(0));
          f = sigmoid(gate.value().row(t));
          du.row(t).array() += dc.array() * (1 - f.array());
          const auto slope = dc.array() * f.array() * (1 - f.array());
          if (t > sentence[i].begin)
            dgate.row(t).array() += slope * (cells.value().row(t - 1) - in).array();
          else
            dgate.row(t).array() -= slope * in.array();
          dc.array() *= f.array();
        }
      }
    });
  });
  return y;
}

}  // namespace wasmformer
