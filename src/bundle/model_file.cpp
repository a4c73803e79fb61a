#include "bundle/model_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <list>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bundle/base64.h"
#include "bundle/tokenizer_text.h"
#include "tensor/int4_matrix.h"

namespace wasmformer {
namespace {

using Json = nlohmann::json;

constexpr std::string_view shortlist_prefix = "shortlist.";
constexpr const char *shortlist_key = "shortlist", *shortlist_offsets = "shortlist.offsets",
                     *shortlist_ids = "shortlist.ids";

const std::string& required(const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  WASMFORMER_CHECK(found != metadata.end(), ErrorCode::metadata_missing, "the file's metadata has no '" << key << "'",
                   {"key", key});
  return found->second;
}

void check_format(const std::map<std::string, std::string>& metadata) {
  const auto value = [&metadata](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
  };
  WASMFORMER_CHECK(value("format") == model_format && value("version") == model_version, ErrorCode::model_version,
                   "format is '" << value("format") << "' version '" << value("version") << "'; only '" << model_format
                                 << "' version " << model_version << " is supported",
                   {"format", value("format")}, {"version", value("version")}, {"known", model_format},
                   {"supported", model_version});
}

// metadata[key], a JSON array of strings; none if the key is missing.
std::vector<std::string> read_names(const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return {};
  try {
    const auto flat = [](int depth, Json::parse_event_t event, Json&) {
      const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
      if (opens && depth > 0) throw Error(ErrorCode::model, "nested");
      return true;
    };
    return Json::parse(found->second, flat).get<std::vector<std::string>>();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    throw Error(ErrorCode::model, "the " + key + " is not a JSON array of strings");
  }
}

// The tokenizer in metadata[key], which must have `vocab_size` pieces.
std::shared_ptr<const Tokenizer> read_tokenizer(const std::map<std::string, std::string>& metadata,
                                                const std::string& key, const std::string& vocabulary_key,
                                                const char* size_key, Index vocab_size) {
  auto tokenizer = std::make_shared<const Tokenizer>(tokenizer_bytes(required(metadata, key), metadata),
                                                     read_names(metadata, vocabulary_key));
  WASMFORMER_CHECK(
      tokenizer->vocab_size() == vocab_size, ErrorCode::model,
      "the " << key << " has " << tokenizer->vocab_size() << " pieces, but " << size_key << " is " << vocab_size);
  return tokenizer;
}

// A close lower bound on the number of weights, without allocating them.
std::int64_t least_weights(const Config& c) {
  const std::int64_t d = c.d_model, square = d * d, ffn = 2 * d * c.ffn_dim;
  return d * c.source_vocab_size + c.encoder_layers * (4 * square + ffn) + c.decoder_layers * (6 * square + ffn) +
         (c.positions == Positions::learned ? 2 * d * c.max_length : 0) +
         (c.tie_embeddings != TieEmbeddings::all ? d * c.target_vocab_size : 0);
}

// A byte holds one weight, or two of 4 bits.
std::int64_t most_weights_in(const TensorEntry& tensor) {
  const auto bytes = static_cast<std::int64_t>(tensor.data.size());
  return tensor.dtype == Dtype::u8 ? 2 * bytes : bytes;
}

// A config of a few bytes must not allocate more than the file contains.
void check_size(const Config& config, const SafetensorsFile& file) {
  std::int64_t bytes = 0;
  std::int64_t most_weights = 0;
  for (const auto& [name, tensor] : file.tensors) {
    if (name.starts_with(optimizer_prefix)) continue;
    bytes += static_cast<std::int64_t>(tensor.data.size());
    most_weights += most_weights_in(tensor);
  }
  WASMFORMER_CHECK(least_weights(config) <= most_weights, ErrorCode::model,
                   "the config asks for at least " << least_weights(config) << " weights, but the file has " << bytes
                                                   << " bytes of them");
}

const TensorEntry& required(const SafetensorsFile& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  WASMFORMER_CHECK(found != file.tensors.end(), ErrorCode::tensor_missing, "the tensor '" << name << "' is missing",
                   {"tensor", name});
  return found->second;
}

Matrix finite_matrix(const SafetensorsFile& file, const std::string& name) {
  const Dtype dtype = required(file, name).dtype;
  WASMFORMER_CHECK(dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16, ErrorCode::model,
                   "tensor '" << name << "' is of type " << dtype_name(dtype) << ", not F32, F16 or BF16");
  Matrix value = file.matrix(name);
  WASMFORMER_CHECK(value.allFinite(), ErrorCode::tensor_not_finite,
                   "tensor '" << name << "' has a value that is not finite", {"tensor", name});
  return value;
}

void check_shape(const std::string& name, const Matrix& value, Index rows, Index cols) {
  WASMFORMER_CHECK(
      value.rows() == rows && value.cols() == cols, ErrorCode::model,
      "tensor '" << name << "' is " << shape(value) << ", the config asks for [" << rows << ", " << cols << "]");
}

void check_packed_shape(const TensorEntry& tensor, const std::string& name, Index rows, Index bytes) {
  WASMFORMER_CHECK(tensor.shape == std::vector<Index>({rows, bytes}), ErrorCode::model,
                   "tensor '" << name << "' of type " << dtype_name(tensor.dtype) << " is not [" << rows << ", "
                              << bytes << "], which the config asks for");
}

std::optional<float> read_input_multiplier(const SafetensorsFile& file, const std::string& name) {
  const std::string key = name + input_multiplier_suffix;
  if (!file.tensors.contains(key)) return std::nullopt;
  const Matrix number = finite_matrix(file, key);
  check_shape(key, number, 1, 1);
  const auto multiplier = static_cast<float>(number(0, 0));
  WASMFORMER_CHECK(multiplier >= 0, ErrorCode::model,
                   "tensor '" << key << "' is " << multiplier << "; expected 0 or more");
  return multiplier;
}

PackedMatrix int8_weight(const SafetensorsFile& file, const std::string& name, Index rows, Index cols) {
  const TensorEntry& tensor = required(file, name);
  check_packed_shape(tensor, name, rows, cols);
  const auto* values = reinterpret_cast<const std::int8_t*>(tensor.data.data());
  WASMFORMER_CHECK(std::find(values, values + rows * cols, std::int8_t{-128}) == values + rows * cols, ErrorCode::model,
                   "tensor '" << name << "' has the value -128; weights must be from -127 to 127");
  const Matrix scales = finite_matrix(file, name + ".scale");
  check_shape(name + ".scale", scales, 1, rows);
  const Eigen::VectorXf floats = scales.row(0).cast<float>();
  return {rows, cols, values, floats.data(), read_input_multiplier(file, name)};
}

// Weights of 4 bits, as int8.
PackedMatrix int4_weight(const SafetensorsFile& file, const std::string& name, Index rows, Index cols) {
  const TensorEntry& tensor = required(file, name);
  check_packed_shape(tensor, name, rows, int4_bytes(1, cols));
  const std::string scale_name = name + ".scale";
  const Matrix scales = finite_matrix(file, scale_name);
  check_shape(scale_name, scales, rows, int4_groups(cols));
  std::vector<Eigen::half> halves;
  for (Index i = 0; i < scales.size(); ++i) halves.emplace_back(static_cast<float>(scales.data()[i]));
  const auto* values = reinterpret_cast<const std::uint8_t*>(tensor.data.data());
  Int8Matrix weights = to_int8(rows, cols, {values, tensor.data.size()}, halves);
  weights.input_multiplier = read_input_multiplier(file, name);
  return PackedMatrix(weights);
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

// Returns whether a tensor holds weights, rather than scales or data of the trainer or the shortlist.
bool is_weight(const std::string& name) {
  const bool belongs_elsewhere = name.starts_with(optimizer_prefix) || name.starts_with(shortlist_prefix);
  const bool belongs_to_weight = name.ends_with(".scale") || name.ends_with(input_multiplier_suffix);
  return !belongs_elsewhere && !belongs_to_weight;
}

const char* precision_name(Dtype dtype) {
  if (dtype == Dtype::i8) return "int8";
  if (dtype == Dtype::u8) return "int4";
  return dtype == Dtype::f16 ? "f16" : "f32";
}

// Precision of most weights, counted by element.
std::string precision_of(const SafetensorsFile& file) {
  std::map<Dtype, Index> numbers;
  for (const auto& [name, tensor] : file.tensors)
    if (is_weight(name))
      numbers[tensor.dtype] += most_weights_in(tensor) / static_cast<Index>(dtype_bytes(tensor.dtype));
  const auto most = std::max_element(numbers.begin(), numbers.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return precision_name(most == numbers.end() ? Dtype::f32 : most->first);
}

std::vector<std::int32_t> whole_numbers(const TensorEntry& tensor, const std::string& name) {
  WASMFORMER_CHECK(tensor.dtype == Dtype::i32 && tensor.shape.size() == 1, ErrorCode::model,
                   "tensor '" << name << "' is no list of I32");
  std::vector<std::int32_t> numbers(tensor.data.size() / sizeof(std::int32_t));
  std::memcpy(numbers.data(), tensor.data.data(), tensor.data.size());
  return numbers;
}

std::optional<Shortlist> read_shortlist(const SafetensorsFile& file, const Config& config) {
  const auto first = file.metadata.find(shortlist_key);
  if (first == file.metadata.end()) return std::nullopt;
  Shortlist shortlist;
  const auto read = std::from_chars(first->second.data(), first->second.data() + first->second.size(), shortlist.first);
  WASMFORMER_CHECK(read.ec == std::errc(), ErrorCode::model,
                   shortlist_key << " is '" << first->second << "', not a number");
  for (const auto& [name, list] : {std::pair(shortlist_offsets, &shortlist.offsets), {shortlist_ids, &shortlist.ids}})
    *list = whole_numbers(required(file, name), name);
  shortlist.check(config.source_vocab_size, config.target_vocab_size);
  return shortlist;
}

// Tensors to be written, with the bytes that were made for them.
struct TensorList {
  std::list<std::string> bytes;  // its strings never move
  std::vector<std::pair<std::string, TensorEntry>> entries;

  void add(const std::string& name, Dtype dtype, std::vector<Index> shape, std::string data) {
    entries.emplace_back(name, TensorEntry{dtype, std::move(shape), bytes.emplace_back(std::move(data))});
  }
};

void add_parameter(TensorList& tensors, const ParameterInfo& info, const Parameter& parameter, Precision precision) {
  const std::string& name = info.name;
  const std::string scale_name = name + ".scale";
  const Index rows = parameter.rows;
  const Index cols = parameter.cols;
  const bool is_int8 = parameter.packed.format() == PackedMatrix::Format::int8;
  const bool is_int4 = precision == Precision::int4 && info.can_be_packed();
  if (is_int4) {
    const Matrix values = parameter.matrix();
    const Int4Matrix weights = quantize_int4(ConstView(values.data(), rows, cols));
    tensors.add(name, Dtype::u8, {rows, int4_bytes(1, cols)}, bytes_of(weights.values));
    tensors.add(scale_name, Dtype::f16, {rows, int4_groups(cols)}, bytes_of(weights.scales));
  } else if (is_int8) {
    const Int8Matrix weights = parameter.packed.int8_matrix();
    tensors.add(name, Dtype::i8, {rows, cols}, bytes_of(weights.values));
    tensors.add(scale_name, Dtype::f32, {rows}, bytes_of(weights.scales));
  }
  if (const std::optional<float> multiplier = parameter.packed.input_multiplier())
    tensors.add(name + input_multiplier_suffix, Dtype::f32, {1}, bytes_of(std::vector<float>{*multiplier}));
  if (is_int4 || is_int8) return;
  // Vectors have one dimension in the file, except this one, which Hugging Face stores as a row.
  const bool is_vector = rows == 1 && info.module != Module::vocabulary;
  const Dtype dtype = precision == Precision::f16 ? Dtype::f16 : Dtype::f32;
  tensors.add(name, dtype, is_vector ? std::vector<Index>{cols} : std::vector<Index>{rows, cols},
              weight_bytes(parameter.matrix(), precision, name));
}

// Metadata keys that describe the model itself.
constexpr const char* keys_of_model[] = {"format",
                                         "version",
                                         "config",
                                         "source_tokenizer",
                                         "target_tokenizer",
                                         "source_vocabulary",
                                         "target_vocabulary",
                                         "classes",
                                         "tags",
                                         tokenizer_compression_key,
                                         shortlist_key};

}  // namespace

bool is_part_of_model(const std::string& key) {
  return std::find(std::begin(keys_of_model), std::end(keys_of_model), key) != std::end(keys_of_model);
}

void read_weights(const SafetensorsFile& file, Transformer& transformer, Weights weights) {
  std::set<std::string> known;
  transformer.visit([&](const ParameterInfo& info, Parameter& p) {
    const std::string& name = info.name;
    known.insert(name);
    const Dtype dtype = required(file, name).dtype;
    if (info.can_be_packed() && (dtype == Dtype::i8 || dtype == Dtype::u8)) {
      p.packed = dtype == Dtype::i8 ? int8_weight(file, name, p.rows, p.cols) : int4_weight(file, name, p.rows, p.cols);
      known.insert({name + ".scale", name + input_multiplier_suffix});
      return;
    }
    Matrix value = finite_matrix(file, name);
    check_shape(name, value, p.rows, p.cols);
    if (info.can_be_packed() && weights == Weights::packed)
      p.packed = PackedMatrix(ConstView(value.data(), value.rows(), value.cols()));
    else
      p.value = std::move(value);
  });
  for (const auto& [name, tensor] : file.tensors) {
    WASMFORMER_CHECK(known.count(name) || name.starts_with(optimizer_prefix) || name.starts_with(shortlist_prefix),
                     ErrorCode::model, "the tensor '" << name << "' is unknown to a model with this config");
  }
}

ModelFile parse_model(std::string_view bytes, Weights weights) {
  const SafetensorsFile file = parse_safetensors(bytes);
  check_format(file.metadata);
  Config config;
  from_json(required(file.metadata, "config"), config);
  config.check();
  check_size(config, file);

  ModelFile model;
  model.source_tokenizer = read_tokenizer(file.metadata, "source_tokenizer", "source_vocabulary", "source_vocab_size",
                                          config.source_vocab_size);
  const auto target_key = [&file](const std::string& what) {
    return (file.metadata.contains("target_" + what) ? "target_" : "source_") + what;
  };
  const std::string key = target_key("tokenizer"), vocabulary_key = target_key("vocabulary");
  const bool one = key == "source_tokenizer" && vocabulary_key == "source_vocabulary";
  model.target_tokenizer =
      one && config.target_vocab_size == config.source_vocab_size
          ? model.source_tokenizer
          : read_tokenizer(file.metadata, key, vocabulary_key, "target_vocab_size", config.target_vocab_size);
  model.labels = {read_names(file.metadata, "classes"), read_names(file.metadata, "tags")};
  for (const auto& [key, names, size] :
       {std::tuple("classes", &model.labels.classes, config.classes), {"tags", &model.labels.tags, config.tags}})
    WASMFORMER_CHECK(static_cast<Index>(names->size()) == size && std::is_sorted(names->begin(), names->end()),
                     ErrorCode::model,
                     "the config has " << size << " " << key << ", but the file names " << names->size()
                                       << " of them, or they are not sorted");
  model.transformer = std::make_unique<Transformer>(config);
  read_weights(file, *model.transformer, weights);
  model.shortlist = read_shortlist(file, config);
  model.precision = precision_of(file);
  model.metadata = file.metadata;
  for (const char* own : keys_of_model) model.metadata.erase(own);
  return model;
}

std::string serialize_model(const ModelFile& model, Precision precision, const SafetensorsFile& extra) {
  std::map<std::string, std::string> metadata = extra.metadata;
  metadata.insert(model.metadata.begin(), model.metadata.end());
  metadata["format"] = model_format;
  metadata["version"] = model_version;
  metadata["config"] = to_json(model.transformer->config());
  const Tokenizer &source = *model.source_tokenizer, &target = *model.target_tokenizer;
  metadata["source_tokenizer"] = base64_encode(source.model());
  if (target.model() != source.model()) metadata["target_tokenizer"] = base64_encode(target.model());
  if (!source.vocabulary().empty()) metadata["source_vocabulary"] = Json(source.vocabulary()).dump();
  if (target.vocabulary() != source.vocabulary()) metadata["target_vocabulary"] = Json(target.vocabulary()).dump();

  if (!model.labels.classes.empty()) metadata["classes"] = Json(model.labels.classes).dump();
  if (!model.labels.tags.empty()) metadata["tags"] = Json(model.labels.tags).dump();

  TensorList tensors;
  model.transformer->visit([&](const ParameterInfo& info, const Parameter& parameter) {
    add_parameter(tensors, info, parameter, precision);
  });
  if (model.shortlist) {
    metadata[shortlist_key] = std::to_string(model.shortlist->first);
    for (const auto& [name, list] :
         {std::pair(shortlist_offsets, &model.shortlist->offsets), {shortlist_ids, &model.shortlist->ids}}) {
      const std::string_view bytes(reinterpret_cast<const char*>(list->data()), list->size() * sizeof(std::int32_t));
      tensors.entries.push_back({name, {Dtype::i32, {static_cast<Index>(list->size())}, bytes}});
    }
  }
  for (const auto& [name, tensor] : extra.tensors) {
    WASMFORMER_CHECK(name.starts_with(optimizer_prefix), ErrorCode::tensor_unknown,
                     "tensor '" << name << "' is not part of a model", {"tensor", name});
    tensors.entries.emplace_back(name, tensor);
  }
  return serialize_safetensors(tensors.entries, metadata);
}

std::string weight_bytes(const Matrix& value, Precision precision, const std::string& name) {
  const bool is_half = precision == Precision::f16;
  std::string bytes(static_cast<std::size_t>(value.size()) * (is_half ? 2 : 4), '\0');
  for (Index i = 0; i < value.size(); ++i) {
    const float number = static_cast<float>(value.data()[i]);
    if (!is_half) {
      std::memcpy(&bytes[static_cast<std::size_t>(i) * 4], &number, 4);
    } else {
      const Eigen::half half(number);
      WASMFORMER_CHECK((Eigen::numext::isfinite)(half), ErrorCode::model,
                       "tensor '" << name << "' has the value " << number << ", which F16 cannot represent");
      std::memcpy(&bytes[static_cast<std::size_t>(i) * 2], &half, 2);
    }
  }
  return bytes;
}

}  // namespace wasmformer
