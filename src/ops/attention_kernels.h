// The small products of attention, over rows of one head, whole vectors wide: scores (rows times transposed
// rows), sums of rows by weight, and the same by transposed weights; and the softmax of a row.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "tensor/vector_math.h"

namespace wasmformer::attention_kernels {

using Vector = simd::Vector<Scalar>;
constexpr Index lanes = simd::lanes<Scalar>;
constexpr Index padded(Index n) { return (n + lanes - 1) / lanes * lanes; }

// Row j begins at data + at[j] · stride, or at data + j · stride.
struct Rows {
  const Scalar* data;
  Index stride;
  const std::int32_t* at = nullptr;
  const Scalar* operator[](Index j) const { return data + (at ? Index{at[j]} : j) * stride; }
};

// a0 b0 a1 b1 ... of the lower or the upper halves.
template <int upper, int... i>
inline Vector interleave(Vector a, Vector b, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  return __builtin_shufflevector(a, b, (i % 2 * n + i / 2 + upper * n / 2)...);
}

// Lane j: the sum of v[j], for n vectors; overwrites v.
template <int n>
__attribute__((always_inline)) inline Vector sums(Vector* v) {
  if constexpr (n == 1) {
    return v[0];
  } else {
    constexpr std::make_integer_sequence<int, lanes> all;
    simd::unroll<n / 2>([&](auto i) __attribute__((always_inline)) {
      v[i] = interleave<0>(v[i], v[i + n / 2], all) + interleave<1>(v[i], v[i + n / 2], all);
    });
    return sums<n / 2>(v);
  }
}

// out[t, j] = scale a[t] · b[j] for t < T and the `lanes` rows b.
template <int T>
inline void scores(const Scalar* a, Index a_stride, const Scalar* const (&b)[lanes], Index width, Scalar scale,
                   Scalar* out, Index out_stride) {
  Vector s[T][lanes] = {};
  for (Index c = 0; c < width; c += lanes) {
    Vector x[T];
    simd::unroll<T>([&](auto t) { x[t] = simd::load(a + t * a_stride + c); });
    simd::unroll<lanes>([&](auto l) __attribute__((always_inline)) {
      const Vector y = simd::load(b[l] + c);
      simd::unroll<T>([&](auto t) __attribute__((always_inline)) { s[t][l] = simd::multiply_add(x[t], y, s[t][l]); });
    });
  }
  simd::unroll<T>([&](auto t)
                      __attribute__((always_inline)) { simd::store(out + t * out_stride, sums<lanes>(s[t]) * scale); });
}

// Queries that the registers hold at once.
constexpr int score_rows = lanes <= 4 ? 2 : 1;
constexpr int sum_rows = simd::vector_bytes == 64 ? 4 : 2;

// out[i, j] = scale a[i] · b[j] for i < m and the first seen(i) rows j, which grow with i; writes whole
// vectors.
template <class Seen>
inline void scores(Rows a, Rows b, Index m, Seen seen, Index width, Scalar scale, Scalar* out, Index out_stride) {
  for (Index j = 0, n = seen(m - 1); j < n; j += lanes) {
    const Scalar* rows[lanes];
    for (Index l = 0; l < lanes; ++l) rows[l] = b[std::min<Index>(j + l, n - 1)];
    Index i = 0;
    while (seen(i) <= j) ++i;
    for (; i + score_rows <= m; i += score_rows)
      scores<score_rows>(a[i], a.stride, rows, width, scale, out + i * out_stride + j, out_stride);
    for (; i < m; ++i) scores<1>(a[i], a.stride, rows, width, scale, out + i * out_stride + j, out_stride);
  }
}

// weights[i, j] lies at data + i · row + j · column.
struct Weights {
  const Scalar* data;
  Index row, column;
};

// out[t] = Σ_j w[t, j] b[j] for t < T, or out[t] += that: C vectors from column c on.
template <int T, int C>
inline void weighted_sums(Weights w, Rows b, Index n, Index c, Scalar* out, Index out_stride, bool add) {
  // Several sums for each result where there are few, or each step would wait for the one before.
  constexpr int U = std::max(1, 4 / (T * C));
  Vector s[U][T][C] = {};
  const auto step = [&](auto u, Index j) __attribute__((always_inline)) {
    const Scalar* row = b[j] + c;
    Vector y[C];
    simd::unroll<C>([&](auto k) { y[k] = simd::load(row + k * lanes); });
    simd::unroll<T>([&](auto t) __attribute__((always_inline)) {
      const Vector x = simd::splat(w.data[t * w.row + j * w.column]);
      simd::unroll<C>([&](auto k) { s[u][t][k] = simd::multiply_add(x, y[k], s[u][t][k]); });
    });
  };
  Index j = 0;
  for (; j + U <= n; j += U) simd::unroll<U>([&](auto u) __attribute__((always_inline)) { step(u, j + u); });
  for (; j < n; ++j) step(std::integral_constant<int, 0>{}, j);
  simd::unroll<T * C>([&](auto i) __attribute__((always_inline)) {
    constexpr int t = i / C, k = i % C;
    Scalar* to = out + t * out_stride + c + k * lanes;
    Vector sum = add ? simd::load(to) : Vector{};
    simd::unroll<U>([&](auto u) { sum += s[u][t][k]; });
    simd::store(to, sum);
  });
}

template <int C>
inline void weighted_sums(Weights w, Rows b, Index n, Index m, Index c, Scalar* out, Index out_stride, bool add) {
  Index i = 0;
  for (; i + sum_rows <= m; i += sum_rows, w.data += sum_rows * w.row)
    weighted_sums<sum_rows, C>(w, b, n, c, out + i * out_stride, out_stride, add);
  for (; i < m; ++i, w.data += w.row) weighted_sums<1, C>(w, b, n, c, out + i * out_stride, out_stride, add);
}

// The same for m rows of `width` columns.
inline void weighted_sums(Weights w, Rows b, Index n, Index m, Index width, Scalar* out, Index out_stride, bool add) {
  Index c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) weighted_sums<4>(w, b, n, m, c, out, out_stride, add);
  for (; c + 2 * lanes <= width; c += 2 * lanes) weighted_sums<2>(w, b, n, m, c, out, out_stride, add);
  for (; c < width; c += lanes) weighted_sums<1>(w, b, n, m, c, out, out_stride, add);
}

// Constants that turn scores into probabilities: p = exp(score - max) · inverse.
struct Softmax {
  Scalar max, inverse;
};

// p[0, n) are scores; p[n, end) becomes 0. `end` is whole vectors.
inline Softmax softmax(Scalar* p, Index n, Index end) {
  constexpr Scalar nothing = -std::numeric_limits<Scalar>::infinity();
  const auto larger = [](Vector a, Vector b) { return a > b ? a : b; };
  Vector largest = simd::splat(nothing), total{};
  for (Index j = 0; j < end; j += lanes) {
    const Vector v = simd::below(j, n, simd::load(p + j), nothing);
    simd::store(p + j, v);
    largest = larger(largest, v);
  }
  const Scalar max = simd::reduce<Scalar>(largest, larger);
  for (Index j = 0; j < end; j += lanes) {
    const Vector e = simd::exp(simd::load(p + j) - max);
    simd::store(p + j, e);
    total += e;
  }
  const Scalar inverse = 1 / simd::reduce<Scalar>(total, std::plus<>{});
  for (Index j = 0; j < end; j += lanes) simd::store(p + j, simd::load(p + j) * inverse);
  return {max, inverse};
}

// The same probabilities again.
inline void softmax_again(Scalar* p, Index n, Index end, Softmax s) {
  for (Index j = 0; j < end; j += lanes)
    simd::store(p + j, simd::below(j, n, simd::exp(simd::load(p + j) - s.max) * s.inverse, Scalar(0)));
}

// dp becomes p (dp - Σ dp p) scale, the gradient of the scores before they are scaled, and 0 from n on.
inline void softmax_backward(const Scalar* p, Scalar* dp, Index n, Index end, Scalar scale) {
  Vector total{};
  for (Index j = 0; j < end; j += lanes) total += simd::load(p + j) * simd::below(j, n, simd::load(dp + j), Scalar(0));
  const Scalar sum = simd::reduce<Scalar>(total, std::plus<>{});
  for (Index j = 0; j < end; j += lanes)
    simd::store(dp + j, simd::below(j, n, simd::load(p + j) * (simd::load(dp + j) - sum) * scale, Scalar(0)));
}

}  // namespace wasmformer::attention_kernels
