// To add a kind of file: write the same weights in it in tests/fixtures/marian/make.py, and name its folder
// below.
#include "exchange/marian/marian.h"

#include <catch_amalgamated.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "schema/error.h"
#include "tasks/translate/translator.h"
#include "tests/exchange/folder.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

const json& expected() {
  static const json all = json::parse(read_file(own_fixtures_path() + "/marian/expected.json"));
  return all;
}

// The kinds of files, with what expected.json calls the arithmetic.
Folder folder(const std::string& kind) {
  Folder found(kind == "pickle" ? "tiny" : kind);
  if (kind == "pickle") found.files.erase("model.safetensors");
  return found;
}

std::map<std::string, Matrix> weights(const ModelFile& model) {
  std::map<std::string, Matrix> values;
  model.transformer->visit([&](const ParameterInfo& info, const Parameter& p) { values[info.name] = p.value; });
  return values;
}

}  // namespace

TEST_CASE("Marian models from every kind of file give PyTorch's logits and translations") {
  const auto [kind, arithmetic] = GENERATE(table<std::string, std::string>(
      {{"tiny", "hugging_face"}, {"pickle", "hugging_face"}, {"tiny-legacy", "hugging_face"}, {"tiny-npz", "marian"}}));
  INFO(kind);
  const ModelFile model = folder(kind).import();
  const json& right = expected().at(arithmetic);
  ThreadPool pool;
  double worst = 0;
  for (std::size_t i = 0; i < right["greedy"].size(); ++i) {
    const std::string text = expected()["texts"][i];
    const auto source = expected()["source"][i].get<std::vector<TokenId>>();
    std::vector<TokenId> encoded = model.source_tokenizer->encode(text);
    encoded.push_back(model.transformer->config().eos_id);
    CHECK(encoded == source);

    const auto greedy = right["greedy"][i].get<std::vector<TokenId>>();
    std::vector<TokenId> target{model.transformer->config().bos_id};
    target.insert(target.end(), greedy.begin(), greedy.end() - 1);
    Tape tape(pool, /*recording=*/false);
    const Spans sources{{0, static_cast<Index>(source.size())}}, targets{{0, static_cast<Index>(target.size())}};
    Var memory = model.transformer->encode(tape, source, sources);
    Var logits = model.transformer->logits(tape, model.transformer->decode(tape, target, targets, memory, sources));
    const auto rows = right["logits"][i].get<std::vector<std::vector<double>>>();
    REQUIRE(rows.size() == target.size());
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t j = 0; j < rows[row].size(); ++j)
        worst =
            std::max(worst, std::abs(rows[row][j] - logits.value()(static_cast<Index>(row), static_cast<Index>(j))));

    const Translation found = LoadedModel(serialize_model(model, Precision::f32), pool)
                                  .translate({text}, {.beam_size = 1, .max_length = 12})[0];
    std::vector<TokenId> ids;
    for (const TargetToken& token : found.tokens) ids.push_back(token.id);
    CHECK(ids == greedy);
    CHECK(found.text == right["printed"][i].get<std::string>());
  }
  CHECK(worst < 1e-4);
}

TEST_CASE("Marian models have the same weights from every kind of file, and after being stored") {
  const ModelFile model = folder("tiny").import();
  const auto all = weights(model);
  for (const char* kind : {"pickle", "tiny-legacy", "tiny-npz"}) {
    INFO(kind);
    CHECK(weights(folder(kind).import()) == all);
  }
  const ModelFile again = parse_model(serialize_model(model, Precision::f32));
  CHECK(weights(again) == all);
  CHECK(again.transformer->config() == model.transformer->config());
  CHECK(*again.source_tokenizer == *model.source_tokenizer);
  CHECK(*again.target_tokenizer == *model.target_tokenizer);
  CHECK_FALSE(*again.source_tokenizer == *again.target_tokenizer);
  CHECK(again.metadata == std::map<std::string, std::string>{{"languages", "en-fr"}, {"num_beams", "6"}});
}

TEST_CASE("A Marian folder gives the config, and generation_config.json overrides it") {
  const Config c = folder("tiny").import().transformer->config();
  CHECK(c.activation == Activation::swish);
  CHECK(c.positions == Positions::sinusoidal_halves);
  CHECK(c.scale_embedding);
  CHECK(c.output_bias);
  CHECK(c.norm == NormPosition::post);
  CHECK(c.norm_epsilon == 1e-5);
  CHECK(c.max_length == 64);
  CHECK(c.encoder_layers == 1);
  CHECK(c.decoder_layers == 2);
  CHECK(c.tie_embeddings == TieEmbeddings::all);
  CHECK(c.pad_id == 12);
  CHECK(c.bos_id == 12);
  CHECK(c.eos_id == 0);
  const Config marian = folder("tiny-npz").import().transformer->config();
  CHECK(marian.positions == Positions::sinusoidal_marian);
  CHECK(marian.norm_epsilon == 1e-6);
  CHECK(marian.bos_id == 12);
  CHECK(marian.eos_id == 0);

  // Without it, config.json forbids token 0, which here is the end.
  Folder alone = folder("tiny");
  alone.files.erase("generation_config.json");
  const ModelFile model = alone.import();
  CHECK(weights(model).at("final_logits_bias")(0, 0) == -1e4f);
  ThreadPool pool;
  const auto tokens = LoadedModel(serialize_model(model, Precision::f16), pool)
                          .translate({"ace bad cede"}, {.beam_size = 4, .max_length = 12})[0]
                          .tokens;
  CHECK(tokens.size() == 12);
}

TEST_CASE("Marian models may have two vocabularies and two embedding tables") {
  Folder folder("tiny");
  folder.change("config.json", [](json& c) {
    c["share_encoder_decoder_embeddings"] = false;
    c["vocab_size"] = 14;
  });
  folder.change("tokenizer_config.json", [](json& c) { c["separate_vocabs"] = true; });
  folder.files["target_vocab.json"] = folder.files["vocab.json"];
  folder.change("vocab.json", [](json& v) { v["b"] = 13; });
  std::string table;
  folder.change_tensors([&](auto& tensors) {
    const TensorEntry shared = tensors.at("model.shared.weight");
    table = std::string(shared.data) + std::string(16 * 4, '\0');
    tensors.erase("model.shared.weight");
    tensors["model.encoder.embed_tokens.weight"] = {Dtype::f32, {14, 16}, table};
    tensors["model.decoder.embed_tokens.weight"] = tensors["lm_head.weight"] = shared;
  });
  const ModelFile model = folder.import();
  CHECK(model.transformer->config().tie_embeddings == TieEmbeddings::target);
  CHECK(model.source_tokenizer->encode("b") == std::vector<TokenId>{5, 13});
  CHECK(model.target_tokenizer->vocab_size() == 13);
  const ModelFile again = parse_model(serialize_model(model, Precision::f32));
  CHECK(*again.source_tokenizer == *model.source_tokenizer);
  CHECK(*again.target_tokenizer == *model.target_tokenizer);

  SECTION("and an output of its own") {
    folder.change("config.json", [](json& c) { c["tie_word_embeddings"] = false; });
    CHECK(folder.import().transformer->config().tie_embeddings == TieEmbeddings::none);
  }
}

TEST_CASE("An int8 Marian model is close to the float model") {
  ModelFile model = folder("tiny").import();
  model.transformer->quantize();
  const ModelFile read = parse_model(serialize_model(model, Precision::f32));
  const auto floats = weights(folder("tiny").import());
  read.transformer->visit([&](const ParameterInfo& info, const Parameter& p) {
    if (p.is_packed())
      CHECK((p.packed.matrix() - floats.at(info.name)).cwiseAbs().maxCoeff() <
            floats.at(info.name).cwiseAbs().maxCoeff() / 100);
  });
}

TEST_CASE("Stored positions are used if they differ from the computed ones") {
  Folder file = folder("tiny");
  std::string rows(64 * 16 * 4, '\0');
  file.change_tensors([&](auto& tensors) {
    for (const char* name : {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"})
      tensors[name] = {Dtype::f32, {64, 16}, rows};
  });
  const ModelFile model = file.import();
  CHECK(model.transformer->config().positions == Positions::learned);
  CHECK(weights(model).at("model.encoder.embed_positions.weight").isZero());
}

TEST_CASE("A real folder's tokenizer maps spm_encode's pieces to the ids in vocab.json") {
  Folder real("fr-en");
  const json ids = json::parse(real.files.at("vocab.json"));
  std::vector<std::string> vocabulary(ids.size());
  for (const auto& [piece, id] : ids.items()) vocabulary[id.get<std::size_t>()] = piece;
  const Tokenizer tokenizer(real.files.at("source.spm"), vocabulary);
  CHECK(tokenizer.vocab_size() == 53017);
  CHECK(tokenizer.pad_id() == 53016);
  CHECK(tokenizer.eos_id() == 43311);
  CHECK(tokenizer.unk_id() == 50387);
  CHECK(tokenizer.bos_id() == -1);
  std::istringstream input(read_file(own_fixtures_path() + "/sentencepiece/input.txt")),
      pieces(real.files.at("source.spm.pieces"));
  std::size_t count = 0;
  for (std::string text, line; std::getline(input, text) && std::getline(pieces, line);) {
    INFO(text);
    std::vector<TokenId> right;
    std::istringstream words(line);
    for (std::string piece; std::getline(words, piece, ' ');)
      right.push_back(ids.contains(piece) ? ids[piece].get<TokenId>() : tokenizer.unk_id());
    CHECK(tokenizer.encode(text) == right);
    count += right.size();
  }
  CHECK(count > 150);
  const std::string sentence = "J'ai mang\u00E9 une p\u00EAche \u00E0 l'\u00E9cole; o\u00F9 \u00EAtes-vous ?";
  CHECK(tokenizer.decode(tokenizer.encode(sentence)) == sentence);

  // All of its settings are read before the weights are missed.
  real.files["target.spm"] = real.files["source.spm"];
  CHECK_THROWS_WITH(real.import(), StartsWith("[import] the folder has no weights"));
}

TEST_CASE("Unsupported models are refused with one sentence") {
  Folder f = folder("tiny");
  std::string message;
  SECTION("BART") {
    f.configure("model_type", "bart");
    message = "[import] config.json has model_type 'bart'; only 'marian', 'bert' and 'distilbert' can be read";
  }
  SECTION("T5") {
    f.files["config.json"] = R"({"model_type":"t5","d_kv":64,"d_model":512,"num_layers":6,"vocab_size":32128})";
    message = "[import] config.json has model_type 't5'; only 'marian', 'bert' and 'distilbert' can be read";
  }
  SECTION("no type") {
    f.configure("model_type", nullptr);
    message = "has model_type ''";
  }
  SECTION("pre-norm") {
    f.configure("normalize_before", true);
    message = "[marian] normalize_before is true";
  }
  SECTION("a norm after embeddings") {
    f.configure("normalize_embedding", true);
    message = "[marian] normalize_embedding is true";
  }
  SECTION("an activation") {
    f.configure("activation_function", "gelu_new");
    message = "[import] activation_function is 'gelu_new'; expected relu, gelu or swish";
  }
  SECTION("heads that differ") {
    f.configure("decoder_attention_heads", 4);
    message = "[marian] encoder_attention_heads is 2 and decoder_attention_heads is 4";
  }
  SECTION("no size") {
    f.configure("d_model", "16");
    message = "[import] d_model of config.json must be a whole number from 0, not \"16\"";
  }
  SECTION("forbidden words of two tokens") {
    f.files.erase("generation_config.json");
    f.configure("bad_words_ids", {{1, 2}});
    message = "[marian] bad_words_ids has [1,2]; only single tokens can be forbidden";
  }
  SECTION("a forbidden token beyond the vocabulary") {
    f.files.erase("generation_config.json");
    f.configure("bad_words_ids", {{13}});
    message = "[marian] bad_words_ids has 13, but the vocabulary ends at 12";
  }
  SECTION("a vocabulary of the wrong size") {
    f.change("vocab.json", [](json& v) { v.erase("a"); });
    message = "[marian] vocab.json has 12 pieces, but the vocabulary of config.json has 13";
  }
  SECTION("a vocabulary with a gap") {
    f.change("vocab.json", [](json& v) { v["a"] = 13; });
    message = "[marian] vocab.json has 'a' with id 13; ids must be 0 to 12, each once";
  }
  SECTION("a vocabulary with an id twice") {
    f.change("vocab.json", [](json& v) { v["a"] = 2; });
    message = "with id 2; ids must be 0 to 12, each once";
  }
  SECTION("another end token") {
    f.change("generation_config.json", [](json& c) { c["eos_token_id"] = 3; });
    message = "[marian] eos_token_id is 3, but </s> is piece 0";
  }
  SECTION("a config that is not JSON") {
    f.files["config.json"] = "{";
    message = "[import] config.json is not a JSON object";
  }
  SECTION("a deep config") {
    f.files["config.json"] = "{\"a\":" + std::string(100000, '[');
    message = "[import] config.json is not a JSON object";
  }
  SECTION("a folder without source.spm") {
    f.files.erase("source.spm");
    message = "[import] the folder has no source.spm";
  }
  SECTION("a folder of something else") {
    f.files = {{"readme.txt", "hello"}};
    message = "[marian] the folder has neither config.json";
  }
  SECTION("weights in parts") {
    f.files.erase("model.safetensors"), f.files.erase("pytorch_model.bin");
    f.files["pytorch_model.bin.index.json"] = "{}";
    message = "[import] pytorch_model.bin.index.json lists several files; save the model with a larger shard size";
  }
  SECTION("a table of the wrong size") {
    f.change_tensors([](auto& tensors) {
      TensorEntry& table = tensors.at("model.shared.weight");
      table = {Dtype::f32, {12, 16}, table.data.substr(64)};
    });
    message = "[model] tensor 'model.shared.weight' is [12, 16], the config asks for [13, 16]";
  }
  SECTION("tied tables that differ") {
    const std::string other(13 * 16 * 4, '\0');
    f.change_tensors([&](auto& tensors) { tensors["lm_head.weight"] = {Dtype::f32, {13, 16}, other}; });
    message = "[marian] model.shared.weight and lm_head.weight differ, but config.json ties them";
  }
  SECTION("an unknown tensor") {
    const std::string zeros(64, '\0');
    f.change_tensors([&](auto& tensors) { tensors["adapter.weight"] = {Dtype::f32, {16}, zeros}; });
    message = "[model] the tensor 'adapter.weight' is unknown to a model with this config";
  }
  SECTION("a missing tensor") {
    f.change_tensors([](auto& tensors) { tensors.erase("model.encoder.layers.0.fc1.bias"); });
    message = "[model] the tensor 'model.encoder.layers.0.fc1.bias' is missing";
  }
  REQUIRE_FALSE(message.empty());
  CHECK_THROWS_WITH(f.import(), ContainsSubstring(message));
}

TEST_CASE("Only the files that a Marian model needs are read") {
  const auto read = [](std::vector<std::string> names) { return folder_files(names); };
  CHECK(read({"config.json", "model.safetensors", "pytorch_model.bin", "tf_model.h5", "source.spm", "vocab.json"}) ==
        std::vector<std::string>{"config.json", "model.safetensors", "source.spm", "vocab.json"});
  CHECK(read({"config.json", "pytorch_model.bin", "README.md"}) ==
        std::vector<std::string>{"config.json", "pytorch_model.bin"});
  CHECK(read({"decoder.yml", "model.npz", "model.npz.optimizer.npz", "a.spm", "train.log"}) ==
        std::vector<std::string>{"decoder.yml", "model.npz", "a.spm"});
}
