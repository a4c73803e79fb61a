// Training as the program does it: reports on the terminal and in a log, files in a folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "train/training_loop.h"

namespace wasmformer {

struct TrainingOutput {
  std::string folder;
  bool resume = false;
  Index keep = 0;
  int threads = 1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"keep", "keep the models of the last N epochs, to average", at_least(0)}, keep);
    v({"threads", "threads", between(1, 256)}, threads);
  }
};

// Defaults of the program: goals are those of the whole run, each epoch is validated, and a run is saved often.
RunOptions program_run_options();

// Throws Error if it cannot be made.
void make_folder(const std::string& path);

// Begins a run, and prints its settings.
struct RunMaker {
  std::function<std::unique_ptr<TrainingSession>(ThreadPool&)> begin;
  std::function<std::string(TrainingSession&)> options;  // the text of options.json
};

// Returns the number of the signal that ended it before a goal was reached, 0 otherwise. The folder is made if it is
// missing; Error is thrown before any step if no file can be written there.
int train_until_done(const RunOptions& options, const TrainingOutput& output, const RunMaker& maker);

}  // namespace wasmformer
