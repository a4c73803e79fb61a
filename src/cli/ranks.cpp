#include "cli/ranks.h"

namespace wasmformer {

Communicator& ranks() {
  static Communicator alone;
  return alone;
}

void fail_together(const char*, int) {}

}  // namespace wasmformer
