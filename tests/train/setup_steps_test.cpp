#include "train/setup_steps.h"

#include <catch_amalgamated.hpp>
#include <limits>

#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translate_task.h"
#include "tests/tasks/translate/letters_model.h"
#include "text/vocabulary.h"
#include "train/run_request.h"
#include "train/training_run.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

TrainingTexts training_texts(ParallelText train, ParallelText valid) {
  return {texts_of(std::move(train)), texts_of(std::move(valid))};
}

TrainingTexts some_texts() { return training_texts({{"abc", "d\te"}, {"ä \"b\"\n", "e"}}, {{"h"}, {"g"}}); }

// Of a translator's checkpoint.
std::optional<TrainingTexts> stored(const std::map<std::string, std::string>& metadata, std::uint64_t seed) {
  ModelFile model = letters_model(3);
  model.metadata = metadata;
  return stored_texts(model, seed);
}

std::vector<std::string> sources(const TrainingTexts& texts) { return texts.train->sides()[0]; }

JsonObject object(const std::string& json) { return {nlohmann::json::parse(json)}; }

std::map<std::string, Matrix> weights(const Transformer& transformer) {
  std::map<std::string, Matrix> all;
  transformer.visit([&](const ParameterInfo& info, const Parameter& p) {
    all[info.name] = p.has_value() ? p.value : p.packed.matrix();
  });
  return all;
}

}  // namespace

TEST_CASE("A checkpoint's texts are restored exactly, including tabs and line ends") {
  const TrainingTexts texts = some_texts();
  const auto again = stored({{texts_key, to_json(texts)}}, 1);
  REQUIRE(again);
  CHECK(again->train->sides() == texts.train->sides());
  CHECK(again->valid->sides() == texts.valid->sides());
  CHECK(!stored({}, 1));
  for (const char* damaged : {"{", "[]", R"({"train":[["a"]],"valid":[]})", R"({"train":[[1,2]],"valid":[]})"})
    CHECK_THROWS_WITH(stored({{texts_key, damaged}}, 1), ContainsSubstring("pairs of the run are damaged"));
}

TEST_CASE("A task's texts are regenerated from its name, and no pair is in both parts") {
  const auto again = stored({{"task", task_name("sort", 30)}}, 5);
  REQUIRE(again);
  CHECK(sources(*again) == sources(task_texts("sort", 30, 5)));
  const std::vector<std::string> train = sources(*again), valid = again->valid->sides()[0];
  CHECK(train.size() == 30);
  CHECK(valid.size() == 200);
  for (const std::string& source : valid) CHECK(std::find(train.begin(), train.end(), source) == train.end());
  CHECK(task_texts("roman", 0, 1).train->size() == static_cast<std::size_t>(find_task("roman").pairs));
  for (const char* damaged :
       {"sort", "sort, ", "sort, many pairs", "sort, -3 pairs", "sort, 99999999999999999999 pairs"})
    CHECK_THROWS_WITH(stored({{"task", damaged}}, 1), ContainsSubstring("task of the run is damaged"));
  const std::string most = std::to_string(std::numeric_limits<Index>::max());
  CHECK_THROWS_WITH(stored({{"task", "reverse, " + most + " pairs"}}, 1),
                    ContainsSubstring(most + " pairs of reverse are asked for; there can be 1 to"));
}

TEST_CASE("A task with a bound of lengths is validated on longer sources, and regenerated from its name") {
  const auto again = stored({{"task", task_name("copy", 30, 4)}}, 5);
  REQUIRE(again);
  CHECK(sources(*again) == sources(task_texts("copy", 30, 5, 4)));
  for (const std::string& source : sources(*again)) CHECK(source.size() <= 4);
  const std::vector<std::string> valid = again->valid->sides()[0];
  CHECK(valid.size() == 200);
  for (const std::string& source : valid) CHECK(source.size() > 4);
}

TEST_CASE("Characters and words are counted in both sides together or in each") {
  const std::vector<std::vector<std::string>> text{{"ab", "b c"}, {"xy", "y"}};
  const TokenizerPair joint = counted_tokenizers(text, TokenizerType::character, 0, true);
  CHECK(joint.source == joint.target);
  CHECK(joint.source->vocab_size() == 4 + 6);  // a b c x y and the space
  const TokenizerPair two = counted_tokenizers(text, TokenizerType::character, 0, false);
  CHECK(two.target->vocab_size() == 4 + 2);
  CHECK(counted_tokenizers(text, TokenizerType::word, 6, true).source->vocab_size() == 6);
}

TEST_CASE("An int8 model is fine-tuned from its dequantized weights") {
  ModelFile model = letters_model(3);
  model.transformer->quantize();
  model.metadata = {{"languages", "de-en"}, {"progress", "{}"}, {"run.note", "old"}, {"bleu", "47"}, {"steps", "9"}};
  const std::string bytes = serialize_model(model, Precision::f32);
  TrainingStart start = fine_tuning_start(bytes, TrainingConfig(), object(R"({"dropout": 0.25, "learning_rate": 3})"));
  CHECK(start.model.transformer->config().dropout == 0.25);
  CHECK(start.training.learning_rate == 3);
  CHECK(start.model.metadata == std::map<std::string, std::string>{{"languages", "de-en"}});
  CHECK(weights(*start.model.transformer) == weights(*model.transformer));
  start.model.transformer->visit([](const ParameterInfo& info, const Parameter& p) {
    CAPTURE(info.name);
    CHECK(p.has_value());
    CHECK(!p.is_packed());
  });
  CHECK_THROWS_WITH(fine_tuning_start(bytes, TrainingConfig(), object(R"({"d_model": 32})")),
                    ContainsSubstring("keeps its sizes"));
}

TEST_CASE("A model with other layers copies those of the same name and starts the rest at random") {
  const ModelFile model = letters_model(3);
  const Index layers = model.transformer->config().decoder_layers;
  const std::string changes =
      R"({"decoder_self": "ssru", "encoder_layers": 1, "decoder_layers": )" + std::to_string(layers + 1) + "}";
  TrainingStart start = fine_tuning_start(serialize_model(model, Precision::f32), TrainingConfig(), object(changes));
  auto before = weights(*model.transformer);
  Index fresh = 0;
  for (const auto& [name, value] : weights(*start.model.transformer)) {
    CAPTURE(name);
    const bool is_new = name.find(".recurrent.") != std::string::npos ||
                        name.find("decoder.layers." + std::to_string(layers)) != std::string::npos;
    REQUIRE(before.contains(name) != is_new);
    if (!is_new) {
      REQUIRE(value == before[name]);
    } else if (name.ends_with("proj.weight")) {
      REQUIRE(value.norm() > 0);
      ++fresh;
    }
  }
  CHECK(fresh > 4);
  CHECK_THROWS_WITH(
      fine_tuning_start(serialize_model(model, Precision::f32), TrainingConfig(), object(R"({"decoder_layers": 0})")),
      ContainsSubstring("keeps its sizes"));
}

TEST_CASE("The norm after self-attention stays where a recurrent unit takes its place, and the other way round") {
  const std::vector<DecoderSelf> kinds{DecoderSelf::attention, DecoderSelf::ssru};
  const std::size_t first = GENERATE(0, 1);
  ModelFile model = letters_model(3);
  Config config = model.transformer->config();
  config.decoder_self = kinds[first];
  model.transformer = std::make_unique<Transformer>(config);
  model.transformer->initialize(5);
  model.transformer->visit([](const ParameterInfo& info, Parameter& p) {
    if (info.role == Role::norm_weight || info.role == Role::norm_bias) p.value.setConstant(Scalar(0.25));
  });
  const std::string other = word(kinds[1 - first]);
  TrainingStart start = fine_tuning_start(serialize_model(model, Precision::f32), TrainingConfig(),
                                          object(R"({"decoder_self": ")" + other + "\"}"));
  REQUIRE(start.model.transformer->config().decoder_self == kinds[1 - first]);
  Index norms = 0;
  start.model.transformer->visit([&](const ParameterInfo& info, const Parameter& p) {
    if (info.role != Role::norm_weight && info.role != Role::norm_bias) return;
    CAPTURE(info.name);
    REQUIRE((p.value.array() == Scalar(0.25)).all());
    ++norms;
  });
  CHECK(norms == 2 * (2 * config.encoder_layers + 3 * config.decoder_layers));
}

TEST_CASE("A new vocabulary starts from the rows of its pieces, or of the pieces that spell them") {
  const ModelFile model = letters_model(3);
  const std::string bytes = serialize_model(model, Precision::f32);
  // Pieces: <pad>, <unk>, <s>, </s>, ▁cab, ▁z
  const auto words = std::make_shared<const Tokenizer>(word_model({"cab cab z"}, 10));
  const TrainingStart start = fine_tuning_start(bytes, TrainingConfig(), JsonObject(), {words, words});
  CHECK(start.model.source_tokenizer == words);
  CHECK(start.model.transformer->config().target_vocab_size == 6);
  auto before = weights(*model.transformer), after = weights(*start.model.transformer);
  for (const auto& [name, value] : after) {
    CAPTURE(name);
    if (name == "model.shared.weight") {
      const Matrix& old = before[name];
      REQUIRE(value.rows() == 6);
      for (const auto& [id, own] : {std::pair(0, 0), {1, 1}, {2, 2}, {3, 3}, {5, 4}})
        CHECK(value.row(id) == old.row(own));
      CHECK(value.row(4).isApprox((old.row(4) + old.row(7) + old.row(5) + old.row(6)) / 4));
    } else if (name == "final_logits_bias") {
      CHECK(value(0, 3) == before[name](0, 3));
    } else {
      CHECK(value == before[name]);
    }
  }
  CHECK_THROWS_WITH(fine_tuning_start(bytes, TrainingConfig(), JsonObject(), {words, letters_tokenizer()}),
                    ContainsSubstring("one vocabulary for both sides"));
}

TEST_CASE("A model with another vocabulary does not keep its shortlist") {
  ModelFile model = letters_model(3);
  const auto pieces = static_cast<std::size_t>(model.transformer->config().source_vocab_size);
  model.shortlist = Shortlist{5, std::vector<std::int32_t>(pieces + 1), {}};
  const std::string bytes = serialize_model(model, Precision::f32);
  CHECK(parse_model(bytes).shortlist);
  // Nor does one with the same vocabulary: it could not write what it learns.
  CHECK(!fine_tuning_start(bytes, TrainingConfig(), JsonObject()).model.shortlist);
  const auto words = std::make_shared<const Tokenizer>(word_model({"cab cab z"}, 10));
  CHECK(!fine_tuning_start(bytes, TrainingConfig(), JsonObject(), {words, words}).model.shortlist);
}

TEST_CASE("A run that cannot fit in memory is refused before it allocates any") {
  Preset p = preset("small");
  const TokenizerPair letters{letters_tokenizer(), letters_tokenizer()};
  p.training.batch_tokens = 1 << 22;
  CHECK_THROWS_WITH(fresh_start(p, letters, 4e9),
                    ContainsSubstring("GB of memory, and there are 4;") && ContainsSubstring("batch_tokens"));
  p.training.batch_tokens = 1024;
  CHECK(fresh_start(p, letters, 4e9).model.transformer->config().target_vocab_size == 13);
}

TEST_CASE("A run's private metadata is in its checkpoints only") {
  ThreadPool pool;
  TrainingStart start = fresh_start(task_preset("copy"), {letters_tokenizer(), letters_tokenizer()}, 1e12);
  start.model.metadata = {{"licence", "none"}, {"run.history", "[]"}, {texts_key, to_json(some_texts())}};
  TrainingSession run(std::move(start), training_texts({{"ab"}, {"ba"}}, {{"a"}, {"a"}}), pool);
  CHECK(run.metadata().at("run.history") == "[]");
  CHECK(!run.metadata().contains(texts_key));
  const auto metadata = [](const std::string& bytes) { return parse_safetensors(bytes).metadata; };
  for (const char* own : {"run.history", texts_key}) CHECK(!metadata(run.model_file()).contains(own));
  CHECK(metadata(run.model_file({{"corpus", "two letters"}})).at("corpus") == "two letters");
  CHECK(metadata(run.checkpoint()).at(texts_key) == to_json(some_texts()));
  CHECK(!metadata(run.checkpoint({}, /*with_texts=*/false)).contains(texts_key));
  // Given with the file, too.
  CHECK(metadata(run.checkpoint({{"run.history", "[1]"}})).at("run.history") == "[1]");
  CHECK(!metadata(run.model_file({{"run.history", "[1]"}})).contains("run.history"));
}

TEST_CASE("A run resumes only with the pairs it was trained on") {
  ThreadPool pool;
  const TokenizerPair letters{letters_tokenizer(), letters_tokenizer()};
  TrainingSession run(fresh_start(task_preset("copy"), letters, 1e12), training_texts({{"ab"}, {"ba"}}, {{"a"}, {"a"}}),
                      pool);
  run.step();
  const std::string bytes = run.checkpoint();
  CHECK_THROWS_WITH(TrainingSession(resumed_start(bytes), training_texts({{"ab"}, {"bb"}}, {{"a"}, {"a"}}), pool),
                    ContainsSubstring("trained on other pairs"));
  CHECK_THROWS_WITH(resumed_start(run.model_file()), ContainsSubstring("no state of a training run"));
}

TEST_CASE("Validation skips pairs that the model cannot take") {
  ThreadPool pool;
  Preset p = task_preset("copy");
  p.config.max_length = 6;
  const TokenizerPair letters{letters_tokenizer(), letters_tokenizer()};
  TrainingSession run(fresh_start(p, letters, 1e12),
                      training_texts({{"ab"}, {"ba"}}, {{"a", "abcdefgh", ""}, {"a", "a", "b"}}), pool);
  CHECK(run.valid_texts().sides()[0] == std::vector<std::string>{"a"});
  CHECK(run.validate().scores.figures.contains("bleu"));
}

TEST_CASE("Only some settings may change during a run") {
  ThreadPool pool;
  const TokenizerPair letters{letters_tokenizer(), letters_tokenizer()};
  TrainingSession run(fresh_start(task_preset("copy"), letters, 1e12), training_texts({{"ab"}, {"ba"}}, {{"a"}, {"a"}}),
                      pool);
  run.change(R"({"schedule": "constant", "learning_rate": 0.001, "warmup_steps": 0})");
  CHECK(run.step().learning_rate == 0.001);
  for (const char* refused : {R"({"seed": 2})", R"({"batch_tokens": 9})", R"({"optimizer": "sgd"})"})
    CHECK_THROWS_WITH(run.change(refused), ContainsSubstring("and nothing else"));
  CHECK_THROWS_WITH(run.change(R"({"d_model": 9})"), ContainsSubstring("cannot change its model"));
  CHECK_THROWS_WITH(run.change(R"({"learning_rate": -1})"), ContainsSubstring("learning_rate"));
  CHECK(run.trainer().config().learning_rate == 0.001);
  CHECK(checkpoint_config(parse_safetensors(run.checkpoint()).metadata).learning_rate == 0.001);
}
