// The one loop of training: it steps, validates and stops, and reports progress and pending work as events. It
// does a little work per call, so that a front end stays in control: the program prints, logs and writes files, the
// worker posts messages, and ranks that are not the first ignore all but the end.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <variant>

#include "train/run_options.h"
#include "train/training_run.h"
#include "wasmformer/training.h"

namespace wasmformer {

namespace training_events {
// A step has been taken. What is due after it follows.
struct Step {
  StepReport report;
  double seconds = 0;
};
// A part of a validation has been done.
struct Validating {};
// The run should be saved, as validated or after RunOptions::save_every.
struct SaveDue {};
// No more steps.
struct Done {
  bool is_interrupted = false;     // before a goal was reached
  bool has_lost_patience = false;  // as validation was not better for long
};
}  // namespace training_events

using TrainingEvent = std::variant<training_events::Step, training_events::Validating, training_events::Report,
                                   training_events::SaveDue, training_events::Done>;

class TrainingLoop {
 public:
  // `run` and `ranks` must outlive it. `is_interrupted`: asked after each step; true ends the run.
  TrainingLoop(TrainingSession& run, RunOptions options, Communicator& ranks,
               std::function<bool()> is_interrupted = {});

  // The last event is Done. All ranks must call it until then, and only the first gets reports.
  TrainingEvent next();

  const RunOptions& options() const { return options_; }
  // The share of the way to the nearest goal; -1 without a goal.
  double progress() const;
  // Seconds of the run, with earlier_seconds where goals count from the beginning.
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  bool has_reached_goal() const;
  bool has_waited_enough() const;
  bool validates() const;
  TrainingEvent take_step();
  void plan_end();
  void fit_schedule();
  void plan_report(const StepReport& report);
  TrainingEvent report();

  TrainingSession& run_;
  RunOptions options_;
  Communicator& ranks_;
  std::function<bool()> is_interrupted_;
  Clock::time_point start_ = Clock::now(), saved_ = start_;
  Index begun_at_ = 0;                  // the step before the first one
  std::optional<Index> planned_steps_;  // until the end of a run with a budget
  bool is_end_planned_ = false;         // true once the budget has planned it
  Index first_step_ = 0;                // goals count from these
  double first_epoch_ = 0;
  bool has_begun_ = false, has_ended_ = false, has_stepped_ = false, has_lost_patience_ = false;
  Index units_ = 0;  // since the last report
  double step_seconds_ = 0;
  std::optional<training_events::Report> due_;
  std::optional<TrainingSession::ValidationJob> validation_;
  Clock::time_point validation_began_;
  std::optional<double> validation_seconds_;  // time that the last one took
  bool is_save_due_ = false;
};

}  // namespace wasmformer
