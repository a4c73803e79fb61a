// Vectors as wide as the processor's, by the compiler's own vector types, so that one text serves x86, ARM
// and WebAssembly.
#pragma once

#include <cstring>

#include "tensor/matrix.h"

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

// The first `count` lanes of memory, zeros behind them; and back. Whole: all of them.
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

}  // namespace wasmformer::simd
