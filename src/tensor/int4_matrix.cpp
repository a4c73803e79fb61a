#include "tensor/int4_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace wasmformer {
namespace {

// NormalFloat, NF4 (Dettmers et al. 2023, appendix E): quantiles of a normal distribution, so that weights, which are
// nearly normal, use all values about equally often.
constexpr std::array<float, 16> values_of_nf4{
    -1.0f,       -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
    0.07958030f, 0.16093020f,  0.24611230f,  0.33791524f,  0.44070983f,  0.56261700f,  0.72295684f,  1.0f};
constexpr std::size_t index_of_zero = 7;

// Returns the index of the value that is nearest to the weight, in units of the scale.
std::size_t nearest(float weight, float scale) {
  if (scale == 0) return index_of_zero;
  const float wanted = weight / scale;
  const auto above = std::lower_bound(values_of_nf4.begin(), values_of_nf4.end(), wanted);
  if (above == values_of_nf4.begin()) return 0;
  if (above == values_of_nf4.end()) return values_of_nf4.size() - 1;
  const auto below = above - 1;
  return static_cast<std::size_t>((*above - wanted < wanted - *below ? above : below) - values_of_nf4.begin());
}

float rounded(float weight, float scale) { return values_of_nf4[nearest(weight, scale)]; }

float squared_error(std::span<const float> weights, float scale) {
  float sum = 0;
  for (const float weight : weights) {
    const float error = weight - rounded(weight, scale) * scale;
    sum += error * error;
  }
  return sum;
}

// Tries scales around the largest magnitude: a smaller one cuts off the largest weights and rounds all others less. The
// sign decides which side has more values.
Eigen::half best_scale(std::span<const float> weights) {
  constexpr int tries = 24;
  constexpr float largest_share = 1.1f;
  constexpr float step = 0.025f;
  float largest = 0;
  for (const float weight : weights) largest = std::max(largest, std::abs(weight));
  Eigen::half best(0.0f);
  float least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < tries; ++i) {
    for (const float sign : {1.0f, -1.0f}) {
      const float share = largest_share - step * static_cast<float>(i);
      const Eigen::half scale(sign * share * largest);
      const float error = squared_error(weights, static_cast<float>(scale));
      if (error < least) {
        least = error;
        best = scale;
      }
    }
  }
  return best;
}

// Returns the 16 weights that a group with this scale can have.
std::array<Scalar, 16> values_of_group(float scale) {
  std::array<Scalar, 16> scaled;
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] = static_cast<Scalar>(values_of_nf4[i] * scale);
  return scaled;
}

}  // namespace

Index int4_bytes(Index rows, Index cols) { return rows * ((cols + 1) / 2); }

Index int4_groups(Index cols) { return (cols + int4_group - 1) / int4_group; }

Int4Matrix quantize_int4(ConstView weights) {
  const Index rows = weights.rows();
  const Index cols = weights.cols();
  Int4Matrix result;
  result.rows = rows;
  result.cols = cols;
  result.values.resize(static_cast<std::size_t>(int4_bytes(rows, cols)));
  const auto bytes_of_row = static_cast<std::size_t>(int4_bytes(1, cols));
  std::vector<float> row(static_cast<std::size_t>(cols));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) row[static_cast<std::size_t>(j)] = static_cast<float>(weights(i, j));
    std::uint8_t* out = result.values.data() + static_cast<std::size_t>(i) * bytes_of_row;
    for (Index begin = 0; begin < cols; begin += int4_group) {
      const Index end = std::min(begin + int4_group, cols);
      const Eigen::half scale = best_scale({row.data() + begin, row.data() + end});
      result.scales.push_back(scale);
      for (Index j = begin; j < end; ++j) {
        const std::size_t value = nearest(row[static_cast<std::size_t>(j)], static_cast<float>(scale));
        out[j / 2] = static_cast<std::uint8_t>(out[j / 2] | (j % 2 == 0 ? value : value << 4));
      }
    }
  }
  return result;
}

Matrix rounded_to_int4(ConstView weights) {
  Matrix result(weights.rows(), weights.cols());
  for (Index i = 0; i < weights.rows(); ++i) {
    for (Index begin = 0; begin < weights.cols(); begin += int4_group) {
      const Index size = std::min(int4_group, weights.cols() - begin);
      const auto group = weights.row(i).segment(begin, size);
      const auto scale = static_cast<float>(Eigen::half(static_cast<float>(group.cwiseAbs().maxCoeff())));
      for (Index j = 0; j < size; ++j)
        result(i, begin + j) = static_cast<Scalar>(rounded(static_cast<float>(group(j)), scale) * scale);
    }
  }
  return result;
}

Int8Matrix to_int8(Index rows, Index cols, std::span<const std::uint8_t> values, std::span<const Eigen::half> scales) {
  Matrix weights(rows, cols);
  const Index bytes_of_row = int4_bytes(1, cols);
  const Index groups = int4_groups(cols);
  for (Index i = 0; i < rows; ++i) {
    const std::uint8_t* row = values.data() + i * bytes_of_row;
    for (Index group = 0; group < groups; ++group) {
      const auto scale = static_cast<float>(scales[static_cast<std::size_t>(i * groups + group)]);
      const std::array<Scalar, 16> scaled = values_of_group(scale);
      const Index begin = group * int4_group;
      const Index end = std::min(begin + int4_group, cols);
      for (Index j = begin; j < end; ++j) {
        const unsigned both = row[j / 2];
        weights(i, j) = scaled[j % 2 == 0 ? both & 15 : both >> 4];
      }
    }
  }
  return quantize(ConstView(weights.data(), rows, cols));
}

}  // namespace wasmformer
