#include "train/budget.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "train/schedule.h"
#include "train/training_run.h"

namespace wasmformer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index least_steps_of_schedule = 2;  // one to warm up, one to fall

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Evenly from all of them, as corpora are often sorted.
std::shared_ptr<Texts> sample(const Texts& texts, std::size_t count) {
  std::vector<Index> which;
  const std::size_t size = texts.size(), taken = std::min(size, count);
  for (std::size_t i = 0; i < taken; ++i) which.push_back(static_cast<Index>(i * size / taken));
  return texts.select(which);
}

struct Measured {
  double seconds_per_step = 0, epochs_per_step = 0;
};

Measured measure(TrainingStart start, const std::shared_ptr<Texts>& some, ThreadPool& pool) {
  constexpr double enough_seconds = 0.4;
  constexpr Index most_steps = 12;
  TrainingSession run(std::move(start), {some, some}, pool);
  run.step();  // the first one takes memory
  const Clock::time_point begin = Clock::now();
  Index steps = 0;
  for (; steps < most_steps && (steps < 2 || seconds_since(begin) < enough_seconds); ++steps) run.step();
  return {.seconds_per_step = seconds_since(begin) / static_cast<double>(steps),
          .epochs_per_step = run.epochs() / static_cast<double>(steps + 1)};
}

std::optional<Measured> measure_if_it_fits(const Preset& settings, const BeginRun& begin,
                                           const std::shared_ptr<Texts>& some, ThreadPool& pool) {
  try {
    return measure(begin(settings), some, pool);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::training_memory) throw;
    return std::nullopt;
  }
}

// The more often a text is seen, the more is learned by heart.
double dropout_for(double passes) {
  constexpr double few_passes = 3;
  constexpr double many_passes = 20;
  constexpr double least = 0.05;
  constexpr double most = 0.3;
  const double way = std::log(passes / few_passes) / std::log(many_passes / few_passes);
  return std::clamp(least + way * (most - least), least, most);
}

}  // namespace

Index vocab_size_for(std::span<const std::string> texts) {
  constexpr std::size_t much_text = 2'500'000;
  constexpr std::size_t some_text = 400'000;
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  if (bytes >= much_text) return 8000;
  return bytes >= some_text ? 4000 : 2000;
}

Preset with_end(Preset settings) {
  TrainingConfig& training = settings.training;
  if (training.schedule != Schedule::noam && training.schedule != Schedule::inverse_sqrt) return settings;
  training.learning_rate = peak_rate(training, settings.config.d_model);
  training.schedule = Schedule::linear;
  return settings;
}

void end_schedule(TrainingConfig& training, Index steps) {
  training.decay_steps = std::max<Index>(steps, least_steps_of_schedule);
  training.warmup_steps = std::min(training.warmup_steps, std::max<Index>(training.decay_steps / 4, 1));
}

BudgetPlan plan_budget(const std::vector<BudgetCandidate>& candidates, double seconds, const Texts& texts,
                       ThreadPool& pool, const BeginRun& begin_run) {
  constexpr std::size_t texts_of_sample = 2000;
  constexpr double share_of_validation = 0.05;
  const std::shared_ptr<Texts> some = sample(texts, texts_of_sample);
  const double share_of_texts = static_cast<double>(some->size()) / static_cast<double>(texts.size());
  const Clock::time_point begin = Clock::now();
  BudgetPlan chosen;
  for (const BudgetCandidate& candidate : candidates) {
    const bool is_first = chosen.steps == 0;
    const std::optional<Measured> measured = measure_if_it_fits(candidate.settings, begin_run, some, pool);
    if (!measured && is_first) begin_run(candidate.settings);  // throws what is wrong
    if (!measured) break;
    const double left = std::max(seconds - seconds_since(begin), 1.0);
    const auto steps = static_cast<Index>(left * (1 - share_of_validation) / measured->seconds_per_step);
    if (!is_first && steps < candidate.least_steps) break;
    chosen = {.settings = candidate.settings,
              .seconds = left,
              .seconds_per_step = measured->seconds_per_step,
              .steps = std::max<Index>(steps, least_steps_of_schedule),
              .epochs = static_cast<double>(steps) * measured->epochs_per_step * share_of_texts};
    if (candidate.fits_dropout) chosen.settings.config.dropout = dropout_for(chosen.epochs);
  }
  end_schedule(chosen.settings.training, chosen.steps);
  return chosen;
}

}  // namespace wasmformer
