#include "gemm/packed.h"

#include <algorithm>

#include "gemm/panels.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

// A sum of so many products of 127 and ±127 still fits 32 bits. With inputs of 8 bits a sum may wrap around, and is
// right again when the share of the zero point is taken off.
constexpr Index max_int8_cols = 0x7FFFFFFF / (127 * 127);

// At most one large pair per this many weights. Trained weights have far fewer; with more, two parts are faster.
constexpr Index max_excess_share = 64;

template <class Words>
const simd::Small* smalls(const Words& words) {
  return reinterpret_cast<const simd::Small*>(words.data());
}

// The rows `at` of `from`, again as panels; a row has `words` elements.
template <class Panels>
Panels rows_of(const Panels& from, Index words, std::span<const TokenId> at) {
  if (from.size() == 0) return {};
  constexpr Index w = panel_width<typename Panels::Scalar>;
  Panels to = Panels::Zero(panels<typename Panels::Scalar>(static_cast<Index>(at.size())) * w * words);
  const auto begin = [=](Index row) { return row / w * words * w + row % w; };
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto* source = from.data() + begin(at[i]);
    auto* target = to.data() + begin(static_cast<Index>(i));
    for (Index p = 0; p < words; ++p) target[p * w] = source[p * w];
  }
  return to;
}

// By how much the sum of two neighboring weights exceeds what does not saturate.
int pair_excess(const std::int8_t* pair) {
  constexpr int largest = simd::largest_pair;
  const int sum = pair[0] + pair[1];
  return sum - std::clamp(sum, -largest, largest);
}

Index count_large_pairs(const std::int8_t* values, Index rows, Index cols) {
  Index count = 0;
  for (Index j = 0; j < rows; ++j) {
    for (Index p = 1; p < cols; p += 2) {
      if (pair_excess(values + j * cols + p - 1) != 0) ++count;
    }
  }
  return count;
}

// Panels [begin, end), all of whose columns b has.
void pack_whole_panels(ConstView b, bool transposed, Index begin, Index end, Scalar* out) {
  constexpr Index w = panel_width<Scalar>;
  if (transposed) {
    const Index k = b.cols();
    for (Index panel = begin; panel < end; ++panel)
      Eigen::Map<Eigen::Matrix<Scalar, w, Eigen::Dynamic>>(out + panel * k * w, w, k) = b.middleRows<w>(panel * w);
    return;
  }
  const Index k = b.rows();
  for (Index p = 0; p < k; ++p)
    for (Index panel = begin; panel < end; ++panel) std::copy_n(&b(p, panel * w), w, out + (panel * k + p) * w);
}

// The last panel, with zeros for the columns that b lacks.
void pack_partial_panel(ConstView b, bool transposed, Index panel, Scalar* out) {
  constexpr Index w = panel_width<Scalar>;
  const Index first = panel * w;
  const Index k = transposed ? b.cols() : b.rows();
  const Index there = (transposed ? b.rows() : b.cols()) - first;
  Scalar* to = out + first * k;
  for (Index p = 0; p < k; ++p, to += w) {
    for (Index j = 0; j < there; ++j) to[j] = transposed ? b(first + j, p) : b(p, first + j);
    std::fill(to + there, to + w, Scalar(0));
  }
}

}  // namespace

void pack_panels(ConstView b, Op op, Index begin, Index end, Scalar* out) {
  const bool transposed = op == Op::transpose;
  const Index columns = transposed ? b.rows() : b.cols();
  const Index whole = std::min(end, columns / panel_width<Scalar>);
  pack_whole_panels(b, transposed, begin, whole, out);
  if (whole < end) pack_partial_panel(b, transposed, whole, out);
}

PackedMatrix::PackedMatrix(ConstView weights)
    : format_(Format::scalar),
      rows_(weights.rows()),
      cols_(weights.cols()),
      scalars_(panels<Scalar>(rows_) * panel_width<Scalar> * cols_) {
  pack_panels(weights, Op::transpose, 0, panels<Scalar>(rows_), scalars_.data());
}

PackedMatrix::PackedMatrix(const Int8Matrix& weights)
    : PackedMatrix(weights.rows, weights.cols, weights.values.data(), weights.scales.data(), weights.input_multiplier) {
}

PackedMatrix::PackedMatrix(Index rows, Index cols, const std::int8_t* values, const float* scales,
                           std::optional<float> input_multiplier)
    : format_(Format::int8),
      rows_(rows),
      cols_(cols),
      words_(panels<std::int32_t>(rows_) * panel_width<std::int32_t> * int8_words(cols_)),
      scales_(panels<std::int32_t>(rows_) * panel_width<std::int32_t>),
      sums_(scales_.size()),
      input_multiplier_(input_multiplier) {
  WASMFORMER_CHECK(cols <= max_int8_cols, ErrorCode::gemm,
                   "rows of " << cols << " int8 weights are longer than " << max_int8_cols
                              << ", beyond which sums of products overflow");
  words_.setZero();
  scales_.setZero();
  sums_.setZero();
  const simd::WideInputs wide = simd::wide_inputs();
  Index large_pairs = 0;
  if (input_multiplier && wide.fit && wide.saturates) large_pairs = count_large_pairs(values, rows, cols);
  takes_wide_inputs_ = input_multiplier && wide.fit && large_pairs <= rows * cols / max_excess_share;
  pack_int8(values, scales, /*has_excess=*/takes_wide_inputs_ && large_pairs > 0);
}

// Fills words_, sums_ and scales_; `has_excess`: also excess_, with what large pairs of weights exceed the limit by.
void PackedMatrix::pack_int8(const std::int8_t* values, const float* scales, bool has_excess) {
  if (has_excess) excess_starts_.setZero(scales_.size() + 1);
  auto* to = reinterpret_cast<simd::Small*>(words_.data());
  for (Index j = 0; j < rows_; ++j) {
    const std::int8_t* from = values + j * cols_;
    for (Index p = 0; p < cols_; ++p) {
      int value = from[p];
      sums_[j] += value;
      const int excess = has_excess && p % 2 == 1 ? pair_excess(from + p - 1) : 0;
      if (excess != 0) {
        excess_.push_back({j, p, excess});
        value -= excess;
      }
      to[small_of(j, p)] = static_cast<simd::Small>(value);
    }
    scales_[j] = scales[j];
    if (has_excess) excess_starts_[j + 1] = static_cast<std::int32_t>(excess_.size());
  }
  for (Index j = rows_ + 1; j < excess_starts_.size(); ++j) excess_starts_[j] = excess_starts_[rows_];
}

Index PackedMatrix::small_of(Index j, Index p) const {
  constexpr Index w = panel_width<std::int32_t>, n = simd::smalls_per_word;
  return ((j / w * int8_words(cols_) + p / n) * w + j % w) * n + p % n;
}

void PackedMatrix::row(Index j, Scalar* out) const {
  if (format_ == Format::int8) {
    const auto number = [&](Index p, int more) {
      return static_cast<Scalar>(static_cast<float>(smalls(words_)[small_of(j, p)] + more) * scales_[j]);
    };
    for (Index p = 0; p < cols_; ++p) out[p] = number(p, 0);
    for (const Int8Excess& more : excess(j, j + 1)) out[more.column] = number(more.column, more.value);
  } else {
    constexpr Index w = panel_width<Scalar>;
    for (Index p = 0; p < cols_; ++p) out[p] = scalars_[(j / w * cols_ + p) * w + j % w];
  }
}

PackedMatrix PackedMatrix::rows_at(std::span<const TokenId> at) const {
  PackedMatrix result;
  result.format_ = format_;
  result.rows_ = static_cast<Index>(at.size());
  result.cols_ = cols_;
  result.scalars_ = rows_of(scalars_, cols_, at);
  result.words_ = rows_of(words_, int8_words(cols_), at);
  result.scales_ = rows_of(scales_, 1, at);
  result.sums_ = rows_of(sums_, 1, at);
  result.input_multiplier_ = input_multiplier_;
  result.takes_wide_inputs_ = takes_wide_inputs_;
  if (excess_.empty()) return result;
  result.excess_starts_.resize(result.scales_.size() + 1);
  for (Index i = 0; i < result.excess_starts_.size(); ++i) {
    result.excess_starts_[i] = static_cast<std::int32_t>(result.excess_.size());
    if (i >= result.rows_) continue;
    for (const auto& [row, column, value] : excess(at[i], at[i] + 1)) result.excess_.push_back({i, column, value});
  }
  return result;
}

Matrix PackedMatrix::matrix() const {
  Matrix result(rows_, cols_);
  for (Index j = 0; j < rows_; ++j) row(j, result.row(j).data());
  return result;
}

Int8Matrix PackedMatrix::int8_matrix() const {
  WASMFORMER_CHECK(format_ == Format::int8, ErrorCode::gemm, "this matrix is not int8");
  Int8Matrix rows{.rows = rows_,
                  .cols = cols_,
                  .values = {},
                  .scales = {scales_.begin(), scales_.begin() + rows_},
                  .input_multiplier = input_multiplier_};
  rows.values.reserve(static_cast<std::size_t>(rows_ * cols_));
  for (Index j = 0; j < rows_; ++j)
    for (Index p = 0; p < cols_; ++p) rows.values.push_back(static_cast<std::int8_t>(smalls(words_)[small_of(j, p)]));
  for (const Int8Excess& more : excess_)
    rows.values[static_cast<std::size_t>(more.row * cols_ + more.column)] += static_cast<std::int8_t>(more.value);
  return rows;
}

}  // namespace wasmformer
