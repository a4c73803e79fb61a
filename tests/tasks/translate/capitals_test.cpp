// A model's metadata "all_caps": "lowercase", or in earlier files "capitals": "lowered" (tasks/translate/translator.h).
#include <catch_amalgamated.hpp>

#include "tasks/translate/translator.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;

namespace {

Translation translated(const ModelFile& model, const std::string& text, const TranslateOptions& options) {
  ThreadPool pool;
  return translate_in_batches(model, pool, {text}, options)[0];
}

}  // namespace

TEST_CASE("A model may read capitals as small letters, and then translates into capitals") {
  ModelFile model = letters_model(15, -1);
  const TranslateOptions options{.beam_size = 2, .n_best = 2, .top_tokens = 2, .beam_trace = true};
  const auto small = translated(model, "Hgfab", options);
  const auto as_written = translated(model, "HGFAB", options);
  REQUIRE(small.text != as_written.text);
  const auto raised = [](std::string text) {
    for (char& c : text) c = c >= 'a' && c <= 'h' ? static_cast<char>(c - 32) : c;
    return text;
  };
  const bool is_earlier_file = GENERATE(false, true);
  if (is_earlier_file)
    model.metadata["capitals"] = "lowered";
  else
    model.metadata["all_caps"] = "lowercase";
  const auto capitals = translated(model, "HGFAB", options);
  CHECK(capitals.score == small.score);
  CHECK(capitals.text == raised(small.text));
  CHECK(capitals.alternatives[0].score == small.alternatives[0].score);
  CHECK(capitals.alternatives[0].text == raised(small.alternatives[0].text));
  REQUIRE(capitals.tokens.size() == small.tokens.size());
  for (std::size_t i = 0; i < small.tokens.size(); ++i) {
    const TargetToken &mine = capitals.tokens[i], &other = small.tokens[i];
    CHECK(mine.id == other.id);
    CHECK(mine.piece == (other.piece == "</s>" ? other.piece : raised(other.piece)));
    CHECK((*mine.top)[1].piece == raised((*other.top)[1].piece));
  }
  CHECK(capitals.source_tokens.back().piece == "</s>");
  CHECK(capitals.source_tokens[2].piece == "G");
  ThreadPool alone;
  const LoadedModel translator(serialize_model(model, Precision::f32), alone);
  CHECK(translator.tokenize({"HGFAB"})[0][2].piece == "G");
  for (std::size_t i = 1; i < small.beam->size(); ++i) CHECK((*capitals.beam)[i].id == (*small.beam)[i].id);

  ThreadPool pool;
  TranslationJob job(model, pool, {"HGFAB"}, {.beam_size = 1});
  job.step();
  job.step();
  CHECK(job.partial()[0] == raised(job.partial()[0]));
  const auto begun = translated(model, "HGFAB", {.beam_size = 1, .prefix = "hAD"});
  CHECK(begun.text.starts_with("HAD"));
  CHECK(begun.tokens[2].piece == "A");
  for (const char* text : {"hgfab", "HGFAb", "H"}) {  // not capitals
    model.metadata["capitals"] = "lowered";
    const auto with = translated(model, text, {});
    model.metadata.clear();
    CHECK(with.text == translated(model, text, {}).text);
  }
  model.metadata["capitals"] = "lower";
  CHECK_THROWS_WITH(translated(model, "HGFAB", {}), "[model] capitals must be 'lowered', not 'lower'");
  model.metadata = {{"all_caps", "lower"}};
  CHECK_THROWS_WITH(translated(model, "HGFAB", {}), "[model] all_caps must be 'lowercase', not 'lower'");
}
