#include "tensor/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <catch_amalgamated.hpp>
#include <chrono>
#include <mutex>
#include <thread>

#include "schema/error.h"

using namespace wasmformer;

namespace {

std::vector<Span> ranges(ThreadPool& pool, Index count, Index grain) {
  std::mutex mutex;
  std::vector<Span> found;
  pool.parallel_for(count, grain, [&](Index begin, Index end) {
    std::lock_guard lock(mutex);
    found.push_back({begin, end - begin});
  });
  std::sort(found.begin(), found.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return found;
}

}  // namespace

TEST_CASE("parallel_for covers everything once, in ranges that do not depend on the number of threads") {
  const Index count = GENERATE(0, 1, 2, 7, 64, 1000), grain = GENERATE(1, 3, 64, 2000);
  CAPTURE(count, grain);
  Spans expected;
  for (Index begin = 0; begin < count; begin += grain) expected.push_back({begin, std::min(grain, count - begin)});
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    CHECK(ranges(pool, count, grain) == expected);
    CHECK(ranges(pool, count, grain) == expected);  // the same threads serve again
  }
}

TEST_CASE("A grain below 1 counts as 1") {
  ThreadPool pool(2);
  CHECK(ranges(pool, 3, 0) == Spans{{0, 1}, {1, 1}, {2, 1}});
}

TEST_CASE("A body's exception reaches the caller, and the pool keeps working") {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      CHECK_THROWS_WITH(pool.parallel_for(100, 1,
                                          [](Index begin, Index) {
                                            if (begin % 10 == 7) throw Error(ErrorCode::other, "[test] the body fails");
                                          }),
                        "[test] the body fails");
      CHECK(ranges(pool, 10, 4) == Spans{{0, 4}, {4, 4}, {8, 2}});
    }
  }
}

TEST_CASE("Many short loops in a row lose nothing") {
  ThreadPool pool(3);
  std::vector<Index> sums(50, 0);
  for (int repeat = 0; repeat < 2000; ++repeat)
    pool.parallel_for(50, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) sums[static_cast<std::size_t>(i)] += i;
    });
  for (Index i = 0; i < 50; ++i) REQUIRE(sums[static_cast<std::size_t>(i)] == 2000 * i);
}

TEST_CASE("Threads join loops, whether they are spinning or asleep") {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 300 && pool.size() == 3; ++repeat) {
    std::this_thread::sleep_for(std::chrono::microseconds(repeat % 10 == 0 ? 2000 : repeat % 7 * 25));
    std::atomic<int> arrived = 0;
    pool.parallel_for(3, 1, [&](Index, Index) {
      ++arrived;
      while (arrived < 3) std::this_thread::yield();  // nobody can do the work of two
    });
    REQUIRE(arrived == 3);
  }
}

TEST_CASE("A pool has at least the calling thread") {
  CHECK(ThreadPool().size() == 1);
  const int size = ThreadPool(3).size();
#ifdef __EMSCRIPTEN__
  CHECK((size == 1 || size == 3));
#else
  CHECK(size == 3);
#endif
  CHECK_THROWS_WITH(ThreadPool(0), Catch::Matchers::ContainsSubstring("0 threads"));
  CHECK_THROWS_WITH(ThreadPool(-2), Catch::Matchers::ContainsSubstring("-2 threads"));
}
