// The one matrix product: c = op(a) op(b), or c += op(a) op(b).
#pragma once

#include "tensor/matrix.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

enum class Op { none, transpose };

// a: [m, k] or, transposed, [k, m]; b: [k, n] or [n, k]; c: [m, n]. The split into chunks follows from the
// shape alone, so every number of threads gives the same bits. Throws Error when the shapes do not fit.
void gemm(ThreadPool& pool, ConstView a, Op op_a, ConstView b, Op op_b, View c, bool accumulate = false);

}  // namespace wasmformer
