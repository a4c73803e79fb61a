#include "autograd/arena.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace wasmformer {

constexpr std::size_t alignment = 64;
constexpr std::size_t smallest_block = std::size_t{1} << 20, usual_block = std::size_t{4} << 20,
                      largest_block = std::size_t{32} << 20;

void Arena::reset() {
  for (Block& block : blocks_) block.used = 0;
  first_ = 0;
}

void Arena::add_block(std::size_t size) {
  std::unique_ptr<std::byte[]> memory(new std::byte[size + alignment]);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
  std::byte* begin = memory.get() + (alignment - address % alignment) % alignment;
  blocks_.push_back({std::move(memory), begin, size, 0});
}

void* Arena::take_bytes(std::size_t bytes) {
  bytes = (bytes + alignment - 1) / alignment * alignment;
  while (first_ < blocks_.size() && blocks_[first_].used == blocks_[first_].size) ++first_;
  // If batches differ in size, a piece may not fit where the step before had it, but a later one does.
  auto block = std::find_if(blocks_.begin() + static_cast<std::ptrdiff_t>(first_), blocks_.end(),
                            [=](const Block& b) { return b.used + bytes <= b.size; });
  if (block == blocks_.end()) {
    // Room for a slightly larger piece in the next step.
    const std::size_t all = this->bytes(), roomy = bytes + bytes / 8;
    add_block(std::max({roomy, smallest_block, std::min(all, usual_block), std::min(all / 16, largest_block)}));
    block = blocks_.end() - 1;
  }
  void* result = block->begin + block->used;
  block->used += bytes;
  return result;
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int largest = 1 << 25;  // the maximum that mallopt accepts
  mallopt(M_MMAP_THRESHOLD, largest);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

std::size_t Arena::bytes() const {
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.size;
  return sum;
}

}  // namespace wasmformer
