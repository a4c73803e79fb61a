#include "autograd/arena.h"

#include <catch_amalgamated.hpp>
#include <cstring>

using namespace wasmformer;

TEST_CASE("Pieces of any size are aligned and do not overlap") {
  Arena arena;
  std::vector<std::pair<char*, Index>> pieces;
  for (Index size : {0, 1, 63, 64, 65, 1 << 20, 3, (1 << 20) + 1, 5 << 20, 7}) {
    char* piece = arena.take<char>(size);
    CHECK(reinterpret_cast<std::uintptr_t>(piece) % 64 == 0);
    std::memset(piece, static_cast<int>(pieces.size()), static_cast<std::size_t>(size));
    pieces.emplace_back(piece, size);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (Index j = 0; j < pieces[i].second; ++j)
      if (pieces[i].first[j] != static_cast<char>(i)) FAIL("piece " << i << " was written over");
}

TEST_CASE("Reset keeps as much memory as the largest step so far needed") {
  Arena arena;
  const auto step = [&](Index pieces) {
    for (Index i = 0; i < pieces; ++i) arena.take<double>(100000);
    const std::size_t bytes = arena.bytes();
    arena.reset();
    return bytes;
  };
  const std::size_t first = step(20);
  CHECK(first >= 20 * 100000 * sizeof(double));
  CHECK(step(20) == first);
  CHECK(step(1) == first);
  CHECK(step(20) == first);
  CHECK(step(40) > first);
}

TEST_CASE("Steps with slightly different piece sizes share their memory") {
  Arena arena;
  const auto step = [&](Index extra) {
    for (Index i = 0; i < 30; ++i) arena.take<char>((i % 3 == 0 ? 6'000'000 : 700'000) + extra);
    arena.reset();
    return arena.bytes();
  };
  const std::size_t first = step(0);
  for (Index i = 1; i < 20; ++i) step(i * 1000);
  CHECK(arena.bytes() < 2 * first);
}
