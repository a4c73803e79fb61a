#include "ops/windows.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;

TEST_CASE("Windows have the neighbors of each token of its sentence, and zeros beyond its ends") {
  ThreadPool pool(1);
  Tape tape(pool, /*recording=*/false);
  Matrix x(4, 2);
  x << 1, 2, 3, 4, 5, 6, 7, 8;
  const Spans spans{{0, 3}, {3, 1}};
  Matrix expected(4, 6);
  expected << 0, 0, 1, 2, 3, 4,  //
      1, 2, 3, 4, 5, 6,          //
      3, 4, 5, 6, 0, 0,          //
      0, 0, 7, 8, 0, 0;
  CHECK(windows(tape, tape.constant(x), spans, 3).value() == expected);
  CHECK(windows(tape, tape.constant(x), spans, 1).value() == x);
}
