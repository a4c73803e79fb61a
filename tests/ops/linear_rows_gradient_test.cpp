#include "ops/linear_rows.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of some rows of linear match central differences, and the other rows have none") {
  struct Sizes {
    Index n, in, out;
    std::vector<TokenId> rows;
  };
  std::vector<TokenId> many;  // above the chunks that threads share out
  for (TokenId row = 0; row < 300; row += 2) many.push_back(row);
  const Sizes sizes = GENERATE_COPY(Sizes{0, 3, 2, {1}}, Sizes{1, 1, 1, {0}}, Sizes{3, 5, 7, {6, 2, 3}},
                                    Sizes{3, 5, 7, {}}, Sizes{210, 67, 300, many});
  const bool with_bias = GENERATE(true, false);
  CAPTURE(sizes.n, sizes.in, sizes.out, with_bias);
  Parameter weight = random_parameter(sizes.out, sizes.in, 1), bias = random_parameter(1, sizes.out, 2);
  const Matrix offsets = random_matrix(1, static_cast<Index>(sizes.rows.size()), 4);
  std::vector<Parameter*> parameters{&weight};
  if (with_bias) parameters.push_back(&bias);
  check_gradients({random_matrix(sizes.n, sizes.in, 3)}, parameters, [&](Tape& tape, const std::vector<Var>& x) {
    return linear_rows(tape, x[0], weight, with_bias ? &bias : nullptr, sizes.rows,
                       {offsets.data(), sizes.rows.size()});
  });
}
