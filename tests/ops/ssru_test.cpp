#include "ops/ssru.h"

#include <catch_amalgamated.hpp>

#include "ops/ssru_reference.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;

namespace {

Matrix cells_of(const Matrix& u, const Matrix& gate, Span span) {
  const auto sentence = [&](const Matrix& m) -> Eigen::MatrixXd {
    return m.middleRows(span.begin, span.size).cast<double>();
  };
  return ssru_reference(sentence(u), sentence(gate)).cast<Scalar>();
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
