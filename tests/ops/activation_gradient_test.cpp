#include "ops/activation.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of the activations are those of central differences") {
  const auto kind = GENERATE(Activation::relu, Activation::gelu, Activation::swish);
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 1}, Sizes{7, 5}, Sizes{130, 129});
  const double dropout = GENERATE(0.0, 0.3);
  CAPTURE(static_cast<int>(kind), n, d, dropout);
  // Wide enough for both flat ends of the curves.
  check_gradients({random_matrix(n, d, 3) * 6}, {}, [&](Tape& tape, const std::vector<Var>& x) {
    return activation(tape, x[0], kind, dropout);
  });
}
