#include "bundle/model_file.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bundle/base64.h"
#include "bundle/tokenizer_text.h"

namespace wasmformer {
namespace {

using Json = nlohmann::json;

constexpr std::string_view shortlist_prefix = "shortlist.";
constexpr const char *mix_key = "score_mix", *scheme_key = "tag_scheme";
constexpr const char *shortlist_key = "shortlist", *shortlist_offsets = "shortlist.offsets",
                     *shortlist_ids = "shortlist.ids";
constexpr const char *words_prefix = "words.", *tag_words_prefix = "tag_words.";

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
  // Weights of a sublayer of attention; a recurrent sublayer has half as many.
  const std::int64_t d = c.d_model, attention = 2 * d * (d + c.key_width()), recurrent = 2 * d * d;
  const std::int64_t ffn = 2 * d * c.ffn_dim, decoder = attention + std::min(attention, recurrent) + ffn;
  return d * c.source_vocab_size + c.encoder_layers * (attention + ffn) + c.decoder_layers * decoder +
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

// Returns whether a tensor belongs to the trainer, or stands beside the Transformer.
bool belongs_elsewhere(const std::string& name) {
  return name.starts_with(optimizer_prefix) || name.starts_with(shortlist_prefix) || name.starts_with(words_prefix) ||
         name.starts_with(tag_words_prefix);
}

// Returns whether a tensor holds weights of the Transformer, rather than scales.
bool is_weight(const std::string& name) {
  const bool belongs_to_weight = name.ends_with(".scale") || name.ends_with(input_multiplier_suffix);
  return !belongs_elsewhere(name) && !belongs_to_weight;
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

std::optional<Shortlist> read_shortlist(const SafetensorsFile& file, const Config& config) {
  const auto first = file.metadata.find(shortlist_key);
  if (first == file.metadata.end()) return std::nullopt;
  Shortlist shortlist;
  const auto read = std::from_chars(first->second.data(), first->second.data() + first->second.size(), shortlist.first);
  WASMFORMER_CHECK(read.ec == std::errc(), ErrorCode::model,
                   shortlist_key << " is '" << first->second << "', not a number");
  for (const auto& [name, list] : {std::pair(shortlist_offsets, &shortlist.offsets), {shortlist_ids, &shortlist.ids}})
    *list = whole_numbers(required_tensor(file, name), name);
  shortlist.check(config.source_vocab_size, config.target_vocab_size);
  return shortlist;
}

std::optional<WordScores> read_words(const SafetensorsFile& file, const std::string& prefix, Index classes) {
  const std::string features_name = prefix + "features", weights_name = prefix + "weight";
  if (!file.tensors.contains(features_name)) return std::nullopt;
  const std::vector<std::int32_t> features = whole_numbers(required_tensor(file, features_name), features_name);
  WordScores words{{features.begin(), features.end()}, {classes, static_cast<Index>(features.size()), {}, {}}};
  Int8Matrix& weights = words.weights;
  WASMFORMER_CHECK(required_tensor(file, weights_name).dtype == Dtype::i8, ErrorCode::model,
                   "tensor '" << weights_name << "' is not of type I8");
  const auto [values, scales] = int8_values(file, weights_name, weights.rows, weights.cols);
  weights.values.assign(values, values + weights.rows * weights.cols);
  weights.scales.assign(scales.begin(), scales.end());
  words.check(classes);
  return words;
}

ScoreMix read_mix(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find(mix_key);
  if (found == metadata.end()) return {};
  const Json list = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  const auto is_number = [](const Json& item) { return item.is_number(); };
  WASMFORMER_CHECK(list.is_array() && list.size() == 3 && std::all_of(list.begin(), list.end(), is_number),
                   ErrorCode::model, mix_key << " is '" << found->second << "', not a list of three numbers");
  return {.class_share = list[0], .tag_share = list[1], .outside_score = list[2]};
}

// Models of before have none; their tags keep to iob2.
TagScheme read_scheme(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find(scheme_key);
  if (found == metadata.end()) return TagScheme::iob2;
  for (const TagScheme scheme : {TagScheme::iob2, TagScheme::iob1, TagScheme::any})
    if (found->second == word(scheme)) return scheme;
  throw Error(ErrorCode::model, std::string(scheme_key) + " is '" + found->second + "', not iob2, iob1 or any");
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
                                         mix_key,
                                         scheme_key,
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
    const Dtype dtype = required_tensor(file, name).dtype;
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
    WASMFORMER_CHECK(known.count(name) || belongs_elsewhere(name), ErrorCode::model,
                     "the tensor '" << name << "' is unknown to a model with this config");
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
  model.labels = {read_names(file.metadata, "classes"), read_names(file.metadata, "tags"), read_scheme(file.metadata)};
  for (const auto& [key, names, size] :
       {std::tuple("classes", &model.labels.classes, config.classes), {"tags", &model.labels.tags, config.tags}})
    WASMFORMER_CHECK(static_cast<Index>(names->size()) == size && std::is_sorted(names->begin(), names->end()),
                     ErrorCode::model,
                     "the config has " << size << " " << key << ", but the file names " << names->size()
                                       << " of them, or they are not sorted");
  model.transformer = std::make_unique<Transformer>(config);
  read_weights(file, *model.transformer, weights);
  model.shortlist = read_shortlist(file, config);
  model.mix = read_mix(file.metadata);
  model.words = read_words(file, words_prefix, config.classes);
  model.tag_words = read_words(file, tag_words_prefix, config.tags);
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
  if (model.labels.scheme != TagScheme::iob2) metadata[scheme_key] = word(model.labels.scheme);

  if (const ScoreMix& mix = model.mix; mix != ScoreMix())
    metadata[mix_key] = Json{mix.class_share, mix.tag_share, mix.outside_score}.dump();
  TensorList list;
  model.transformer->visit(
      [&](const ParameterInfo& info, const Parameter& parameter) { list.add(info, parameter, precision); });
  if (model.shortlist) {
    metadata[shortlist_key] = std::to_string(model.shortlist->first);
    list.add(shortlist_offsets, model.shortlist->offsets);
    list.add(shortlist_ids, model.shortlist->ids);
  }
  for (const auto& [prefix, words] : {std::pair(words_prefix, &model.words), {tag_words_prefix, &model.tag_words}}) {
    if (!*words) continue;
    list.add(std::string(prefix) + "features", (*words)->features);
    list.add(std::string(prefix) + "weight", (*words)->weights);
  }
  for (const auto& [name, tensor] : extra.tensors) {
    WASMFORMER_CHECK(name.starts_with(optimizer_prefix), ErrorCode::tensor_unknown,
                     "tensor '" << name << "' is not part of a model", {"tensor", name});
    list.entries.emplace_back(name, tensor);
  }
  return serialize_safetensors(list.entries, metadata);
}

}  // namespace wasmformer
