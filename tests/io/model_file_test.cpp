#include "io/model_file.h"

#include <sys/resource.h>

#include <catch_amalgamated.hpp>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tensor/check.h"
#include "tests/text/tiny_tokenizer.h"

using namespace wasmformer;
using nlohmann::json;

namespace {

Config small_config() {
  Config c;
  c.source_vocab_size = c.target_vocab_size = 8;
  c.d_model = 4;
  c.encoder_layers = c.decoder_layers = 1;
  c.num_heads = 2;
  c.ffn_dim = 6;
  c.max_length = 10;
  return c;
}

ModelFile small_model(const Config& config = small_config()) {
  ModelFile model;
  model.transformer = std::make_unique<Transformer>(config);
  model.transformer->initialize(7);
  model.source_tokenizer = std::make_shared<const Tokenizer>(tiny::model({"a", "b", "c"}));
  model.target_tokenizer = model.source_tokenizer;
  model.metadata = {{"languages", "de-en"}, {"licence", "CC BY 2.0"}};
  return model;
}

// Where two transformers of one config differ most.
double difference(Transformer& a, Transformer& b) {
  std::map<std::string, Matrix> values;
  a.visit([&](const std::string& name, const Parameter& p, auto) { values[name] = p.value; });
  double worst = 0;
  b.visit([&](const std::string& name, const Parameter& p, auto) {
    const Matrix& other = values.at(name);
    REQUIRE(shape(other) == shape(p.value));
    worst = std::max<double>(worst, (other - p.value).cwiseAbs().maxCoeff());
  });
  return worst;
}

// The file with its header changed by `change`.
std::string with_header(const std::string& file, const std::function<void(json&)>& change) {
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof size);
  json header = json::parse(file.substr(sizeof size, size));
  change(header);
  const std::string text = header.dump();
  size = text.size();
  std::string changed(reinterpret_cast<const char*>(&size), sizeof size);
  std::memcpy(&size, file.data(), sizeof size);
  return changed + text + file.substr(sizeof size + size);
}

std::string with_metadata(const std::string& file, const std::string& key, const std::string& value) {
  return with_header(file, [&](json& header) { header["__metadata__"][key] = value; });
}

std::string with_config(const std::string& file, const std::string& key, const json& value) {
  return with_header(file, [&](json& header) {
    json config = json::parse(header["__metadata__"]["config"].get<std::string>());
    config[key] = value;
    header["__metadata__"]["config"] = config.dump();
  });
}

// The file with tensors, and perhaps metadata, as `change` leaves them.
std::string with_tensors(const std::string& file,
                         const std::function<void(std::map<std::string, TensorEntry>&)>& change) {
  const SafetensorsFile parsed = parse_safetensors(file);
  std::map<std::string, TensorEntry> tensors = parsed.tensors;
  change(tensors);
  return serialize_safetensors({tensors.begin(), tensors.end()}, parsed.metadata);
}

}  // namespace

TEST_CASE("A model is the same after being written and read, with every way of making one") {
  Config c = small_config();
  SECTION("tied, sinusoidal, post-norm, bias") {}
  SECTION("target tied, learned positions, pre-norm") {
    c.tie_embeddings = TieEmbeddings::target;
    c.positions = Positions::learned;
    c.norm = NormPlace::pre;
  }
  SECTION("nothing tied, no bias") {
    c.tie_embeddings = TieEmbeddings::none;
    c.output_bias = false;
    c.activation = Activation::swish;
    c.dropout = 0.1 + 0.2;
  }
  SECTION("Marian's") {
    c.positions = GENERATE(Positions::sinusoidal_halves, Positions::sinusoidal_marian);
    c.scale_embedding = false;
  }
  SECTION("dot") { c.attention = AttentionScore::dot; }
  SECTION("additive") { c.attention = AttentionScore::additive; }
  SECTION("bilinear") { c.attention = AttentionScore::bilinear; }
  ModelFile model = small_model(c);
  const std::string file = serialize_model(model, Precision::f32);
  const ModelFile read = parse_model(file);
  CHECK(read.transformer->config() == c);
  CHECK(difference(*model.transformer, *read.transformer) == 0);
  CHECK(read.metadata == model.metadata);
  CHECK(read.source_tokenizer == read.target_tokenizer);
  CHECK(read.source_tokenizer->model() == model.source_tokenizer->model());
  CHECK(serialize_model(read, Precision::f32) == file);
}

TEST_CASE("Two tokenizers are both kept") {
  Config c = small_config();
  c.target_vocab_size = 7;
  c.tie_embeddings = TieEmbeddings::target;
  ModelFile model = small_model(c);
  model.target_tokenizer = std::make_shared<const Tokenizer>(tiny::model({"x", "y"}));
  const ModelFile read = parse_model(serialize_model(model, Precision::f32));
  CHECK(read.source_tokenizer->vocab_size() == 8);
  CHECK(read.target_tokenizer->vocab_size() == 7);
}

TEST_CASE("Half precision keeps eleven bits in half the bytes") {
  ModelFile model = small_model();
  const std::string whole = serialize_model(model, Precision::f32),
                    half = serialize_model(model, Precision::f16);
  const ModelFile read = parse_model(half);
  const double worst = difference(*model.transformer, *read.transformer);
  CHECK(worst > 0);
  CHECK(worst <=
        std::ldexp(2.0, -12));  // weights below 2; rounding is at most half of 2^-10 of a power of two
  // What F16 could hold comes back bit for bit.
  CHECK(serialize_model(read, Precision::f16) == half);
  std::size_t f32 = 0, f16 = 0;
  for (const auto& [name, tensor] : parse_safetensors(whole).tensors) f32 += tensor.data.size();
  for (const auto& [name, tensor] : parse_safetensors(half).tensors) f16 += tensor.data.size();
  CHECK(f32 == 2 * f16);
}

TEST_CASE("F16 keeps every half, and rounds to nearest, ties to even") {
  std::vector<std::uint16_t> bits(0x7C00);  // all from 0 to 65504
  std::iota(bits.begin(), bits.end(), std::uint16_t{0});
  const std::string_view data(reinterpret_cast<const char*>(bits.data()), 2 * bits.size());
  SafetensorsFile file;
  file.tensors["w"] = {Dtype::f16, {static_cast<Index>(bits.size())}, data};
  const Matrix all = file.matrix("w");
  CHECK(weight_bytes(all, Precision::f16, "w") == data);

  // Halves have 11 bits and floats 24, so what lies in the middle is exact.
  const Index last = all.cols() - 1;
  const Matrix middle = (all.leftCols(last) + all.rightCols(last)) / 2;
  std::vector<std::uint16_t> even(bits.begin(), bits.end() - 1);
  for (std::uint16_t& half : even) half = static_cast<std::uint16_t>(half + half % 2);
  const auto as_bits = [](const std::string& bytes) {
    std::vector<std::uint16_t> halves(bytes.size() / 2);
    std::memcpy(halves.data(), bytes.data(), bytes.size());
    return halves;
  };
  CHECK(as_bits(weight_bytes(middle, Precision::f16, "w")) == even);
  const auto towards = [&middle](float limit) -> Matrix {
    return middle.unaryExpr([limit](float x) { return std::nextafter(x, limit); });
  };
  const std::vector<std::uint16_t> lower(bits.begin(), bits.end() - 1), upper(bits.begin() + 1, bits.end());
  CHECK(as_bits(weight_bytes(towards(0), Precision::f16, "w")) == lower);
  CHECK(as_bits(weight_bytes(towards(1e9f), Precision::f16, "w")) == upper);
  for (std::uint16_t& half : even) half |= 0x8000;
  CHECK(as_bits(weight_bytes(-middle, Precision::f16, "w")) == even);
}

// A megabyte took 2 GiB and half a minute where positions were computed before any tensor was looked at.
TEST_CASE("A huge max_length takes no memory and changes no numbers") {
  Config c = small_config();
  c.positions = GENERATE(Positions::sinusoidal, Positions::sinusoidal_halves, Positions::sinusoidal_marian);
  ModelFile model = small_model(c);
  c.max_length = 1 << 20;
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;  // MiB
  };
  const auto memory = [](Transformer& transformer) -> Matrix {
    ThreadPool pool;
    Tape tape(pool, /*recording=*/false);
    const std::vector<TokenId> ids{5, 6, 7, 4, 3};
    return transformer.encode(tape, ids, Spans{{0, 5}}).value();
  };
  const Matrix expected = memory(*model.transformer);
  const std::string file = with_config(serialize_model(model, Precision::f32), "max_length", c.max_length);
  const ModelFile long_model = parse_model(file);
  CHECK(memory(*long_model.transformer) == expected);
  CHECK(long_model.transformer->config() == c);

  const long before = peak();
  c.d_model = 256, c.num_heads = 1, c.ffn_dim = 1;
  Transformer large(c);
  large.initialize(1);
  CHECK(peak() - before < 100);
}

TEST_CASE("A weight beyond F16 is not written as infinity") {
  ModelFile model = small_model();
  model.transformer->visit([](const std::string& name, Parameter& p, auto) {
    if (name == "model.shared.weight") p.value(0, 0) = 70000;
  });
  CHECK_THROWS_WITH(serialize_model(model, Precision::f16),
                    "[model] tensor 'model.shared.weight' has the value 70000, which F16 cannot represent");
  CHECK_NOTHROW(serialize_model(model, Precision::f32));
}

TEST_CASE("The file is one of Hugging Face Marian's names and shapes") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  const SafetensorsFile parsed = parse_safetensors(file);
  const auto shape_of = [&parsed](const char* name) { return parsed.tensors.at(name).shape; };
  using Shape = std::vector<Index>;
  CHECK(shape_of("model.shared.weight") == Shape{8, 4});
  CHECK(shape_of("model.encoder.layers.0.self_attn.q_proj.weight") == Shape{4, 4});
  CHECK(shape_of("model.encoder.layers.0.self_attn.q_proj.bias") == Shape{4});
  CHECK(shape_of("model.encoder.layers.0.fc1.weight") == Shape{6, 4});
  CHECK(shape_of("model.encoder.layers.0.fc1.bias") == Shape{6});
  CHECK(shape_of("model.decoder.layers.0.encoder_attn_layer_norm.weight") == Shape{4});
  CHECK(shape_of("final_logits_bias") == Shape{1, 8});
  CHECK(parsed.metadata.at("format") == "wasmformer");
  CHECK(parsed.metadata.at("version") == "1");
  CHECK(json::parse(parsed.metadata.at("config")).at("d_model") == 4);
  CHECK(base64_decode(parsed.metadata.at("source_tokenizer")) == tiny::model({"a", "b", "c"}));
  CHECK_FALSE(parsed.metadata.contains("target_tokenizer"));
}

TEST_CASE("The trainer's tensors are kept beside the model's, and skipped") {
  const std::string four(16, '\1');
  SafetensorsFile extra;
  extra.tensors["optimizer.mean.model.shared.weight"] = {Dtype::f32, {4}, four};
  extra.metadata["progress"] = "12";
  const std::string file = serialize_model(small_model(), Precision::f32, extra);
  CHECK(parse_safetensors(file).tensors.at("optimizer.mean.model.shared.weight").data == four);
  CHECK(parse_model(file).metadata.at("progress") == "12");
  extra.tensors["mean"] = {Dtype::f32, {4}, four};
  CHECK_THROWS_WITH(serialize_model(small_model(), Precision::f32, extra),
                    "[model] tensor 'mean' is not part of a model");
}

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
  CHECK_THROWS_WITH(parse_model(without("source_tokenizer")),
                    "[model] the file's metadata has no 'source_tokenizer'");
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

TEST_CASE("Files without the key 'attention' use scaled dot products") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  const std::string older = with_header(file, [](json& header) {
    json config = json::parse(header["__metadata__"]["config"].get<std::string>());
    REQUIRE(config.erase("attention") == 1);
    header["__metadata__"]["config"] = config.dump();
  });
  CHECK(serialize_model(parse_model(older), Precision::f32) == file);
}

TEST_CASE("An int8 model is read and written again as the same bytes") {
  Config c = small_config();
  c.attention = GENERATE(AttentionScore::scaled_dot, AttentionScore::additive, AttentionScore::bilinear);
  ModelFile model = small_model(c);
  model.transformer->quantize();
  const std::string file = serialize_model(model, Precision::f32);
  const SafetensorsFile tensors = parse_safetensors(file);
  const auto& weight = tensors.tensors.at("model.encoder.layers.0.fc1.weight");
  CHECK(weight.dtype == Dtype::i8);
  CHECK(tensors.tensors.at("model.encoder.layers.0.fc1.weight.scale").shape ==
        std::vector<Index>{weight.shape[0]});
  CHECK(tensors.tensors.at("model.encoder.layers.0.fc1.bias").dtype == Dtype::f32);
  const Weights weights = GENERATE(Weights::plain, Weights::packed);
  CHECK(serialize_model(parse_model(file, weights), Precision::f32) == file);
}

TEST_CASE("A model with packed weights is written with its original values") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  CHECK(serialize_model(parse_model(file, Weights::packed), Precision::f32) == file);
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
  CHECK_THROWS_WITH(
      parse_model(with(name + ".scale", {Dtype::f32, {3}, std::string_view(zeros).substr(0, 12)})),
      "[model] tensor '" + name + ".scale' is [1, 3], the config asks for [1, 4]");
  const std::string lowest(16, '\x80');
  CHECK_THROWS_WITH(parse_model(with(name, {Dtype::i8, {4, 4}, lowest})),
                    "[model] tensor '" + name + "' has the value -128; weights must be from -127 to 127");
  // A scale is no weight of a model of floats.
  CHECK_THROWS_WITH(parse_model(with_tensors(
                        serialize_model(small_model(), Precision::f32),
                        [&](auto& tensors) {
                          tensors[name + ".scale"] = {Dtype::f32, {4}, std::string_view(zeros).substr(0, 16)};
                        })),
                    "[model] the tensor '" + name + ".scale' is unknown to a model with this config");
}

TEST_CASE("An int8 model is neither trained nor quantised again") {
  ModelFile model = small_model();
  model.transformer->quantize();
  CHECK_THROWS_WITH(model.transformer->enable_gradients(),
                    Catch::Matchers::ContainsSubstring("start from the float model"));
  CHECK_THROWS_WITH(model.transformer->quantize(), Catch::Matchers::ContainsSubstring("int8 already"));
}

TEST_CASE("Base64 is that of RFC 4648") {
  // Its section 10.
  const auto [bytes, text] = GENERATE(table<std::string, std::string>({{"", ""},
                                                                       {"f", "Zg=="},
                                                                       {"fo", "Zm8="},
                                                                       {"foo", "Zm9v"},
                                                                       {"foob", "Zm9vYg=="},
                                                                       {"fooba", "Zm9vYmE="},
                                                                       {"foobar", "Zm9vYmFy"},
                                                                       {"\xFB\xFF\xBF", "+/+/"}}));
  CHECK(base64_encode(bytes) == text);
  CHECK(base64_decode(text) == bytes);
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(base64_decode(base64_encode(all)) == all);
}

TEST_CASE("What is not base64 is refused") {
  const std::string text =
      GENERATE("A", "AA", "AAA", "AA=A", "A===", "====", "AAAA====", "AA-_", "AA A", "AAA\n",
               "AA\xFF"
               "A");
  CHECK_THROWS_AS(base64_decode(text), Error);
}
