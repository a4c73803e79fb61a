// How the benchmarks take times.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace wasmformer::bench {

inline double now() {  // milliseconds
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(time).count();
}

// Milliseconds a call of each: the lower quartile of samples, which other programs on the machine disturb
// less than the median. All are sampled in turn, for about `budget` milliseconds each, so that they meet the
// same disturbances. Short calls are timed many at a time, since a browser's clock is coarse.
inline std::vector<double> milliseconds_per_call(const std::vector<std::function<void()>>& calls, double budget) {
  constexpr double shortest_sample = 2;
  const auto sample = [](const std::function<void()>& call, int count) {
    const double start = now();
    for (int i = 0; i < count; ++i) call();
    return now() - start;
  };
  std::vector<int> counts;
  for (const auto& call : calls) {
    counts.push_back(1);
    while (sample(call, counts.back()) < shortest_sample) counts.back() *= 2;
  }
  std::vector<std::vector<double>> samples(calls.size());
  const double end = now() + budget * static_cast<double>(calls.size());
  while (samples[0].size() < 3 || now() < end) {
    for (std::size_t i = 0; i < calls.size(); ++i) samples[i].push_back(sample(calls[i], counts[i]) / counts[i]);
  }
  std::vector<double> result;
  for (auto& times : samples) {
    std::sort(times.begin(), times.end());
    result.push_back(times[times.size() / 4]);
  }
  return result;
}

}  // namespace wasmformer::bench
