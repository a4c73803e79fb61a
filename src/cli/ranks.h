// The programs that mpirun started together; alone in a build without WASMFORMER_MPI.
#pragma once

#include "train/distributed/ranks.h"

namespace wasmformer {

Ranks& ranks();
// Prints what is wrong, once for all ranks, and ends them. Returns if this program is alone.
void fail_together(const char* problem, int exit_code);

}  // namespace wasmformer
