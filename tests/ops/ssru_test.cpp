#include "ops/ssru.h"

#include <catch_amalgamated.hpp>

#include "tests/ops/random_matrix.h"

using namespace wasmformer;

namespace {

Matrix cells_of(const Matrix& u, const Matrix& gate, Span span) {  // the definition, one number after the other
  Matrix relu(span.size, u.cols());
  for (Index column = 0; column < u.cols(); ++column) {
    double c = 0;
    for (Index t = 0; t < span.size; ++t) {
      const double f = 1 / (1 + std::exp(-static_cast<double>(gate(span.begin + t, column))));
      c = f * c + (1 - f) * u(span.begin + t, column);
      relu(t, column) = static_cast<Scalar>(std::max(c, 0.0));
    }
  }
  return relu;
}

}  // namespace

TEST_CASE("The recurrent unit matches its definition for each sentence, in one pass or token by token") {
  ThreadPool pool(2);
  const Matrix u = random_matrix(7, 5, 1), gate = random_matrix(7, 5, 2);
  const Spans spans{{0, 3}, {3, 4}};
  Tape tape(pool, /*recording=*/false);
  const Var y = ssru(tape, tape.constant(u), tape.constant(gate), spans);
  for (const Span& span : spans)
    CHECK((y.value().middleRows(span.begin, span.size) - cells_of(u, gate, span)).cwiseAbs().maxCoeff() < 1e-6);

  // The second sentence: two tokens, then one after the other, kept in rows 5, 2, 0, 3.
  Matrix kept = Matrix::Constant(6, 5, 9);
  const std::vector<std::int32_t> rows{5, 2, 0, 3};
  Index known = 0;
  for (const Index size : {2, 1, 1}) {
    const Matrix part = u.middleRows(3 + known, size), part_gate = gate.middleRows(3 + known, size);
    const Spans part_spans{{0, size}};
    known += size;
    const Spans sentences{{0, known}};
    const CachedCells cells{&kept, sentences, rows};
    const Var z = ssru(tape, tape.constant(part), tape.constant(part_gate), part_spans, &cells);
    CHECK((z.value() - y.value().middleRows(3 + known - size, size)).cwiseAbs().maxCoeff() < 1e-6);
  }
}
