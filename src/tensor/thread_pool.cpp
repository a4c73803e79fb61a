#include "tensor/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "schema/error.h"

namespace wasmformer {
namespace {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
constexpr bool has_threads = false;
#else
constexpr bool has_threads = true;
#endif

// Hints to the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Long enough for the pause between two loops of a decoding step, short beside the time slice of a busy core.
constexpr std::chrono::microseconds spin_time{100};

// Waits without sleeping until `done()`: a microsecond or two, or, if `is_long`, about `spin_time`, in which
// others may have the core. Returns done().
template <class F>
bool spin(bool is_long, F&& done) {
  for (int i = 0; i < 64; ++i) {
    if (done()) return true;
    relax();
  }
  if (!is_long) return false;
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      relax();
    }
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

}  // namespace

// A loop is open while it has ranges to give away. A worker that sees it open joins it; the caller, which
// works too, closes it when nothing is left, and waits only for the workers that have joined. So a worker
// that sleeps or has no core delays nobody.
struct ThreadPool::State {
  // `loop`: how many workers have joined; whether it is open; from there on the number of the loop.
  static constexpr std::uint64_t joined = 0xffff, open = 0x10000;

  alignas(64) std::atomic<std::uint64_t> loop = 0;
  std::atomic<bool> stopping = false;
  std::atomic<bool> has_caller = false;
  std::atomic<bool> worker_sleeps = false, caller_sleeps = false;  // someone is to be woken
  // State of the open loop; written while no worker has joined.
  FunctionRef<void(Index, Index)> body;
  Index count = 0, grain = 1;
  alignas(64) std::atomic<Index> next = 0;

  alignas(64) std::mutex mutex;
  std::condition_variable work_ready, work_done;
  std::exception_ptr error;
  bool spins_long = true;
  std::vector<std::thread> workers;

  void take_ranges() {
    try {
      for (Index begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;)
        body(begin, std::min(begin + grain, count));
    } catch (...) {
      next = count;  // the other threads stop after their range
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }

  ~State() {
    stopping = true;
    wake_workers();
    for (auto& worker : workers) worker.join();
  }

  static std::uint64_t number(std::uint64_t value) { return value / (2 * open); }
  bool is_idle() const { return (loop & joined) == 0; }

  void work() {
    std::uint64_t seen = 0;
    const auto wanted = [&] {
      const std::uint64_t now = loop;
      return stopping || ((now & open) && number(now) != seen);
    };
    while (true) {
      if (!spin(spins_long, wanted)) {
        std::unique_lock lock(mutex);
        // The flag is set before the look, so that the caller either is seen or sees it.
        for (worker_sleeps = true; !wanted(); worker_sleeps = true) work_ready.wait(lock);
      }
      if (stopping) return;
      std::uint64_t now = loop;
      while ((now & open) && !loop.compare_exchange_weak(now, now + 1)) {
      }
      seen = number(now);
      if (!(now & open)) continue;  // closed meanwhile
      take_ranges();
      --loop;
      if (caller_sleeps && is_idle()) {
        std::lock_guard lock(mutex);
        work_done.notify_one();
      }
    }
  }

  void wait_for_workers() {
    const auto done = [this] { return is_idle(); };
    if (spin(spins_long, done)) return;
    std::unique_lock lock(mutex);
    caller_sleeps = true;
    work_done.wait(lock, done);
    caller_sleeps = false;
  }

  void wake_workers() {
    if (!worker_sleeps) return;
    {
      std::lock_guard lock(mutex);
      worker_sleeps = false;
    }
    work_ready.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  WASMFORMER_CHECK(threads >= 1, ErrorCode::threads, threads << " threads; there must be at least 1");
  // Threads that share a core must not spin for long, since that would keep the others from working.
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  state_->spins_long = cores == 0 || threads <= cores;
  for (int i = 1; has_threads && i < threads; ++i) state_->workers.emplace_back([s = state_.get()] { s->work(); });
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::size() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::parallel_for(Index count, Index grain, FunctionRef<void(Index, Index)> body) {
  State& s = *state_;
  grain = std::max<Index>(grain, 1);
  // While another thread's loop has the workers, this one runs without them.
  if (s.workers.empty() || count <= grain || s.has_caller.exchange(true)) {
    for (Index begin = 0; begin < count; begin += grain) body(begin, std::min(begin + grain, count));
    return;
  }
  s.body = body;
  s.count = count;
  s.grain = grain;
  s.next.store(0, std::memory_order_relaxed);
  s.loop = (State::number(s.loop) + 1) * 2 * State::open + State::open;
  s.wake_workers();
  s.take_ranges();
  s.loop -= State::open;
  s.wait_for_workers();
  const std::exception_ptr error = std::exchange(s.error, nullptr);
  s.has_caller = false;
  if (error) std::rethrow_exception(error);
}

}  // namespace wasmformer
