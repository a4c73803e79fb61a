// A student as Firefox runs them, against what Bergamot's own runtime says of it (fixtures/marian/README.md).
#include <catch_amalgamated.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "exchange/marian/marian_bin.h"
#include "schema/error.h"
#include "tasks/translate/translator.h"
#include "tests/exchange/folder.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

constexpr const char* shortlist = "lex.tiny.s2t.bin";

Folder student_folder(const std::string& precision = "f32", bool has_shortlist = false) {
  Folder folder("student");
  std::erase_if(folder.files, [&](const auto& file) {
    return file.first.ends_with(".bin") && file.first != "model." + precision + ".bin" &&
           !(has_shortlist && file.first == shortlist);
  });
  return folder;
}

Matrix rows(const json& numbers) {
  Matrix result(static_cast<Index>(numbers.size()), static_cast<Index>(numbers[0].size()));
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = numbers[i][j].get<Scalar>();
  return result;
}

template <class M>
double worst(const M& a, const Matrix& b) {
  REQUIRE(a.rows() == b.rows());
  return static_cast<double>((a.leftCols(b.cols()) - b).cwiseAbs().maxCoeff());
}

// The mean log-probabilities of the words among the first n tokens.
Matrix word_scores(const Translation& found, std::size_t n) {
  std::vector<std::vector<Scalar>> words;
  for (std::size_t i = 0; i < n; ++i) {
    const TargetToken& token = found.tokens.at(i);
    if (i == 0 || token.piece.starts_with("▁")) words.emplace_back();
    words.back().push_back(static_cast<Scalar>(token.log_probability));
  }
  Matrix scores(1, static_cast<Index>(words.size()));
  for (std::size_t i = 0; i < words.size(); ++i)
    scores(0, static_cast<Index>(i)) =
        Eigen::Map<const RowVector>(words[i].data(), static_cast<Index>(words[i].size())).mean();
  return scores;
}

}  // namespace

TEST_CASE("A student matches Bergamot's encoder output, hidden states, logits and alignment") {
  const std::string precision = GENERATE("f32", "int8");
  const double limit = precision == "f32" ? 1e-4 : 1e-3;
  const ModelFile model = student_folder(precision).import();
  CHECK(model.transformer->config().decoder_self == DecoderSelf::ssru);
  const json trace = json::parse(student_folder().files.at("trace." + precision + ".json"));
  const auto source = trace["source_ids"].get<std::vector<TokenId>>();
  auto target = trace["target_ids"].get<std::vector<TokenId>>();
  target.insert(target.begin(), model.transformer->config().bos_id);
  target.resize(3);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Spans sources{{0, static_cast<Index>(source.size())}}, targets{{0, 3}};
  StackRecord decoder;
  const Var memory = model.transformer->encode(tape, source, sources);
  const Var hidden = model.transformer->decode(tape, target, targets, memory, sources, nullptr, {}, &decoder);
  const Var logits = model.transformer->logits(tape, hidden);
  CHECK(worst(memory.value(), rows(trace["encoder"])) < limit);
  for (Index step = 0; step < 3; ++step) {
    const json& expected = trace["steps"][static_cast<std::size_t>(step)];
    CHECK(worst(hidden.value().row(step), rows(json::array({expected["hidden"]}))) < limit);
    Matrix scores = rows(json::array({expected["logits"]}));
    scores(0, 1) = logits.value()(step, 1);  // <unk>, which Marian has excluded by then
    CHECK(worst(logits.value().row(step), scores) < limit);
    const Matrix& head = decoder.cross_attention.back().probabilities[0];
    CHECK(worst(head.row(step), rows(json::array({expected["alignment"]}))) < limit);
  }
}

TEST_CASE("A student translates token by token as Bergamot does, with the same word scores") {
  const bool has_shortlist = GENERATE(false, true);
  const std::string precision = GENERATE("f32", "int8"), kind = precision + (has_shortlist ? ".lex" : "");
  CAPTURE(kind);
  const Folder folder = student_folder(precision, has_shortlist);
  ThreadPool pool(2);
  const LoadedModel translator(serialize_model(folder.import(), Precision::f32), pool);
  const json expected = json::parse(folder.files.at("tokens." + kind + ".json"));
  const json scores = json::parse(folder.files.at("scores.json"))[kind];
  std::istringstream lines(folder.files.at("input.txt"));
  std::size_t i = 0;
  for (std::string line; std::getline(lines, line); ++i) {
    CAPTURE(line);
    const auto source = expected["source_ids"][i].get<std::vector<TokenId>>();
    auto wanted = expected["target_ids"][i].get<std::vector<TokenId>>();
    const Index limit = 2 * static_cast<Index>(source.size());
    const Translation found = translator.translate({line}, {.beam_size = 1, .max_length = limit})[0];
    std::vector<TokenId> source_ids, ids;
    for (const SourceToken& token : found.source_tokens) source_ids.push_back(token.id);
    for (const TargetToken& token : found.tokens) ids.push_back(token.id);
    CHECK(source_ids == source);
    if (i < scores.size() && !scores[i].empty())
      CHECK(worst(word_scores(found, wanted.size() - 1), rows(json::array({scores[i]}))) < 1e-4);
    if (!ids.empty() && ids.back() == 0) ids.pop_back();
    if (wanted.back() == 0) wanted.pop_back();
    wanted.resize(std::min(wanted.size(), ids.size()));  // at the limit Marian ends without an end token
    CHECK(ids == wanted);
    CHECK(ids.size() + 1 >= wanted.size());
  }
  CHECK(i == 20);
}

TEST_CASE("int8 products of a student without multipliers scale a batch's inputs together, as in Bergamot") {
  Folder folder = student_folder("int8");
  std::string& bin = folder.files.at("model.int8.bin");
  for (std::size_t at = 0; (at = bin.find("_QuantMultA", at + 1)) != std::string::npos;)
    bin[bin.rfind('\0', at) + 1] = 'x';  // a name of no weight
  const json expected = json::parse(folder.files.at("scores.json"))["int8.dynamic"];
  std::istringstream lines(folder.files.at("input.txt"));
  ThreadPool pool(2);
  const ModelFile model = folder.import();
  std::vector<std::string> texts;
  std::size_t same = 0;
  for (std::string line; std::getline(lines, line); texts.push_back(line)) {
    const Index limit = 2 * static_cast<Index>(tokenize(model, line, 0).ids.size());
    const auto found = translate_in_batches(model, pool, {line}, {.beam_size = 1, .max_length = limit}, 100);
    same += found[0].text == expected[texts.size()];
  }
  CHECK(same >= 19);  // of 20: one hangs on a rounding
  ThreadPool one(1);
  const TranslateOptions options{.beam_size = 1, .max_length = 20};
  const auto shared = translate_in_batches(model, pool, texts, options, 1000);
  const auto alone = translate_in_batches(model, one, texts, options, 1000);
  for (std::size_t i = 0; i < texts.size(); ++i) CHECK(shared[i].text == alone[i].text);
}

TEST_CASE("A shortlist can be turned off, and does not affect a forced start") {
  ThreadPool pool;
  const LoadedModel plain(serialize_model(student_folder().import(), Precision::f32), pool);
  const LoadedModel with(serialize_model(student_folder("f32", true).import(), Precision::f16), pool);
  CHECK(with.model().shortlist->ids.size() > 1000);
  const std::string text = "She reads an old book every evening";
  TranslateOptions options{.beam_size = 3, .max_length = 20};
  const std::string all = plain.translate({text}, options)[0].text;
  CHECK(with.translate({text}, options)[0].text != all);
  options.full_vocabulary = true;
  CHECK(with.translate({text}, options)[0].text == all);
  options.full_vocabulary = false;
  options.prefix = std::vector<TokenId>{400, 401};
  const Translation forced = with.translate({text}, options)[0];
  CHECK(forced.tokens[0].id == 400);
  CHECK(forced.tokens[1].id == 401);
}

TEST_CASE("A shortlist limits each sentence to its own candidates, whatever is translated beside it") {
  const std::string precision = GENERATE("f32", "int8", "f32, quantized here");
  const Index beam = GENERATE(1, 3);
  const Folder folder = student_folder(precision.substr(0, precision.find(',')), true);
  ModelFile model = folder.import();
  if (precision.ends_with("here")) model.transformer->quantize();
  ThreadPool pool(2);
  const LoadedModel translator(serialize_model(std::move(model), Precision::f32), pool);
  std::vector<std::string> texts;
  std::istringstream lines(folder.files.at("input.txt"));
  for (std::string line; std::getline(lines, line);) texts.push_back(line);
  const TranslateOptions options{.beam_size = beam, .n_best = beam, .max_length = 20};
  const std::vector<Translation> together = translator.translate(texts, options);
  CHECK(texts.size() == 20);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(texts[i]);
    const Translation alone = translator.translate({texts[i]}, options)[0];
    CHECK(together[i].text == alone.text);
    CHECK(together[i].alternatives.size() == alone.alternatives.size());
    CHECK(std::abs(together[i].score - alone.score) < 1e-5);
  }
}

TEST_CASE("A damaged shortlist, or one of another vocabulary, is refused with a message") {
  Folder folder = student_folder("f32", true);
  std::string& bytes = folder.files.at(shortlist);
  const std::string whole = bytes;
  const auto refused = [&](std::size_t at, std::uint64_t number, const char* sentence) {
    bytes = whole;
    std::memcpy(&bytes[at], &number, sizeof number);
    CHECK_THROWS_WITH(folder.import(), ContainsSubstring(sentence));
  };
  refused(8, 1, "checksum is wrong");
  refused(32, ~std::uint64_t{0}, "do not fit its header");
  refused(40, 0, "do not fit its header");
  bytes = whole;
  std::memset(&bytes[8], 0, 8);  // no checksum
  CHECK(folder.import().shortlist->first == 50);
  std::memset(&bytes[60], 0xFF, 8);
  CHECK_THROWS_WITH(folder.import(), ContainsSubstring("the lists are damaged"));
  bytes = whole;
  std::memset(&bytes[8], 0, 8);
  std::memset(&bytes[bytes.size() - 4], 0x7F, 4);
  CHECK_THROWS_WITH(folder.import(), ContainsSubstring("is not below the 504"));
  bytes = whole.substr(0, 100);
  CHECK_THROWS_WITH(folder.import(), ContainsSubstring("truncated"));
  bytes = whole;
  CHECK_THROWS_WITH(parse_marian_shortlist(bytes, 600, 600), ContainsSubstring("vocabulary of 504 pieces, but"));
}

TEST_CASE("A student's int8 weights stay unchanged") {
  const ModelFile floats = student_folder().import(), bytes = student_folder("int8").import();
  CHECK(bytes.precision == "int8");
  CHECK(bytes.transformer->parameter_count() == floats.transformer->parameter_count());
  std::map<std::string, Matrix> wanted;
  floats.transformer->visit([&](const ParameterInfo& info, const Parameter& p) { wanted[info.name] = p.value; });
  Index packed = 0;
  bytes.transformer->visit([&](const ParameterInfo& info, const Parameter& p) {
    CAPTURE(info.name);
    if (!p.is_packed()) {
      CHECK(p.value == wanted[info.name]);
      return;
    }
    ++packed;
    const Matrix value = p.packed.matrix();
    CHECK((value - wanted[info.name]).cwiseAbs().maxCoeff() <= wanted[info.name].cwiseAbs().maxCoeff() / 254 * 1.01f);
  });
  CHECK(packed == 1 + 2 * 6 + 2 * 8);
}

TEST_CASE("Damaged and foreign .bin files are refused with a message") {
  Folder folder = student_folder("int8");
  std::string& bin = folder.files.at("model.int8.bin");
  const auto number_at = [&](std::size_t at, std::uint64_t value) { std::memcpy(&bin[at], &value, sizeof value); };
  const std::string whole = bin;
  for (std::size_t size : {0, 15, 16, 40, 5000, 100'000}) {
    bin = whole.substr(0, size);
    CHECK_THROWS_WITH(folder.import(), ContainsSubstring(size < 5000 ? ".bin" : "truncated or damaged"));
  }
  bin = whole;
  number_at(8, ~std::uint64_t{0});
  CHECK_THROWS_WITH(folder.import(), ContainsSubstring("nor a .bin file (Firefox)"));
  bin = whole;
  number_at(16 + 8, 0x2801);
  CHECK_THROWS_WITH(folder.import(), ContainsSubstring("packed for one kind of processor"));
  bin = whole;
  number_at(16 + 24, ~std::uint64_t{0});
  CHECK_THROWS_WITH(folder.import(), ContainsSubstring("truncated or damaged"));
  bin = whole;
  folder.files["other.bin"] = whole;
  CHECK_THROWS_WITH(folder.import(), ContainsSubstring("twice: model.int8.bin and other.bin"));
}
