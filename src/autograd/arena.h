// Memory of one step: taken piece by piece, released all at once, and reused by the next step.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

class Arena {
 public:
  // Uninitialized, aligned to 64 bytes; valid until reset(). No destructor runs.
  template <class T>
  T* take(Index count) {
    return static_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }
  // Keeps the memory: the next step of this size takes the same pieces again.
  void reset();
  std::size_t bytes() const;

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::byte* begin;
    std::size_t size, used;
  };
  void* take_bytes(std::size_t bytes);
  void add_block(std::size_t size);

  std::vector<Block> blocks_;
  std::size_t first_ = 0;  // the blocks before it are full
};

// Makes the C library keep freed memory instead of returning it to the system, whose fresh pages cost a third
// of the time of translating small batches. Programs call it once, at the start.
void keep_freed_memory();

}  // namespace wasmformer
