#include "bundle/model_file.h"

#include <sys/resource.h>

#include <limits>
#include <numeric>

#include "bundle/base64.h"
#include "bundle/deflate.h"
#include "bundle/tokenizer_text.h"
#include "tests/bundle/small_model.h"

using namespace wasmformer;
using namespace wasmformer::small;

TEST_CASE("A model of any kind is the same after being written and read") {
  Config c = small_config();
  SECTION("tied, sinusoidal, post-norm, bias") {}
  SECTION("target tied, learned positions, pre-norm") {
    c.tie_embeddings = TieEmbeddings::target;
    c.positions = Positions::learned;
    c.norm = NormPosition::pre;
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

TEST_CASE("A tagger keeps the scheme of its tags, and one without keeps to B- tags as before") {
  Config c = small_config();
  c.decoder_layers = 0, c.tags = 2;
  ModelFile model = small_model(c);
  model.labels.tags = {"I-x", "O"};
  const std::string before = serialize_model(model, Precision::f32);
  CHECK(before.find("tag_scheme") == std::string::npos);
  CHECK(parse_model(before).labels.scheme == TagScheme::iob2);
  model.labels.scheme = GENERATE(TagScheme::iob1, TagScheme::any);
  const ModelFile read = parse_model(serialize_model(model, Precision::f32));
  CHECK(read.labels.scheme == model.labels.scheme);
  CHECK_FALSE(read.metadata.contains("tag_scheme"));
  model.labels.scheme = TagScheme::iob2;
  model.metadata["tag_scheme"] = "bioes";
  CHECK_THROWS_WITH(parse_model(serialize_model(model, Precision::f32)),
                    Catch::Matchers::ContainsSubstring("tag_scheme is 'bioes', not iob2, iob1 or any"));
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
  const std::string whole = serialize_model(model, Precision::f32), half = serialize_model(model, Precision::f16);
  const ModelFile read = parse_model(half);
  const double worst = difference(*model.transformer, *read.transformer);
  CHECK(worst > 0);
  CHECK(worst <= std::ldexp(2.0, -12));  // weights below 2; rounding is at most half of 2^-10 of a power of two
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
  const auto memory = [](const Transformer& transformer) -> Matrix {
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
  model.transformer->visit([](const ParameterInfo& info, Parameter& p) {
    if (info.name == "model.shared.weight") p.value(0, 0) = 70000;
  });
  CHECK_THROWS_WITH(serialize_model(model, Precision::f16),
                    "[model] tensor 'model.shared.weight' has the value 70000, which F16 cannot represent");
  CHECK_NOTHROW(serialize_model(model, Precision::f32));
}

TEST_CASE("The file has the names and shapes of Hugging Face's Marian") {
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

TEST_CASE("The trainer's tensors are stored with the model's, and skipped when the model is read") {
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

TEST_CASE("Files without the key 'attention' use scaled dot products") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  const std::string older = with_header(file, [](json& header) {
    json config = json::parse(header["__metadata__"]["config"].get<std::string>());
    REQUIRE(config.erase("attention") == 1);
    header["__metadata__"]["config"] = config.dump();
  });
  CHECK(serialize_model(parse_model(older), Precision::f32) == file);
}

TEST_CASE("Reading and writing an int8 model gives the same bytes") {
  Config c = small_config();
  c.attention = GENERATE(AttentionScore::scaled_dot, AttentionScore::additive, AttentionScore::bilinear);
  ModelFile model = small_model(c);
  model.transformer->quantize();
  const std::string file = serialize_model(model, Precision::f32);
  const SafetensorsFile tensors = parse_safetensors(file);
  const auto& weight = tensors.tensors.at("model.encoder.layers.0.fc1.weight");
  CHECK(weight.dtype == Dtype::i8);
  CHECK(tensors.tensors.at("model.encoder.layers.0.fc1.weight.scale").shape == std::vector<Index>{weight.shape[0]});
  CHECK(tensors.tensors.at("model.encoder.layers.0.fc1.bias").dtype == Dtype::f32);
  const Weights weights = GENERATE(Weights::full, Weights::packed);
  CHECK(serialize_model(parse_model(file, weights), Precision::f32) == file);
}

TEST_CASE("Weights of 4 bits take half the bytes of int8, and are int8 once they are read") {
  Config c = small_config();
  c.d_model = c.ffn_dim = 64;
  const ModelFile model = small_model(c);
  const std::string file = serialize_model(model, Precision::int4);
  const std::string name = "model.encoder.layers.0.fc1.weight";
  const SafetensorsFile tensors = parse_safetensors(file);
  CHECK(tensors.tensors.at(name).dtype == Dtype::u8);
  CHECK(tensors.tensors.at(name).shape == std::vector<Index>{64, 32});
  CHECK(tensors.tensors.at(name + ".scale").dtype == Dtype::f16);
  CHECK(tensors.tensors.at(name + ".scale").shape == std::vector<Index>{64, 2});
  CHECK(tensors.tensors.at("model.encoder.layers.0.fc1.bias").dtype == Dtype::f32);

  const ModelFile read = parse_model(file);
  CHECK(read.precision == "int4");
  std::map<std::string, Matrix> original;
  model.transformer->visit([&](const ParameterInfo& info, const Parameter& p) { original[info.name] = p.value; });
  read.transformer->visit([&](const ParameterInfo& info, const Parameter& p) {
    const Matrix& exact = original.at(info.name);
    CHECK((p.packed.format() == PackedMatrix::Format::int8) == info.can_be_packed());
    const double largest_error = info.can_be_packed() ? 0.1 * exact.norm() : 0;
    CHECK((p.matrix() - exact).norm() <= largest_error);
  });
  const std::string int8 = serialize_model(read, Precision::f32);
  CHECK(parse_model(int8).precision == "int8");
  CHECK(serialize_model(parse_model(int8), Precision::int4).size() == file.size());
}

TEST_CASE("A file with compressed tokenizers has the same model, and other compressions are refused") {
  const ModelFile model = small_model();
  const std::string file = serialize_model(model, Precision::f32);
  const std::string compressed = with_compressed_tokenizers(file);
  CHECK(with_compressed_tokenizers(compressed) == compressed);
  CHECK(*parse_model(compressed).source_tokenizer == *model.source_tokenizer);
  CHECK(serialize_model(parse_model(compressed), Precision::f32) == file);
  // "abc" as zlib of Python 3.11 writes it
  CHECK(tokenizer_bytes("eJxLTEoGAAJNASc=", {{"tokenizer_compression", "zlib"}}) == "abc");
  CHECK(tokenizer_bytes("YWJj", {}) == "abc");
  CHECK_THROWS_WITH(tokenizer_bytes("YWJj", {{"tokenizer_compression", "zstd"}}),
                    "[model] tokenizer_compression is 'zstd'; only 'zlib' is supported");
  CHECK_THROWS_WITH(tokenizer_bytes("eJxLTEoGAAJNASY=", {{"tokenizer_compression", "zlib"}}),
                    Catch::Matchers::ContainsSubstring("compressed data are damaged"));
  CHECK_THROWS_WITH(tokenizer_bytes("eJxLTEoG", {{"tokenizer_compression", "zlib"}}),
                    Catch::Matchers::ContainsSubstring("compressed data are damaged"));
  CHECK_THROWS_WITH(decompress(compress(std::string(1000, 'a')), 999),
                    Catch::Matchers::ContainsSubstring("more than 999 bytes"));
  CHECK(decompress(compress(std::string(200'000, 'a')), 200'000).size() == 200'000);
}

TEST_CASE("A model with packed weights is written with its original values") {
  const std::string file = serialize_model(small_model(), Precision::f32);
  CHECK(serialize_model(parse_model(file, Weights::packed), Precision::f32) == file);
}

TEST_CASE("Base64 follows RFC 4648") {
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

TEST_CASE("Invalid base64 is refused") {
  const std::string text = GENERATE("A", "AA", "AAA", "AA=A", "A===", "====", "AAAA====", "AA-_", "AA A", "AAA\n",
                                    "AA\xFF"
                                    "A");
  CHECK_THROWS_AS(base64_decode(text), Error);
}
