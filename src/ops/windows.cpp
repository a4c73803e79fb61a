#include "ops/windows.h"

#include <algorithm>

namespace wasmformer {
namespace {

// Calls f(t, from, k): row t of a window has row `from` of the sentence as its part k.
template <class F>
void for_parts(Span sentence, Index width, F f) {
  const Index radius = (width - 1) / 2;
  for (Index t = sentence.begin; t < sentence.end(); ++t)
    for (Index k = 0; k < width; ++k) {
      const Index from = t + k - radius;
      if (from >= sentence.begin && from < sentence.end()) f(t, from, k);
    }
}

}  // namespace

Var windows(Tape& tape, Var x, std::span<const Span> spans, Index width) {
  const Index d = x.cols(), sentences = static_cast<Index>(spans.size());
  Var y = tape.variable(x.rows(), width * d, x.wants_gradient());
  y.mutable_value().setZero();
  for (const Span sentence : spans)
    for_parts(sentence, width,
              [&](Index t, Index from, Index k) { std::copy_n(&x.value()(from, 0), d, &y.mutable_value()(t, k * d)); });
  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, kept = tape.keep(spans), sentences, width, d](ConstView dy) {
      View dx = tape.zeroed_gradient(x);
      for (Index i = 0; i < sentences; ++i)
        for_parts(kept[i], width, [&](Index t, Index from, Index k) {
          for (Index j = 0; j < d; ++j) dx(from, j) += dy(t, k * d + j);
        });
    });
  }
  return y;
}

}  // namespace wasmformer
