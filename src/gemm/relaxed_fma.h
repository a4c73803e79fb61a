// Fused multiply-add for Eigen in WebAssembly: it speaks x86's FMA intrinsics, which Emscripten's headers
// lack, so here they are by relaxed SIMD. The build includes this file before every other one; Eigen asks for
// EIGEN_VECTORIZE_FMA.
#pragma once

#include <pmmintrin.h>
#include <wasm_simd128.h>

#define EIGEN_VECTORIZE_FMA

// a · b + c, a · b - c, -(a · b) + c and -(a · b) - c. The forms for one element may compute them all.
// What Eigen's complex numbers need as well is not fused; nothing here uses them.
#define WASMFORMER_FMA(V, ps, ss, shape)                                                                    \
  inline V _mm_fmadd_##ps(V a, V b, V c) {                                                                  \
    return (V)wasm_##shape##_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);                                 \
  }                                                                                                         \
  inline V _mm_fnmadd_##ps(V a, V b, V c) {                                                                 \
    return (V)wasm_##shape##_relaxed_nmadd((v128_t)a, (v128_t)b, (v128_t)c);                                \
  }                                                                                                         \
  inline V _mm_fmsub_##ps(V a, V b, V c) { return _mm_fmadd_##ps(a, b, (V)wasm_##shape##_neg((v128_t)c)); } \
  inline V _mm_fnmsub_##ps(V a, V b, V c) {                                                                 \
    return _mm_fnmadd_##ps(a, b, (V)wasm_##shape##_neg((v128_t)c));                                         \
  }                                                                                                         \
  inline V _mm_fmadd_##ss(V a, V b, V c) { return _mm_fmadd_##ps(a, b, c); }                                \
  inline V _mm_fnmadd_##ss(V a, V b, V c) { return _mm_fnmadd_##ps(a, b, c); }                              \
  inline V _mm_fmsub_##ss(V a, V b, V c) { return _mm_fmsub_##ps(a, b, c); }                                \
  inline V _mm_fnmsub_##ss(V a, V b, V c) { return _mm_fnmsub_##ps(a, b, c); }                              \
  inline V _mm_fmaddsub_##ps(V a, V b, V c) { return _mm_addsub_##ps(_mm_mul_##ps(a, b), c); }              \
  inline V _mm_fmsubadd_##ps(V a, V b, V c) {                                                               \
    return _mm_addsub_##ps(_mm_mul_##ps(a, b), (V)wasm_##shape##_neg((v128_t)c));                           \
  }

WASMFORMER_FMA(__m128, ps, ss, f32x4)
WASMFORMER_FMA(__m128d, pd, sd, f64x2)
#undef WASMFORMER_FMA

#define _mm_permute_ps(a, order) _mm_shuffle_ps((a), (a), (order))
#define _mm_permute_pd(a, order) _mm_shuffle_pd((a), (a), (order))
