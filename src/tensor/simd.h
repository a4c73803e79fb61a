// Vectors as wide as the processor's, by the compiler's own vector types, so that one text serves x86, ARM
// and WebAssembly.
#pragma once

#include <cstring>
#include <utility>

#include "tensor/matrix.h"

#if defined(__EMSCRIPTEN__) && !defined(WASMFORMER_KERNELS)
#error "what includes this header is compiled for each kind of SIMD: run `cmake build/wasm` to find it"
#endif

namespace wasmformer::simd {

#if defined(__AVX512BW__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Vector = typename VectorOf<T>::Type;
template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> v;
  std::memcpy(&v, from, vector_bytes);
  return v;
}

template <class T>
inline void store(T* to, Vector<T> v) {
  std::memcpy(to, &v, vector_bytes);
}

template <class T>
inline Vector<T> splat(T x) {
  return x - Vector<T>{};
}

// c + a · b; fused where the processor does so.
inline Vector<float> multiply_add(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__wasm_relaxed_simd__)
  return __builtin_wasm_relaxed_madd_f32x4(a, b, c);
#else
  return c + a * b;
#endif
}

inline Vector<double> multiply_add(Vector<double> a, Vector<double> b, Vector<double> c) { return c + a * b; }

// The first `count` lanes of memory, zeros after them; and back. Whole: all of them.
struct Whole {};
template <class T>
inline Vector<T> load(const T* from, Whole) {
  return load(from);
}
template <class T>
inline Vector<T> load(const T* from, Index count) {
  Vector<T> v{};
  std::memcpy(&v, from, static_cast<std::size_t>(count) * sizeof(T));
  return v;
}
template <class T>
inline void store(T* to, Vector<T> v, Whole) {
  store(to, v);
}
template <class T>
inline void store(T* to, Vector<T> v, Index count) {
  std::memcpy(to, &v, static_cast<std::size_t>(count) * sizeof(T));
}

// Calls f(i, count) for the vectors of a row of n, from element i on; the last may be a part of one.
template <class T, class F>
inline void each_vector(Index n, F&& f) {
  Index i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) f(i, Whole{});
  if (i < n) f(i, n - i);
}

// f(0), f(1), ..., f(n - 1), each with its number as a constant, so that arrays of vectors stay in registers.
template <int n, class F>
__attribute__((always_inline)) inline void unroll(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (..., f(std::integral_constant<int, i>{}));
  }
  (std::make_integer_sequence<int, n>{});
}

template <class T, int shift, int... i>
inline Vector<T> rotate(Vector<T> v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, ((i + shift) % lanes<T>)...);
}

// All lanes into one by `op`, in a tree.
template <class T, int n = lanes<T>, class Op>
inline T reduce(Vector<T> v, Op op) {
  if constexpr (n == 1) {
    return v[0];
  } else {
    constexpr int half = n / 2;
    const Vector<T> turned = rotate<T, half>(v, std::make_integer_sequence<int, lanes<T>>{});
    return reduce<T, half>(op(v, turned), op);
  }
}

template <class T, int... i>
inline Vector<T> lane_numbers(std::integer_sequence<int, i...>) {
  return Vector<T>{static_cast<T>(i)...};
}

// v where its lane, counted from `first` on, is below n, else `other`.
template <class T>
inline Vector<T> below(Index first, Index n, Vector<T> v, T other) {
  const Vector<T> lane = lane_numbers<T>(std::make_integer_sequence<int, lanes<T>>{});
  return lane < static_cast<T>(n - first) ? v : splat(other);
}

// For each_vector(): v, but `other` where its last vector lies beyond the row and must not count.
inline Vector<Scalar> within(Vector<Scalar> v, Whole, Scalar = 0) { return v; }
inline Vector<Scalar> within(Vector<Scalar> v, Index count, Scalar other = 0) { return below(0, count, v, other); }

}  // namespace wasmformer::simd
