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
  Index max_epochs = 0, max_steps = 0;  // of the whole run; 0 for no such goal
  double max_minutes = 0;
  Index report_every = 100, keep = 0;
  int threads = 1;
};

// Returns the number of the signal that ended it before a goal was reached, 0 otherwise. `begin` makes the
// run. The folder is made if it is missing; Error is thrown before any step if no file can be written there.
int train_until_done(const TrainingLoopOptions& options,
                     const std::function<std::unique_ptr<TrainingRun>(ThreadPool&)>& begin);

}  // namespace wasmformer
