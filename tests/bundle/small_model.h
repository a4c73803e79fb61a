// A small model, and its file with changes.
#pragma once

#include <catch_amalgamated.hpp>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "bundle/model_file.h"
#include "schema/error.h"
#include "tests/text/tiny_tokenizer.h"

namespace wasmformer::small {

using nlohmann::json;

inline Config small_config() {
  Config c;
  c.source_vocab_size = c.target_vocab_size = 8;
  c.d_model = 4;
  c.encoder_layers = c.decoder_layers = 1;
  c.num_heads = 2;
  c.ffn_dim = 6;
  c.max_length = 10;
  return c;
}

inline ModelFile small_model(const Config& config = small_config()) {
  ModelFile model;
  model.transformer = std::make_unique<Transformer>(config);
  model.transformer->initialize(7);
  model.source_tokenizer = std::make_shared<const Tokenizer>(tiny::model({"a", "b", "c"}));
  model.target_tokenizer = model.source_tokenizer;
  model.metadata = {{"languages", "de-en"}, {"licence", "CC BY 2.0"}};
  return model;
}

// Where two transformers of one config differ most.
inline double difference(const Transformer& a, const Transformer& b) {
  std::map<std::string, Matrix> values;
  a.visit([&](const ParameterInfo& info, const Parameter& p) { values[info.name] = p.value; });
  double worst = 0;
  b.visit([&](const ParameterInfo& info, const Parameter& p) {
    const Matrix& other = values.at(info.name);
    REQUIRE(shape(other) == shape(p.value));
    worst = std::max<double>(worst, (other - p.value).cwiseAbs().maxCoeff());
  });
  return worst;
}

// The file with its header changed by `change`.
inline std::string with_header(const std::string& file, const std::function<void(json&)>& change) {
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

inline std::string with_metadata(const std::string& file, const std::string& key, const std::string& value) {
  return with_header(file, [&](json& header) { header["__metadata__"][key] = value; });
}

inline std::string with_config(const std::string& file, const std::string& key, const json& value) {
  return with_header(file, [&](json& header) {
    json config = json::parse(header["__metadata__"]["config"].get<std::string>());
    config[key] = value;
    header["__metadata__"]["config"] = config.dump();
  });
}

// The file with tensors, and perhaps metadata, as `change` leaves them.
inline std::string with_tensors(const std::string& file,
                                const std::function<void(std::map<std::string, TensorEntry>&)>& change) {
  const SafetensorsFile parsed = parse_safetensors(file);
  std::map<std::string, TensorEntry> tensors = parsed.tensors;
  change(tensors);
  return serialize_safetensors({tensors.begin(), tensors.end()}, parsed.metadata);
}

}  // namespace wasmformer::small
