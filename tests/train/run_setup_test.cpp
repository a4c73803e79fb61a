#include "train/run_setup.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translate_task.h"
#include "tests/tasks/translate/letters_model.h"
#include "text/vocabulary.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

namespace {

const char* small = R"("d_model": 16, "ffn_dim": 32, "num_heads": 2, "encoder_layers": 1, "decoder_layers": 1)";

RunRequest request(const std::string& more, const std::string& config = "") {
  const std::string all = std::string(small) + (config.empty() ? "" : ", " + config);
  return run_request("{\"config\": {" + all + "}" + (more.empty() ? "" : ", " + more) + "}");
}

ParallelText numbered(Index count) {
  ParallelText text;
  for (Index i = 0; i < count; ++i) {
    text.sources.push_back("eins " + std::to_string(i));
    text.targets.push_back("one " + std::to_string(i));
  }
  return text;
}

std::unique_ptr<TrainingSession> begin(RunRequest request, RunInput input) {
  static ThreadPool pool;
  return RunSetup(std::move(request), std::move(input)).begin({}, pool);
}

const ParallelText& valid_pairs(const TrainingSession& run) { return pairs_of(run.valid_texts(), "not pairs"); }
std::vector<std::string> both(const TrainingSession& run) { return valid_pairs(run).sources; }

RunInput texts_input(const ParallelText& train) { return {texts_of(train), nullptr}; }
RunInput texts_input(const ParallelText& train, const ParallelText& valid) {
  return {texts_of(train), texts_of(valid)};
}

const char* by_characters = R"("tokenizer": {"type": "char"})";

}  // namespace

TEST_CASE("A request reads its options in camelCase, with config and metadata as objects") {
  const RunRequest r =
      run_request(R"({"preset": "tiny", "config": {"d_model": 32}, "task": {"name": "sort", "pairs": 9},
      "tokenizer": {"type": "bpe", "vocabSize": 50, "joint": false, "normalization": "identity"}, "seed": 0,
      "metadata": {"licence": "none"}, "resume": true, "keepTexts": false})");
  CHECK(r.preset == "tiny");
  CHECK(Json::parse(r.config.text) == Json{{"d_model", 32}});
  CHECK(r.task->pairs == 9);
  CHECK(r.tokenizer->vocab_size == 50);
  CHECK(r.tokenizer->normalization == Normalization::identity);
  CHECK(r.seed == 0u);
  CHECK(r.metadata == StringMap{{"licence", "none"}});
  CHECK_THROWS_WITH(run_request(R"({"presett": "tiny"})"), ContainsSubstring("did you mean 'preset'?"));
  CHECK_THROWS_WITH(run_request(R"({"task": {"pairs": 0}})"), ContainsSubstring("task.pairs must be"));
  CHECK_THROWS_WITH(run_request("[]"), ContainsSubstring("must be a JSON object"));
}

TEST_CASE("Metadata under a key of the model or the run is refused before a run begins") {
  for (const char* key : {"classes", "task"})
    CHECK_THROWS_WITH(begin(request(std::string(by_characters) + R"(, "metadata": {")" + key + R"(": "news"})"),
                            texts_input(numbered(40))),
                      ContainsSubstring(std::string("cannot have the key ") + key));
}

TEST_CASE("Validation pairs are drawn by seed, none is in both parts, and the rest keep their order") {
  const ParallelText all = numbered(40);
  const auto run = [&](const std::string& more) { return begin(request(by_characters + more), texts_input(all)); };
  const auto ten = run(R"(, "validation": 10)");
  CHECK(ten->examples().size() == 30);
  CHECK(valid_pairs(*ten).sources.size() == 10);
  for (std::size_t i = 0; i < 10; ++i)  // the sides stay together
    CHECK(valid_pairs(*ten).sources[i].substr(5) == valid_pairs(*ten).targets[i].substr(4));
  CHECK(both(*run(R"(, "validation": 10)")) == both(*ten));
  CHECK(both(*run(R"(, "validation": 10, "seed": 2)")) != both(*ten));
  CHECK(valid_pairs(*run("")).sources.size() == 2);  // a twentieth

  const TrainingTexts parts = hold_back(*texts_of(all), 10, 1);
  const std::vector<std::string> kept = parts.train->sides()[0], held = parts.valid->sides()[0];
  CHECK(std::is_sorted(kept.begin(), kept.end(),
                       [&](const auto& a, const auto& b) { return std::stoi(a.substr(5)) < std::stoi(b.substr(5)); }));
  std::set<std::string> seen(kept.begin(), kept.end());
  seen.insert(held.begin(), held.end());
  CHECK(seen.size() == 40);
  CHECK_THROWS_WITH(run(R"(, "validation": 40)"),
                    ContainsSubstring("40 of 40 pairs are for validation; there must be some left"));
  const auto same = run(R"(, "validation": 0)");  // with those trained on
  CHECK(valid_pairs(*same).sources.size() == 40);
}

TEST_CASE("A single pair can be trained on if it also serves for validation") {
  const ParallelText one{{"ein Hund"}, {"a dog"}};
  ThreadPool pool;
  RunRequest request;
  request.tokenizer = TokenizerRequest{TokenizerType::character, {}, true, {}};
  const auto begin = [&] { return RunSetup(request, {texts_of(one), nullptr}).begin({}, pool); };
  CHECK_THROWS_WITH(begin(), ContainsSubstring("there must be some left to train on; 0 validates with those"));
  request.validation = 0;
  const auto run = begin();
  run->step();
  CHECK(std::isfinite(run->validate().loss));
}

TEST_CASE("A TSV gives the same run as its pairs") {
  const ParallelText all = numbered(20);
  std::string tsv = "\xEF\xBB\xBF";
  for (std::size_t i = 0; i < 20; ++i) tsv += all.sources[i] + "\t" + all.targets[i] + "\tmore\r\n\r\n";
  CHECK(begin(request(by_characters), texts_input(parse_tsv(tsv, "tsv")))->checkpoint() ==
        begin(request(by_characters), texts_input(all))->checkpoint());
  CHECK_THROWS_WITH(parse_tsv("a\tb\nc\n", "tsv"), ContainsSubstring("line 2 of tsv has 1 column;"));
}

TEST_CASE("A plan asks for the tokenizers it needs trained, on the training pairs only") {
  ThreadPool pool;
  const auto setup = [](const std::string& tokenizer) {
    return RunSetup(request(tokenizer), texts_input(numbered(40)));
  };
  const auto one = setup("").untrained();
  REQUIRE(one.size() == 1);
  CHECK(one[0].options.type == "bpe");
  CHECK(one[0].options.vocab_size == 2000);
  CHECK(one[0].sentences.size() == 2 * 38);
  const auto two = setup(R"("tokenizer": {"type": "unigram", "vocabSize": 30, "joint": false})").untrained();
  REQUIRE(two.size() == 2);
  CHECK(two[0].sentences.front().starts_with("eins"));
  CHECK(two[1].sentences.front().starts_with("one"));
  CHECK(two[1].options.vocab_size == 30);
  CHECK(setup(by_characters).untrained().empty());
  CHECK_THROWS_WITH(setup("").begin({}, pool), ContainsSubstring("has not been trained"));
}

TEST_CASE("The vocabulary that is chosen by default has a piece for every character of the texts") {
  constexpr int chinese_characters = 3000;
  ParallelText texts = numbered(2 * chinese_characters);  // the targets stay English
  for (int i = 0; i < chinese_characters; ++i) {
    const int code_point = 0x4E00 + i;
    std::string character = {static_cast<char>(0xE0 | code_point >> 12),
                             static_cast<char>(0x80 | (code_point >> 6 & 0x3F)),
                             static_cast<char>(0x80 | (code_point & 0x3F))};
    texts.sources[2 * i] = character;
    texts.sources[2 * i + 1] = character;
  }
  const auto jobs = RunSetup(request(R"("tokenizer": {"joint": false})"), texts_input(texts, texts)).untrained();
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].options.vocab_size == chinese_characters + 1000);
  CHECK(Tokenizer(train_tokenizer(jobs[0].sentences, jobs[0].options)).encode("\u4E00\u59B7").size() >= 2);
  CHECK(jobs[1].options.vocab_size == 2000);
}

TEST_CASE("Two vocabularies share no table, unless the files are the same") {
  const std::string letters = letters_tokenizer()->model();
  RunInput input = texts_input({{"ab"}, {"ba"}}, {{"a"}, {"a"}});
  const auto ties = [&](RunRequest r) {
    return begin(std::move(r), input)->model().transformer->config().tie_embeddings;
  };
  CHECK(ties(request(R"("tokenizer": {"type": "char", "joint": false})")) == TieEmbeddings::target);
  CHECK(ties(request(by_characters)) == TieEmbeddings::all);
  CHECK(ties(request(by_characters, R"("tie_embeddings": "none")")) == TieEmbeddings::none);
  input.source_tokenizer = input.target_tokenizer = letters;
  CHECK(ties(request("")) == TieEmbeddings::all);
}

TEST_CASE("A run is resumed with the texts it stores, or with the same texts given again") {
  const std::string seed = std::string(by_characters) + R"(, "validation": 5, "seed": 7)";
  const auto run = begin(request(seed), texts_input(numbered(30)));
  run->step();
  const auto again = [](const std::string& file, const std::string& more = "", const RunInput& texts = {}) {
    RunInput input = texts;
    input.model = file;
    return begin(run_request(R"({"resume": true)" + more + "}"), input);
  };
  const std::string file = run->checkpoint(), bare = run->checkpoint({}, /*with_texts=*/false);
  CHECK(again(file)->checkpoint() == file);
  CHECK(again(bare, R"(, "validation": 5)", texts_input(numbered(30)))->checkpoint() == file);
  CHECK(again(bare, R"(, "validation": 5, "keepTexts": false)", texts_input(numbered(30)))->checkpoint() == bare);
  CHECK(again(file, R"(, "metadata": {"note": "x"}, "languages": "de-en")")->metadata().at("note") == "x");
  CHECK_THROWS_WITH(again(bare), ContainsSubstring("the checkpoint holds no sentence pairs; give those"));
  CHECK_THROWS_WITH(again(bare, R"(, "validation": 6)", texts_input(numbered(30))),
                    ContainsSubstring("trained on other pairs"));
  CHECK_THROWS_WITH(again(file, R"(, "config": {"d_model": 32})"), ContainsSubstring("begun with other settings"));
  CHECK_THROWS_WITH(again(file, R"(, "config": {"optimizer": "muon"})"),
                    ContainsSubstring("begun with other settings"));
  CHECK_THROWS_WITH(again(file, R"(, "task": {"name": "sort"})"), ContainsSubstring("on texts, not a task"));
  CHECK_THROWS_WITH(again(file, ", " + std::string(by_characters)), ContainsSubstring("has its own"));
  CHECK_THROWS_WITH(again(run->model_file()), ContainsSubstring("no state of a training run"));
}

TEST_CASE("A task's run is resumed from its name, and refuses other pairs") {
  const auto run = begin(request(R"("task": {"name": "reverse", "pairs": 20})"), {});
  CHECK(run->metadata().at("task") == "reverse, 20 pairs");
  CHECK(valid_pairs(*run).sources.size() == 200);
  RunInput input;
  input.model = run->checkpoint();
  CHECK(begin(run_request(R"({"resume": true})"), input)->checkpoint() == input.model);
  CHECK_THROWS_WITH(begin(run_request(R"({"resume": true, "task": {"name": "reverse", "pairs": 21}})"), input),
                    ContainsSubstring("trained on the task reverse, 20 pairs; repeat"));
  input.train = texts_of(numbered(30));
  CHECK_THROWS_WITH(begin(run_request(R"({"resume": true})"), input), ContainsSubstring("not on texts"));
}

TEST_CASE("A model is fine-tuned with its own sizes and tokenizers") {
  RunInput input = texts_input({{"ab"}, {"ba"}}, {{"a"}, {"a"}});
  input.model = serialize_model(letters_model(3), Precision::f32);
  input.model_name = "old.safetensors";
  const auto run = begin(run_request(R"({"config": {"dropout": 0.25}, "seed": 5})"), input);
  CHECK(run->trainer().config().learning_rate == 1e-4);
  CHECK(run->trainer().config().seed == 5);
  CHECK(run->model().transformer->config().dropout == 0.25);
  for (const char* own : {R"({"preset": "tiny"})", R"({"tokenizer": {}})"})
    CHECK_THROWS_WITH(begin(run_request(own), input), ContainsSubstring("fine-tuned has its own"));
  RunInput other = input;
  other.source_tokenizer = character_model({"ab"});
  CHECK(begin(run_request("{}"), other)->model().source_tokenizer->vocab_size() == 6);
  input.model = "no model";
  CHECK_THROWS_WITH(begin(run_request("{}"), input), ContainsSubstring("old.safetensors: "));
}

TEST_CASE("Contradictory options are refused by name") {
  const RunInput texts = texts_input({{"ab"}, {"ba"}}, {{"a"}, {"a"}});
  const auto refuse = [](RunRequest r, RunInput input, const char* sentence) {
    CHECK_THROWS_WITH(begin(std::move(r), std::move(input)), ContainsSubstring(sentence));
  };
  refuse(request(""), {}, "one of pairs, tsv, task, labeled, tagged and text is needed");
  refuse(request(R"("task": {"name": "sort"})"), texts, "choose one of them");
  refuse(request(R"("task": {"name": "sort"}, "validation": 3)"), {}, "a task makes its own pairs");
  refuse(request(R"("task": {"name": "sort", "pairs": 2000000000})"), {}, "there can be 1 to 999800");
  refuse(request(R"("validation": 1)"), texts, "how many to hold back");
  CHECK_THROWS_WITH(texts_of({{"a", "b"}, {"a"}}), ContainsSubstring("2 source sentences but 1 target"));
  refuse(request(by_characters, R"("pad_id": 1)"), texts, "pad_id is given, but the vocabulary decides it");
  refuse(request(std::string(by_characters) + R"(, "seed": 1)", R"("seed": 2)"), texts,
         "seed is 1, but the config's seed is 2");
  refuse(request(R"("tokenizer": {"type": "char", "vocabSize": 50})"), texts, "the texts decide how many");
  refuse(request(R"("tokenizer": {"type": "word", "normalization": "nmt_nfkc"})"), texts, "as it is");
  CHECK_THROWS_WITH(request(R"("metadata": {"steps": 3})"),
                    ContainsSubstring("metadata.steps must be a string, not 3"));
  CHECK_THROWS_WITH(run_request(R"({"config": 3})"), ContainsSubstring("config must be an object, not 3"));
  RunInput with_file = texts;
  with_file.source_tokenizer = letters_tokenizer()->model();
  refuse(request(by_characters), with_file, "and also its file");
  RunInput little_memory = texts;
  little_memory.max_bytes = 1e6;
  refuse(request(by_characters), little_memory, "GB of memory");
}

TEST_CASE("Every choice is described for forms and documentation") {
  const Json all = describe_training();
  const Json& multi30k = all["presets"][5];
  CHECK(multi30k["name"] == "multi30k-tiny");
  CHECK(multi30k["config"]["d_model"] == 128);
  CHECK(multi30k["peak"].get<double>() == Catch::Approx(2.5 / std::sqrt(128 * 2000)));
  CHECK(all["presets"][0]["peak"].get<double>() == Catch::Approx(3e-3));  // of a cosine
  CHECK(all["tasks"][1]["name"] == "reverse");
  CHECK(all["tasks"][1]["target"] == "msaw");
  CHECK(all["request"][2]["name"] == "task");
  CHECK(all["run"][5] == Json::parse(R"({"name": "reportEvery", "default": 10, "type": "integer",
      "minimum": 1.0, "help": "steps between events"})"));
  CHECK(all["config"][0]["name"] == "source_vocab_size");
}
