// Students on their way out, against Marian's own files (fixtures/marian/README.md).
#include "exchange/marian/student_export.h"

#include <catch_amalgamated.hpp>
#include <sstream>

#include "exchange/marian/marian.h"
#include "exchange/marian/marian_bin.h"
#include "schema/error.h"
#include "tasks/translate/translator.h"
#include "tests/exchange/folder.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

using Files = std::map<std::string, std::string>;

// The student of this precision, with its shortlist.
Folder student(const std::string& precision) {
  Folder folder("student");
  folder.files.erase(precision == "f32" ? "model.int8.bin" : "model.f32.bin");
  return folder;
}

ModelFile import(const Files& files) { return import_marian({files.begin(), files.end()}); }

// A model with random weights that was never Marian's, over the student's vocabulary.
ModelFile own_model(Config config) {
  ModelFile model = student("f32").import();
  const std::string pieces = model.source_tokenizer->model();
  model.source_tokenizer = model.target_tokenizer = std::make_shared<const Tokenizer>(pieces);
  config.source_vocab_size = config.target_vocab_size = model.source_tokenizer->vocab_size();
  config.d_model = 64, config.ffn_dim = 128, config.num_heads = 4, config.encoder_layers = config.decoder_layers = 2;
  config.pad_id = 3, config.bos_id = 2, config.eos_id = 0, config.norm_epsilon = 1e-6;
  config.positions = Positions::sinusoidal_marian;
  model.transformer = std::make_unique<Transformer>(config);
  model.transformer->initialize(3);
  model.shortlist.reset();
  return model;
}

std::vector<std::string> texts() {
  std::istringstream lines(Folder("student").files.at("input.txt"));
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

std::vector<std::vector<TokenId>> translations(const ModelFile& model) {
  ThreadPool pool;
  std::vector<std::vector<TokenId>> all;
  for (const Translation& t : translate_in_batches(model, pool, texts(), {.beam_size = 1, .max_length = 12}, 100)) {
    all.emplace_back();
    for (const TargetToken& token : t.tokens) all.back().push_back(token.id);
  }
  return all;
}

}  // namespace

TEST_CASE("Marian's files are rewritten byte for byte") {
  const Folder folder("student");
  for (const char* name : {"model.f32.bin", "model.int8.bin"})
    CHECK(serialize_marian_bin(parse_marian_bin(folder.files.at(name))) == folder.files.at(name));
  const std::string& lexicon = folder.files.at("lex.tiny.s2t.bin");
  CHECK(serialize_marian_shortlist(parse_marian_shortlist(lexicon, 504, 504), 504, 504) == lexicon);
  // One of a model that has more pieces, and all of them as candidates, fits the vocabulary that is exported.
  const Shortlist longer{6, {0, 1, 2, 3}, {1, 2, 5}};
  const Shortlist cut = parse_marian_shortlist(serialize_marian_shortlist(longer, 2, 5), 2, 5);
  CHECK(cut.first == 5);
  CHECK(cut.ids == std::vector<std::int32_t>{1, 2});
  CHECK_THROWS_AS(serialize_marian_shortlist(longer, 3, 5), Error);
}

TEST_CASE("An imported student is exported with Marian's own tensors, vocabulary and shortlist") {
  const std::string precision = GENERATE("f32", "int8");
  const Folder folder = student(precision);
  const ModelFile model = folder.import();
  ThreadPool pool;
  const Files files = precision == "f32" ? export_student(model) : export_int8_student(model, pool, {});
  CHECK(files.at("vocab.spm") == folder.files.at("vocab.spm"));
  CHECK(files.at("lex.s2t.bin") == folder.files.at("lex.tiny.s2t.bin"));
  const SafetensorsFile wanted = parse_marian_bin(folder.files.at("model." + precision + ".bin")),
                        found = parse_marian_bin(files.at("model.bin"));
  for (const auto& [name, tensor] : wanted.tensors) {
    CAPTURE(name);
    if (name == "special:model.yml" || name.starts_with("Wemb_Q")) continue;
    REQUIRE(found.tensors.contains(name));
    CHECK(found.tensors.at(name).shape == tensor.shape);
    if (tensor.dtype == Dtype::f32)
      CHECK(found.matrix(name).isApprox(wanted.matrix(name), 1e-6f));
    else
      CHECK(found.tensors.at(name).data == tensor.data);
  }
  CHECK(found.tensors.size() == wanted.tensors.size() - (precision == "int8"));  // a multiplier of a multiplier
  CHECK(import(files).transformer->config() == model.transformer->config());
}

TEST_CASE("A model trained here is exported as a student and re-imported with the same translations") {
  Config config;
  config.decoder_self = GENERATE(DecoderSelf::ssru, DecoderSelf::attention);
  config.tie_embeddings = GENERATE(TieEmbeddings::all, TieEmbeddings::target);
  const ModelFile model = own_model(config);
  const ModelFile back = import(GENERATE(true, false) ? export_student(model) : export_npz_student(model));
  // Marian never chooses <unk>, piece 1, nor do its files know a begin token among the pieces.
  auto expected = translations(model), found = translations(back);
  std::size_t longest = 0;
  for (const auto& ids : expected) longest = std::max(longest, ids.size());
  CHECK(longest == 12);
  for (const auto& ids : expected) REQUIRE(std::find(ids.begin(), ids.end(), 1) == ids.end());
  CHECK(found == expected);
}

TEST_CASE("A student with two vocabularies keeps both") {
  Config config;
  config.decoder_self = DecoderSelf::ssru, config.tie_embeddings = TieEmbeddings::target;
  ModelFile model = own_model(config);
  // The same pieces without the last: a ModelProto is a row of fields, and a piece has fewer than 128 bytes.
  std::string pieces = model.source_tokenizer->model();
  std::size_t last = 0;
  for (std::size_t at = 0; pieces[at] == '\x0a'; at += 2 + static_cast<std::size_t>(pieces[at + 1])) last = at;
  pieces.erase(last, 2 + static_cast<std::size_t>(pieces[last + 1]));
  model.target_tokenizer = std::make_shared<const Tokenizer>(pieces);
  config = model.transformer->config();
  REQUIRE(--config.target_vocab_size == model.target_tokenizer->vocab_size());
  model.transformer = std::make_unique<Transformer>(config);
  model.transformer->initialize(3);
  const bool is_npz = GENERATE(false, true);
  const Files files = is_npz ? export_npz_student(model) : export_student(model);
  CHECK(files.at("srcvocab.spm") == model.source_tokenizer->model());
  CHECK(files.at("trgvocab.spm") == pieces);
  CHECK_FALSE(files.contains("vocab.spm"));
  const ModelFile back = import(files);
  CHECK(back.source_tokenizer->vocab_size() == back.target_tokenizer->vocab_size() + 1);
  CHECK(translations(back) == translations(model));
}

TEST_CASE("An exported int8 student scales its inputs to fit the texts") {
  const ModelFile model = own_model({.decoder_self = DecoderSelf::ssru});
  ThreadPool pool;
  const std::string text = texts()[0];
  const Files files = export_int8_student(model, pool, {text});
  const SafetensorsFile file = parse_marian_bin(files.at("model.bin"));
  // The first product of the encoder is computed once for one text: mean and largest are the same.
  Tape tape(pool, /*recording=*/false);
  const std::vector<TokenId> ids = tokenize(model, text, 0).ids;
  StackRecord record;
  model.transformer->encode(tape, ids, Spans{{0, static_cast<Index>(ids.size())}}, {}, &record);
  const Matrix input = record.token_embedding.value() + record.positions.value();
  const Scalar alpha = file.matrix("encoder_l1_self_Wq_QuantMultA")(0, 0);
  CHECK(alpha == Catch::Approx(127 / input.cwiseAbs().maxCoeff()).epsilon(1e-5));
  for (const auto& [name, tensor] : file.tensors)
    if (name.ends_with("#multiplier")) CHECK(file.tensors.contains(name.substr(0, name.size() - 11) + "_QuantMultA"));
  CHECK(file.matrix("none_QuantMultA") == file.matrix("Wemb_QuantMultA"));
  const ModelFile back = import(files);
  Index same = 0;
  const auto floats = translations(model), bytes = translations(back);
  for (std::size_t i = 0; i < floats.size(); ++i) same += floats[i][0] == bytes[i][0];
  CHECK(same >= 15);  // of 20 first tokens, with random weights
  CHECK(parse_marian_bin(export_int8_student(model, pool, {}).at("model.bin")).tensors.count("Wemb_QuantMultA") == 0);
}

TEST_CASE("No sum of two products saturates in Bergamot: neighboring weights sum to at most 129") {
  const ModelFile model = own_model({.decoder_self = DecoderSelf::ssru});
  ThreadPool pool;
  const ModelFile back = import(export_int8_student(model, pool, {}));
  back.transformer->visit([&](const ParameterInfo& info, const Parameter& p) {
    if (p.packed.format() != PackedMatrix::Format::int8) return;
    INFO(info.name);
    const Int8Matrix w = p.packed.int8_matrix();
    int most = 0, largest = 0;
    for (std::size_t i = 1; i < w.values.size(); i += 2) {
      most = std::max(most, std::abs(w.values[i - 1] + w.values[i]));
      largest = std::max({largest, std::abs(w.values[i - 1]), std::abs(w.values[i])});
    }
    CHECK(most <= 129);
    // Bergamot would rescale a table whose largest byte is not 127.
    CHECK((info.initializer == Initializer::embedding ? largest == 127 : most >= 127 || largest == 127));
  });
}

TEST_CASE("Settings that a .bin file cannot express are refused by name") {
  const auto refused = [](const Config& config, const char* key) {
    ModelFile model = own_model({});
    model.transformer = std::make_unique<Transformer>(config);
    model.transformer->initialize(1);
    CHECK_THROWS_WITH(export_student(model), ContainsSubstring(key));
  };
  const Config fits = own_model({}).transformer->config();
  const auto with = [&fits](auto change) {
    Config config = fits;
    change(config);
    return config;
  };
  refused(with([](Config& c) { c.positions = Positions::sinusoidal; }), "positions must be sinusoidal_marian");
  refused(with([](Config& c) { c.norm = NormPosition::pre; }), "norm must be post");
  refused(with([](Config& c) { c.residual = false; }), "residual must be true");
  refused(with([](Config& c) { c.causal = false, c.decoder_self = DecoderSelf::attention; }), "causal must be true");
  refused(with([](Config& c) { c.key_dim = 3; }), "key_dim must be d_model / num_heads");
  refused(with([](Config& c) { c.norm_epsilon = 1e-5; }), "norm_epsilon must be 1e-6");
  refused(with([](Config& c) { c.tie_embeddings = TieEmbeddings::none; }), "tie_embeddings must be all or target");
  refused(with([](Config& c) { c.eos_id = 5; }), "does not number its pieces");
  ModelFile model = own_model({});
  model.transformer->visit([](const ParameterInfo& info, Parameter& p) {
    if (info.name == "model.shared.weight") p.value(2, 0) = 1;
  });
  CHECK_THROWS_WITH(export_student(model), ContainsSubstring("the begin token has an embedding"));
  ThreadPool pool;
  ModelFile rows = own_model({});
  rows.transformer->quantize();
  CHECK_THROWS_WITH(export_int8_student(rows, pool, {}), ContainsSubstring("a scale for each row"));
}
