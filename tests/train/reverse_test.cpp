#include <catch_amalgamated.hpp>
#include <set>

#include "tasks/translate/translate_task.h"
#include "tests/text/tiny_tokenizer.h"
#include "train/training_run.h"

using namespace wasmformer;

namespace {

// Percent of the unseen texts that a model gets right after so many steps.
double exact_matches(const Preset& settings, Index steps, std::shared_ptr<const Tokenizer> tokenizer,
                     const ParallelText& text, const ParallelText& unseen) {
  ThreadPool pool(2);
  TrainingSession run(fresh_start(settings, {tokenizer, tokenizer}, 1e12), {texts_of(text), texts_of(unseen)}, pool);
  while (run.progress().step < steps) run.step();
  return run.validate().scores.further.at("exact_match");
}

}  // namespace

// Not run in WebAssembly, where it takes minutes; the case below covers training there.
TEST_CASE("A model of preset tiny learns to reverse unseen strings", "[native]") {
  std::vector<std::string> letters;
  for (char c = 'a'; c <= 'z'; ++c) letters.emplace_back(1, c);
  const auto tokenizer = std::make_shared<const Tokenizer>(tiny::model(letters));

  // All different, so that those for the test are new.
  Random random(1);
  std::set<std::string> distinct;
  while (distinct.size() < 20000) {
    std::string text;
    for (int i = 0; i < 10; ++i) text += static_cast<char>('a' + random.below(26));
    distinct.insert(text);
  }
  std::vector<std::string> strings(distinct.begin(), distinct.end());
  random.shuffle(strings);
  constexpr std::size_t unseen = 500;
  std::vector<std::string> sources, targets, new_sources, new_targets;
  for (const auto& text : strings) {
    (new_sources.size() < unseen ? new_sources : sources).push_back(text);
    (new_targets.size() < unseen ? new_targets : targets).emplace_back(text.rbegin(), text.rend());
  }

  Preset settings = preset("tiny");
  settings.training.learning_rate *= 0.5;  // a steadier end than the preset's, whose start is faster
  CHECK(exact_matches(settings, 800, tokenizer, {sources, targets}, {new_sources, new_targets}) >= 99);
}

TEST_CASE("Every kind of attention score learns to reverse") {
  const auto tokenizer = std::make_shared<const Tokenizer>(tiny::model({"a", "b", "c", "d"}));
  // All strings of 5 letters; every tenth is kept for the test.
  std::vector<std::string> sources, targets, new_sources, new_targets;
  for (int i = 0; i < 1024; ++i) {
    std::string text;
    for (int place = 0, rest = i; place < 5; ++place, rest /= 4) text += static_cast<char>('a' + rest % 4);
    (i % 10 == 0 ? new_sources : sources).push_back(text);
    (i % 10 == 0 ? new_targets : targets).emplace_back(text.rbegin(), text.rend());
  }
  Preset settings = preset("tiny");
  settings.config.attention = GENERATE(AttentionScore::dot, AttentionScore::additive, AttentionScore::bilinear);
  settings.config.d_model = 32;
  settings.config.encoder_layers = settings.config.decoder_layers = 1;
  CAPTURE(static_cast<int>(settings.config.attention));
  CHECK(exact_matches(settings, 300, tokenizer, {sources, targets}, {new_sources, new_targets}) >= 95);
}
