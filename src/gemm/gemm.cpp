#include "gemm/gemm.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "gemm/panels.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

using simd::lanes;
using simd::Vector;

// Rows that share a load of b: with a panel's two vectors they fill the registers.
constexpr Index tile_rows = simd::vector_bytes == 64 ? 12 : 6;
constexpr Index k_per_block = 512;               // a tile of a, and what of b it meets, stay in the caches
constexpr Index rows_per_chunk = 8 * tile_rows;  // at most
constexpr Index panels_per_chunk = simd::vector_bytes == 64 ? 8 : 16;
constexpr Index smallest_chunk = 100'000;  // multiplications: less is not worth a thread

// Operands and sizes that all tiles of a product share.
template <class Word>
struct Product {
  const Word* a;  // [m, k] with `a_stride`, or, transposed, [k, m]
  Index a_stride, m, k, n;
  const Word* b;    // panels of [k, n]
  Index parts = 1;  // `a` is the sum of so many, which lie side by side in each of its rows
};

// acc += a tile of R rows times P panels, over k. The rows of `a` are `stride` apart, or, transposed, next to each
// other in every one of k groups.
template <bool transposed, int R, int P, class Word>
__attribute__((always_inline)) inline void add_products(const Word* a, Index stride, const Word* b, Index panel_size,
                                                        Index k, Vector<Word> (&acc)[R][2 * P]) {
  for (Index p = 0; p < k; ++p) {
    Vector<Word> columns[2 * P];
    for (int j = 0; j < 2 * P; ++j)
      columns[j] = simd::load(b + j / 2 * panel_size + p * panel_width<Word> + j % 2 * lanes<Word>);
    for (int r = 0; r < R; ++r) {
      const auto x = simd::splat(transposed ? a[p * R + r] : a[r * stride + p]);
      for (int j = 0; j < 2 * P; ++j) acc[r][j] = simd::multiply_add(x, columns[j], acc[r][j]);
    }
  }
}

// acc = a tile of R rows times P panels, over k and over all `parts` of `a`, each k after the other in its rows.
template <bool transposed, int R, int P, class Word>
inline void multiply(const Word* a, Index stride, Index parts, const Word* b, Index panel_size, Index k,
                     Vector<Word> (&acc)[R][2 * P]) {
  for (auto& row : acc)
    for (auto& v : row) v = Vector<Word>{};
  if (std::is_same_v<Word, Scalar>) parts = 1;  // always, but the compiler must know it
  for (Index part = 0; part < parts; ++part)
    add_products<transposed, R, P, Word>(a + part * k, stride, b, panel_size, k, acc);
}

// Puts what a tile gave into c.
struct ScalarStore {
  Scalar* c;  // [m, n]
  Index n;
  const Scalar* bias;
  bool accumulate;

  void operator()(Index row, Index column, Vector<Scalar> v, bool first) const {
    Scalar* to = c + row * n + column;
    const Index count = n - column;
    if (count >= lanes<Scalar>) {
      if (accumulate || !first)
        v += simd::load(to);
      else if (bias)
        v += simd::load(bias + column);
      simd::store(to, v);
    } else {
      for (Index j = 0; j < count; ++j) {
        Scalar before = bias ? bias[column + j] : Scalar(0);
        if (accumulate || !first) before = to[j];
        to[j] = v[j] + before;
      }
    }
  }
};

// y = Σ (q - zero) s_x w s_w + bias, with the zero's part taken off by the sum of each row of w.
struct Int8Store {
  Scalar* c;  // [m, n]
  Index n;
  const Scalar* bias;
  const QuantizedRows& x;
  const PackedMatrix& w;

  void operator()(Index row, Index column, Vector<std::int32_t> v, bool) const {
    Scalar* to = c + row * n + column;
    const Index count = n - column;
    v -= x.zeros[row] * simd::load(w.sums() + column);
    for (const Int8Excess& more : w.excess(column, column + lanes<std::int32_t>))
      v[more.row - column] += more.value * number(row, more.column);
    const auto y = __builtin_convertvector(v, Vector<float>) * (x.scales[row] * simd::load(w.scales() + column));
#ifndef WASMFORMER_DOUBLE
    if (count >= lanes<float>) return simd::store(to, bias ? y + simd::load(bias + column) : y);
#endif
    for (Index j = 0; j < std::min<Index>(count, lanes<float>); ++j)
      to[j] = static_cast<Scalar>(y[j]) + (bias ? bias[column + j] : Scalar(0));
  }

  // A whole input, as products that may saturate read it.
  std::int32_t number(Index row, Index column) const {
    return reinterpret_cast<const std::uint8_t*>(x.words + row * int8_words(x.cols))[column];
  }
};

// Tiles of R rows from `row` on, over panels [begin, end) and k in [from, from + size).
template <bool transposed, int R, class Word, class Store>
void tiles(const Product<Word>& product, Index row, Index begin, Index end, Index from, Index size,
           const Store& store) {
  const Word* a = product.a + row * product.a_stride + from;
  Word packed[transposed ? k_per_block * R : 1];
  if constexpr (transposed) {
    for (Index p = 0; p < size; ++p) std::copy_n(product.a + (from + p) * product.a_stride + row, R, packed + p * R);
    a = packed;
  }
  const auto some_panels = [&]<int P>(std::integral_constant<int, P>) {
    const Index panel_size = product.k * panel_width<Word>;
    for (; begin + P <= end; begin += P) {
      Vector<Word> acc[R][2 * P];
      multiply<transposed, R, P, Word>(a, product.a_stride, product.parts,
                                       product.b + begin * panel_size + from * panel_width<Word>, panel_size, size,
                                       acc);
      for (int r = 0; r < R; ++r) {
        for (int j = 0; j < 2 * P; ++j) {
          const Index column = begin * panel_width<Word> + j * lanes<Word>;
          if (column < product.n) store(row + r, column, acc[r][j], from == 0);
        }
      }
    }
  };
  // Few rows take several panels at a time, for enough independent sums.
  if constexpr (R == 1) some_panels(std::integral_constant<int, 4>{});
  if constexpr (R == 2 || R == 3) some_panels(std::integral_constant<int, 2>{});
  some_panels(std::integral_constant<int, 1>{});
}

// How a product is split: into chunks of some rows and some panels, from the shapes alone.
struct Chunks {
  Index rows = 0, panels = 0;  // how many chunks of each
  Index panels_each = 0;
};

template <class Word>
Chunks chunks_of(const Product<Word>& product) {
  const Index rows = std::min(product.m, rows_per_chunk), k = std::max<Index>(product.k * product.parts, 1);
  const Index worthwhile = smallest_chunk / (rows * panel_width<Word> * k) + 1;
  Chunks chunks;
  chunks.rows = (product.m + rows_per_chunk - 1) / rows_per_chunk;
  if (chunks.rows > 1) chunks.rows += chunks.rows % 2;  // as even for two threads as can be
  chunks.panels_each = std::max(panels_per_chunk, worthwhile);
  chunks.panels = (panels<Word>(product.n) + chunks.panels_each - 1) / chunks.panels_each;
  return chunks;
}

// Rows [row, row + count) and panels [begin, end) of a product, `block` of k at a time.
template <bool transposed, class Word, class Store>
void multiply_chunk(const Product<Word>& product, const Store& store, Index block, Index row, Index count, Index begin,
                    Index end) {
  using Tiles = void (*)(const Product<Word>&, Index, Index, Index, Index, Index, const Store&);
  static constexpr auto tiles_of_rows = []<int... R>(std::integer_sequence<int, R...>) {
    return std::array<Tiles, tile_rows>{tiles<transposed, R + 1, Word, Store>...};
  }
  (std::make_integer_sequence<int, tile_rows>{});

  const Index tile_count = (count + tile_rows - 1) / tile_rows;
  Index from = 0;
  do {
    const Index size = std::min(block, product.k - from);
    for (Index i = 0, at = 0; i < tile_count; ++i) {  // tiles as equal as can be
      const Index next = count * (i + 1) / tile_count;
      tiles_of_rows[next - at - 1](product, row + at, begin, end, from, size, store);
      at = next;
    }
    from += size;
  } while (from < product.k);
}

template <bool transposed, class Word, class Store>
void run(ThreadPool& pool, const Product<Word>& product, const Store& store, Index block, const GemmOptions& options) {
  const Index m = product.m, n = product.n;
  if (m == 0 || n == 0) return;
  const Chunks chunks = chunks_of(product);
  // Chunks that share panels follow each other, as these are the larger part.
  pool.parallel_for(chunks.rows * chunks.panels, 1, [&](Index chunk, Index last) {
    for (; chunk < last; ++chunk) {
      const Index row_chunk = chunk % chunks.rows, panel_chunk = chunk / chunks.rows;
      const Index row = m * row_chunk / chunks.rows;
      const Index count = m * (row_chunk + 1) / chunks.rows - row;
      const Index begin = panel_chunk * chunks.panels_each;
      const Index end = std::min(begin + chunks.panels_each, panels<Word>(n));
      multiply_chunk<transposed>(product, store, block, row, count, begin, end);
      if (!options.finish) continue;
      const Index column = begin * panel_width<Word>;
      options.finish(row, count, column, std::min(end * panel_width<Word>, n) - column);
    }
  });
}

}  // namespace

void gemm(ThreadPool& pool, ConstView a, Op op_a, ConstView b, Op op_b, View c, const GemmOptions& options) {
  const bool ta = op_a == Op::transpose, tb = op_b == Op::transpose;
  const Index m = ta ? a.cols() : a.rows(), k = ta ? a.rows() : a.cols();
  const Index kb = tb ? b.cols() : b.rows(), n = tb ? b.rows() : b.cols();
  WASMFORMER_CHECK(
      k == kb && c.rows() == m && c.cols() == n, ErrorCode::gemm,
      shape(a) << (ta ? "ᵀ" : "") << " times " << shape(b) << (tb ? "ᵀ" : "") << " does not give " << shape(c));
  Eigen::Array<Scalar, Eigen::Dynamic, 1> packed(panels<Scalar>(n) * panel_width<Scalar> * k);
  Scalar* out = packed.data();
  pool.parallel_for(panels<Scalar>(n), panels_per_chunk,
                    [&](Index begin, Index end) { pack_panels(b, op_b, begin, end, out); });
  const Product<Scalar> product{.a = a.data(), .a_stride = a.cols(), .m = m, .k = k, .n = n, .b = out};
  const ScalarStore store{.c = c.data(), .n = n, .bias = options.bias, .accumulate = options.accumulate};
  if (ta)
    run<true>(pool, product, store, k_per_block, options);
  else
    run<false>(pool, product, store, k_per_block, options);
}

void gemm(ThreadPool& pool, ConstView x, const PackedMatrix& w, View y, const GemmOptions& options) {
  WASMFORMER_CHECK(w.format() == PackedMatrix::Format::scalar && x.cols() == w.cols() && y.rows() == x.rows() &&
                       y.cols() == w.rows(),
                   ErrorCode::gemm, shape(x) << " times " << shape(w) << "ᵀ does not give " << shape(y));
  const Product<Scalar> product{
      .a = x.data(), .a_stride = x.cols(), .m = x.rows(), .k = x.cols(), .n = w.rows(), .b = w.scalars()};
  const ScalarStore store{.c = y.data(), .n = y.cols(), .bias = options.bias, .accumulate = options.accumulate};
  run<false>(pool, product, store, k_per_block, options);
}

void gemm(ThreadPool& pool, const QuantizedRows& x, const PackedMatrix& w, View y, const GemmOptions& options) {
  WASMFORMER_CHECK(
      w.format() == PackedMatrix::Format::int8 && x.cols == w.cols() && y.rows() == x.rows && y.cols() == w.rows(),
      ErrorCode::gemm,
      x.rows << " quantized rows of " << x.cols << " times " << shape(w) << "ᵀ do not give " << shape(y));
  WASMFORMER_CHECK(!options.accumulate, ErrorCode::gemm, "a product with int8 weights cannot be added to its result");
  const Index k = int8_words(x.cols);
  const Product<std::int32_t> product{
      .a = x.words, .a_stride = x.parts * k, .m = x.rows, .k = k, .n = w.rows(), .b = w.words(), .parts = x.parts};
  const Int8Store store{.c = y.data(), .n = y.cols(), .bias = options.bias, .x = x, .w = w};
  const Index block = std::max<Index>(k, 1);  // all of k: the parts of a row follow each other
  run<false>(pool, product, store, block, options);
}

}  // namespace wasmformer
