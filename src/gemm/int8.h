// Products of small whole numbers, several in each word of a vector.
#pragma once

#include <cstdint>

#include "tensor/simd.h"

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

namespace wasmformer::simd {

// A quantized number in a word of 32 bits, which holds as many as fit: bytes where the processor multiplies
// them, else numbers of 16 bits.
#if defined(__AVX2__) || defined(__wasm_relaxed_simd__) || defined(__ARM_FEATURE_DOTPROD)
using Small = std::int8_t;
#else
using Small = std::int16_t;
#endif
constexpr int smalls_per_word = 4 / static_cast<int>(sizeof(Small));

// In each word: c + the sum of the products of the Smalls of `a`, 0 to 127, and of `b`, -127 to 127; for other `a` see
// wide_inputs().
inline Vector<std::int32_t> multiply_add(Vector<std::int32_t> a, Vector<std::int32_t> b, Vector<std::int32_t> c) {
  using Words = Vector<std::int32_t>;
#if defined(__AVX512VNNI__)
  return (Words)_mm512_dpbusd_epi32((__m512i)c, (__m512i)a, (__m512i)b);
#elif defined(__AVX512BW__)
  const __m512i pairs = _mm512_maddubs_epi16((__m512i)a, (__m512i)b);
  return c + (Words)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
#elif defined(__AVXVNNI__)
  return (Words)_mm256_dpbusd_avx_epi32((__m256i)c, (__m256i)a, (__m256i)b);
#elif defined(__AVX2__)
  const __m256i pairs = _mm256_maddubs_epi16((__m256i)a, (__m256i)b);
  return c + (Words)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#elif defined(__wasm_relaxed_simd__)
  return (Words)wasm_i32x4_relaxed_dot_i8x16_i7x16_add((v128_t)b, (v128_t)a, (v128_t)c);
#elif defined(__ARM_FEATURE_DOTPROD)
  return (Words)vdotq_s32((int32x4_t)c, (int8x16_t)a, (int8x16_t)b);
#elif defined(__wasm_simd128__)
  return c + (Words)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b);
#elif defined(__SSE2__)
  return c + (Words)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  return c + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
#endif
}

// Ways for inputs from -127 to 127 to enter multiply_add as its `a`, with exact results.
struct WideInputs {
  bool fit = true;  // with `zero` added; otherwise each is split into two of 7 bits
  int zero = 127;
  bool saturates = false;  // true if two neighboring weights sum to more than largest_pair
};
constexpr int largest_pair = 0x7FFF / 254;

inline WideInputs wide_inputs() {
#if defined(__wasm_relaxed_simd__)
  // A JavaScript engine may read bytes above 127 as signed or as unsigned, but always does the same.
  static const WideInputs found = [] {
    const auto product = [](std::int32_t a, std::int32_t b) {
      volatile std::int32_t left = a, right = b;  // or the compiler might compute it
      return multiply_add(splat<std::int32_t>(left), splat<std::int32_t>(right), {})[0];
    };
    constexpr std::int32_t many_254 = -0x01010102, many_64 = 0x40404040, many_127 = 0x7F7F7F7F;
    const std::int32_t sum = product(many_254, many_64);
    if (sum == 4 * -2 * 64) return WideInputs{.zero = 0};
    return WideInputs{.fit = sum == 4 * 254 * 64, .saturates = product(many_254, many_127) != 4 * 254 * 127};
  }();
  return found;
#elif defined(__ARM_FEATURE_DOTPROD)
  return {.zero = 0};
#elif defined(__AVX2__) && !defined(__AVX512VNNI__) && (!defined(__AVXVNNI__) || defined(__AVX512BW__))
  return {.saturates = true};
#else
  return {};
#endif
}

}  // namespace wasmformer::simd
