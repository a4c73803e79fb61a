// The one matrix product, on packed panels. The split into chunks and the order of every sum follow from the
// shapes alone, so every number of threads gives the same bits.
#pragma once

#include "gemm/packed.h"
#include "gemm/quantized_rows.h"
#include "tensor/function_ref.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

struct GemmOptions {
  const Scalar* bias = nullptr;  // [n], added to every row; not together with `accumulate`
  bool accumulate = false;       // c += instead of c =
  // Called for each block of c that is final, while it is still in the processor's cache; by several threads.
  FunctionRef<void(Index row, Index rows, Index column, Index columns)> finish = {};
};

// c = op(a) op(b). a: [m, k] or, transposed, [k, m]; b: [k, n] or [n, k]; c: [m, n]. Throws Error if the
// shapes do not fit.
void gemm(ThreadPool& pool, ConstView a, Op op_a, ConstView b, Op op_b, View c, const GemmOptions& options = {});

// y = x Wᵀ, x: [m, k], w: [n, k] of Scalars, y: [m, n].
void gemm(ThreadPool& pool, ConstView x, const PackedMatrix& w, View y, const GemmOptions& options = {});

// The same with w of int8; `accumulate` is refused.
void gemm(ThreadPool& pool, const QuantizedRows& x, const PackedMatrix& w, View y, const GemmOptions& options = {});

}  // namespace wasmformer
