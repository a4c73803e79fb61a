#include "train/training_loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/budget.h"

namespace wasmformer {

using namespace training_events;

TrainingLoop::TrainingLoop(TrainingSession& run, RunOptions options, Communicator& ranks,
                           std::function<bool()> is_interrupted)
    : run_(run), options_(std::move(options)), ranks_(ranks), is_interrupted_(std::move(is_interrupted)) {
  if (!options_.pin_every) options_.pin_every = options_.report_every;
  if (options_.goals_count_from == RunOptions::Origin::here) {
    first_step_ = run.progress().step;
    first_epoch_ = run.epochs();
  }
  begun_at_ = run.progress().step;
  if (options_.budget) plan_end();
  if (ranks.size() > 1) run.trainer().join(ranks);
}

TrainingEvent TrainingLoop::next() {
  if (!has_begun_) {
    has_begun_ = true;
    has_ended_ = ranks_.any(has_reached_goal());
  }
  if (validation_ && validation_->step()) return Validating();
  if (due_) return report();
  if (std::exchange(is_save_due_, false)) {
    saved_ = Clock::now();
    return SaveDue();
  }
  if (has_ended_) return Done();
  if (ranks_.any(has_lost_patience_)) return Done{.has_lost_patience = true};
  const bool asks = has_stepped_ && is_interrupted_;
  if (ranks_.any(asks && is_interrupted_())) return Done{.is_interrupted = true};
  return take_step();
}

double TrainingLoop::seconds() const {
  const double earlier = options_.goals_count_from == RunOptions::Origin::beginning ? options_.earlier_seconds : 0;
  return earlier + std::chrono::duration<double>(Clock::now() - start_).count();
}

double TrainingLoop::progress() const {
  double share = -1;
  const auto steps = static_cast<double>(run_.progress().step - first_step_);
  for (const std::optional<Index>& all : {options_.steps, planned_steps_})
    if (all) share = std::max(share, steps / static_cast<double>(*all));
  if (options_.epochs) share = std::max(share, (run_.epochs() - first_epoch_) / *options_.epochs);
  if (options_.minutes) share = std::max(share, seconds() / (seconds_per_minute * *options_.minutes));
  return std::min(share, 1.0);
}

bool TrainingLoop::has_reached_goal() const {
  constexpr double rounding = 1e-9;  // of passes, which are sums of fractions
  return progress() >= 1 || (options_.epochs && run_.epochs() >= first_epoch_ + *options_.epochs - rounding);
}

// Depends on nothing but the steps, so that a run which is resumed waits as long.
bool TrainingLoop::has_waited_enough() const {
  const bool has_goal = options_.steps || options_.epochs || planned_steps_;
  const double patience = options_.patience.value_or(has_goal ? 0 : run_.task().patience());
  return patience > 0 && run_.epochs_since_best() >= patience;
}

// Depends on nothing but the step and the epoch, so that runs which were interrupted have the same events.
bool TrainingLoop::validates() const {
  const Progress& p = run_.progress();
  if (options_.validate_every) return p.step % *options_.validate_every == 0;
  if (!run_.epoch_has_ended()) return false;
  const double least_epochs =
      std::ceil(static_cast<double>(options_.least_steps_between_validations * p.epoch) / static_cast<double>(p.step));
  return p.epoch % std::max<Index>(1, static_cast<Index>(least_epochs)) == 0;
}

TrainingEvent TrainingLoop::take_step() {
  const auto begin = Clock::now();
  const StepReport report = run_.step();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  step_seconds_ += seconds;
  units_ += report.units;
  has_stepped_ = true;
  if (options_.budget && (!is_end_planned_ || run_.progress().step % options_.report_every == 0)) fit_schedule();
  has_ended_ = ranks_.any(has_reached_goal());  // asked once: between two calls the time could run out
  if (ranks_.is_first()) plan_report(report);
  return Step{report, seconds};
}

// Takes the end of the schedule that the plan of the run, or its last stretch, has chosen.
void TrainingLoop::plan_end() {
  constexpr Index never = std::numeric_limits<Index>::max() / 2;
  const std::optional<BudgetPlan>& plan = run_.budget();
  const Index end = plan && plan->steps > 0 ? plan->steps : run_.trainer().config().decay_steps;
  // A run that goes on beyond its end gets another one; a program that repeats a command has reached it.
  const bool goes_beyond = options_.goals_count_from == RunOptions::Origin::here;
  is_end_planned_ = end > (goes_beyond ? begun_at_ : 0);
  planned_steps_ = is_end_planned_ ? end - first_step_ : never;
}

// Moves the end of the schedule to the step that the time left will reach at the speed so far. Validations and saves
// are part of that speed; the last validation follows the end.
void TrainingLoop::fit_schedule() {
  constexpr double small_share = 0.02;  // changes of the end that are noise
  constexpr double usual_share_of_validation = 0.03;
  const double budget = seconds_per_minute * *options_.budget;
  const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
  const double last_validation = validation_seconds_.value_or(usual_share_of_validation * budget);
  const Index step = run_.progress().step;
  const double seconds_per_step = spent / static_cast<double>(step - begun_at_);
  const auto left = static_cast<Index>(std::max(0.0, budget - last_validation - spent) / seconds_per_step);
  const Index end = step + std::max<Index>(left, 1);
  const Index planned = first_step_ + *planned_steps_;
  const double change = std::abs(static_cast<double>(end - planned));
  if (is_end_planned_ && change < small_share * static_cast<double>(planned)) return;
  is_end_planned_ = true;
  TrainingConfig training = run_.trainer().config();
  end_schedule(training, end);
  run_.set_training(training);
  planned_steps_ = end - first_step_;
}

// Decides what follows the step.
void TrainingLoop::plan_report(const StepReport& report) {
  const Index step = run_.progress().step;
  const bool is_validated = has_ended_ || validates();
  const bool pins = !options_.pinned.empty() && (has_ended_ || step % *options_.pin_every == 0);
  if (is_validated) {
    validation_.emplace(run_);
    validation_began_ = Clock::now();
  }
  if (is_validated || pins || step % options_.report_every == 0) {
    due_ = Report{.step = step,
                  .epoch = run_.epochs(),
                  .loss = 0,
                  .learning_rate = report.learning_rate,
                  .gradient_norm = report.gradient_norm,
                  .units = 0,
                  .step_seconds = 0,
                  .validation = {},
                  .pins = pins};
  }
  if (!options_.save_every) return;
  const double unsaved = std::chrono::duration<double>(Clock::now() - saved_).count();
  is_save_due_ = is_validated || run_.epoch_has_ended() || unsaved > *options_.save_every;
}

TrainingEvent TrainingLoop::report() {
  Report report = *std::exchange(due_, std::nullopt);
  report.loss = run_.trainer().take_mean_loss();
  report.units = std::exchange(units_, 0);
  report.step_seconds = std::exchange(step_seconds_, 0);
  if (validation_) {
    report.validation = validation_->result();
    validation_seconds_ = std::chrono::duration<double>(Clock::now() - validation_began_).count();
    has_lost_patience_ = has_waited_enough();
  }
  validation_.reset();
  return report;
}

}  // namespace wasmformer
