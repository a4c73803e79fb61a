#include "tensor/int8_matrix.h"

#include <catch_amalgamated.hpp>
#include <cmath>

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

TEST_CASE("Weights are rounded to the nearest step, halves away from zero") {
  std::vector<float> wanted{127};  // so that the scale is 1
  for (int whole = 0; whole < 127; ++whole) {
    const float half = static_cast<float>(whole) + 0.5f;
    for (const float value : {half, std::nextafter(half, 0.0f), std::nextafter(half, 127.0f)}) {
      wanted.push_back(value);
      wanted.push_back(-value);
    }
  }
  const auto count = static_cast<Index>(wanted.size());
  Matrix weights(1, count);
  for (Index i = 0; i < count; ++i) weights(0, i) = wanted[static_cast<std::size_t>(i)];
  const Int8Matrix small = quantize(ConstView(weights.data(), 1, count));
  REQUIRE(small.scales[0] == 1);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(wanted[i]);
    CHECK(small.values[i] == std::lround(wanted[i]));
  }
}

TEST_CASE("An empty matrix is quantized to an empty one") {
  const Matrix none(0, 4);
  CHECK(dequantize(quantize(ConstView(none.data(), 0, 4))).rows() == 0);
}
