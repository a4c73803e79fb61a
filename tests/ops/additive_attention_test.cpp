#include "ops/additive_attention.h"

#include <catch_amalgamated.hpp>

#include "tests/ops/attend.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

// Its formula, its gradients and rows of a cache: attention_test.cpp and attention_gradient_test.cpp.
TEST_CASE("Additive attention weighs the values by w tanh(q + k)") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix q = (Matrix(1, 2) << 0.5, -1).finished(), k = (Matrix(2, 2) << 0, 1, 2, -1).finished(),
               v = (Matrix(2, 2) << 10, 20, 30, 40).finished();
  Parameter w{(Matrix(1, 2) << 1, 2).finished()};
  Var y = additive_attention(tape, tape.constant(q), tape.constant(k), tape.constant(v), w, spans_of({1}),
                             spans_of({2}), {});
  // Scores tanh(0.5) + 2 tanh(0) = 0.46212 and tanh(2.5) + 2 tanh(-2) = -0.94144: probabilities 0.80274,
  // 0.19726.
  CHECK(y.value()(0, 0) == Catch::Approx(13.94504).epsilon(1e-5));
  CHECK(y.value()(0, 1) == Catch::Approx(23.94504).epsilon(1e-5));
}

TEST_CASE("Additive attention refuses weights of the wrong size, and to record chosen rows") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  const Matrix x = random_matrix(2, 4, 1);
  const auto attend = [&](Parameter w, const std::vector<std::int32_t>& rows) {
    Var v = tape.constant(x);
    additive_attention(tape, v, v, v, w, spans_of({2}), spans_of({2}), {.heads = 2, .key_rows = rows});
  };
  CHECK_NOTHROW(attend(Parameter(random_matrix(1, 4, 2)), {}));
  CHECK_THROWS_WITH(attend(Parameter(random_matrix(1, 3, 2)), {}),
                    ContainsSubstring("[1, 4]") && ContainsSubstring("[1, 3]"));
  CHECK_THROWS_WITH(attend(random_parameter(1, 4, 2), {0, 1}), ContainsSubstring("recorded"));
}
