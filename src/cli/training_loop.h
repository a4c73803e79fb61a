// Training as the program does it: steps until a goal is reached, reports, validation, files in a folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "train/run.h"

namespace wasmformer {

struct TrainingLoopOptions {
  std::string output;  // the folder
  bool resume = false;
  std::optional<Index> max_epochs, max_steps;  // of the whole run
  std::optional<double> max_minutes;
  Index report_every = 100, keep = 0;
  int threads = 1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"max_epochs", "stop after N passes over the corpus", at_least(1)}, max_epochs);
    v({"max_steps", "stop after N steps; for a task, by default as many as it needs", at_least(1)}, max_steps);
    v({"max_minutes", "stop after N minutes", above(0)}, max_minutes);
    v({"report_every", "steps between reports", at_least(1)}, report_every);
    v({"keep", "keep the models of the last N epochs, to average", at_least(0)}, keep);
    v({"threads", "threads", between(1, 256)}, threads);
  }
};

// Throws Error if it cannot be made.
void make_folder(const std::string& path);

// Returns the number of the signal that ended it before a goal was reached, 0 otherwise. `begin` makes the
// run. The folder is made if it is missing; Error is thrown before any step if no file can be written there.
int train_until_done(const TrainingLoopOptions& options,
                     const std::function<std::unique_ptr<TrainingRun>(ThreadPool&)>& begin);

}  // namespace wasmformer
