// Counts allocations, with an operator new of its own for all tests.
#include <algorithm>
#include <atomic>
#include <catch_amalgamated.hpp>
#include <cstdlib>
#include <new>

#include "tasks/translate/search.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;

namespace {

std::atomic<long> allocations = 0;

}  // namespace

// Not inlined, or GCC sees free() without the malloc() of the same pointer and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("Decoding a token allocates nothing") {
  const ModelFile file = letters_model(3, /*end_bias=*/-100);  // all go on to their max_length
  const int threads = GENERATE(1, 2);
  const TranslateOptions options = GENERATE(TranslateOptions{.beam_size = 1}, TranslateOptions{.beam_size = 4},
                                            TranslateOptions{.sampling = Sampling{.top_k = 5, .top_p = 0.9}});
  CAPTURE(threads, options.beam_size, options.sampling.has_value());
  ThreadPool pool(threads);
  const std::vector<SearchInput> inputs{{{5, 6, 3}, {}, 40}, {{9, 3}, {6}, 40}, {{12, 12, 4, 3}, {}, 40}};
  Search search(*file.transformer, pool, inputs, options);
  std::vector<long> counts;
  for (bool more = true; more;) {
    const long before = allocations;
    more = search.step();
    counts.push_back(allocations - before);
  }
  REQUIRE(counts.size() == 40);
  CHECK(counts[0] > 0);  // the counter works
  // What a step needs has its size after the second. The cache doubles: at most from 8 to 40 tokens a slot.
  CHECK(std::count_if(counts.begin() + 2, counts.end(), [](long n) { return n > 0; }) <= 3);
  CHECK(std::count(counts.end() - 7, counts.end(), 0) == 7);
}
