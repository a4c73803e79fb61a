// Model files whose tokenizers have vocabularies beside them.
#include <catch_amalgamated.hpp>

#include "bundle/model_file.h"
#include "schema/error.h"
#include "tests/text/tiny_tokenizer.h"

using namespace wasmformer;

namespace {

ModelFile two_tables() {
  Config c;
  c.source_vocab_size = c.target_vocab_size = 8;
  c.d_model = c.ffn_dim = 4;
  c.encoder_layers = c.decoder_layers = c.num_heads = 1;
  c.max_length = 10;
  ModelFile model;
  model.transformer = std::make_unique<Transformer>(c);
  model.transformer->initialize(7);
  model.source_tokenizer = std::make_shared<const Tokenizer>(tiny::model({"a", "b", "c"}));
  model.target_tokenizer = model.source_tokenizer;
  return model;
}

// A model file with this text in the place of a vocabulary.
std::string with_vocabulary(const std::string& text) {
  const std::string file = serialize_model(two_tables(), Precision::f32);
  const SafetensorsFile parsed = parse_safetensors(file);
  auto metadata = parsed.metadata;
  metadata["source_vocabulary"] = text;
  return serialize_safetensors({parsed.tensors.begin(), parsed.tensors.end()}, metadata);
}

}  // namespace

TEST_CASE("Separate vocabularies are kept") {
  ModelFile model = two_tables();
  const std::vector<std::string> one{"</s>", "<unk>", "a", "b", "c", "\u2581", "d", "<pad>"};
  std::vector<std::string> other = one;
  std::swap(other[3], other[4]);
  const auto tokenizer = [](const std::vector<std::string>& letters, const std::vector<std::string>& vocabulary) {
    return std::make_shared<const Tokenizer>(tiny::model(letters), vocabulary);
  };
  model.source_tokenizer = tokenizer({"a", "b"}, one);
  bool has_target = false;
  SECTION("the same for both") { model.target_tokenizer = model.source_tokenizer; }
  SECTION("one vocabulary, two models") { model.target_tokenizer = tokenizer({"b", "c"}, one); }
  SECTION("two vocabularies, one model") {
    model.target_tokenizer = tokenizer({"a", "b"}, other);
    has_target = true;
  }
  SECTION("only one of them has a vocabulary") {
    model.target_tokenizer = tokenizer({"a", "b", "c"}, {});
    has_target = true;
  }
  const std::string file = serialize_model(model, Precision::f32);
  CHECK(parse_safetensors(file).metadata.contains("target_vocabulary") == has_target);
  const ModelFile read = parse_model(file);
  CHECK(*read.source_tokenizer == *model.source_tokenizer);
  CHECK(*read.target_tokenizer == *model.target_tokenizer);
  CHECK((read.source_tokenizer == read.target_tokenizer) == (model.source_tokenizer == model.target_tokenizer));
  CHECK(read.metadata == model.metadata);
  CHECK(serialize_model(read, Precision::f32) == file);
}

TEST_CASE("A vocabulary that does not fit the model is refused") {
  for (const char* wrong : {"{}", "[1]", "[[]]", "[\"a\"", "7"})
    CHECK_THROWS_WITH(parse_model(with_vocabulary(wrong)),
                      "[model] the source_vocabulary is not a JSON array of strings");
  CHECK_THROWS_WITH(parse_model(with_vocabulary(R"(["</s>","<unk>"])")),
                    "[model] the source_tokenizer has 2 pieces, but source_vocab_size is 8");
}
