// A model that learns from one sentence: losses beside those of a translation, steps, and their return.
#include "tasks/translate/learner.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "tasks/translate/translator.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;

namespace {

ErrorCode code_of(Learner& learner, const std::string& source, const std::string& target) {
  try {
    learner.backward(source, target);
  } catch (const Error& e) {
    return e.code();
  }
  return ErrorCode::other;
}

Translation greedy(const ModelFile& model, ThreadPool& pool, const std::string& text) {
  return translate_in_batches(model, pool, {text}, {.beam_size = 1, .max_length = 9}, 1000)[0];
}

std::vector<Matrix> weights_of(const ModelFile& model) {
  std::vector<Matrix> all;
  model.transformer->visit([&](const ParameterInfo&, const Parameter& p) { all.push_back(p.matrix()); });
  return all;
}

}  // namespace

TEST_CASE("The losses of a model's own translation are the log-probabilities of its tokens") {
  ThreadPool pool;
  Learner learner(letters_model(5), pool);
  for (int i = 0; i < 400; ++i) learner.step("abc", "hgf", 0.05);
  const Translation found = greedy(learner.packed_model(), pool, "abc");
  REQUIRE(found.text == "hgf");
  const Lesson lesson = learner.backward("abc", "hgf");
  REQUIRE(lesson.target_tokens.size() == found.tokens.size());
  REQUIRE(lesson.pass.losses.size() == found.tokens.size());
  double sum = 0;
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    CHECK(lesson.target_tokens[i].id == found.tokens[i].id);
    // A search has neither padding nor the begin token in its softmax; training has both, which are improbable.
    CHECK(lesson.pass.losses[i] > -found.tokens[i].log_probability - 1e-5f);
    CHECK(lesson.pass.losses[i] + found.tokens[i].log_probability < 5e-3f);
    sum += static_cast<double>(lesson.pass.losses[i]);
  }
  CHECK(std::abs(lesson.pass.loss - sum / static_cast<double>(found.tokens.size())) < 1e-5);
}

TEST_CASE("The loss of a token does not depend on those after it") {
  ThreadPool pool;
  Learner learner(letters_model(2), pool);
  const auto losses = [&](const char* target) { return learner.backward("abc", target).pass.losses; };
  const std::vector<float> one = losses("abcd"), other = losses("abhh");
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(one[i] - other[i]) < 1e-5f);  // "▁", a, b
  CHECK(std::abs(one[3] - other[3]) > 1e-3f);
}

TEST_CASE("A step lowers the loss by the rate times the squared norm of the gradient") {
  ThreadPool pool;
  const bool is_int8 = GENERATE(false, true);
  ModelFile model = letters_model(5);
  if (is_int8) model.transformer->quantize();
  Learner learner(model, pool);
  constexpr double rate = 1e-4;
  const Lesson before = learner.step("abc", "hgf", rate);
  const Lesson after = learner.backward("abc", "hgf");
  const double expected = rate * std::pow(before.pass.parameter_norm, 2);
  CHECK(after.pass.loss < before.pass.loss);
  CHECK(std::abs(before.pass.loss - after.pass.loss - expected) < 0.05 * expected);
}

TEST_CASE("Steps until a model translates as it was told, and their return") {
  ThreadPool pool;
  const ModelFile model = letters_model(5);
  const std::string before = greedy(model, pool, "abc").text;
  REQUIRE(before != "hgf");
  Learner learner(model, pool);
  learner.undo();  // without a step nothing changes
  for (int i = 0; i < 400; ++i) learner.step("abc", "hgf", 0.05);
  CHECK(learner.steps() == 400);
  CHECK(greedy(learner.packed_model(), pool, "abc").text == "hgf");
  CHECK(greedy(model, pool, "abc").text == before);
  learner.undo();
  CHECK(learner.steps() == 0);
  CHECK(greedy(learner.packed_model(), pool, "abc").text == before);
  CHECK(weights_of(learner.packed_model()) == weights_of(model));
}

TEST_CASE("A learner refuses texts without a token, too long ones, and those that are not UTF-8") {
  ThreadPool pool;
  Learner learner(letters_model(1), pool);
  CHECK(code_of(learner, "abc", "") == ErrorCode::no_text);
  CHECK(code_of(learner, "", "abc") == ErrorCode::no_text);
  CHECK(code_of(learner, "abc", std::string(60, 'a')) == ErrorCode::too_long);
  CHECK(code_of(learner, std::string(60, 'a'), "abc") == ErrorCode::too_long);
  CHECK(code_of(learner, "abc", "\xFF") == ErrorCode::text);
  CHECK(learner.backward("abc", "abc").pass.losses.size() == 5);
}
