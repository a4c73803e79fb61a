// To add a case: add its sizes to the list.
#include "gemm/gemm.h"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "gemm/panels.h"
#include "schema/error.h"
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

// Rows of x as numbers that int8 products see.
Matrix seen(const Matrix& x) {
  Matrix result(x.rows(), x.cols());
  std::vector<std::int32_t> words(static_cast<std::size_t>(int8_words(x.cols())));
  for (Index i = 0; i < x.rows(); ++i) {
    float scale;
    std::int32_t zero;
    quantize_row(x.data() + i * x.cols(), x.cols(), words.data(), scale, zero);
    const auto* q = reinterpret_cast<const simd::Small*>(words.data());
    for (Index p = 0; p < x.cols(); ++p) result(i, p) = static_cast<Scalar>(scale * static_cast<float>(q[p] - zero));
  }
  return result;
}

struct Quantized {
  std::vector<std::int32_t> words, zeros;
  std::vector<float> scales;
  QuantizedRows rows;

  explicit Quantized(const Matrix& x)
      : words(static_cast<std::size_t>(x.rows() * int8_words(x.cols()))),
        zeros(static_cast<std::size_t>(x.rows())),
        scales(static_cast<std::size_t>(x.rows())),
        rows{x.rows(), x.cols(), words.data(), scales.data(), zeros.data()} {
    for (Index i = 0; i < x.rows(); ++i)
      quantize_row(x.data() + i * x.cols(), x.cols(), words.data() + i * int8_words(x.cols()), scales[i], zeros[i]);
  }
};

void check_near(const Matrix& actual, const Eigen::MatrixXd& expected, double limit) {
  for (Index i = 0; i < actual.rows(); ++i) {
    for (Index j = 0; j < actual.cols(); ++j) {
      INFO("c(" << i << ", " << j << ") is " << actual(i, j) << " instead of " << expected(i, j));
      if (!(std::abs(static_cast<double>(actual(i, j)) - expected(i, j)) < limit)) FAIL();
    }
  }
}

// compute(pool) is near `expected`, sums of k products, and the same bytes for every number of threads.
template <class F>
void check_for_threads(const Eigen::MatrixXd& expected, Index k, F&& compute) {
  Matrix one_thread;
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    const Matrix c = compute(pool);
    if (threads == 1) {
      // Each of k additions rounds a sum of the size of √k by up to 6e-8 of it; the errors add up like √k
      // too.
      check_near(c, expected, 1e-7 * static_cast<double>(k + 10));
      one_thread = c;
    }
    INFO(threads << " threads");
    CHECK((c.size() == 0 ||
           std::memcmp(c.data(), one_thread.data(), static_cast<std::size_t>(c.size()) * sizeof(Scalar)) == 0));
  }
}

// Nothing, one, odd, around and above a register's width, a tile, a block of k, a thread's chunk.
const std::vector<Sizes> all_sizes = {
    {0, 3, 2},     {3, 0, 2},     {3, 2, 0},      {1, 1, 1},     {1, 7, 5},     {7, 1, 5},    {3, 5, 1},
    {5, 9, 13},    {8, 8, 8},     {17, 33, 15},   {1, 1030, 37}, {2, 600, 300}, {5, 1100, 3}, {211, 35, 66},
    {400, 19, 31}, {65, 67, 530}, {16, 16, 1030}, {1, 3, 2050},  {4, 40, 5},    {12, 32, 7},  {13, 70, 9}};

}  // namespace

TEST_CASE("gemm is the product of plain loops, and every number of threads gives the same bytes") {
  const auto [m, n, k] = GENERATE(from_range(all_sizes));
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

  check_for_threads(expected, k, [&](ThreadPool& pool) {
    Matrix c = before;
    gemm(pool, view(a), op_a, view(b), op_b, view(c), {.accumulate = accumulate});
    return c;
  });
}

TEST_CASE("gemm refuses matrices that do not fit and names their shapes") {
  ThreadPool pool;
  const Matrix a = random_matrix(2, 3, 1), b = random_matrix(4, 5, 2);
  Matrix c(2, 5);
  for (Op op : {Op::none, Op::transpose})
    CHECK_THROWS_WITH(gemm(pool, view(a), op, view(b), op, view(c)),
                      ContainsSubstring("[2, 3]") && ContainsSubstring("[4, 5]") && ContainsSubstring("[2, 5]"));
  const Matrix fits = random_matrix(3, 5, 2);
  Matrix wrong(5, 2);
  CHECK_THROWS_WITH(gemm(pool, view(a), Op::none, view(fits), Op::none, view(wrong)), ContainsSubstring("[5, 2]"));
}

TEST_CASE("Products with packed weights are those of plain loops, with a bias, for every number of threads") {
  const auto [m, n, k] = GENERATE(from_range(all_sizes));
  const bool int8 = GENERATE(false, true), with_bias = GENERATE(false, true);
  CAPTURE(m, n, k, int8, with_bias);
  const Matrix x = random_matrix(m, k, 1), w = random_matrix(n, k, 2), bias = random_matrix(1, n, 3);
  const Int8Matrix small = quantize(view(w));
  const PackedMatrix packed = int8 ? PackedMatrix(small) : PackedMatrix(view(w));
  Eigen::MatrixXd start = Eigen::MatrixXd::Zero(m, n);
  if (with_bias) start.rowwise() += bias.row(0).cast<double>();
  const Eigen::MatrixXd expected = int8 ? plain(seen(x), Op::none, dequantize(small), Op::transpose, start)
                                        : plain(x, Op::none, w, Op::transpose, start);

  check_for_threads(expected, k, [&](ThreadPool& pool) {
    Matrix y = Matrix::Constant(m, n, std::numeric_limits<Scalar>::quiet_NaN()), finished = y;
    const auto finish = [&](Index row, Index rows, Index column, Index columns) {
      finished.block(row, column, rows, columns) = y.block(row, column, rows, columns);
    };
    const GemmOptions options{.bias = with_bias ? bias.data() : nullptr, .finish = finish};
    if (int8)
      gemm(pool, Quantized(x).rows, packed, view(y), options);
    else
      gemm(pool, view(x), packed, view(y), options);
    CHECK(finished == y);  // each number was handed over when it was final
    return y;
  });
}

TEST_CASE("Inputs of 8 bits are rounded half to even, clipped, and give exact sums") {
  const auto [m, n, k] = GENERATE(from_range(all_sizes));
  const int extreme = GENERATE(0, 127, -127);  // of the weights: every pair of products would saturate 16 bits
  const int spread = GENERATE(127, 64);        // of the other weights: few or no pairs would
  Random random(4);
  const auto number = [&](int most, int if_extreme) {
    return extreme ? if_extreme : std::floor(random.uniform() * (2 * most + 1)) - most;
  };
  const Matrix x = Matrix::NullaryExpr(m, k, [&] { return static_cast<Scalar>(number(127, 127)); });
  Int8Matrix w{n, k, {}, std::vector<float>(static_cast<std::size_t>(n), 0.5f), 0.5f};
  for (Index i = 0; i < n * k; ++i) w.values.push_back(static_cast<std::int8_t>(number(spread, extreme)));
  if (spread == 64 && n * k > 70) w.values[1] = 127;
  Matrix inputs = x * 2;  // a quarter on either side rounds back
  for (Index i = 0; i < inputs.size(); ++i) {
    Scalar& input = inputs.data()[i];
    input += std::abs(input) == 254 ? std::copysign(Scalar(100), input) : Scalar(i % 3 - 1) / 2;
  }
  const PackedMatrix packed(w);
  const bool is_wide = packed.takes_wide_inputs();
  const Index parts = is_wide ? 1 : 2;
  CAPTURE(m, n, k, extreme, spread, parts);
  std::vector<std::int32_t> words(static_cast<std::size_t>(m * parts * int8_words(k)), -1);
  std::vector<std::int32_t> zeros(static_cast<std::size_t>(m), is_wide ? simd::wide_inputs().zero : 127);
  std::vector<float> scales(static_cast<std::size_t>(m));
  const QuantizedRows rows{m, k, words.data(), scales.data(), zeros.data(), parts, 0.5f};
  for (Index i = 0; i < m; ++i) quantize_row(inputs.data() + i * k, rows, i, 0.5f);
  const Eigen::MatrixXd start = Eigen::MatrixXd::Zero(m, n);
  const Eigen::MatrixXd expected = plain(x, Op::none, Matrix(dequantize(w)), Op::transpose, start);
  ThreadPool pool(2);
  Matrix y(m, n);
  gemm(pool, rows, packed, view(y));
  CHECK(y == (2 * expected).cast<Scalar>());
  CHECK(packed.int8_matrix().values == w.values);
  CHECK(packed.matrix() == dequantize(w));
  std::vector<TokenId> at;
  for (Index j = n - 1; j >= 0; j -= 2) at.push_back(static_cast<TokenId>(j));
  Matrix some(m, static_cast<Index>(at.size()));
  gemm(pool, rows, packed.rows_at(at), view(some));
  for (std::size_t i = 0; i < at.size(); ++i) CHECK(some.col(static_cast<Index>(i)) == y.col(at[i]));
}

TEST_CASE("A half is rounded to the even number, and what is no number is not hidden") {
  const Matrix x = (Matrix(1, 6) << 0.5, 1.5, 2.5, -0.5, -1.5, 1e9).finished();
  std::vector<std::int32_t> words(static_cast<std::size_t>(2 * int8_words(6)));
  std::int32_t zero = 127;
  float scale = 0;
  const QuantizedRows rows{1, 6, words.data(), &scale, &zero, 2, 1.0f};
  quantize_row(x.data(), rows, 0, 1);
  const auto* q = reinterpret_cast<const simd::Small*>(words.data());
  const Index part = int8_words(6) * simd::smalls_per_word;
  const std::vector<int> expected{0, 2, 2, 0, -2, 127};
  for (Index p = 0; p < 6; ++p) CHECK(q[p] + q[part + p] - zero == expected[static_cast<std::size_t>(p)]);
  const Matrix bad = Matrix::Constant(1, 6, std::numeric_limits<Scalar>::quiet_NaN());
  quantize_row(bad.data(), rows, 0, 1);
  CHECK(std::isnan(scale));
}

TEST_CASE("Products with packed weights refuse what does not fit and name the shapes") {
  ThreadPool pool;
  const Matrix x = random_matrix(2, 3, 1), w = random_matrix(4, 5, 2);
  Matrix y(2, 4);
  CHECK_THROWS_WITH(gemm(pool, view(x), PackedMatrix(view(w)), view(y)),
                    ContainsSubstring("[2, 3]") && ContainsSubstring("[4, 5]") && ContainsSubstring("[2, 4]"));
  CHECK_THROWS_WITH(
      gemm(pool, Quantized(x).rows, PackedMatrix(quantize(view(w))), view(y)),
      ContainsSubstring("2 quantized rows of 3") && ContainsSubstring("[4, 5]") && ContainsSubstring("[2, 4]"));
  CHECK_THROWS_WITH(gemm(pool, Quantized(random_matrix(2, 5, 1)).rows, PackedMatrix(quantize(view(w))), view(y),
                         {.accumulate = true}),
                    ContainsSubstring("int8 weights cannot be added"));
}

TEST_CASE("The longest rows of int8 weights give exact sums, and longer ones are refused") {
  constexpr Index longest = 133144;  // 127 · 127 · 133,144 < 2^31
  const auto ones = [](Index n) { return Int8Matrix{1, n, std::vector<std::int8_t>(n, 127), {1}}; };
  Matrix y(1, 1);
  ThreadPool pool;
  const Matrix x = Matrix::Constant(1, longest, 127);
  gemm(pool, Quantized(x).rows, PackedMatrix(ones(longest)), view(y));
  CHECK(y(0, 0) == Catch::Approx(127.0 * 127 * longest));
  CHECK_THROWS_WITH(PackedMatrix(ones(longest + 1)), ContainsSubstring("133145 int8 weights are longer than 133144"));
}
