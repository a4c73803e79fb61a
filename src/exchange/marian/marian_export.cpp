#include "exchange/marian/marian_export.h"

#include <algorithm>
#include <charconv>
#include <list>
#include <vector>

#include "exchange/marian/marian_names.h"
#include "schema/error.h"
#include "schema/json.h"
#include "schema/options.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;

// The axis of a parameter that belongs to the residual stream, d_model.
enum class StreamAxis { none, rows, columns };
StreamAxis stream_axis(Role role) {
  switch (role) {
    case Role::output_weight:  // what writes to the stream
    case Role::outer_weight:
      return StreamAxis::rows;
    case Role::output_bias:
    case Role::outer_bias:
    case Role::norm_weight:
    case Role::norm_bias:
    case Role::token_embedding:
    case Role::weight:  // of the output projection, which reads it, as do those below
    case Role::query_weight:
    case Role::key_weight:
    case Role::value_weight:
    case Role::inner_weight:
      return StreamAxis::columns;
    default:
      return StreamAxis::none;
  }
}

// [s0, c0, s1, c1, ...] to [s0, s1, ..., c0, c1, ...]: the stream in the order of Marian's positions, which
// leaves every score unchanged.
Matrix with_halves(const Matrix& value, StreamAxis axis) {
  if (axis == StreamAxis::none) return value;
  const Index d = axis == StreamAxis::rows ? value.rows() : value.cols();
  Matrix result(value.rows(), value.cols());
  for (Index i = 0; i < d; ++i) {
    const Index from = i < d / 2 ? 2 * i : 2 * (i - d / 2) + 1;
    if (axis == StreamAxis::rows)
      result.row(i) = value.row(from);
    else
      result.col(i) = value.col(from);
  }
  return result;
}

void check_key(const char* key, bool fits, const Json& value, const char* expected) {
  WASMFORMER_CHECK(fits, ErrorCode::export_,
                   key << " is " << value.dump() << "; Hugging Face's Marian has " << expected);
}

void check_marian(const Config& c) {
  WASMFORMER_CHECK(!c.is_encoder(), ErrorCode::export_marian,
                   "this is an encoder-only model; only translators can be exported");
  const Json config = json_of(fields(c));
  check_key("decoder_self", c.decoder_self == DecoderSelf::attention, config["decoder_self"], "\"attention\" only");
  check_key("norm", c.norm == NormPosition::post, config["norm"], "\"post\" only");
  check_key("attention", c.attention == AttentionScore::scaled_dot, config["attention"], "\"scaled_dot\" only");
  check_key("residual", c.residual, c.residual, "true only");
  check_key("causal", c.causal, c.causal, "true only");
  check_key("key_dim", c.key_width() == c.d_model, c.key_dim, "d_model / num_heads only");
  const bool has_waves = c.has_position_table() && c.positions != Positions::integers;
  check_key("positions", has_waves, config["positions"], "sines or learned vectors only");
  // Marian's own models have 1e-6; Hugging Face's converter writes 1e-5 for them too.
  check_key("norm_epsilon", c.norm_epsilon == 1e-5 || c.norm_epsilon == 1e-6, c.norm_epsilon, "1e-05 only");
}

// Ids by piece. Those beyond the tokenizer's are fillers.
nlohmann::json vocabulary(const Tokenizer& tokenizer, Index size) {
  nlohmann::json ids = nlohmann::json::object();
  for (Index id = 0; id < size; ++id) {
    const std::string piece =
        id < tokenizer.vocab_size() ? tokenizer.piece(static_cast<TokenId>(id)) : "<unused" + std::to_string(id) + ">";
    WASMFORMER_CHECK(ids.emplace(piece, id).second, ErrorCode::export_,
                     "the vocabulary has the piece '" << piece << "' twice");
  }
  return ids;
}

// From the imported model; otherwise Marian's default.
int num_beams(const ModelFile& model) {
  int beams = 4;
  const auto found = model.metadata.find("num_beams");
  if (found != model.metadata.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), beams);
  return std::max(beams, 1);
}

// The name of a special token, which must be the same on both sides for MarianTokenizer.
std::string special_piece(const char* what, const Tokenizer& source, TokenId source_id, const Tokenizer& target,
                          TokenId target_id) {
  const std::string name = target.piece(target_id), other = source.piece(source_id);
  WASMFORMER_CHECK(name == other, ErrorCode::export_,
                   "the " << what << " token is '" << other << "' in the source and '" << name
                          << "' in the target tokenizer; Hugging Face's Marian has one "
                             "name for both");
  return name;
}

std::string text(const nlohmann::json& json) { return json.dump(2) + "\n"; }
std::string text(const Json& json) { return json.dump(2) + "\n"; }

Json generation_settings(const ModelFile& model) {
  const Config& c = model.transformer->config();
  Json json{{"decoder_start_token_id", c.bos_id}, {"bos_token_id", c.bos_id},      {"eos_token_id", c.eos_id},
            {"forced_eos_token_id", c.eos_id},    {"pad_token_id", c.pad_id},      {"bad_words_ids", {{c.pad_id}}},
            {"max_length", c.max_length},         {"num_beams", num_beams(model)}, {"renormalize_logits", true}};
  if (c.bos_id != c.pad_id) json["bad_words_ids"].push_back({c.bos_id});
  return json;
}

Json config_settings(const Config& c, Index source_vocab_size, Index target_vocab_size, Precision precision) {
  return {{"architectures", {"MarianMTModel"}},
          {"model_type", "marian"},
          {"is_encoder_decoder", true},
          {"vocab_size", source_vocab_size},
          {"decoder_vocab_size", target_vocab_size},
          {"d_model", c.d_model},
          {"num_hidden_layers", c.encoder_layers},
          {"encoder_layers", c.encoder_layers},
          {"decoder_layers", c.decoder_layers},
          {"encoder_attention_heads", c.num_heads},
          {"decoder_attention_heads", c.num_heads},
          {"encoder_ffn_dim", c.ffn_dim},
          {"decoder_ffn_dim", c.ffn_dim},
          {"max_position_embeddings", c.max_length},
          {"activation_function", word(c.activation)},
          {"dropout", c.dropout},
          {"attention_dropout", c.attention_dropout},
          {"activation_dropout", c.activation_dropout},
          {"encoder_layerdrop", 0.0},
          {"decoder_layerdrop", 0.0},
          {"scale_embedding", c.scale_embedding},
          {"normalize_embedding", false},
          {"static_position_embeddings", c.positions != Positions::learned},
          {"share_encoder_decoder_embeddings", c.tie_embeddings == TieEmbeddings::all},
          {"tie_word_embeddings", c.tie_embeddings != TieEmbeddings::none},
          {"torch_dtype", precision == Precision::f32 ? "float32" : "float16"},
          {"use_cache", true}};
}

Json tokenizer_settings(const ModelFile& model, bool separate) {
  const Config& c = model.transformer->config();
  const Tokenizer &source = *model.source_tokenizer, &target = *model.target_tokenizer;
  Json json{{"tokenizer_class", "MarianTokenizer"},
            {"unk_token", special_piece("unknown", source, source.unk_id(), target, target.unk_id())},
            {"eos_token", special_piece("end", source, c.eos_id, target, c.eos_id)},
            {"pad_token", target.piece(c.pad_id)},
            {"model_max_length", c.max_length},
            {"separate_vocabs", separate},
            {"sp_model_kwargs", Json::object()}};
  const auto languages = model.metadata.find("languages");
  if (languages != model.metadata.end() && languages->second.find('-') != std::string::npos) {
    const std::size_t dash = languages->second.find('-');
    json["source_lang"] = languages->second.substr(0, dash);
    json["target_lang"] = languages->second.substr(dash + 1);
  }
  return json;
}

}  // namespace

std::map<std::string, std::string> marian_settings(const ModelFile& model, Index source_vocab_size,
                                                   Index target_vocab_size, Precision precision) {
  const nlohmann::json source_ids = vocabulary(*model.source_tokenizer, source_vocab_size),
                       target_ids = vocabulary(*model.target_tokenizer, target_vocab_size);
  const bool separate = source_ids != target_ids;
  const Json generation = generation_settings(model);
  Json config = config_settings(model.transformer->config(), source_vocab_size, target_vocab_size, precision);
  config.update(generation);
  std::map<std::string, std::string> files{{"config.json", text(config)},
                                           {"generation_config.json", text(generation)},
                                           {"tokenizer_config.json", text(tokenizer_settings(model, separate))},
                                           {"source.spm", model.source_tokenizer->model()},
                                           {"target.spm", model.target_tokenizer->model()},
                                           {"vocab.json", text(source_ids)}};
  if (separate) files["target_vocab.json"] = text(target_ids);
  return files;
}

std::map<std::string, std::string> export_marian(const ModelFile& model, Precision precision) {
  const Config& c = model.transformer->config();
  check_marian(c);
  const Index vocab_size = std::max(c.source_vocab_size, c.target_vocab_size);
  auto files = marian_settings(model, vocab_size, vocab_size, precision);

  std::list<std::string> data;  // its strings never move
  std::vector<std::pair<std::string, TensorEntry>> tensors;
  const auto add = [&](const std::string& name, const Matrix& value, bool is_bias_of_output = false) {
    // Vectors have one dimension in the file, except this one.
    const bool vector = value.rows() == 1 && !is_bias_of_output;
    tensors.emplace_back(
        name, TensorEntry{precision == Precision::f32 ? Dtype::f32 : Dtype::f16,
                          vector ? std::vector<Index>{value.cols()} : std::vector<Index>{value.rows(), value.cols()},
                          data.emplace_back(weight_bytes(value, precision, name))});
  };

  Matrix bias = Matrix::Zero(1, c.target_vocab_size);
  model.transformer->visit([&](const ParameterInfo& info, const Parameter& p) {
    Matrix value = p.matrix();
    if (info.module == Module::vocabulary && info.role == Role::bias) {
      bias = value;
      return;
    }
    if (c.positions == Positions::sinusoidal) value = with_halves(value, stream_axis(info.role));
    const bool is_table = info.role == Role::token_embedding || info.module == Module::vocabulary;
    if (is_table) value.conservativeResizeLike(Matrix::Zero(vocab_size, c.d_model));
    add(info.name, value);
  });
  bias.conservativeResizeLike(Matrix::Constant(1, vocab_size, never_chosen_bias));
  add("final_logits_bias", bias, /*is_bias_of_output=*/true);
  // Hugging Face would compute other positions; those of the file replace them.
  if (c.positions == Positions::sinusoidal_marian)
    for (const char* side : {"encoder", "decoder"})
      add("model." + std::string(side) + ".embed_positions.weight", model.transformer->source_positions());
  files["model.safetensors"] = serialize_safetensors(tensors, {{"format", "pt"}});
  return files;
}

}  // namespace wasmformer
