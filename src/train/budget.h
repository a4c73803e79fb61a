// A budget of minutes for a run: settings that the texts and the speed of this machine allow, with a schedule that ends
// in time.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "train/budget_plan.h"
#include "train/setup_steps.h"

namespace wasmformer {

using BeginRun = std::function<TrainingStart(const Preset&)>;

// Pieces of a tokenizer for these texts: little text shows few pieces often enough to learn them.
Index vocab_size_for(std::span<const std::string> texts);

// The settings with a schedule that ends, if theirs does not.
Preset with_end(Preset settings);

// Lets a schedule end after `steps`, at least two. It warms up for at most a quarter of them, but never for none if it
// did before.
void end_schedule(TrainingConfig& training, Index steps);

// Measures some steps of each candidate, begun by `begin_run`, on a few of the texts. Each has a least number of steps,
// below which a smaller one is better: chosen is the largest whose least steps fit into `seconds`. A candidate for
// which `begin_run` throws Error for lack of memory is skipped; for the first one the error is passed on.
BudgetPlan plan_budget(const std::vector<BudgetCandidate>& candidates, double seconds, const Texts& texts,
                       ThreadPool& pool, const BeginRun& begin_run);

}  // namespace wasmformer
