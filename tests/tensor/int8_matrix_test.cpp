#include "tensor/int8_matrix.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;

TEST_CASE("Weights are rounded to 127 steps of their row's largest magnitude") {
  Matrix weights(3, 4);
  weights << 127, -127, 63.4, 0.6, -2.54, 1.27, 0.01, 0, 0, 0, 0, 0;
  const Int8Matrix small = quantize(ConstView(weights.data(), 3, 4));
  CHECK(small.values == std::vector<std::int8_t>{127, -127, 63, 1, -127, 64, 1, 0, 0, 0, 0, 0});
  CHECK(small.scales[0] == 1);
  CHECK(small.scales[1] == Catch::Approx(0.02));
  CHECK(small.scales[2] == 0);
  const Matrix back = dequantize(small);
  CHECK(back(0, 2) == 63);
  CHECK(back(1, 0) == Catch::Approx(-2.54));
  CHECK(back.row(2).isZero());
}

TEST_CASE("An empty matrix is quantized to an empty one") {
  const Matrix none(0, 4);
  CHECK(dequantize(quantize(ConstView(none.data(), 0, 4))).rows() == 0);
}
