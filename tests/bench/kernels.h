// Matrix products, and what the processor can do with numbers that never leave its registers.
#pragma once

#include <nlohmann/json.hpp>

namespace wasmformer::bench {

// {"peak f32": GFLOP/s, ..., "gemm f32 64x256x1024": GFLOP/s, ...}; each is measured for about `budget`
// milliseconds, on one thread.
nlohmann::json kernels(double budget);

}  // namespace wasmformer::bench
