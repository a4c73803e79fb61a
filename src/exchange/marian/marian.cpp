#include "exchange/marian/marian.h"

#include <algorithm>
#include <set>
#include <utility>

#include "exchange/assemble_model.h"
#include "exchange/huggingface/hugging_face.h"
#include "exchange/marian/marian_bin.h"
#include "exchange/marian/marian_names.h"
#include "exchange/marian/marian_native.h"
#include "ops/embedding.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

using Json = nlohmann::json;

constexpr const char *shared_name = "model.shared.weight", *source_name = "model.encoder.embed_tokens.weight",
                     *target_name = "model.decoder.embed_tokens.weight", *output_name = "lm_head.weight",
                     *bias_name = "final_logits_bias";

// A setting that must be equal in encoder and decoder.
Index same(const Settings& settings, const std::string& key) {
  const Index encoder = settings.whole(("encoder_" + key).c_str()),
              decoder = settings.whole(("decoder_" + key).c_str());
  WASMFORMER_CHECK(
      encoder == decoder, ErrorCode::marian,
      "encoder_" << key << " is " << encoder << " and decoder_" << key << " is " << decoder << "; they must be equal");
  return encoder;
}

TieEmbeddings tied_embeddings(bool is_tied, bool is_shared) {
  if (!is_tied) return TieEmbeddings::none;
  return is_shared ? TieEmbeddings::all : TieEmbeddings::target;
}

Config read_config(const Settings& settings) {
  const std::string type = settings.word("model_type");
  WASMFORMER_CHECK(
      type == "marian", ErrorCode::model_type,
      config_name << " has model_type '" << type << "'; only 'marian', 'bert' and 'distilbert' can be read",
      {"name", config_name}, {"type", type});
  for (const char* key : {"normalize_embedding", "normalize_before", "add_final_layer_norm"})
    WASMFORMER_CHECK(!settings.flag(key, false), ErrorCode::marian,
                     key << " is true; only Marian's post-norm models without it are supported");
  const bool shared = settings.flag("share_encoder_decoder_embeddings", true);
  const bool tied = settings.flag("tie_word_embeddings", true);
  Config c;
  c.source_vocab_size = c.target_vocab_size = settings.whole("vocab_size");
  if (!shared && settings.has("decoder_vocab_size")) c.target_vocab_size = settings.whole("decoder_vocab_size");
  c.d_model = settings.whole("d_model");
  c.encoder_layers = settings.whole("encoder_layers");
  c.decoder_layers = settings.whole("decoder_layers");
  c.num_heads = same(settings, "attention_heads");
  c.ffn_dim = same(settings, "ffn_dim");
  c.max_length = settings.whole(settings.has("max_position_embeddings") ? "max_position_embeddings" : "max_length");
  c.activation = settings.activation("activation_function");
  c.positions = Positions::sinusoidal_halves;
  c.tie_embeddings = tied_embeddings(tied, shared);
  c.scale_embedding = settings.flag("scale_embedding", false);
  c.dropout = settings.rate("dropout");
  c.attention_dropout = settings.rate("attention_dropout");
  c.activation_dropout = settings.rate("activation_dropout");
  c.pad_id = settings.token("pad_token_id");
  c.bos_id = settings.token("decoder_start_token_id");
  c.eos_id = settings.token("eos_token_id");
  c.check();
  return c;
}

std::vector<std::string> read_vocabulary(const FolderFiles& files, const std::string& name, Index size) {
  const Json json = parse_json(files, name);
  WASMFORMER_CHECK(
      std::cmp_equal(json.size(), size), ErrorCode::marian,
      name << " has " << json.size() << " pieces, but the vocabulary of " << config_name << " has " << size);
  std::vector<std::string> pieces(json.size());
  std::vector<bool> seen(json.size());
  for (const auto& [piece, id] : json.items()) {
    const bool fits = id.is_number_unsigned() && id.get<std::uint64_t>() < pieces.size();
    WASMFORMER_CHECK(fits && !seen[id.get<std::size_t>()], ErrorCode::marian,
                     name << " has '" << piece << "' with id " << Settings::text(id) << "; ids must be 0 to "
                          << size - 1 << ", each once");
    pieces[id.get<std::size_t>()] = piece;
    seen[id.get<std::size_t>()] = true;
  }
  return pieces;
}

bool same_tensor(const TensorEntry& a, const TensorEntry& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.data == b.data;
}

// A shared matrix may be stored under all of its names; it is kept under `name`.
void tie(SafetensorsFile& file, const char* name, std::initializer_list<const char*> others) {
  for (const char* other : others) {
    const auto found = file.tensors.find(other);
    if (found == file.tensors.end()) continue;
    const auto [kept, is_new] = file.tensors.emplace(name, found->second);
    WASMFORMER_CHECK(is_new || same_tensor(kept->second, found->second), ErrorCode::marian,
                     name << " and " << other << " differ, but " << config_name << " ties them");
    file.tensors.erase(other);
  }
}

void tie_embeddings(SafetensorsFile& file, const Config& config, bool shared) {
  if (config.tie_embeddings == TieEmbeddings::all)
    return tie(file, shared_name, {source_name, target_name, output_name});
  if (config.tie_embeddings == TieEmbeddings::target) return tie(file, target_name, {output_name});
  if (!shared) return;
  tie(file, shared_name, {source_name, target_name});
  const auto found = file.tensors.find(shared_name);
  if (found == file.tensors.end()) return;
  file.tensors[source_name] = file.tensors[target_name] = found->second;
  file.tensors.erase(shared_name);
}

// A file may store the positions. If they differ from the computed ones, they count as learned.
void take_positions(SafetensorsFile& file, Config& config) {
  constexpr Scalar rounding = Scalar(1) / 256;  // of bfloat16 near 1
  const std::string names[] = {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"};
  bool as_computed = true;
  for (const std::string& name : names) {
    if (!file.tensors.contains(name)) continue;
    const Matrix stored = file.matrix(name);
    WASMFORMER_CHECK(stored.rows() == config.max_length && stored.cols() == config.d_model, ErrorCode::marian,
                     name << " is " << shape(stored) << ", but " << config_name << " asks for [" << config.max_length
                          << ", " << config.d_model << "]");
    const Matrix computed = sinusoidal_halves(config.max_length, config.d_model, config.d_model / 2);
    as_computed &= (stored - computed).cwiseAbs().maxCoeff() <= rounding;
  }
  if (!as_computed) {
    config.positions = Positions::learned;
    return;
  }
  for (const std::string& name : names) file.tensors.erase(name);
}

// Tokens that must not be chosen, without pad and begin, which never are.
std::set<TokenId> forbidden(const Settings& settings, const Config& config) {
  std::set<TokenId> ids;
  if (!settings.has("bad_words_ids")) return ids;
  for (const Json& words : settings.at("bad_words_ids")) {
    WASMFORMER_CHECK(words.is_array() && words.size() == 1, ErrorCode::marian,
                     "bad_words_ids has " << Settings::text(words) << "; only single tokens can be forbidden");
    const auto id = static_cast<TokenId>(settings.whole("bad_words_ids", words[0]));
    WASMFORMER_CHECK(id < config.target_vocab_size, ErrorCode::marian,
                     "bad_words_ids has " << id << ", but the vocabulary ends at " << config.target_vocab_size - 1);
    if (id != config.pad_id && id != config.bos_id) ids.insert(id);
  }
  return ids;
}

std::string languages(const FolderFiles& files) {
  const Json json = parse_json_if_any(files, "tokenizer_config.json");
  const auto language = [&json](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  };
  const std::string source = language("source_lang"), target = language("target_lang");
  return source.empty() || target.empty() ? "" : source + "-" + target;
}

ModelFile import_hugging_face(const FolderFiles& files) {
  const Settings settings(files);
  Config config = read_config(settings);
  const Json tokenizer_config = parse_json_if_any(files, "tokenizer_config.json");
  const bool separate = tokenizer_config.value("separate_vocabs", Json(false)) == true;
  Tokenizer source(std::string(folder_file(files, "source.spm")),
                   read_vocabulary(files, "vocab.json", config.source_vocab_size));
  Tokenizer target(std::string(folder_file(files, "target.spm")),
                   read_vocabulary(files, separate ? "target_vocab.json" : "vocab.json", config.target_vocab_size));
  for (const Tokenizer* tokenizer : {&source, &target})
    WASMFORMER_CHECK(tokenizer->eos_id() == config.eos_id, ErrorCode::marian,
                     "eos_token_id is " << config.eos_id << ", but </s> is piece " << tokenizer->eos_id());

  SafetensorsFile file = read_tensors(files);
  tie_embeddings(file, config, settings.flag("share_encoder_decoder_embeddings", true));
  take_positions(file, config);
  config.output_bias = file.tensors.contains(bias_name);
  const std::set<TokenId> never = forbidden(settings, config);
  Matrix bias;
  if (!never.empty()) {
    bias = config.output_bias ? file.matrix(bias_name) : Matrix::Zero(1, config.target_vocab_size);
    WASMFORMER_CHECK(bias.size() == config.target_vocab_size, ErrorCode::marian,
                     bias_name << " has " << bias.size() << " numbers, but the vocabulary " << config.target_vocab_size
                               << " pieces");
    for (const TokenId id : never) bias.data()[id] = never_chosen_bias;
    config.output_bias = true;
    const auto bytes = static_cast<std::size_t>(bias.size()) * sizeof(Scalar);
    file.tensors[bias_name] = {
        Dtype::f32, {1, config.target_vocab_size}, {reinterpret_cast<const char*>(bias.data()), bytes}};
  }
  ModelFile model = assemble_model(config, file, std::move(source), std::move(target));
  if (const std::string pair = languages(files); !pair.empty()) model.metadata["languages"] = pair;
  if (settings.has("num_beams")) model.metadata["num_beams"] = std::to_string(settings.whole("num_beams"));
  return model;
}

}  // namespace

ModelFile import_marian(const FolderFiles& files) {
  if (files.contains(config_name)) return import_hugging_face(files);
  if (files.contains("decoder.yml")) return import_marian_npz(files);
  const bool has_bin = std::any_of(files.begin(), files.end(),
                                   [](const auto& f) { return f.first.ends_with(".bin") && is_marian_bin(f.second); });
  WASMFORMER_CHECK(has_bin, ErrorCode::unknown_folder,
                   "the folder has neither config.json (Hugging Face), decoder.yml (Marian) nor "
                   "a .bin file (Firefox)");
  return import_student(files);
}

}  // namespace wasmformer
