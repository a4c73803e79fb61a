// exp, tanh and erf of whole vectors, within 2 units in the last place of float for every input; infinities,
// subnormal results and NaN as in the standard library. (Eigen's exp is slower than the library's in
// WebAssembly, where the conversions it needs have no instruction.)
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "tensor/simd.h"

namespace wasmformer::simd {

using Floats = Vector<float>;
using Doubles = Vector<double>;

// p[0] xⁿ + p[1] xⁿ⁻¹ + ... + p[n]
template <int n>
inline Floats polynomial(Floats x, const float (&p)[n]) {
  Floats y = splat(p[0]);
  for (int i = 1; i < n; ++i) y = multiply_add(y, x, splat(p[i]));
  return y;
}

// x = n log 2 + r with |r| <= log 2 / 2, for |x| <= 105.
struct ReducedExponent {
  Vector<std::int32_t> n;
  Floats r;
};
inline ReducedExponent reduce_exponent(Floats x) {
  // Adding 1.5 · 2^23 rounds to the next integer and leaves it in the low bits.
  const Floats shifted = multiply_add(x, splat(1.44269504f), splat(12582912.0f));
  const Floats n = shifted - 12582912.0f;
  Floats r = multiply_add(n, splat(-0.693359375f), x);
  r = multiply_add(n, splat(2.12194440e-4f), r);
  return {.n = (Vector<std::int32_t>)shifted - 0x4b400000, .r = r};
}

inline Floats exp(Floats x) {
  // Beyond these the result is 0 or infinity; NaN stays.
  x = x < -105.0f ? splat(-105.0f) : x;
  x = x > 90.0f ? splat(90.0f) : x;
  const auto [n, r] = reduce_exponent(x);
  const Floats p = polynomial(
      r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
  const Floats y = multiply_add(p * r, r, r) + 1.0f;
  // 2ⁿ in two factors, since n may be -152 or 130, which no float's exponent is.
  const Vector<std::int32_t> half = n >> 1;
  return y * (Floats)((half + 127) << 23) * (Floats)((n - half + 127) << 23);
}

// exp(x) for x <= 0 in half the time, with a relative error of at most 2.6e-6; exp(-87) for every x below -87.
inline Floats rough_exp_of_negative(Floats x) {
  const auto [n, r] = reduce_exponent(x < -87.0f ? splat(-87.0f) : x);
  // The polynomial of degree 4 whose largest relative error is least (Remez).
  const Floats y = polynomial(r, {4.1458608e-2f, 1.6790907e-1f, 5.0004359e-1f, 9.9996340e-1f, 9.9999926e-1f});
  // One factor serves, since 2ⁿ with n >= -126 is a float.
  return y * (Floats)((n + 127) << 23);
}

inline Floats absolute(Floats x) { return (Floats)((Vector<std::int32_t>)x & 0x7fffffff); }
inline Floats with_sign(Floats x, Floats sign) {
  using Ints = Vector<std::int32_t>;
  return (Floats)((Ints)x | ((Ints)sign & static_cast<std::int32_t>(0x80000000)));
}

inline Floats tanh(Floats x) {
  const Floats t = absolute(x), s = x * x;
  const Floats small =
      polynomial(s, {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f, -3.33332819422e-1f});
  const Floats large = 1.0f - 2.0f / (exp(t + t) + 1.0f);
  return with_sign(t < 0.625f ? multiply_add(small * s, t, t) : large, x);
}

inline Floats erf(Floats x) {
  const Floats t = absolute(x), s = x * x;
  const Floats small = polynomial(
      s, {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f, 1.12819925e-1f, -3.76125336e-1f, 1.28379166e-1f});
  // 1 - erf(t) is the exponential of a polynomial, up to 4; above, erf is 1.
  const Floats u = t > 4.0f ? splat(4.0f) : t;
  const Floats large = polynomial(u, {-1.72853470e-5f, 3.83197126e-4f, -3.88396438e-3f, 2.42546219e-2f, -1.06777877e-1f,
                                      -6.34846687e-1f, -1.28717512e-1f});
  return t < 0.927734375f ? multiply_add(small, x, x) : with_sign(1.0f - exp(multiply_add(large, u, -u)), x);
}

// The double build checks gradients only: lane by lane.
inline Doubles exp(Doubles x) {
  for (int i = 0; i < lanes<double>; ++i) x[i] = std::exp(x[i]);
  return x;
}
inline Doubles rough_exp_of_negative(Doubles x) { return exp(x); }
inline Doubles tanh(Doubles x) {
  for (int i = 0; i < lanes<double>; ++i) x[i] = std::tanh(x[i]);
  return x;
}
inline Doubles erf(Doubles x) {
  for (int i = 0; i < lanes<double>; ++i) x[i] = std::erf(x[i]);
  return x;
}

// Σ exp(x - max) over a row of n; `keep`: each replaces its x.
template <bool keep>
inline Scalar exponentials(std::conditional_t<keep, Scalar*, const Scalar*> x, Index n, Scalar max) {
  Vector<Scalar> sum{};
  each_vector<Scalar>(n, [&](Index c, auto count) {
    const Vector<Scalar> e = within(exp(load(x + c, count) - max), count, 0);
    if constexpr (keep) store(x + c, e, count);
    sum += e;
  });
  return reduce<Scalar>(sum, std::plus<>{});
}

// Σ exp(x - max) over a row of n whose largest is `max`; with a relative error of at most 2.6e-6.
inline Scalar rough_sum_of_exponentials(const Scalar* x, Index n, Scalar max) {
  Vector<Scalar> sum{};
  each_vector<Scalar>(
      n, [&](Index c, auto count) { sum += within(rough_exp_of_negative(load(x + c, count) - max), count, 0); });
  return reduce<Scalar>(sum, std::plus<>{});
}

}  // namespace wasmformer::simd
