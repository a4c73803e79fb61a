#include "exchange/huggingface/hugging_face.h"

#include <cstdint>

#include "exchange/containers/state_dict.h"
#include "schema/error.h"

namespace wasmformer {

using Json = nlohmann::json;

Json parse_json(const FolderFiles& files, const std::string& name) {
  constexpr int max_depth = 16;
  const std::string_view text = folder_file(files, name);
  try {
    const auto shallow = [](int depth, Json::parse_event_t, Json&) {
      if (depth > max_depth) throw Error(ErrorCode::file_not_json, "deep");
      return true;
    };
    Json json = Json::parse(text.begin(), text.end(), shallow);
    if (json.is_object()) return json;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
  }
  throw Error(ErrorCode::file_not_json, name + " is not a JSON object", {{"name", name}});
}

Json parse_json_if_any(const FolderFiles& files, const std::string& name) {
  return files.contains(name) ? parse_json(files, name) : Json::object();
}

const Json& Settings::at(const char* key) const {
  static const Json none;
  const auto found = generation_.find(key);
  if (found != generation_.end() && !found->is_null()) return *found;
  return json_.contains(key) ? json_[key] : none;
}

Index Settings::whole(const char* key, const Json& value) const {
  WASMFORMER_CHECK(value.is_number_unsigned() && value.get<std::uint64_t>() < (1u << 31), ErrorCode::import,
                   key << " of " << config_name << " must be a whole number from 0, not " << text(value));
  return static_cast<Index>(value.get<std::uint64_t>());
}

Activation Settings::activation(const char* key) const {
  const std::string name = word(key);
  if (name == "relu") return Activation::relu;
  if (name == "gelu") return Activation::gelu;
  WASMFORMER_CHECK(name == "swish" || name == "silu", ErrorCode::import,
                   key << " is '" << name.substr(0, 80) << "'; expected relu, gelu or swish");
  return Activation::swish;
}

bool Settings::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  WASMFORMER_CHECK(at(key).is_boolean(), ErrorCode::import,
                   key << " of " << config_name << " must be true or false, not " << text(at(key)));
  return at(key).get<bool>();
}

TokenId Settings::token(const char* key) const {
  const Json& value = at(key);
  return static_cast<TokenId>(whole(key, value.is_array() && value.size() == 1 ? value[0] : value));
}

std::string Settings::text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80);
}

SafetensorsFile read_tensors(const FolderFiles& files) {
  for (const std::string name : {"model.safetensors", "pytorch_model.bin"}) {
    if (files.contains(name))
      return name.ends_with(".bin") ? parse_state_dict(files.at(name)) : parse_safetensors(files.at(name));
    WASMFORMER_CHECK(!files.contains(name + ".index.json"), ErrorCode::import,
                     name << ".index.json lists several files; save the model with a larger shard size");
  }
  throw Error(ErrorCode::no_weights, "the folder has no weights: neither model.safetensors nor pytorch_model.bin");
}

}  // namespace wasmformer
