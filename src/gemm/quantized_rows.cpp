#include "gemm/quantized_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "gemm/panels.h"

namespace wasmformer {

bool QuantizedRows::suit(const PackedMatrix& weights) const {
  return multiplier == weights.input_multiplier() && is_wide == weights.takes_wide_inputs();
}

QuantizedRows QuantizedRows::part(Span at) const {
  QuantizedRows result = *this;
  result.rows = at.size;
  result.words += at.begin * parts * int8_words(cols);
  result.scales += at.begin;
  result.zeros += at.begin;
  return result;
}

InputRounding input_rounding(ConstView x, const PackedMatrix& weights) {
  const std::optional<float> asked = weights.input_multiplier();
  if (!asked) return {};
  InputRounding rounding{.multiplier = asked};
  if (weights.takes_wide_inputs()) {
    rounding.zero = simd::wide_inputs().zero;
  } else if (x.size() > 0 && x.minCoeff() < 0) {
    rounding.parts = 2;
    rounding.zero = 127;
  }
  // Other inputs use only 7 of the 8 bits, as none is negative, so that they fit one part.
  if (*asked == 0.0f) {
    const float largest = x.size() > 0 ? static_cast<float>(x.cwiseAbs().maxCoeff()) : 0.0f;
    rounding.multiplier = largest > 0 ? 127 / largest : 1.0f;
  }
  return rounding;
}

void quantize_rows(ConstView x, const InputRounding& rounding, const QuantizedRows& rows, Index begin, Index end) {
  const Index k = x.cols();
  for (Index i = begin; i < end; ++i) {
    const Scalar* row = x.data() + i * k;
    if (rounding.multiplier) {
      rows.zeros[i] = rounding.zero;
      quantize_row(row, rows, i, *rounding.multiplier);
    } else {
      quantize_row(row, k, rows.words + i * int8_words(k), rows.scales[i], rows.zeros[i]);
    }
  }
}

void quantize_row(const Scalar* x, Index k, std::int32_t* words, float& scale, std::int32_t& zero) {
  const Eigen::Map<const RowVector> row(x, k);
  // NaN must stay visible: it becomes the scale, and so every result of the row.
  constexpr int keep_nan = Eigen::PropagateNaN;
  const float low = k > 0 ? std::min(static_cast<float>(row.minCoeff<keep_nan>()), 0.0f) : 0.0f;
  const float high = k > 0 ? std::max(static_cast<float>(row.maxCoeff<keep_nan>()), 0.0f) : 0.0f;
  const float range = high - low, inverse = range > 0 && std::isfinite(range) ? 127 / range : 0.0f;
  scale = range / 127;
  // A double has the whole product. In a row from -r to r it is a tie, which a rounded product may miss either way.
  zero = inverse > 0 ? static_cast<std::int32_t>(-static_cast<double>(low) * inverse + 0.5) : 0;
  const float shift = static_cast<float>(zero) + 0.5f;
  auto* smalls = reinterpret_cast<simd::Small*>(words);
  for (Index p = 0; p < k; ++p) {
    const float q = static_cast<float>(x[p]) * inverse + shift;
    smalls[p] = static_cast<simd::Small>(static_cast<std::int32_t>(q < 127.0f ? q : 127.0f));
  }
  std::fill(smalls + k, smalls + simd::smalls_per_word * int8_words(k), simd::Small{0});
}

void quantize_row(const Scalar* x, const QuantizedRows& rows, Index i, float multiplier) {
  const Index k = rows.cols, words = int8_words(k), size = words * simd::smalls_per_word;
  auto* smalls = reinterpret_cast<simd::Small*>(rows.words + i * rows.parts * words);
  std::fill(smalls, smalls + rows.parts * size, simd::Small{0});
  constexpr float rounding = 0x1.8p23f;  // a sum with it has no fraction, and is rounded half to even
  const std::int32_t shift = rows.zeros[i] - std::bit_cast<std::int32_t>(rounding);
  const auto rounded = [&](Index p) {
    const float wide = static_cast<float>(x[p]) * multiplier, high = wide < 127.0f ? wide : 127.0f;
    return std::bit_cast<std::int32_t>((high > -127.0f ? high : -127.0f) + rounding) + shift;
  };
  if (rows.parts == 1) {
    for (Index p = 0; p < k; ++p) smalls[p] = static_cast<simd::Small>(rounded(p));
  } else {
    for (Index p = 0; p < k; ++p) {
      const std::int32_t q = rounded(p), half = q / 2;
      smalls[p] = static_cast<simd::Small>(half);
      smalls[size + p] = static_cast<simd::Small>(q - half);
    }
  }
  const bool has_nan = Eigen::Map<const RowVector>(x, k).hasNaN();  // which must stay visible
  rows.scales[i] = has_nan ? std::numeric_limits<float>::quiet_NaN() : 1 / multiplier;
}

}  // namespace wasmformer
