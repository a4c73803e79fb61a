#include "ops/residual_sum.h"
#include "tests/ops/central_differences.h"
#include "tests/ops/sum.h"

using namespace wasmformer;

TEST_CASE("The gradients of residual_sum match central differences") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 2}, Sizes{3, 5}, Sizes{140, 129});
  const double dropout = GENERATE(0.0, 0.3);
  CAPTURE(n, d, dropout);
  const Matrix x = random_matrix(n, d, 3), y = random_matrix(n, d, 4);
  SECTION("of both summands, which have other uses") {
    check_gradients({x, y}, {}, [&](Tape& tape, const std::vector<Var>& in) {
      const Var result = residual_sum(tape, in[0], in[1], dropout);
      return sum(tape, sum(tape, result, in[0]), in[1]);
    });
  }
  SECTION("of one that is both summands") {
    check_gradients({x}, {},
                    [&](Tape& tape, const std::vector<Var>& in) { return residual_sum(tape, in[0], in[0], dropout); });
  }
  SECTION("without the first") {
    check_gradients({y}, {}, [&](Tape& tape, const std::vector<Var>& in) {
      return residual_sum(tape, std::nullopt, in[0], dropout);
    });
  }
}
