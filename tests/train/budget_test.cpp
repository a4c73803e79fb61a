#include "train/budget.h"

#include <catch_amalgamated.hpp>

#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translate_task.h"
#include "train/run_request.h"
#include "train/training_loop.h"

using namespace wasmformer;

namespace {

std::shared_ptr<Texts> pairs() { return texts_of(make_pairs("copy", 60, 1)); }

Preset of_width(Index d_model) {
  Preset p = preset("tiny");
  p.config.d_model = d_model;
  p.config.ffn_dim = 2 * d_model;
  p.config.num_heads = 2;
  p.config.encoder_layers = p.config.decoder_layers = 1;
  p.training.schedule = Schedule::linear;
  p.training.batch_tokens = 200;
  return p;
}

TrainingStart start_of(const Preset& p) {
  return fresh_start(p, counted_tokenizers(pairs()->sides(), TokenizerType::character, 0, /*joint=*/true), 1e12);
}

}  // namespace

TEST_CASE("A budget takes the largest candidate that can take its least steps, and ends its schedule there") {
  ThreadPool pool;
  constexpr Index never = 1'000'000'000;
  const auto chosen_width = [&](Index least_of_second, Index least_of_third) {
    const std::vector<BudgetCandidate> candidates{{.settings = of_width(16)},
                                                  {.settings = of_width(24), .least_steps = least_of_second},
                                                  {.settings = of_width(32), .least_steps = least_of_third}};
    const BudgetPlan plan = plan_budget(candidates, 5, *pairs(), pool, start_of);
    CHECK(plan.steps > 0);
    CHECK(plan.settings.training.decay_steps == plan.steps);
    CHECK(plan.settings.training.warmup_steps <= plan.steps / 4);
    const double steps_per_epoch = static_cast<double>(plan.steps) / plan.epochs;
    TrainingSession run(start_of(plan.settings), {pairs(), pairs()}, pool);
    CHECK(steps_per_epoch == Catch::Approx(static_cast<double>(run.trainer().batches_per_epoch())).epsilon(0.2));
    return plan.settings.config.d_model;
  };
  CHECK(chosen_width(1, 1) == 32);
  CHECK(chosen_width(1, never) == 24);
  CHECK(chosen_width(never, 1) == 16);
}

TEST_CASE("A candidate of a budget that takes too much memory is passed over, unless it is the first") {
  ThreadPool pool;
  const auto start = [](const Preset& p) {
    WASMFORMER_CHECK(p.config.d_model < 32, ErrorCode::training_memory, "too large");
    return start_of(p);
  };
  const BudgetPlan plan =
      plan_budget({{.settings = of_width(16)}, {.settings = of_width(32), .least_steps = 1}}, 2, *pairs(), pool, start);
  CHECK(plan.settings.config.d_model == 16);
  CHECK_THROWS_AS(plan_budget({{.settings = of_width(32)}}, 2, *pairs(), pool, start), Error);
}

TEST_CASE("A loop with a budget ends with its schedule, wherever that had been planned to end") {
  const Index planned = GENERATE(3, 1'000'000);
  ThreadPool pool;
  Preset p = of_width(16);
  p.training.decay_steps = planned;
  p.training.warmup_steps = 1;
  TrainingSession run(start_of(p), {pairs(), pairs()}, pool);
  RunOptions options;
  options.report_every = 1;
  options.budget = 0.3 / 60;
  Communicator alone;
  TrainingLoop loop(run, options, alone);
  double last_rate = 0;
  TrainingEvent event = loop.next();
  for (; !std::holds_alternative<training_events::Done>(event); event = loop.next())
    if (const auto* step = std::get_if<training_events::Step>(&event)) last_rate = step->report.learning_rate;
  const TrainingConfig& training = run.trainer().config();
  const Index steps = run.progress().step;
  CHECK(steps > 3);
  CHECK(training.decay_steps <= steps + steps / 20 + 1);
  CHECK(last_rate < 0.1 * training.learning_rate);
  CHECK_FALSE(std::get<training_events::Done>(event).is_interrupted);
}

TEST_CASE("A run with a budget and a number of steps ends at the first of both") {
  ThreadPool pool;
  TrainingSession run(start_of(of_width(16)), {pairs(), pairs()}, pool);
  RunOptions options;
  options.report_every = 1;
  options.budget = 1;
  options.steps = 4;
  Communicator alone;
  TrainingLoop loop(run, options, alone);
  while (!std::holds_alternative<training_events::Done>(loop.next())) {
  }
  CHECK(run.progress().step == 4);
}

TEST_CASE("A schedule without an end gets one at the same peak; others stay") {
  Preset p = of_width(16);
  p.training.schedule = Schedule::noam;
  p.training.warmup_steps = 400;
  p.training.learning_rate = 2;
  const Preset ended = with_end(p);
  CHECK(ended.training.schedule == Schedule::linear);
  CHECK(ended.training.learning_rate == Catch::Approx(2 / std::sqrt(16.0 * 400)));
  p.training.schedule = Schedule::constant;
  CHECK(with_end(p).training == p.training);
}

TEST_CASE("A schedule that a budget cuts to a few steps is one that can be trained") {
  for (const Index steps : {0, 1, 2, 3, 7, 100}) {
    Preset settings = of_width(16);
    settings.training.warmup_steps = 50;
    end_schedule(settings.training, steps);
    CHECK(settings.training.warmup_steps == std::max<Index>(steps / 4, 1));
    CHECK(settings.training.decay_steps == std::max<Index>(steps, 2));
    CHECK_NOTHROW(settings.training.check());
  }
  Preset constant = of_width(16);
  constant.training.warmup_steps = 0;
  end_schedule(constant.training, 100);
  CHECK(constant.training.warmup_steps == 0);
}

TEST_CASE("The more passes a budget allows over few texts, the more dropout it chooses, unless that is given") {
  ThreadPool pool;
  const auto dropout_of = [&](double seconds, bool fits_dropout) {
    Preset p = of_width(16);
    p.config.dropout = 0.01;
    const BudgetPlan plan =
        plan_budget({{.settings = p, .fits_dropout = fits_dropout}}, seconds, *pairs(), pool, start_of);
    return plan.settings.config.dropout;
  };
  CHECK(dropout_of(100, false) == 0.01);
  CHECK(dropout_of(100, true) == 0.3);  // thousands of passes over 60 pairs
  CHECK(dropout_of(1e-3, true) <= 0.3);
}

TEST_CASE("The more text, the more pieces a budget gives its tokenizer") {
  const std::vector<std::string> little(100, std::string(50, 'a'));
  const std::vector<std::string> some(20'000, std::string(50, 'a'));
  const std::vector<std::string> much(100'000, std::string(50, 'a'));
  CHECK(vocab_size_for(little) < vocab_size_for(some));
  CHECK(vocab_size_for(some) < vocab_size_for(much));
}
