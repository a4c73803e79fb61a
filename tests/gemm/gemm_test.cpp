// To add a case: add its sizes to the list.
#include "gemm/gemm.h"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/check.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Sizes {
  Index m, n, k;
};

ConstView view(const Matrix& m) { return {m.data(), m.rows(), m.cols()}; }
View view(Matrix& m) { return {m.data(), m.rows(), m.cols()}; }

// c + op(a) op(b), loop by loop in double.
Eigen::MatrixXd plain(const Matrix& a, Op op_a, const Matrix& b, Op op_b, const Eigen::MatrixXd& c) {
  Eigen::MatrixXd result = c;
  const Index k = op_a == Op::none ? a.cols() : a.rows();
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      for (Index l = 0; l < k; ++l)
        result(i, j) += static_cast<double>(op_a == Op::none ? a(i, l) : a(l, i)) *
                        static_cast<double>(op_b == Op::none ? b(l, j) : b(j, l));
  return result;
}

}  // namespace

TEST_CASE("gemm is the product of plain loops, and every number of threads gives the same bytes") {
  // Nothing, one, odd, around and above a register's width, a tile, a thread's chunk.
  const auto [m, n, k] =
      GENERATE(Sizes{0, 3, 2}, Sizes{3, 0, 2}, Sizes{3, 2, 0}, Sizes{1, 1, 1}, Sizes{1, 7, 5}, Sizes{7, 1, 5},
               Sizes{3, 5, 1}, Sizes{5, 9, 13}, Sizes{8, 8, 8}, Sizes{17, 33, 15}, Sizes{1, 1030, 37},
               Sizes{2, 600, 300}, Sizes{5, 1100, 3}, Sizes{211, 35, 66}, Sizes{400, 19, 31},
               Sizes{65, 67, 530}, Sizes{16, 16, 1030}, Sizes{1, 3, 2050});
  const Op op_a = GENERATE(Op::none, Op::transpose), op_b = GENERATE(Op::none, Op::transpose);
  const bool accumulate = GENERATE(false, true);
  CAPTURE(m, n, k, op_a == Op::transpose, op_b == Op::transpose, accumulate);
  const Matrix a = op_a == Op::none ? random_matrix(m, k, 1) : random_matrix(k, m, 1);
  const Matrix b = op_b == Op::none ? random_matrix(k, n, 2) : random_matrix(n, k, 2);
  // What is not to be added to may hold anything.
  const Matrix before =
      accumulate ? random_matrix(m, n, 3) : Matrix::Constant(m, n, std::numeric_limits<Scalar>::quiet_NaN());
  const Eigen::MatrixXd start =
      accumulate ? Eigen::MatrixXd(before.cast<double>()) : Eigen::MatrixXd(Eigen::MatrixXd::Zero(m, n));
  const Eigen::MatrixXd expected = plain(a, op_a, b, op_b, start);

  Matrix one_thread;
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    Matrix c = before;
    gemm(pool, view(a), op_a, view(b), op_b, view(c), accumulate);
    if (threads == 1) {
      // Each of k additions rounds a sum of the size of √k by up to 6e-8 of it; the errors add up like √k
      // too.
      const double limit = 1e-7 * static_cast<double>(k + 10);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) {
          INFO("c(" << i << ", " << j << ") is " << c(i, j) << " instead of " << expected(i, j));
          if (!(std::abs(static_cast<double>(c(i, j)) - expected(i, j)) < limit)) FAIL();
        }
      }
      one_thread = c;
    }
    INFO(threads << " threads");
    CHECK((c.size() == 0 || std::memcmp(c.data(), one_thread.data(),
                                        static_cast<std::size_t>(c.size()) * sizeof(Scalar)) == 0));
  }
}

TEST_CASE("gemm refuses matrices that do not fit and names their shapes") {
  ThreadPool pool;
  const Matrix a = random_matrix(2, 3, 1), b = random_matrix(4, 5, 2);
  Matrix c(2, 5);
  for (Op op : {Op::none, Op::transpose})
    CHECK_THROWS_WITH(gemm(pool, view(a), op, view(b), op, view(c)), ContainsSubstring("[2, 3]") &&
                                                                         ContainsSubstring("[4, 5]") &&
                                                                         ContainsSubstring("[2, 5]"));
  const Matrix fits = random_matrix(3, 5, 2);
  Matrix wrong(5, 2);
  CHECK_THROWS_WITH(gemm(pool, view(a), Op::none, view(fits), Op::none, view(wrong)),
                    ContainsSubstring("[5, 2]"));
}
