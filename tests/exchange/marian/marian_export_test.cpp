#include "exchange/marian/marian_export.h"

#include <catch_amalgamated.hpp>
#include <nlohmann/json.hpp>

#include "bundle/safetensors.h"
#include "exchange/marian/marian.h"
#include "tests/exchange/folder.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

namespace {

const std::vector<std::string> two_letters{"a", "b"};

ModelFile model_of(const Config& config, std::shared_ptr<const Tokenizer> source,
                   std::shared_ptr<const Tokenizer> target) {
  return {std::make_unique<Transformer>(random_model(config, 1)), std::move(source), std::move(target), {}};
}

// The logits of a target after a source.
Matrix logits(const Transformer& model) {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const std::vector<TokenId> source{5, 6, 7, 3}, target{2, 8, 5};
  const Spans source_spans{{0, 4}}, target_spans{{0, 3}};
  Var memory = model.encode(tape, source, source_spans);
  return model.logits(tape, model.decode(tape, target, target_spans, memory, source_spans)).value();
}

}  // namespace

FolderFiles views(const std::map<std::string, std::string>& files) { return {files.begin(), files.end()}; }

// That Hugging Face's arithmetic gives our numbers is for tests/cli/export.test.mjs, where there is PyTorch.
TEST_CASE("A Hugging Face folder has the ids, the names and all tensors of the model") {
  ModelFile model = letters_model(1);
  model.metadata["languages"] = "de-en";
  const auto files = export_marian(model, Precision::f32);
  const Json config = Json::parse(files.at("config.json")),
             generation = Json::parse(files.at("generation_config.json")),
             tokenizer = Json::parse(files.at("tokenizer_config.json")),
             vocabulary = Json::parse(files.at("vocab.json"));
  for (const Json& json : {config, generation}) {
    CHECK(json["decoder_start_token_id"] == 2);
    CHECK(json["eos_token_id"] == 3);
    CHECK(json["pad_token_id"] == 0);
    CHECK(json["bad_words_ids"] == Json::parse("[[0], [2]]"));
  }
  CHECK(config["vocab_size"] == 13);
  CHECK(config["share_encoder_decoder_embeddings"] == true);
  CHECK(tokenizer["eos_token"] == "</s>");
  CHECK(tokenizer["source_lang"] == "de");
  CHECK(tokenizer["separate_vocabs"] == false);
  CHECK_FALSE(files.contains("target_vocab.json"));
  CHECK(vocabulary.size() == 13);
  CHECK(vocabulary["\xE2\x96\x81"] == 4);
  CHECK(vocabulary["h"] == 12);
  CHECK(files.at("source.spm") == model.source_tokenizer->model());

  const SafetensorsFile file = parse_safetensors(files.at("model.safetensors"));
  CHECK(file.metadata == std::map<std::string, std::string>{{"format", "pt"}});
  std::size_t tensors = 0;
  model.transformer->visit([&](const ParameterInfo&, const Parameter&) { ++tensors; });
  CHECK(file.tensors.size() == tensors);
  CHECK(file.tensors.at("final_logits_bias").shape == std::vector<Index>{1, 13});
}

TEST_CASE("Interleaved positions become halves, with the same scores") {
  ModelFile model = letters_model(1);
  const auto files = export_marian(model, Precision::f32);
  const SafetensorsFile file = parse_safetensors(files.at("model.safetensors"));
  Config config = letters_config();
  config.positions = Positions::sinusoidal_halves;
  Transformer halves(config);
  halves.visit([&](const ParameterInfo& info, Parameter& p) { p.value = file.matrix(info.name); });
  CHECK(halves.config().d_model % 4 == 0);
  const Matrix expected = logits(*model.transformer), found = logits(halves);
  CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-5);
}

TEST_CASE("A smaller vocabulary is padded with pieces that cannot be chosen") {
  Config config = letters_config();
  config.tie_embeddings = TieEmbeddings::target;
  config.target_vocab_size = 7;
  const ModelFile model =
      model_of(config, letters_tokenizer(), std::make_shared<const Tokenizer>(tiny::model(two_letters)));
  const auto files = export_marian(model, Precision::f16);
  CHECK(Json::parse(files.at("config.json"))["decoder_vocab_size"] == 13);
  CHECK(Json::parse(files.at("tokenizer_config.json"))["separate_vocabs"] == true);
  const Json target = Json::parse(files.at("target_vocab.json"));
  CHECK(target.size() == 13);
  CHECK(target["b"] == 6);
  const SafetensorsFile file = parse_safetensors(files.at("model.safetensors"));
  CHECK(file.tensors.at("final_logits_bias").dtype == Dtype::f16);
  const Matrix table = file.matrix("model.decoder.embed_tokens.weight"), bias = file.matrix("final_logits_bias");
  CHECK(table.rows() == 13);
  CHECK(table.bottomRows(6).isZero());
  CHECK((bias.rightCols(6).array() < -9000).all());
  CHECK((bias.leftCols(7).array() > -100).all());
}

TEST_CASE("Settings that Marian lacks are refused by their key") {
  const auto refused = [](const char* key, const char* value) {
    Config config = letters_config();
    TrainingConfig training;
    set_option(config, training, key, value);
    const ModelFile model = model_of(config, letters_tokenizer(), letters_tokenizer());
    CHECK_THROWS_WITH(export_marian(model, Precision::f32),
                      ContainsSubstring(std::string(key) + " is") && ContainsSubstring("only"));
  };
  refused("norm", "pre");
  refused("attention", "additive");
  refused("positions", "rotary");
  for (const char* positions : {"none", "integers", "fractions"}) refused("positions", positions);
  refused("norm", "none");
  refused("residual", "false");
  refused("causal", "false");
  refused("key_dim", "3");
  refused("norm_epsilon", "1e-8");

  std::string other = tiny::model({"a", "b", "c", "d", "e", "f", "g", "h"});
  other.replace(other.find("</s>"), 4, "<eo>");
  Config config = letters_config();
  config.tie_embeddings = TieEmbeddings::target;
  const ModelFile model = model_of(config, letters_tokenizer(), std::make_shared<const Tokenizer>(other));
  CHECK_THROWS_WITH(export_marian(model, Precision::f32),
                    ContainsSubstring("end token is '</s>' in the source and '<eo>' in the target"));
}

TEST_CASE("Importing, exporting and importing again gives the same bytes") {
  for (const char* name : {"tiny", "tiny-legacy", "tiny-npz"}) {
    CAPTURE(name);
    const Folder folder(name);
    const ModelFile in = folder.import();
    const auto out = export_marian(in, Precision::f32);
    const ModelFile again = import_marian(views(out));
    const SafetensorsFile exported = parse_safetensors(out.at("model.safetensors"));
    again.transformer->visit([&](const ParameterInfo& info, const Parameter& p) {
      CHECK(weight_bytes(p.value, Precision::f32, info.name) == exported.tensors.at(info.name).data);
    });
    if (!folder.files.contains("model.safetensors")) continue;
    CHECK(serialize_model(again, Precision::f32) == serialize_model(in, Precision::f32));
    CHECK(bool(export_marian(again, Precision::f32) == out));
    for (const auto& [tensor, entry] : parse_safetensors(folder.files.at("model.safetensors")).tensors) {
      if (!exported.tensors.contains(tensor) || tensor == "final_logits_bias") continue;
      CAPTURE(tensor);
      CHECK(exported.tensors.at(tensor).data == entry.data);
    }
  }
}

TEST_CASE("An exported model keeps its scores when imported again") {
  ModelFile model = letters_model(1);
  const auto out = export_marian(model, Precision::f32);
  const ModelFile in = import_marian(views(out));
  CHECK((logits(*in.transformer) - logits(*model.transformer)).cwiseAbs().maxCoeff() < 1e-5);
  CHECK(in.target_tokenizer->decode({5, 6}) == model.target_tokenizer->decode({5, 6}));
  CHECK(export_marian(in, Precision::f32).at("model.safetensors") == out.at("model.safetensors"));
}
