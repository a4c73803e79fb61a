#include "tensor/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "tensor/check.h"

namespace wasmformer {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
constexpr bool has_threads = false;
#else
constexpr bool has_threads = true;
#endif

struct ThreadPool::State {
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable work_ready, work_done;
  std::uint64_t generation = 0;  // counts loops, so that a worker sees each once
  int active = 0;                // workers still inside the current loop
  bool stopping = false;

  FunctionRef<void(Index, Index)> body;
  Index count = 0, grain = 1;
  std::atomic<Index> next = 0;
  std::exception_ptr error;

  void take_chunks() {
    try {
      for (Index begin; (begin = next.fetch_add(grain)) < count;) body(begin, std::min(begin + grain, count));
    } catch (...) {
      next = count;  // the other threads stop after their chunk
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }

  void work() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      work_ready.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) return;
      seen = generation;
      lock.unlock();
      take_chunks();
      lock.lock();
      if (--active == 0) work_done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  WASMFORMER_CHECK(threads >= 1, "[threads] " << threads << " threads cannot work; at least 1 is needed");
  for (int i = 1; has_threads && i < threads; ++i)
    state_->workers.emplace_back([s = state_.get()] { s->work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work_ready.notify_all();
  for (auto& worker : state_->workers) worker.join();
}

int ThreadPool::size() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::parallel_for(Index count, Index grain, FunctionRef<void(Index, Index)> body) {
  State& s = *state_;
  grain = std::max<Index>(grain, 1);
  if (s.workers.empty() || count <= grain) {
    for (Index begin = 0; begin < count; begin += grain) body(begin, std::min(begin + grain, count));
    return;
  }
  {
    std::lock_guard lock(s.mutex);
    s.body = body, s.count = count, s.grain = grain, s.next = 0, s.error = nullptr;
    s.active = static_cast<int>(s.workers.size());
    ++s.generation;
  }
  s.work_ready.notify_all();
  s.take_chunks();
  std::unique_lock lock(s.mutex);
  s.work_done.wait(lock, [&] { return s.active == 0; });
  if (s.error) std::rethrow_exception(s.error);
}

}  // namespace wasmformer
