#include "autograd/arena.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace wasmformer {

constexpr std::size_t alignment = 64;
constexpr std::size_t smallest_block = std::size_t{1} << 20, usual_block = std::size_t{4} << 20;

void Arena::add_block(std::size_t size) {
  std::unique_ptr<std::byte[]> memory(new std::byte[size + alignment]);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
  std::byte* begin = memory.get() + (alignment - address % alignment) % alignment;
  blocks_.push_back({std::move(memory), begin, size});
}

void* Arena::take_bytes(std::size_t bytes) {
  bytes = (bytes + alignment - 1) / alignment * alignment;
  for (; current_ < blocks_.size() && used_ + bytes > blocks_[current_].size; ++current_) used_ = 0;
  if (current_ == blocks_.size())
    add_block(std::max({bytes, smallest_block, std::min(this->bytes(), usual_block)}));
  std::byte* result = blocks_[current_].begin + used_;
  used_ += bytes;
  return result;
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int largest = 1 << 25;  // that it takes
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
