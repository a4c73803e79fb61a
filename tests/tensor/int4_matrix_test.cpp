#include "tensor/int4_matrix.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "tensor/random.h"

using namespace wasmformer;

namespace {

// A sum of twelve uniform numbers has a variance of 1.
Scalar nearly_normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return static_cast<Scalar>(sum);
}

Matrix random_weights(Index rows, Index cols) {
  Matrix weights(rows, cols);
  Random random(3);
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = nearly_normal(random);
  return weights;
}

Matrix stands_for(const Int4Matrix& m) { return dequantize(to_int8(m.rows, m.cols, m.values, m.scales)); }

}  // namespace

TEST_CASE("Weights of 4 bits are two to a byte, the first in the low half, each the index of a number of NF4") {
  const std::vector<std::uint8_t> values{0x70, 0x1F};  // 0, 7, 15, 1
  const std::vector<Eigen::half> scales{Eigen::half(0.5f)};
  const Matrix weights = dequantize(to_int8(1, 4, values, scales));
  const double expected[] = {-0.5, 0, 0.5, -0.34810};
  for (Index j = 0; j < 4; ++j) CHECK(weights(0, j) == Catch::Approx(expected[j]).margin(0.5 / 254));
}

TEST_CASE("The numbers of 4 bits are quantiles of a normal distribution") {
  // Appendix E of Dettmers et al. 2023: 8 quantiles above and 9 below the middle, evenly from offset to 1/2, divided by
  // the largest; 0 is in both halves. The offset is 1 - (1/32 + 1/30) / 2.
  const auto quantile = [](double p) {  // by bisection of the error function
    double low = -5, high = 5;
    for (int i = 0; i < 80; ++i) {
      const double middle = (low + high) / 2;
      (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
    }
    return low;
  };
  const double offset = 1 - (1.0 / 32 + 1.0 / 30) / 2;
  std::vector<double> expected;
  for (int i = 0; i < 7; ++i) expected.push_back(-quantile(offset + (0.5 - offset) * i / 7));
  expected.push_back(0);
  for (int i = 7; i >= 0; --i)
    if (i < 8) expected.push_back(quantile(offset + (0.5 - offset) * i / 8));
  for (double& number : expected) number /= quantile(offset);
  std::vector<std::uint8_t> values;
  for (int i = 0; i < 16; i += 2) values.push_back(static_cast<std::uint8_t>(i | (i + 1) << 4));
  const Matrix numbers = dequantize(to_int8(1, 16, values, std::vector<Eigen::half>{Eigen::half(1.0f)}));
  REQUIRE(expected.size() == 16);
  for (Index j = 0; j < 16; ++j)
    CHECK(numbers(0, j) == Catch::Approx(expected[static_cast<std::size_t>(j)]).margin(0.5 / 127));
}

TEST_CASE("Weights that are numbers of NF4 times a scale of 16 bits are stored as nearly as int8 can") {
  Matrix weights(2, int4_group + 3);
  const double numbers[] = {-1, -0.69619280, 0.07958030, 0.33791524, 1, 0};
  for (Index i = 0; i < weights.rows(); ++i)
    for (Index j = 0; j < weights.cols(); ++j)
      weights(i, j) = static_cast<Scalar>(numbers[(j * 7 + i) % 6] * (j < int4_group ? 0.25 : 0.5));
  const Int4Matrix stored = quantize_int4(ConstView(weights.data(), weights.rows(), weights.cols()));
  CHECK(stored.values.size() == static_cast<std::size_t>(2 * ((int4_group + 3 + 1) / 2)));
  CHECK(stored.scales.size() == 4);
  CHECK((stands_for(stored) - weights).cwiseAbs().maxCoeff() <= 0.5 / 254 + 1e-3);
}

TEST_CASE("The scale of a group makes the error less than rounding to 16 steps of its largest magnitude") {
  const Matrix weights = random_weights(40, 3 * int4_group);
  const Int4Matrix stored = quantize_int4(ConstView(weights.data(), weights.rows(), weights.cols()));
  const double error = (stands_for(stored) - weights).squaredNorm();
  double usual = 0;
  for (Index i = 0; i < weights.rows(); ++i)
    for (Index begin = 0; begin < weights.cols(); begin += int4_group) {
      const auto group = weights.row(i).segment(begin, int4_group);
      const double scale = group.cwiseAbs().maxCoeff() / 7;
      for (const double w : group) usual += std::pow(w - std::round(w / scale) * scale, 2);
    }
  CHECK(error < 0.85 * usual);
  CHECK(error > 0.3 * usual);
}

TEST_CASE("Weights that training has rounded to 4 bits are stored without further rounding") {
  const Matrix weights = random_weights(40, 3 * int4_group + 5);
  const auto view = [](const Matrix& m) { return ConstView(m.data(), m.rows(), m.cols()); };
  const Matrix rounded = rounded_to_int4(view(weights));
  const double largest = weights.cwiseAbs().maxCoeff();
  CHECK((rounded - weights).cwiseAbs().maxCoeff() < 0.16 * largest);  // half of the widest gap
  CHECK((rounded - weights).cwiseAbs().maxCoeff() > 0.02 * largest);
  CHECK(stands_for(quantize_int4(view(rounded))) == dequantize(quantize(view(rounded))));
}

TEST_CASE("A matrix of zeros, and one without columns, can be stored as 4 bits") {
  const Matrix zeros = Matrix::Zero(2, 5);
  CHECK(stands_for(quantize_int4(ConstView(zeros.data(), 2, 5))).isZero());
  CHECK(quantize_int4(ConstView(nullptr, 3, 0)).values.empty());
}
