#include "ops/embedding.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("An embedding is its row times sqrt(d_model) plus the row of its position") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Parameter table{Matrix(3, 4), {}}, positions{Matrix(2, 4), {}};
  table.value << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
  positions.value << 0.5, 0.5, 0.5, 0.5, -1, 0, 1, 2;
  Matrix expected(3, 4);
  expected << 18.5, 20.5, 22.5, 24.5, 1, 4, 7, 10, 17, 20, 23, 26;
  const std::vector<TokenId> ids{2, 0, 2};
  const std::vector<Index> at{0, 1, 1};
  CHECK(embedding(tape, ids, at, table, &positions, 0.5).value() == expected);
  Matrix unscaled(3, 4);
  unscaled << 9.5, 10.5, 11.5, 12.5, 0, 2, 4, 6, 8, 10, 12, 14;
  CHECK(embedding(tape, ids, at, table, &positions, 0.5, /*scaled=*/false).value() == unscaled);
}

TEST_CASE("Sinusoidal positions are sines in even and cosines in odd columns") {
  const Matrix p = sinusoidal_positions(200, 6);
  CHECK(shape(p) == "[200, 6]");
  CHECK(p.row(0) == (Matrix(1, 6) << 0, 1, 0, 1, 0, 1).finished());
  // 10000^(2/6) = 21.5443469, 10000^(4/6) = 464.158883
  CHECK(p(7, 0) == Catch::Approx(0.6569865987).epsilon(1e-6));
  CHECK(p(7, 1) == Catch::Approx(0.7539022543).epsilon(1e-6));
  CHECK(p(7, 2) == Catch::Approx(std::sin(7 / 21.5443469)).epsilon(1e-6));
  CHECK(p(199, 5) == Catch::Approx(std::cos(199 / 464.158883)).epsilon(1e-6));
}

TEST_CASE("Sinusoidal positions in halves are sines in the first half and cosines in the second") {
  const Matrix p = sinusoidal_halves(200, 6, 3), paper = sinusoidal_positions(200, 6);
  for (Index i = 0; i < 3; ++i) {
    CHECK((p.col(i) - paper.col(2 * i)).cwiseAbs().maxCoeff() < 1e-6);
    CHECK((p.col(3 + i) - paper.col(2 * i + 1)).cwiseAbs().maxCoeff() < 1e-6);
  }
  // Marian's: frequencies 1, 1/100 and 1/10000
  const Matrix marian = sinusoidal_halves(200, 6, 2);
  CHECK(marian(7, 0) == Catch::Approx(std::sin(7.0)).epsilon(1e-6));
  CHECK(marian(7, 1) == Catch::Approx(std::sin(0.07)).epsilon(1e-6));
  CHECK(marian(199, 2) == Catch::Approx(std::sin(0.0199)).epsilon(1e-6));
  CHECK(marian(199, 5) == Catch::Approx(std::cos(0.0199)).epsilon(1e-6));
}

TEST_CASE("Embeddings refuse tokens and positions outside their tables") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Parameter table = random_parameter(3, 4, 1), positions = random_parameter(2, 4, 2);
  const auto embed = [&](const std::vector<TokenId>& ids, const std::vector<Index>& at) {
    embedding(tape, ids, at, table, &positions, 0);
  };
  CHECK_THROWS_WITH(embed({0, 3}, {0, 1}), ContainsSubstring("token 3") && ContainsSubstring("below 3"));
  CHECK_THROWS_WITH(embed({-1}, {0}), ContainsSubstring("token -1"));
  CHECK_THROWS_WITH(embed({0}, {2}), ContainsSubstring("place 2") && ContainsSubstring("below 2"));
  CHECK_THROWS_WITH(embed({0}, {-1}), ContainsSubstring("place -1"));
  CHECK_THROWS_WITH(embed({0, 1}, {0}), ContainsSubstring("2 ids") && ContainsSubstring("1 places"));
}
