#include "train/training_loop.h"

#include <catch_amalgamated.hpp>

#include "tasks/annotate/labels.h"
#include "train/run_setup.h"

using namespace wasmformer;

namespace {

// One word decides the label, which is learned before the first step, and the encoder learns nothing: no later
// validation is better.
std::unique_ptr<TrainingSession> easy_run(ThreadPool& pool) {
  const auto texts = [](int count) {
    std::vector<AnnotatedText> all;
    for (int i = 0; i < count; ++i) {
      const std::string label = i % 2 == 0 ? "good" : "bad";
      all.push_back({.text = "a " + label + " day", .words = {}, .classes = {label}, .tags = {}});
    }
    return std::make_shared<AnnotatedTexts>(all, AnnotatedTexts::Kind{.has_classes = true, .has_tags = false});
  };
  RunRequest request;
  request.config = {
      R"({"d_model": 8, "ffn_dim": 8, "num_heads": 2, "encoder_layers": 1, "batch_tokens": 40,
          "schedule": "constant", "learning_rate": 1e-30})"};
  request.tokenizer = TokenizerRequest{TokenizerType::word, {}, true, {}};
  return RunSetup(request, {texts(40), texts(10)}).begin({}, pool);
}

struct End {
  training_events::Done done;
  double epochs = 0;
};
End end_of(TrainingSession& run, const RunOptions& options) {
  Communicator alone;
  TrainingLoop loop(run, options, alone);
  TrainingEvent event = loop.next();
  while (!std::holds_alternative<training_events::Done>(event)) event = loop.next();
  return {std::get<training_events::Done>(event), run.epochs()};
}

RunOptions options_with(std::optional<double> patience, std::optional<double> epochs) {
  RunOptions options;
  options.patience = patience;
  options.epochs = epochs;
  options.least_steps_between_validations = 1;
  return options;
}

}  // namespace

TEST_CASE("A run ends when validation has not been better for long, unless steps or epochs are given") {
  ThreadPool pool;
  const End usual = end_of(*easy_run(pool), options_with({}, {}));
  CHECK(usual.done.has_lost_patience);
  CHECK(usual.epochs == 21);  // the first was the best
  const End brief = end_of(*easy_run(pool), options_with(3, 30));
  CHECK(brief.done.has_lost_patience);
  CHECK(brief.epochs == 4);
  const End given = end_of(*easy_run(pool), options_with({}, 30));
  CHECK_FALSE(given.done.has_lost_patience);
  CHECK(given.epochs == 30);
  const End endless = end_of(*easy_run(pool), options_with(0, 25));
  CHECK(endless.epochs == 25);
}

TEST_CASE("A run that is resumed waits no longer for a better validation") {
  ThreadPool pool;
  const auto begun = easy_run(pool);
  CHECK(end_of(*begun, options_with({}, 3)).epochs == 3);
  RunRequest again;
  again.resume = true;
  RunInput input;
  input.model = begun->checkpoint();
  const auto resumed = RunSetup(again, std::move(input)).begin({}, pool);
  CHECK(end_of(*resumed, options_with(4, {})).epochs == 5);
}
