#include "ops/top_k.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "tests/ops/random_matrix.h"

using namespace wasmformer;

TEST_CASE("top_k finds the highest scores of a row, the smaller column first where equal") {
  const Index n = GENERATE(1, 63, 64, 65, 129, 1000), k = std::min<Index>(n, GENERATE(1, 3, 64, 1000));
  CAPTURE(n, k);
  Random random(7);
  RowVector row(n);
  std::vector<std::pair<Scalar, TokenId>> all;
  for (Index id = 0; id < n; ++id) {
    row(id) = static_cast<Scalar>(random.below(n / 2 + 1));  // many equal ones
    all.emplace_back(-row(id), static_cast<TokenId>(id));
  }
  std::sort(all.begin(), all.end());
  std::vector<TokenScore> best(static_cast<std::size_t>(k));
  top_k(row, best);
  for (std::size_t i = 0; i < best.size(); ++i) {
    CHECK(best[i].id == all[i].second);
    CHECK(best[i].score == static_cast<float>(-all[i].first));
  }
}

TEST_CASE("log_sum_exp matches the formula, also where exp overflows") {
  const Index n = GENERATE(1, 7, 16, 1000);
  const Scalar offset = GENERATE(0, 1000, -1000);
  const RowVector row = random_matrix(1, n, 1).row(0).array() * 3 + offset;
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += std::exp(static_cast<double>(row(i) - offset));
  CHECK(static_cast<double>(log_sum_exp(row, row.maxCoeff())) ==
        Catch::Approx(std::log(sum) + static_cast<double>(offset)).epsilon(1e-6).margin(1e-6));
}
