// This process's communicator: the ranks that mpirun started, or size 1 in a build without WASMFORMER_MPI.
#pragma once

#include "train/distributed/communicator.h"

namespace wasmformer {

Communicator& ranks();
// Prints the error, once for all ranks, and ends them. Returns if this program is alone.
void fail_together(const char* problem, int exit_code);

}  // namespace wasmformer
