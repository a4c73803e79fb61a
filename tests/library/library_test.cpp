// The classes that users of the library have.
#include <array>
#include <atomic>
#include <catch_amalgamated.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "exchange/import.h"
#include "tasks/translate/translator.h"
#include "tests/support.h"
#include "wasmformer/wasmformer.h"

using namespace wasmformer;
using Catch::Matchers::StartsWith;

namespace {

std::string model_path() { return own_fixtures_path() + "/tiny-de-en.safetensors"; }

const std::vector<std::string> sentences{"Ich habe einen Hund.", "Wo ist mein Buch?", "", "Das Wetter ist schön."};

template <class Call>
ErrorCode code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::other;
}

std::vector<std::string> texts_of(const std::vector<Translation>& translations) {
  std::vector<std::string> texts;
  for (const Translation& translation : translations) texts.push_back(translation.text);
  return texts;
}

// The class is whether "jazz" is among the words, and each word after "in" is a place.
std::vector<AnnotatedText> annotated_texts() {
  return {{.text = "play jazz in rome",
           .words = {"play", "jazz", "in", "rome"},
           .classes = {"music"},
           .tags = {"O", "O", "O", "B-place"}},
          {.text = "sleep in oslo now",
           .words = {"sleep", "in", "oslo", "now"},
           .classes = {"other"},
           .tags = {"O", "O", "B-place", "O"}},
          {.text = "some jazz now", .words = {"some", "jazz", "now"}, .classes = {"music"}, .tags = {"O", "O", "O"}},
          {.text = "some sleep", .words = {"some", "sleep"}, .classes = {"other"}, .tags = {"O", "O"}}};
}

const RunRequest small_encoder{
    .config = {R"({"d_model": 16, "num_heads": 2, "ffn_dim": 16, "encoder_layers": 1, "learning_rate": 0.01})"},
    .validation = 0,
    .tokenizer = TokenizerRequest{.type = TokenizerType::word, .vocab_size = 30}};

TrainingRun copying_run() { return TrainingRun({.task = TaskRequest{.name = "copy", .pairs = 60}, .seed = 3}); }

}  // namespace

TEST_CASE("A translator gives the engine's translations, from a path, from bytes and one by one") {
  const std::string file = read_file(model_path());
  ThreadPool pool;
  const std::vector<std::string> expected = texts_of(LoadedModel(file, pool).translate(sentences));
  const Translator mapped(model_path()), read(std::as_bytes(std::span(file)), 2);
  CHECK(texts_of(mapped.translate_batch(sentences)) == expected);
  CHECK(texts_of(read.translate_batch(sentences)) == expected);
  for (std::size_t i = 0; i < sentences.size(); ++i) CHECK(mapped.translate(sentences[i]).text == expected[i]);
  CHECK(mapped.translate(sentences[0], {.attention = true}).attention.has_value());
  CHECK(mapped.tokenize(sentences[0]).size() == mapped.translate(sentences[0]).source_tokens.size());
  CHECK(mapped.metadata().at("languages") == "de-en");
  CHECK(mapped.translate_batch({}).empty());
}

TEST_CASE("Copies of a translator in several threads give the translations of one") {
  const Translator translator(model_path(), 2);
  const std::vector<std::string> expected = texts_of(translator.translate_batch(sentences));
  std::array<std::vector<std::string>, 4> found;
  {
    std::vector<std::jthread> threads;
    for (std::vector<std::string>& own : found)
      threads.emplace_back([&own, translator] { own = texts_of(translator.translate_batch(sentences)); });
  }
  for (const std::vector<std::string>& own : found) CHECK(own == expected);
}

TEST_CASE("A call that is asked to stop throws, and the next one works") {
  const Translator translator(model_path());
  std::stop_source stop;
  std::vector<std::string> many;
  for (int i = 0; i < 2000; ++i) many.push_back(sentences[0]);
  std::jthread asks([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(translator.translate_batch(many, {}, stop.get_token()), Stopped);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(seconds.count() < 10);
  CHECK_THROWS_AS(translator.translate(sentences[0], {}, stop.get_token()), Stopped);
  CHECK(!translator.translate(sentences[0]).text.empty());
}

TEST_CASE("What cannot be loaded or translated is an error with a code") {
  const Translator translator(model_path());
  CHECK(code_of([] { Translator("absent"); }) == ErrorCode::files);
  CHECK(code_of([] { Translator{own_fixtures_path()}; }) == ErrorCode::files);
  CHECK(code_of([] { Translator(std::span<const std::byte>()); }) == ErrorCode::header_too_short);
  CHECK(code_of([] { Classifier{model_path()}; }) == ErrorCode::wrong_task);
  CHECK(code_of([] { Tagger{model_path()}; }) == ErrorCode::wrong_task);
  CHECK(code_of([] { Translator(model_path(), 0); }) == ErrorCode::threads);
  CHECK(code_of([&] { (void)translator.translate("a", {.beam_size = 0}); }) == ErrorCode::option_value);
  std::string long_text;
  for (int i = 0; i < 3000; ++i) long_text += "Hund ";
  CHECK(code_of([&] { (void)translator.translate(long_text); }) == ErrorCode::too_long);
  CHECK_THROWS_WITH(Translator(own_fixtures_path() + "/test-names-3d264aa.txt"),
                    StartsWith(own_fixtures_path() + "/test-names-3d264aa.txt: "));
}

TEST_CASE("A run reports, stops when it is asked to, and goes on") {
  TrainingRun run = copying_run();
  std::vector<Index> reports;
  CHECK(run.run({.steps = 4, .report_every = 2}, [&](const auto& report) { reports.push_back(report.step); }) ==
        RunEnd::goal);
  CHECK(reports == std::vector<Index>{2, 4});
  std::stop_source stop;
  CHECK(run.run(
            {.report_every = 1},
            [&](const auto& report) {
              if (report.step == 6) stop.request_stop();
            },
            stop.get_token()) == RunEnd::stopped);
  CHECK(run.steps() == 6);
  CHECK(run.step().loss > 0);
  CHECK(run.validate().loss > 0);
  CHECK(!Translator(run.model_file()).translate("abc").tokens.empty());
}

TEST_CASE("A run that is resumed from a checkpoint takes the very same steps") {
  TrainingRun whole = copying_run();
  for (int i = 0; i < 3; ++i) whole.step();
  const std::vector<std::byte> checkpoint = whole.checkpoint();
  TrainingRun resumed({.resume = true}, {.model = checkpoint});
  CHECK(resumed.steps() == 3);
  for (int i = 0; i < 3; ++i) CHECK(resumed.step().loss == whole.step().loss);
}

TEST_CASE("Requests that contradict themselves are refused") {
  const ParallelText pairs{.sources = {"a"}, .targets = {"b"}};
  CHECK(code_of([] { TrainingRun{RunRequest()}; }) != ErrorCode::other);
  CHECK(code_of([&] { TrainingRun({}, {.train = {.pairs = pairs, .lines = {"a"}}}); }) == ErrorCode::train);
  CHECK(code_of([&] { TrainingRun({.weights = {2}}, {.train = {.pairs = pairs}}); }) == ErrorCode::train);
  CHECK(code_of([&] { TrainingRun({.config = {R"({"d_modell": 8})"}}, {.train = {.pairs = pairs}}); }) ==
        ErrorCode::unknown_option);
  CHECK(code_of([&] { TrainingRun({.config = {"8"}}, {.train = {.pairs = pairs}}); }) == ErrorCode::option_value);
  CHECK(code_of([&] { TrainingRun({.validation = -1}, {.train = {.pairs = pairs}}); }) == ErrorCode::option_value);
}

TEST_CASE("A classifier and a tagger learn from annotated texts") {
  TrainingRun run(small_encoder, {.train = {.annotated = annotated_texts()}});
  run.run({.steps = 150});
  const std::vector<std::byte> model = run.model_file();
  const Classifier classifier(model);
  const Tagger tagger(model);
  CHECK(classifier.labels() == Labels{"music", "other"});
  CHECK(tagger.tags() == Labels{"B-place", "O"});
  for (const AnnotatedText& text : annotated_texts()) {
    const Annotation found = classifier.classify(text.text);
    REQUIRE(!found.labels.empty());
    CHECK(found.labels[0].label == text.classes[0]);
    const Annotation tagged = tagger.tag(text.text);
    REQUIRE(tagged.words.size() == text.words.size());
    for (std::size_t i = 0; i < text.words.size(); ++i) {
      CHECK(text.text.substr(tagged.words[i].begin, tagged.words[i].size) == text.words[i]);
      CHECK(tagged.words[i].tag == text.tags[i]);
    }
  }
  const std::vector<std::string> two{"some jazz now", "some sleep"};
  CHECK(classifier.classify_batch(two).size() == 2);
  CHECK(tagger.tag_batch(two).size() == 2);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(classifier.classify("some jazz", {}, stop.get_token()), Stopped);
  CHECK(code_of([&] { Translator{model}; }) == ErrorCode::wrong_task);
}

TEST_CASE("A folder of Marian becomes a model file that translates as the folder does") {
  const std::string folder = own_fixtures_path() + "/marian/tiny-npz";
  const Translator translator(import_model(folder));
  CHECK(!translator.translate("a").tokens.empty());
  CHECK(code_of([&] { (void)import_model(folder + "/absent"); }) == ErrorCode::files);
}

TEST_CASE("A student that Mozilla published does not use its shortlist by itself, and others do") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "wasmformer-student";
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* name : {"model.f32.bin", "vocab.spm", "lex.tiny.s2t.bin"})
    fs::copy(own_fixtures_path() + "/marian/student/" + name, folder);
  const auto uses_shortlist = [&] {
    const std::vector<std::byte> bytes = import_model(folder);
    const ModelFile model = parse_model({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return model.shortlist && !model.metadata.contains(shortlist_use_key);
  };
  CHECK(uses_shortlist());
  std::ofstream(folder / "metadata.json") << R"({"sourceLanguage": "xx", "targetLanguage": "en"})";
  CHECK_FALSE(uses_shortlist());
  fs::remove_all(folder);
}

TEST_CASE("The library's version is that of its headers") { CHECK(version() == std::string_view(WASMFORMER_VERSION)); }
