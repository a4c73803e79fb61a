#include "gemm/packed.h"

#include <array>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <limits>

#include "gemm/panels.h"
#include "gemm/quantized_rows.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;

namespace {

ConstView whole(const Matrix& m) { return {m.data(), m.rows(), m.cols()}; }

}  // namespace

TEST_CASE("A packed matrix of any size returns its original rows") {
  const auto [rows, cols] = GENERATE(table<Index, Index>({{0, 3}, {1, 1}, {3, 0}, {7, 5}, {8, 8}, {33, 6}, {70, 129}}));
  CAPTURE(rows, cols);
  const Matrix weights = random_matrix(rows, cols, 1);
  const PackedMatrix packed(whole(weights));
  CHECK(packed.matrix() == weights);

  const Int8Matrix small = quantize(whole(weights));
  const PackedMatrix packed_small(small);
  CHECK(packed_small.matrix() == dequantize(small));
  CHECK(packed_small.int8_matrix().values == small.values);
  CHECK(packed_small.int8_matrix().scales == small.scales);
  if (rows > 0) {
    RowVector row(cols);
    packed.row(rows - 1, row.data());
    CHECK(row == weights.row(rows - 1));
    const std::vector<TokenId> at{static_cast<TokenId>(rows - 1), 0};
    const Matrix some = (Matrix(2, cols) << weights.row(rows - 1), weights.row(0)).finished();
    CHECK(packed.rows_at(at).matrix() == some);
    CHECK(packed_small.rows_at(at).matrix().row(1) == packed_small.matrix().row(0));
  }
}

TEST_CASE("A quantized row is within half a step of the values, and zero is exact") {
  const Index k = GENERATE(1, 4, 7, 64, 129);
  const double low = GENERATE(-3.0, 0.0, 0.5), high = GENERATE(0.0, 0.25, 9.0);
  if (low > high) return;
  Random random(5);
  Matrix x = Matrix::NullaryExpr(1, k, [&] { return static_cast<Scalar>(low + (high - low) * random.uniform()); });
  x(0, k - 1) = 0;
  std::vector<std::int32_t> words(static_cast<std::size_t>(int8_words(k)), -1);
  float scale;
  std::int32_t zero;
  quantize_row(x.data(), k, words.data(), scale, zero);
  const auto* q = reinterpret_cast<const simd::Small*>(words.data());
  for (Index p = 0; p < k; ++p) {
    CAPTURE(p, x(0, p), static_cast<int>(q[p]), zero, scale);
    CHECK((q[p] >= 0 && q[p] <= 127));
    // Rounded once for the zero and once for itself.
    CHECK(std::abs(static_cast<double>(scale) * (q[p] - zero) - static_cast<double>(x(0, p))) <= 1.001 * scale);
  }
  CHECK(q[k - 1] == zero);
  for (Index p = k; p < int8_words(k) * simd::smalls_per_word; ++p) CHECK(q[p] == 0);
}

TEST_CASE("A row with a non-finite value gets a non-finite scale") {
  const Scalar bad = GENERATE(std::numeric_limits<Scalar>::quiet_NaN(), std::numeric_limits<Scalar>::infinity(),
                              -std::numeric_limits<Scalar>::infinity());
  const Index k = GENERATE(1, 7, 70), at = GENERATE(0, 3, 69);
  if (at >= k) return;
  Matrix x = random_matrix(1, k, 1);
  x(0, at) = bad;
  std::vector<std::int32_t> words(static_cast<std::size_t>(int8_words(k)));
  float scale = 0;
  std::int32_t zero = -1;
  quantize_row(x.data(), k, words.data(), scale, zero);
  CAPTURE(bad, k, at);
  CHECK(!std::isfinite(scale));
}

// An instruction that multiplies and adds rounds once, and so has 0, 30 and 20 here.
TEST_CASE("A row from -r to r has the same int8 in every build, where a step begins between two floats") {
  constexpr std::array<Scalar, 4> x{14.4453125f, -14.4453125f, -7.620755672454834f, -9.895607948303223f};
  std::vector<std::int32_t> words(static_cast<std::size_t>(int8_words(4)));
  float scale = 0;
  std::int32_t zero = 0;
  quantize_row(x.data(), 4, words.data(), scale, zero);
  CHECK(zero == 64);
  const auto* smalls = reinterpret_cast<const simd::Small*>(words.data());
  CHECK((smalls[0] == 127 && smalls[1] == 1 && smalls[2] == 31 && smalls[3] == 21));
}

TEST_CASE("A row of zeros is quantized to zeros") {
  const Matrix x = Matrix::Zero(1, 6);
  std::vector<std::int32_t> words(static_cast<std::size_t>(int8_words(6)), -1);
  float scale = -1;
  std::int32_t zero = -1;
  quantize_row(x.data(), 6, words.data(), scale, zero);
  CHECK(scale == 0);
  CHECK(zero == 0);
  CHECK(words == std::vector<std::int32_t>(words.size(), 0));
}
