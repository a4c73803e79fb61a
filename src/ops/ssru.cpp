#include "ops/ssru.h"

namespace wasmformer {
namespace {

template <class Row>
auto sigmoid(const Row& row) {
  return (1 + (-row.array()).exp()).inverse().matrix();
}

// The rows of all sentences, [n, d].
struct Rows {
  ConstView u, gate;
  View cells;
};

// Token t, whose sentence had the cell `before`, [1, d], or null at its start.
void step(Rows& rows, View y, Index t, const Scalar* before) {
  const auto u = rows.u.row(t);
  auto c = rows.cells.row(t), f = y.row(t);  // y holds the gate until it is read
  f = sigmoid(rows.gate.row(t));
  if (before)
    c = u + f.cwiseProduct(ConstView(before, 1, u.cols()).row(0) - u);
  else
    c = u - f.cwiseProduct(u);
  f = c.cwiseMax(Scalar(0));
}

void forward(Rows& rows, View y, Span sentence) {
  for (Index t = sentence.begin; t < sentence.end(); ++t)
    step(rows, y, t, t > sentence.begin ? &rows.cells(t - 1, 0) : nullptr);
}

// Sentence i of `kept`, of which `sentence` has the new tokens.
void forward(Rows& rows, View y, Span sentence, const CachedCells& kept, std::size_t i) {
  const Span whole = kept.sentences[i];
  const std::int32_t* places = &kept.rows[whole.end() - sentence.size];
  const Scalar* before = whole.size > sentence.size ? &(*kept.cells)(places[-1], 0) : nullptr;
  for (Index j = 0; j < sentence.size; ++j) {
    const Index t = sentence.begin + j;
    step(rows, y, t, before);
    kept.cells->row(places[j]) = rows.cells.row(t);
    before = &rows.cells(t, 0);
  }
}

// The gradients of a sentence, from its last token on; dc is that of a cell.
void backward(const Rows& rows, Span sentence, ConstView dy, View du, View dgate) {
  Matrix dc = Matrix::Zero(1, dy.cols()), f;
  for (Index t = sentence.end(); t-- > sentence.begin;) {
    const auto c = rows.cells.row(t);
    const auto in = rows.u.row(t);
    dc.array() += (c.array() > 0).select(dy.row(t).array(), Scalar(0));
    f = sigmoid(rows.gate.row(t));
    du.row(t).array() += dc.array() * (1 - f.array());
    const auto slope = dc.array() * f.array() * (1 - f.array());
    if (t > sentence.begin)
      dgate.row(t).array() += slope * (rows.cells.row(t - 1) - in).array();
    else
      dgate.row(t).array() -= slope * in.array();
    dc.array() *= f.array();
  }
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
    Rows rows{.u = u.value(), .gate = gate.value(), .cells = cells.mutable_value()};
    for (Index i = begin; i < end; ++i) {
      if (kept)
        forward(rows, y.mutable_value(), spans[i], *kept, static_cast<std::size_t>(i));
      else
        forward(rows, y.mutable_value(), spans[i]);
    }
  });
  if (!y.wants_gradient()) return y;
  tape.record(y, [&tape, u, gate, cells, sentence = tape.keep(spans), each_sentence](ConstView dy) mutable {
    const Rows rows{.u = u.value(), .gate = gate.value(), .cells = cells.mutable_value()};
    const View du = tape.zeroed_gradient(u), dgate = tape.zeroed_gradient(gate);
    each_sentence([&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) backward(rows, sentence[i], dy, du, dgate);
    });
  });
  return y;
}

}  // namespace wasmformer
