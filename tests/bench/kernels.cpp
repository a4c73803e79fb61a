#include "tests/bench/kernels.h"

#include <Eigen/Core>
#include <array>
#include <string>

#include "gemm/gemm.h"
#include "tensor/random.h"
#include "tests/bench/measure.h"

namespace wasmformer::bench {
namespace {

struct Kernel {
  std::string name;
  double operations;
  std::function<void()> run;
};

// `sum = step(sum, x, y)` with all of it in registers, a step being `operations`. Ten sums hide the latency
// of one and leave registers for the factors.
template <class V, class Step>
Kernel peak(const std::string& name, V start, V x, V y, int operations, Step step) {
  constexpr int sums = 10, rounds = 20000;
  return {"peak " + name, static_cast<double>(sums) * rounds * operations, [=] {
            std::array<V, sums> all;
            all.fill(start);
            asm volatile("" : : "g"(&all) : "memory");  // else the compiler sees that they are equal
            auto [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] = all;
            for (int i = 0; i < rounds; ++i) {
              s0 = step(s0, x, y), s1 = step(s1, x, y), s2 = step(s2, x, y), s3 = step(s3, x, y);
              s4 = step(s4, x, y), s5 = step(s5, x, y), s6 = step(s6, x, y), s7 = step(s7, x, y);
              s8 = step(s8, x, y), s9 = step(s9, x, y);
            }
            all = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9};
            asm volatile("" : : "g"(&all) : "memory");
          }};
}

// Eigen's packets are the widest registers that the compiler may use; with relaxed SIMD its pmadd is
// relaxed_madd (gemm/relaxed_fma.h), without it a product and a sum.
void add_peaks(std::vector<Kernel>& kernels) {
  using namespace Eigen::internal;
  using Packet = packet_traits<float>::type;
  const Packet start = pset1<Packet>(0.5f), x = pset1<Packet>(0.999f), y = pset1<Packet>(1e-3f);
  constexpr int operations = 2 * static_cast<int>(sizeof(Packet) / sizeof(float));
  kernels.push_back(
      peak("f32", start, x, y, operations, [](Packet s, Packet a, Packet b) { return pmadd(s, a, b); }));
}

struct Operands {
  ThreadPool pool;
  Matrix x, w, y;
};

Matrix random(Index rows, Index cols) {
  Random numbers(1);
  Matrix m(rows, cols);
  for (Scalar& x : m.reshaped<Eigen::RowMajor>()) x = static_cast<Scalar>(numbers.uniform() - 0.5);
  return m;
}

// y = x wᵀ for x [m, k] and w [n, k], as in a linear layer.
void add_products(std::vector<Kernel>& kernels, Index m, Index k, Index n) {
  const std::string size = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  const double operations = 2 * static_cast<double>(m * k * n);
  auto o = std::make_shared<Operands>();
  o->x = random(m, k), o->w = random(n, k), o->y.resize(m, n);
  kernels.push_back({"gemm f32 " + size, operations, [=] {
                       gemm(o->pool, ConstView(o->x.data(), m, k), Op::none, ConstView(o->w.data(), n, k),
                            Op::transpose, View(o->y.data(), m, n));
                     }});
}

}  // namespace

nlohmann::json kernels(double budget) {
  std::vector<Kernel> all;
  add_peaks(all);
  constexpr Index sizes[][3] = {
      {1, 256, 8192}, {8, 256, 256}, {64, 256, 1024}, {256, 512, 2048}, {512, 512, 512}};
  for (const auto& [m, k, n] : sizes) add_products(all, m, k, n);
  std::vector<std::function<void()>> calls;
  for (const Kernel& kernel : all) calls.push_back(kernel.run);
  const std::vector<double> ms = milliseconds_per_call(calls, budget);
  nlohmann::json result;
  for (std::size_t i = 0; i < all.size(); ++i) result[all[i].name] = 1e-6 * all[i].operations / ms[i];
  return result;
}

}  // namespace wasmformer::bench
