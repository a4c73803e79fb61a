#include "tests/bench/kernels.h"

#include <array>
#include <memory>
#include <string>

#include "gemm/gemm.h"
#include "gemm/panels.h"
#include "tensor/random.h"
#include "tests/bench/measure.h"

namespace wasmformer::bench {
namespace {

struct Kernel {
  std::string name;
  double operations;
  std::function<void()> run;
};

// 10^9 operations a second of simd::multiply_add with all of it in registers: ten sums hide the latency of
// one and leave registers for the factors.
template <class Number, class Step>
Kernel peak(const std::string& name, Number x, Number y, int operations, Step step) {
  using Vector = simd::Vector<Number>;
  constexpr int sums = 10, rounds = 20000;
  return {"peak " + name, static_cast<double>(sums) * rounds * simd::lanes<Number> * operations, [=] {
            const Vector a = simd::splat(x), b = simd::splat(y);
            std::array<Vector, sums> all;
            all.fill(a);
            asm volatile("" : : "g"(&all) : "memory");  // else the compiler sees that they are equal
            auto [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] = all;
            for (int i = 0; i < rounds; ++i) {
              s0 = step(s0, a, b), s1 = step(s1, a, b), s2 = step(s2, a, b), s3 = step(s3, a, b);
              s4 = step(s4, a, b), s5 = step(s5, a, b), s6 = step(s6, a, b), s7 = step(s7, a, b);
              s8 = step(s8, a, b), s9 = step(s9, a, b);
            }
            all = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9};
            asm volatile("" : : "g"(&all) : "memory");
          }};
}

void add_peaks(std::vector<Kernel>& kernels) {
  using Floats = simd::Vector<float>;
  kernels.push_back(
      peak("f32", 0.999f, 1e-3f, 2, [](Floats s, Floats a, Floats b) { return simd::multiply_add(s, a, b); }));
  // Of the processors that have one instruction for it; where it takes several, a compiler would take those
  // that do not change out of the loop.
#if defined(__wasm_relaxed_simd__) || defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__ARM_FEATURE_DOTPROD)
  using Words = simd::Vector<std::int32_t>;
  kernels.push_back(peak("int8", 0x03030303, 0x05050505, 2 * simd::smalls_per_word,
                         [](Words s, Words a, Words b) { return simd::multiply_add(a, b, s); }));
#endif
}

struct Operands {
  ThreadPool pool;
  Matrix x, y;
  PackedMatrix floats, int8;
  std::vector<std::int32_t> words, zeros;
  std::vector<float> scales;
};

Matrix random(Index rows, Index cols) {
  Random numbers(1);
  Matrix m(rows, cols);
  for (Scalar& x : m.reshaped<Eigen::RowMajor>()) x = static_cast<Scalar>(numbers.uniform() - 0.5);
  return m;
}

// y = x Wᵀ for x [m, k] and W [n, k], as in a linear layer; for int8, x is quantised each time.
void add_products(std::vector<Kernel>& kernels, Index m, Index k, Index n) {
  const std::string size = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  const double operations = 2 * static_cast<double>(m * k * n);
  auto o = std::make_shared<Operands>();
  const Matrix w = random(n, k);
  const ConstView weights(w.data(), n, k);
  o->floats = PackedMatrix(weights), o->int8 = PackedMatrix(quantize(weights));
  o->x = random(m, k), o->y.resize(m, n);
  o->words.resize(m * int8_words(k)), o->zeros.resize(m), o->scales.resize(m);
  kernels.push_back({"gemm f32 " + size, operations,
                     [=] { gemm(o->pool, ConstView(o->x.data(), m, k), o->floats, View(o->y.data(), m, n)); }});
  kernels.push_back({"gemm int8 " + size, operations, [=] {
                       QuantizedRows rows{m, k, o->words.data(), o->scales.data(), o->zeros.data()};
                       for (Index i = 0; i < m; ++i)
                         quantize_row(o->x.data() + i * k, k, rows.words + i * int8_words(k), rows.scales[i],
                                      rows.zeros[i]);
                       gemm(o->pool, rows, o->int8, View(o->y.data(), m, n));
                     }});
}

}  // namespace

nlohmann::json kernels(double budget) {
  std::vector<Kernel> all;
  add_peaks(all);
  constexpr Index sizes[][3] = {{1, 256, 8192}, {8, 256, 256}, {64, 256, 1024}, {256, 512, 2048}, {512, 512, 512}};
  for (const auto& [m, k, n] : sizes) add_products(all, m, k, n);
  std::vector<std::function<void()>> calls;
  for (const Kernel& kernel : all) calls.push_back(kernel.run);
  const std::vector<double> ms = milliseconds_per_call(calls, budget);
  nlohmann::json result;
  for (std::size_t i = 0; i < all.size(); ++i) result[all[i].name] = 1e-6 * all[i].operations / ms[i];
  return result;
}

}  // namespace wasmformer::bench
