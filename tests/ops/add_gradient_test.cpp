#include "ops/add.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of add are those of central differences") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 1}, Sizes{3, 5}, Sizes{130, 129});
  const double dropout = GENERATE(0.0, 0.3);
  CAPTURE(n, d, dropout);
  const Matrix x = random_matrix(n, d, 1), y = random_matrix(n, d, 2);

  SECTION("of two inputs") {
    check_gradients({x, y}, {},
                    [&](Tape& tape, const std::vector<Var>& in) { return add(tape, in[0], in[1], dropout); });
  }
  SECTION("of an input and itself") {
    check_gradients({x}, {},
                    [&](Tape& tape, const std::vector<Var>& in) { return add(tape, in[0], in[0], dropout); });
  }
  SECTION("in a chain, where each input has two uses") {
    check_gradients({x, y}, {}, [&](Tape& tape, const std::vector<Var>& in) {
      return add(tape, add(tape, in[0], in[1], dropout), in[1], dropout);
    });
  }
}
