#include "ops/embedding.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

namespace {

struct Tokens {
  std::vector<TokenId> ids;
  std::vector<Index> at;
};

Tokens tokens(Index n, Index vocabulary, Index length) {
  Random random(5);
  Tokens t;
  for (Index i = 0; i < n; ++i) {
    t.ids.push_back(static_cast<TokenId>(random.below(vocabulary)));
    t.at.push_back(random.below(length));
  }
  return t;
}

}  // namespace

TEST_CASE("The gradients of embeddings match central differences") {
  struct Sizes {
    Index n, vocabulary, length, d;
  };
  // Tokens and places repeat; the last has more columns than one thread takes.
  const auto [n, vocabulary, length, d] =
      GENERATE(Sizes{0, 3, 2, 4}, Sizes{1, 1, 1, 1}, Sizes{9, 4, 3, 5}, Sizes{140, 11, 7, 130});
  const double dropout = GENERATE(0.0, 0.3);
  CAPTURE(n, vocabulary, length, d, dropout);
  const Tokens t = tokens(n, vocabulary, length);
  Parameter table = random_parameter(vocabulary, d, 1);

  SECTION("with learned positions") {
    Parameter positions = random_parameter(length, d, 2);
    check_gradients({}, {&table, &positions}, [&](Tape& tape, const std::vector<Var>&) {
      return embedding(tape, t.ids, t.at, table, &positions, dropout);
    });
  }
  SECTION("with sinusoidal positions, and without scale") {
    Parameter positions{sinusoidal_positions(length, d), {}};
    check_gradients({}, {&table}, [&](Tape& tape, const std::vector<Var>&) {
      return embedding(tape, t.ids, t.at, table, &positions, dropout, /*scaled=*/false);
    });
    CHECK(positions.gradient.size() == 0);
  }
}
