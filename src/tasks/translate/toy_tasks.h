// Made-up tasks, which a small model learns in a minute or so, and whose attention shows how it does them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "tasks/translate/corpus.h"

namespace wasmformer {

struct ToyTask {
  const char* name;
  const char* what;    // "letters in reverse order"
  const char* source;  // an example
  const char* target;
  Index max_pairs;     // at most, from make_pairs()
  Index pairs, steps;  // enough of both for the preset `toy` to learn it
};

// Pairs that a run also takes, to validate on.
constexpr Index task_valid_pairs = 200;

std::span<const ToyTask> toy_tasks();
// Throws Error for an unknown name.
const ToyTask& find_task(const std::string& name);

// Bounds of how many characters a source has.
struct SourceLengths {
  Index least = 0, most = std::numeric_limits<Index>::max();
};

// `count` different pairs, the same for the same seed. Throws Error when the task is unknown or has fewer; with
// `lengths`, when so many are not found in a hundred times as many draws.
ParallelText make_pairs(const std::string& task, Index count, std::uint64_t seed, SourceLengths lengths = {});

}  // namespace wasmformer
