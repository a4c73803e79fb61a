#include "gemm/gemm.h"

#include <Eigen/Dense>
#include <algorithm>

#include "tensor/check.h"

namespace wasmformer {
namespace {

// Large chunks, because each packs the whole of the other matrix again, yet several, for several threads.
constexpr Index columns_per_chunk = 512;
Index rows_per_chunk(Index m) { return std::clamp<Index>((m / 4 + 15) / 16 * 16, 64, 512); }

template <class A, class B, class C>
void product(const A& a, const B& b, C&& c, bool accumulate) {
  if (!accumulate) c.setZero();  // as Eigen itself does: one kernel then serves both
  c.noalias() += a * b;
}

template <class A, class B>
void split(ThreadPool& pool, const A& a, const B& b, View c, bool accumulate) {
  const Index m = c.rows(), n = c.cols();
  if (m == 1 || m * 8 < n) {
    pool.parallel_for(n, columns_per_chunk, [&](Index begin, Index end) {
      product(a, b.middleCols(begin, end - begin), c.middleCols(begin, end - begin), accumulate);
    });
  } else {
    pool.parallel_for(m, rows_per_chunk(m), [&](Index begin, Index end) {
      product(a.middleRows(begin, end - begin), b, c.middleRows(begin, end - begin), accumulate);
    });
  }
}

}  // namespace

void gemm(ThreadPool& pool, ConstView a, Op op_a, ConstView b, Op op_b, View c, bool accumulate) {
  const bool ta = op_a == Op::transpose, tb = op_b == Op::transpose;
  const Index m = ta ? a.cols() : a.rows(), k = ta ? a.rows() : a.cols();
  const Index kb = tb ? b.cols() : b.rows(), n = tb ? b.rows() : b.cols();
  WASMFORMER_CHECK(k == kb && c.rows() == m && c.cols() == n,
                   "[gemm] " << shape(a) << (ta ? "ᵀ" : "") << " times " << shape(b) << (tb ? "ᵀ" : "")
                             << " does not give " << shape(c));
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!accumulate) c.setZero();
    return;
  }
  if (ta && tb)
    split(pool, a.transpose(), b.transpose(), c, accumulate);
  else if (ta)
    split(pool, a.transpose(), b, c, accumulate);
  else if (tb)
    split(pool, a, b.transpose(), c, accumulate);
  else
    split(pool, a, b, c, accumulate);
}

}  // namespace wasmformer
