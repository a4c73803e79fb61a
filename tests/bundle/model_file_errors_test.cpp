#include <limits>

#include "bundle/base64.h"
#include "tests/bundle/small_model.h"

using namespace wasmformer;
using namespace wasmformer::small;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("A truncated model file is refused") {
  const std::string file = serialize_model(small_model(), Precision::f16);
  parse_model(file);
  for (std::size_t size = 0; size < file.size(); ++size) {
    INFO(size);
    REQUIRE_THROWS_AS(parse_model(std::string_view(file).substr(0, size)), Error);
  }
}

TEST_CASE("A model file with any byte changed is read or refused") {
  const std::string file = serialize_model(small_model(), Precision::f16);
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int change : {0x01, 0x10, 0x80}) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ change);
      try {
        parse_model(changed);
      } catch (const Error&) {
      }
    }
  }
}

TEST_CASE("Another format or version is refused") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  CHECK_THROWS_WITH(parse_model(with_metadata(file, "format", "pt")),
                    "[model] format is 'pt' version '1'; only 'wasmformer' version 1 is supported");
  CHECK_THROWS_WITH(parse_model(with_metadata(file, "version", "2")),
                    "[model] format is 'wasmformer' version '2'; only 'wasmformer' version 1 is supported");
  CHECK_THROWS_WITH(parse_model(with_header(file, [](json& header) { header.erase("__metadata__"); })),
                    "[model] format is '' version ''; only 'wasmformer' version 1 is supported");
}

TEST_CASE("Wrong metadata is refused") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  const auto without = [&file](const char* key) {
    return with_header(file, [key](json& header) { header["__metadata__"].erase(key); });
  };
  CHECK_THROWS_WITH(parse_model(without("config")), "[model] the file's metadata has no 'config'");
  CHECK_THROWS_WITH(parse_model(without("source_tokenizer")), "[model] the file's metadata has no 'source_tokenizer'");
  CHECK_THROWS_WITH(parse_model(with_metadata(file, "config", "{")),
                    Catch::Matchers::StartsWith("[config] invalid JSON"));
  CHECK_THROWS_WITH(parse_model(with_config(file, "layers", 1)),
                    Catch::Matchers::StartsWith("[config] unknown option 'layers'"));
  CHECK_THROWS_WITH(parse_model(with_config(file, "num_heads", 3)),
                    "[config] d_model 4 is not a multiple of num_heads 3");
  CHECK_THROWS_WITH(parse_model(with_metadata(file, "source_tokenizer", "AAAA")),
                    "[tokenizer] these 3 bytes are not a SentencePiece model");
  CHECK_THROWS_WITH(parse_model(with_metadata(file, "source_tokenizer", "A")),
                    "[base64] 1 characters are not a multiple of 4");
  CHECK_THROWS_WITH(parse_model(with_metadata(file, "source_tokenizer", base64_encode(tiny::model({"a"})))),
                    "[model] the source_tokenizer has 6 pieces, but source_vocab_size is 8");
  CHECK_THROWS_WITH(parse_model(with_metadata(file, "target_tokenizer", base64_encode(tiny::model({"a"})))),
                    "[model] the target_tokenizer has 6 pieces, but target_vocab_size is 8");
}

TEST_CASE("A config that needs more weights than the file has is refused before they are allocated") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  CHECK_THROWS_WITH(parse_model(with_config(file, "ffn_dim", 1 << 17)),
                    Catch::Matchers::StartsWith("[model] the config asks for at least 2097"));
  CHECK_THROWS_WITH(parse_model(with_config(file, "encoder_layers", 1000)),
                    Catch::Matchers::ContainsSubstring("weights, but the file has"));
}

TEST_CASE("Tensors that do not fit the config are refused by name") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  const std::string name = "model.decoder.layers.0.encoder_attn.k_proj.weight", zeros(64, '\0');
  const auto with = [&](const TensorEntry& entry) {
    return with_tensors(file, [&](auto& tensors) { tensors[name] = entry; });
  };
  CHECK_THROWS_WITH(parse_model(with_tensors(file, [&](auto& tensors) { tensors.erase(name); })),
                    "[model] the tensor '" + name + "' is missing");
  CHECK_THROWS_WITH(parse_model(with_tensors(file,
                                             [&](auto& tensors) {
                                               tensors["extra"] = {Dtype::f32, {16}, zeros};
                                             })),
                    "[model] the tensor 'extra' is unknown to a model with this config");
  CHECK_THROWS_WITH(parse_model(with({Dtype::f32, {8, 2}, zeros})),
                    "[model] tensor '" + name + "' is [8, 2], the config asks for [4, 4]");
  CHECK_THROWS_WITH(parse_model(with({Dtype::f32, {16}, zeros})),
                    "[model] tensor '" + name + "' is [1, 16], the config asks for [4, 4]");
  CHECK_THROWS_WITH(parse_model(with({Dtype::f32, {1, 4, 4}, zeros})),
                    "[safetensors] tensor '" + name + "' of shape [1, 4, 4] is not a matrix");
  CHECK_THROWS_WITH(parse_model(with({Dtype::i32, {4, 4}, zeros})),
                    "[model] tensor '" + name + "' is of type I32, not F32, F16 or BF16");
  CHECK_NOTHROW(parse_model(with({Dtype::bf16, {4, 4}, std::string_view(zeros).substr(0, 32)})));
  CHECK_NOTHROW(parse_model(with({Dtype::f16, {4, 4}, std::string_view(zeros).substr(0, 32)})));

  std::string nan = zeros;
  const float value = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(nan.data() + 8, &value, sizeof value);
  CHECK_THROWS_WITH(parse_model(with({Dtype::f32, {4, 4}, nan})),
                    "[model] tensor '" + name + "' has a value that is not finite");
}

TEST_CASE("Scores of words that do not fit are refused") {
  Config config = small_config();
  config.decoder_layers = 0;
  config.classes = 2;
  ModelFile model = small_model(config);
  model.labels.classes = {"a", "b"};
  model.words = WordScores{{3, 5}, {2, 2, {1, 2, 3, 4}, {1, 1}}};
  const std::string file = serialize_model(model, Precision::f32);
  CHECK(parse_model(file).words->weights.values == model.words->weights.values);
  const auto replaced = [&](const std::string& name, Dtype dtype, std::vector<Index> shape, std::string_view data) {
    return with_tensors(file, [&](auto& tensors) { tensors[name] = {dtype, shape, data}; });
  };
  const std::string zeros(16, '\0');
  const auto data = [&](std::size_t size) { return std::string_view(zeros).substr(0, size); };
  CHECK_THROWS_WITH(parse_model(replaced("words.features", Dtype::i32, {2}, data(8))),
                    ContainsSubstring("do not ascend"));
  CHECK_THROWS_WITH(parse_model(replaced("words.features", Dtype::i32, {1}, data(4))),
                    ContainsSubstring("words.weight' of type I8 is not [2, 1]"));
  CHECK_THROWS_WITH(parse_model(replaced("words.weight", Dtype::f32, {2, 2}, data(16))),
                    ContainsSubstring("words.weight' is not of type I8"));
  CHECK_THROWS_WITH(parse_model(with_tensors(file, [](auto& tensors) { tensors.erase("words.weight"); })),
                    ContainsSubstring("words.weight"));

  model.mix = {.class_share = 0.25f, .tag_share = 0.75f, .outside_score = -1.5f};
  const std::string mixed = serialize_model(model, Precision::f32);
  CHECK(parse_model(mixed).mix == model.mix);
  CHECK(parse_model(file).mix == ScoreMix());
  for (const char* damaged : {"", "[1,2]", "[1,2,1e999]", R"([1,2,"3"])", "null"})
    CHECK_THROWS_WITH(parse_model(with_metadata(mixed, "score_mix", damaged)), ContainsSubstring("score_mix is"));
}

TEST_CASE("int8 weights that do not fit are refused by name") {
  ModelFile model = small_model();
  model.transformer->quantize();
  const std::string file = serialize_model(model, Precision::f32);
  const std::string name = "model.decoder.layers.0.encoder_attn.k_proj.weight", zeros(64, '\0');
  const auto with = [&](const std::string& tensor, const TensorEntry& entry) {
    return with_tensors(file, [&](auto& tensors) { tensors[tensor] = entry; });
  };
  CHECK_NOTHROW(parse_model(with(name, {Dtype::i8, {4, 4}, std::string_view(zeros).substr(0, 16)})));
  CHECK_THROWS_WITH(parse_model(with(name, {Dtype::i8, {8, 2}, std::string_view(zeros).substr(0, 16)})),
                    "[model] tensor '" + name + "' of type I8 is not [4, 4], which the config asks for");
  CHECK_THROWS_WITH(parse_model(with_tensors(file, [&](auto& tensors) { tensors.erase(name + ".scale"); })),
                    "[model] the tensor '" + name + ".scale' is missing");
  CHECK_THROWS_WITH(parse_model(with(name + ".scale", {Dtype::f32, {3}, std::string_view(zeros).substr(0, 12)})),
                    "[model] tensor '" + name + ".scale' is [1, 3], the config asks for [1, 4]");
  const std::string lowest(16, '\x80');
  CHECK_THROWS_WITH(parse_model(with(name, {Dtype::i8, {4, 4}, lowest})),
                    "[model] tensor '" + name + "' has the value -128; weights must be from -127 to 127");
  // A scale is no weight of a model of floats.
  CHECK_THROWS_WITH(
      parse_model(with_tensors(serialize_model(small_model(), Precision::f32),
                               [&](auto& tensors) {
                                 tensors[name + ".scale"] = {Dtype::f32, {4}, std::string_view(zeros).substr(0, 16)};
                               })),
      "[model] the tensor '" + name + ".scale' is unknown to a model with this config");
}

TEST_CASE("Weights of 4 bits that do not fit are refused by name") {
  const std::string file = serialize_model(small_model(), Precision::int4);
  const std::string name = "model.decoder.layers.0.encoder_attn.k_proj.weight", zeros(64, '\0');
  const auto with = [&](const std::string& tensor, const TensorEntry& entry) {
    return with_tensors(file, [&](auto& tensors) { tensors[tensor] = entry; });
  };
  CHECK_NOTHROW(parse_model(with(name, {Dtype::u8, {4, 2}, std::string_view(zeros).substr(0, 8)})));
  CHECK_THROWS_WITH(parse_model(with(name, {Dtype::u8, {4, 4}, std::string_view(zeros).substr(0, 16)})),
                    "[model] tensor '" + name + "' of type U8 is not [4, 2], which the config asks for");
  CHECK_THROWS_WITH(parse_model(with_tensors(file, [&](auto& tensors) { tensors.erase(name + ".scale"); })),
                    "[model] the tensor '" + name + ".scale' is missing");
  CHECK_THROWS_WITH(parse_model(with(name + ".scale", {Dtype::f16, {3, 1}, std::string_view(zeros).substr(0, 6)})),
                    "[model] tensor '" + name + ".scale' is [3, 1], the config asks for [4, 1]");
  const std::string infinite("\0\x7C\0\0\0\0\0\0", 8);
  CHECK_THROWS_WITH(parse_model(with(name + ".scale", {Dtype::f16, {4, 1}, infinite})),
                    "[model] tensor '" + name + ".scale' has a value that is not finite");
}

TEST_CASE("An int8 model cannot be trained or quantized again") {
  ModelFile model = small_model();
  model.transformer->quantize();
  CHECK_THROWS_WITH(model.transformer->enable_gradients(),
                    Catch::Matchers::ContainsSubstring("start from the float model"));
  CHECK_THROWS_WITH(model.transformer->quantize(), Catch::Matchers::ContainsSubstring("int8 already"));
}
