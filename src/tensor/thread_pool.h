// A fixed set of threads for loops whose chunks do not depend on the number of threads,
// so that results do not either.
#pragma once

#include <memory>

#include "tensor/function_ref.h"
#include "tensor/matrix.h"

namespace wasmformer {

class ThreadPool {
 public:
  // `threads` includes the calling thread; it is 1 where threads are not available. Throws Error below 1.
  explicit ThreadPool(int threads = 1);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(begin, end) for consecutive ranges of `grain` (the last may be shorter) that cover [0, count).
  // Returns when all have ended; rethrows the first exception of a body. May be called by several threads at
  // once, also from within a body; one of them has the workers, and the others compute alone.
  void parallel_for(Index count, Index grain, FunctionRef<void(Index begin, Index end)> body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wasmformer
