#include "exchange/huggingface/bert.h"

#include <algorithm>
#include <list>
#include <numeric>
#include <set>
#include <utility>

#include "exchange/assemble_model.h"
#include "exchange/huggingface/hugging_face.h"
#include "schema/error.h"
#include "text/wordpiece.h"

namespace wasmformer {
namespace {

using Json = nlohmann::json;

constexpr const char *table_name = "model.shared.weight", *positions_name = "model.encoder.embed_positions.weight",
                     *types_name = "embeddings.token_type_embeddings.weight";

// A Hugging Face class, the prefix of its tensor names, whether it tags, and its pooler's activation.
struct Architecture {
  const char *name, *prefix;
  bool tags;
  Pooler pooler;
};
constexpr Architecture architectures[] = {
    {"BertForSequenceClassification", "bert.", false, Pooler::tanh},
    {"BertForTokenClassification", "bert.", true, Pooler::none},
    {"DistilBertForSequenceClassification", "distilbert.", false, Pooler::relu},
    {"DistilBertForTokenClassification", "distilbert.", true, Pooler::none},
};

const Architecture& read_architecture(const Settings& settings) {
  const Json& given = settings.at("architectures");
  const std::string name = given.is_array() && given.size() == 1 && given[0].is_string() ? given[0] : "";
  for (const Architecture& known : architectures)
    if (name == known.name) return known;
  throw Error(ErrorCode::bert,
              "the architecture in config.json is '" + name.substr(0, 80) +
                  "'; only BERT and DistilBERT ForSequenceClassification and ForTokenClassification can be read");
}

void check_settings(const Settings& settings) {
  const std::string positions = settings.word("position_embedding_type");
  WASMFORMER_CHECK(positions.empty() || positions == "absolute", ErrorCode::bert,
                   "position_embedding_type is '" << positions.substr(0, 80) << "'; only 'absolute' can be read");
  for (const char* key : {"is_decoder", "add_cross_attention"})
    WASMFORMER_CHECK(!settings.flag(key, false), ErrorCode::bert, key << " is true; only encoders can be read");
  WASMFORMER_CHECK(settings.word("problem_type") != "regression", ErrorCode::bert,
                   "problem_type is 'regression'; only models that choose labels can be read");
}

Config read_config(const Settings& settings, const Architecture& architecture) {
  check_settings(settings);
  const bool distil = settings.word("model_type") == "distilbert";
  Config c;
  c.source_vocab_size = c.target_vocab_size = settings.whole("vocab_size");
  c.d_model = settings.whole(distil ? "dim" : "hidden_size");
  c.encoder_layers = settings.whole(distil ? "n_layers" : "num_hidden_layers");
  c.decoder_layers = 0;
  c.num_heads = settings.whole(distil ? "n_heads" : "num_attention_heads");
  c.ffn_dim = settings.whole(distil ? "hidden_dim" : "intermediate_size");
  c.max_length = settings.whole("max_position_embeddings");
  c.activation = settings.activation(distil ? "activation" : "hidden_act");
  c.norm_epsilon = settings.has("layer_norm_eps") ? settings.rate("layer_norm_eps") : 1e-12;
  c.dropout = settings.rate(distil ? "dropout" : "hidden_dropout_prob");
  c.attention_dropout = settings.rate(distil ? "attention_dropout" : "attention_probs_dropout_prob");
  c.positions = Positions::learned;
  c.pooling = Pooling::first;
  c.pooler = architecture.pooler;
  c.embedding_norm = true;
  c.scale_embedding = false;
  c.multi_label = !architecture.tags && settings.word("problem_type") == "multi_label_classification";
  return c;
}

// Our name of a tensor, given without "bert." or "distilbert.". Each replacement applies to the first match.
std::string our_name(std::string name, bool tags) {
  const std::pair<const char*, const char*> replacements[] = {
      {"embeddings.word_embeddings.weight", table_name},
      {"embeddings.position_embeddings.weight", positions_name},
      {"embeddings.LayerNorm", "model.encoder.layernorm_embedding"},
      {"encoder.layer.", "model.encoder.layers."},
      {"transformer.layer.", "model.encoder.layers."},
      {".attention.self.query", ".self_attn.q_proj"},
      {".attention.self.key", ".self_attn.k_proj"},
      {".attention.self.value", ".self_attn.v_proj"},
      {".attention.q_lin", ".self_attn.q_proj"},
      {".attention.k_lin", ".self_attn.k_proj"},
      {".attention.v_lin", ".self_attn.v_proj"},
      {".attention.out_lin", ".self_attn.out_proj"},
      {".attention.output.dense", ".self_attn.out_proj"},
      {".attention.output.LayerNorm", ".self_attn_layer_norm"},
      {".sa_layer_norm", ".self_attn_layer_norm"},
      {".intermediate.dense", ".fc1"},
      {".ffn.lin1", ".fc1"},
      {".output.dense", ".fc2"},
      {".ffn.lin2", ".fc2"},
      {".output.LayerNorm", ".final_layer_norm"},
      {".output_layer_norm", ".final_layer_norm"},
      {"pooler.dense", "pooler"},
      {"pre_classifier", "pooler"},
      {"classifier", tags ? "tagger" : "classifier"},
      {".gamma", ".weight"},  // as TensorFlow calls them
      {".beta", ".bias"},
  };
  for (const auto& [theirs, ours] : replacements)
    if (const auto at = name.find(theirs); at != std::string::npos) name.replace(at, std::string(theirs).size(), ours);
  return name;
}

// The file's tensors, which are views, and the matrices that replace some of them.
class Tensors {
 public:
  Tensors(const SafetensorsFile& file, const Architecture& architecture) {
    const std::string prefix = architecture.prefix;
    const bool has_prefix = std::any_of(file.tensors.begin(), file.tensors.end(),
                                        [&](const auto& tensor) { return tensor.first.starts_with(prefix); });
    for (const auto& [name, tensor] : file.tensors) {
      const bool is_inner = name.starts_with(prefix);
      const std::string own = is_inner ? name.substr(prefix.size()) : name;
      if (!is_used(own, has_prefix && !is_inner, architecture.tags)) continue;
      file_.tensors[our_name(own, architecture.tags)] = tensor;
    }
  }

  const SafetensorsFile& file() const { return file_; }
  Matrix matrix(const std::string& name) const {
    WASMFORMER_CHECK(file_.tensors.contains(name), ErrorCode::bert, "the weights have no " << name);
    return file_.matrix(name);
  }
  void set(const std::string& name, const Matrix& value) {
    const bool vector = value.rows() == 1;
    const std::string& bytes = kept_.emplace_back(weight_bytes(value, Precision::f32, name));
    file_.tensors[name] = {
        Dtype::f32, vector ? std::vector<Index>{value.cols()} : std::vector<Index>{value.rows(), value.cols()}, bytes};
  }
  // Leaves out the rows of the table beyond the pieces of the vocabulary, which only fill it up.
  void cut_table(Index pieces) {
    const Matrix table = matrix(table_name);
    if (table.rows() > pieces) set(table_name, table.topRows(pieces));
  }
  // A single text has token type 0 throughout, so its vector can be added to every position.
  void fold_types() {
    if (!file_.tensors.contains(types_name)) return;
    const Matrix types = matrix(types_name);
    Matrix positions = matrix(positions_name);
    WASMFORMER_CHECK(types.rows() > 0 && types.cols() == positions.cols(), ErrorCode::bert,
                     "the token types are " << shape(types) << ", but the positions " << shape(positions));
    positions.rowwise() += types.row(0);
    file_.tensors.erase(types_name);
    set(positions_name, positions);
  }

 private:
  // Returns whether the architecture has the tensor, as opposed to another one whose heads the file holds as well:
  // Hugging Face ignores those of masked training (cls.*, vocab_*), among others. `is_head`: it stands outside the
  // encoder.
  static bool is_used(const std::string& name, bool is_head, bool tags) {
    if (is_head) return name.starts_with("classifier.") || (name.starts_with("pre_classifier.") && !tags);
    const bool is_of_other_head = name.starts_with("cls.") || name.starts_with("vocab_");
    return !is_of_other_head && !name.ends_with("position_ids") && !(tags && name.starts_with("pooler."));
  }

  SafetensorsFile file_;
  std::list<std::string> kept_;
};

// The names of the labels, by row of the classifier.
std::vector<std::string> read_labels(const Settings& settings, Index rows) {
  WASMFORMER_CHECK(rows > 1, ErrorCode::bert, "the model has " << rows << " label; there must be two at least");
  std::vector<std::string> names;
  const Json& given = settings.at("id2label");
  for (Index i = 0; i < rows; ++i) {
    const std::string id = std::to_string(i);
    if (given.is_null()) {
      names.push_back("LABEL_" + id);
      continue;
    }
    const bool is_named = given.is_object() && std::cmp_equal(given.size(), rows) && given.contains(id) &&
                          given[id].is_string() && !given[id].get<std::string>().empty();
    WASMFORMER_CHECK(is_named, ErrorCode::bert,
                     "id2label must name " << rows << " labels, as the weights have, but is " << Settings::text(given));
    names.push_back(given[id]);
  }
  WASMFORMER_CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size(), ErrorCode::bert,
                   "id2label has two labels of the same name: " << Settings::text(given));
  return names;
}

// The labels in alphabetical order; sorts the rows of the head likewise.
std::vector<std::string> take_labels(const Settings& settings, Tensors& tensors, const std::string& head) {
  const Matrix weight = tensors.matrix(head + ".weight"), bias = tensors.matrix(head + ".bias");
  const Index rows = weight.rows();
  WASMFORMER_CHECK(bias.rows() == 1 && bias.cols() == rows, ErrorCode::bert,
                   "the classifier's weight is " << shape(weight) << ", but its bias " << shape(bias));
  std::vector<std::string> names = read_labels(settings, rows);
  std::vector<Index> order(names.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return names[a] < names[b]; });
  Matrix sorted_weight = weight, sorted_bias = bias;
  for (Index i = 0; i < rows; ++i) {
    sorted_weight.row(i) = weight.row(order[i]);
    sorted_bias(0, i) = bias(0, order[i]);
  }
  tensors.set(head + ".weight", sorted_weight);
  tensors.set(head + ".bias", sorted_bias);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    all.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// A special token of tokenizer_config.json, which may be an object.
void set_special(const Json& json, const char* key, std::string& name) {
  if (!json.contains(key)) return;
  const Json& given = json[key].is_object() ? json[key].value("content", Json()) : json[key];
  if (given.is_string()) name = given;
}

WordPieceSpecials read_specials(const Json& json) {
  WordPieceSpecials specials;
  set_special(json, "unk_token", specials.unk);
  set_special(json, "cls_token", specials.cls);
  set_special(json, "sep_token", specials.sep);
  set_special(json, "pad_token", specials.pad);
  set_special(json, "mask_token", specials.mask);
  return specials;
}

// The settings of the tokenizer that the class PreTrainedTokenizerFast keeps in tokenizer.json, by their names in
// tokenizer_config.json.
Json fast_tokenizer_settings(const FolderFiles& files) {
  const Json json = parse_json(files, "tokenizer.json");
  const auto part = [](const Json& of, const char* key) { return of.is_object() ? of.value(key, Json()) : Json(); };
  const Json model = part(part(json, "model"), "type");
  WASMFORMER_CHECK(model == "WordPiece", ErrorCode::bert,
                   "the model in tokenizer.json is " << Settings::text(model) << "; only WordPiece can be read");
  const Json rules = part(json, "normalizer");
  WASMFORMER_CHECK(part(rules, "type") == "BertNormalizer", ErrorCode::bert,
                   "the normalizer in tokenizer.json is " << Settings::text(part(rules, "type"))
                                                          << "; only BertNormalizer can be read");
  return {{"do_lower_case", part(rules, "lowercase")},
          {"strip_accents", part(rules, "strip_accents")},
          {"tokenize_chinese_chars", part(rules, "handle_chinese_chars")}};
}

// vocab.txt, which may have fewer pieces than the table of embeddings.
std::vector<std::string> read_vocabulary(const FolderFiles& files, Index most) {
  std::vector<std::string> vocabulary = lines(folder_file(files, "vocab.txt"));
  WASMFORMER_CHECK(std::cmp_less_equal(vocabulary.size(), most), ErrorCode::bert,
                   "vocab.txt has " << vocabulary.size() << " pieces, but vocab_size of config.json is " << most);
  return vocabulary;
}

Tokenizer read_tokenizer(const FolderFiles& files, Index most_pieces) {
  const std::vector<std::string> vocabulary = read_vocabulary(files, most_pieces);
  Json json = parse_json_if_any(files, "tokenizer_config.json");
  const Json& given = json.contains("tokenizer_class") ? json["tokenizer_class"] : Json();
  const std::string kind = given.is_string() ? given.get<std::string>() : "BertTokenizer";
  const bool is_fast = kind == "PreTrainedTokenizerFast";
  WASMFORMER_CHECK(is_fast || std::set<std::string>({"BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer",
                                                     "DistilBertTokenizerFast"})
                                  .contains(kind),
                   ErrorCode::bert, "the tokenizer is '" << kind.substr(0, 80) << "'; only BertTokenizer can be read");
  if (is_fast) json.update(fast_tokenizer_settings(files));
  const auto flag = [&json](const char* key, bool otherwise) {
    return json.contains(key) && json[key].is_boolean() ? json[key].get<bool>() : otherwise;
  };
  WASMFORMER_CHECK(flag("do_basic_tokenize", true), ErrorCode::bert,
                   "do_basic_tokenize of tokenizer_config.json is false; only "
                   "tokenizers that split words at punctuation can be read");
  WordPieceRules rules;
  rules.lower_case = flag("do_lower_case", true);
  rules.strip_accents = flag("strip_accents", rules.lower_case);
  rules.split_chinese = flag("tokenize_chinese_chars", true);
  return Tokenizer(wordpiece_model(vocabulary, read_specials(json), rules));
}

}  // namespace

bool is_bert(const FolderFiles& files) {
  if (!files.contains(config_name)) return false;
  const std::string type = Settings(files).word("model_type");
  return type == "bert" || type == "distilbert";
}

ModelFile import_bert(const FolderFiles& files) {
  const Settings settings(files);
  const Architecture& architecture = read_architecture(settings);
  Config config = read_config(settings, architecture);
  Tokenizer tokenizer = read_tokenizer(files, config.source_vocab_size);
  Tokenizer same(tokenizer.model());
  config.source_vocab_size = config.target_vocab_size = tokenizer.vocab_size();
  config.pad_id = tokenizer.pad_id();
  config.bos_id = tokenizer.bos_id();
  config.eos_id = tokenizer.eos_id();

  const SafetensorsFile file = read_tensors(files);
  Tensors tensors(file, architecture);
  tensors.cut_table(config.source_vocab_size);
  tensors.fold_types();
  LabelNames labels;
  if (architecture.tags)
    labels.tags = take_labels(settings, tensors, "tagger");
  else
    labels.classes = take_labels(settings, tensors, "classifier");
  config.classes = static_cast<Index>(labels.classes.size());
  config.tags = static_cast<Index>(labels.tags.size());
  ModelFile model = assemble_model(config, tensors.file(), std::move(tokenizer), std::move(same));
  model.labels = std::move(labels);
  model.labels.scheme = TagScheme::any;  // such a folder does not say which
  return model;
}

}  // namespace wasmformer
