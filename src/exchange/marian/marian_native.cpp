// Tensors are named as in Marian's src/models/transformer.h.
#include "exchange/marian/marian_native.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <list>

#include "exchange/assemble_model.h"
#include "exchange/containers/npz.h"
#include "exchange/containers/yaml.h"
#include "exchange/marian/marian_bin.h"
#include "exchange/marian/marian_names.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

// The last part of a path.
std::string file_name(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

// The options of a model, from decoder.yml or from the model's own file.
class DecoderYml {
 public:
  DecoderYml(std::string_view text, const std::string& name) : yaml_(parse_yaml(text, name)), name_(name) {}

  std::string text(const char* key) const {
    const auto found = yaml_.find(key);
    return found == yaml_.end() || found->second.empty() ? "" : found->second[0];
  }
  std::vector<std::string> list(const char* key) const {
    const auto found = yaml_.find(key);
    return found == yaml_.end() ? std::vector<std::string>() : found->second;
  }
  bool flag(const char* key) const { return text(key) == "true"; }
  Index whole(const char* key) const {
    const std::string value = text(key);
    std::int32_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    WASMFORMER_CHECK(!value.empty() && read.ptr == value.data() + value.size() && number >= 0, ErrorCode::marian,
                     key << " of " << name_ << " must be a whole number, not '" << value << "'");
    return number;
  }
  // Throws unless the value is one of these; a missing key means the first.
  void check(const char* key, std::initializer_list<const char*> accepted) const {
    if (!yaml_.contains(key)) return;
    const std::string value = text(key);
    WASMFORMER_CHECK(std::find(accepted.begin(), accepted.end(), value) != accepted.end(), ErrorCode::marian,
                     key << " is '" << value << "'; only '" << *accepted.begin() << "' is supported");
  }

 private:
  Yaml yaml_;
  std::string name_;
};

void check_kind(const DecoderYml& o) {
  WASMFORMER_CHECK(o.text("type") == "transformer", ErrorCode::marian,
                   "the model is of type '" << o.text("type") << "'; only 'transformer' is supported");
  o.check("transformer-decoder-autoreg", {"self-attention", "rnn"});
  if (o.text("transformer-decoder-autoreg") == "rnn") {
    WASMFORMER_CHECK(o.text("dec-cell") == "ssru", ErrorCode::marian,
                     "dec-cell is '" << o.text("dec-cell")
                                     << "'; of recurrent decoders only 'ssru' is "
                                        "supported");
    o.check("transformer-rnn-projection", {"false"});
  }
  o.check("transformer-postprocess", {"dan"});
  o.check("transformer-preprocess", {""});
  o.check("transformer-postprocess-emb", {"d", ""});
  o.check("transformer-postprocess-top", {""});
  o.check("transformer-ffn-depth", {"2"});
  o.check("transformer-decoder-ffn-depth", {"0", "2"});
  o.check("transformer-decoder-dim-ffn", {"0", o.text("transformer-dim-ffn").c_str()});
  for (const char* key : {"transformer-no-projection", "transformer-train-positions", "transformer-no-bias",
                          "transformer-train-position-embeddings", "transformer-no-affine", "transformer-pool",
                          "right-left", "ulr", "layer-normalization"})
    o.check(key, {"false"});
  o.check("lemma-dim-emb", {"0"});
  WASMFORMER_CHECK(o.list("transformer-tied-layers").empty(), ErrorCode::marian,
                   "transformer-tied-layers is set; layers that share weights are not supported");
}

Config read_config(const DecoderYml& o) {
  check_kind(o);
  Config c;
  c.d_model = o.whole("dim-emb");
  c.encoder_layers = o.whole("enc-depth");
  c.decoder_layers = o.whole("dec-depth");
  c.num_heads = o.whole("transformer-heads");
  c.ffn_dim = o.whole("transformer-dim-ffn");
  c.max_length = 512;  // Marian has no limit
  const std::string activation = o.text("transformer-ffn-activation");
  WASMFORMER_CHECK(activation == "swish" || activation == "relu" || activation == "gelu", ErrorCode::marian,
                   "transformer-ffn-activation is '" << activation << "'; expected swish, relu or gelu");
  c.activation = Activation::swish;
  if (activation == "relu") c.activation = Activation::relu;
  if (activation == "gelu") c.activation = Activation::gelu;
  c.positions = Positions::sinusoidal_marian;
  c.norm_epsilon = 1e-6;
  if (o.text("transformer-decoder-autoreg") == "rnn") c.decoder_self = DecoderSelf::ssru;
  const bool ties_all = o.flag("tied-embeddings-all");
  const bool ties_output = ties_all || o.flag("tied-embeddings"),
             ties_source = ties_all || o.flag("tied-embeddings-src");
  c.tie_embeddings = TieEmbeddings::none;
  if (ties_output) c.tie_embeddings = ties_source ? TieEmbeddings::all : TieEmbeddings::target;
  return c;
}

// Pieces by id, from a .spm file, or a .yml file that lists their ids.
std::vector<std::string> read_pieces(const FolderFiles& files, const std::string& name) {
  const std::string_view bytes = folder_file(files, name);
  std::vector<std::string> pieces;
  if (name.ends_with(".spm")) {
    const Tokenizer tokenizer{std::string(bytes)};
    for (Index id = 0; id < tokenizer.vocab_size(); ++id) pieces.push_back(tokenizer.piece(static_cast<TokenId>(id)));
    return pieces;
  }
  WASMFORMER_CHECK(name.ends_with(".yml"), ErrorCode::marian, "the vocabulary " << name << " must end in .spm or .yml");
  const Yaml yaml = parse_yaml(bytes, name);
  pieces.resize(yaml.size());
  std::vector<bool> seen(yaml.size());
  for (const auto& [piece, values] : yaml) {
    const std::string value = values.size() == 1 ? values[0] : "";
    std::uint32_t id = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), id);
    WASMFORMER_CHECK(!value.empty() && read.ptr == value.data() + value.size() && id < pieces.size() && !seen[id],
                     ErrorCode::marian,
                     name << " has '" << piece << "' with id '" << value << "'; ids must be 0 to " << pieces.size() - 1
                          << ", each once");
    pieces[id] = piece;
    seen[id] = true;
  }
  return pieces;
}

// Marian starts a target with zeros instead of an embedding; here that is an extra token, the last.
Tokenizer read_tokenizer(const FolderFiles& files, const std::string& vocabulary, const char* spm) {
  std::vector<std::string> pieces = read_pieces(files, vocabulary);
  const bool has_pad = std::find(pieces.begin(), pieces.end(), "<pad>") != pieces.end();
  pieces.push_back(has_pad ? "<start>" : "<pad>");
  const std::string_view model = folder_file(files, vocabulary.ends_with(".spm") ? vocabulary : spm);
  return Tokenizer(std::string(model), std::move(pieces));
}

Matrix with_start(const Matrix& table) {
  Matrix grown = Matrix::Zero(table.rows() + 1, table.cols());
  grown.topRows(table.rows()) = table;
  return grown;
}

// Marian's tensors, taken one by one, and ours, made of them; any tensor left over is an error.
class TensorMapping {
 public:
  explicit TensorMapping(SafetensorsFile npz) : npz_(std::move(npz)) {}

  bool has(const std::string& theirs) const { return npz_.tensors.contains(theirs); }
  Matrix take(const std::string& theirs) {
    WASMFORMER_CHECK(has(theirs), ErrorCode::marian_tensor_missing, "the tensor '" << theirs << "' is missing",
                     {"tensor", theirs});
    Matrix value = npz_.matrix(theirs);
    npz_.tensors.erase(theirs);
    return value;
  }
  void add(const std::string& ours, const Matrix& value) {
    const auto bytes = static_cast<std::size_t>(value.size()) * sizeof(Scalar);
    const std::string& kept = data_.emplace_back(reinterpret_cast<const char*>(value.data()), bytes);
    file_.tensors[ours] = {Dtype::f32, {value.rows(), value.cols()}, kept};
  }

  // Marian computes x W instead of x Wᵀ; its int8 matrices lie transposed under their untransposed shape.
  void weight(const std::string& ours, const std::string& theirs) {
    if (!is_int8(theirs)) return add(ours, take(theirs).transpose());
    const auto [in, out] = size(theirs);
    add_int8(ours, theirs, out, in);
    add_alpha(ours, theirs);
    remove(theirs);
  }
  // One row per piece of the vocabulary; the last is zero, the start. `output`: which of ours is the output's too.
  void table(std::initializer_list<const char*> ours, const std::string& theirs, Index vocab_size,
             const std::string& output) {
    const Index rows = size(theirs).first;
    WASMFORMER_CHECK(rows + 1 == vocab_size, ErrorCode::marian,
                     theirs << " has " << rows << " rows, but the vocabulary " << vocab_size - 1 << " pieces");
    for (const char* name : ours) {
      if (is_int8(theirs))
        add_int8(name, theirs, vocab_size, size(theirs).second);
      else
        add(name, with_start(npz_.matrix(theirs)));
      if (is_int8(theirs) && name == output) add_alpha(name, theirs, "none");
    }
    remove(theirs);
  }
  // All parameters of the layers.
  void layers(const Config& config) {
    Transformer(config).visit([&](const ParameterInfo& info, const Parameter&) {
      if (!info.is_in_layer()) return;
      const std::string theirs = marian_name(info);
      if (info.can_be_packed())
        weight(info.name, theirs);
      else
        add(info.name, take(theirs));
    });
  }

  const SafetensorsFile& file() {
    std::erase_if(npz_.tensors, [](const auto& item) { return item.first.find(alpha_suffix) != std::string::npos; });
    WASMFORMER_CHECK(npz_.tensors.empty(), ErrorCode::marian,
                     "the tensor '" << npz_.tensors.begin()->first << "' is unknown to a model with these options");
    return file_;
  }

 private:
  bool is_int8(const std::string& theirs) const { return has(theirs) && npz_.tensors.at(theirs).dtype == Dtype::i8; }
  std::pair<Index, Index> size(const std::string& theirs) const {
    WASMFORMER_CHECK(has(theirs), ErrorCode::marian_tensor_missing, "the tensor '" << theirs << "' is missing",
                     {"tensor", theirs});
    const std::vector<Index>& shape = npz_.tensors.at(theirs).shape;
    WASMFORMER_CHECK(shape.size() == 2, ErrorCode::marian, "the tensor '" << theirs << "' is not a matrix");
    return {shape[0], shape[1]};
  }
  float multiplier(const std::string& theirs) const {
    const Matrix m = npz_.matrix(theirs + multiplier_suffix);
    WASMFORMER_CHECK(m.size() == 1 && m(0, 0) > 0 && std::isfinite(m(0, 0)), ErrorCode::marian,
                     "the multiplier of " << theirs << " is not one number above 0");
    return static_cast<float>(m(0, 0));
  }
  // Its bytes as rows of a matrix, with zeros for the rows that are missing.
  void add_int8(const std::string& ours, const std::string& theirs, Index rows, Index cols) {
    std::string& bytes = data_.emplace_back(npz_.tensors.at(theirs).data);
    bytes.resize(static_cast<std::size_t>(rows * cols));
    file_.tensors[ours] = {Dtype::i8, {rows, cols}, bytes};
    add(ours + ".scale", Matrix::Constant(1, rows, 1 / multiplier(theirs)));
  }
  // The multiplier of the inputs of products with `theirs`, as a float or an int8 scalar; 0 if missing.
  void add_alpha(const std::string& ours, const std::string& theirs, const std::string& other = "") {
    std::string name = theirs + alpha_suffix;
    if (!has(name)) name = other + alpha_suffix;
    float alpha = 0;
    if (has(name)) {
      const TensorEntry& tensor = npz_.tensors.at(name);
      if (tensor.data.size() == 1)
        alpha = static_cast<float>(static_cast<std::int8_t>(tensor.data[0])) / multiplier(name);
      else if (tensor.data.size() == sizeof alpha)
        std::memcpy(&alpha, tensor.data.data(), sizeof alpha);
      WASMFORMER_CHECK(alpha > 0 && std::isfinite(alpha), ErrorCode::marian, name << " is not one number above 0");
    }
    add(ours + input_multiplier_suffix, Matrix::Constant(1, 1, alpha));
  }
  void remove(const std::string& theirs) {
    npz_.tensors.erase(theirs);
    npz_.tensors.erase(theirs + multiplier_suffix);
  }

  SafetensorsFile npz_, file_;
  std::list<std::string> data_;  // the data of file_; its strings never move
};

void take_embeddings(TensorMapping& weights, Config& c) {
  const char *shared = "model.shared.weight", *encoder = "model.encoder.embed_tokens.weight",
             *decoder = "model.decoder.embed_tokens.weight";
  const std::string output = c.tie_embeddings == TieEmbeddings::target ? decoder : "";
  if (c.tie_embeddings == TieEmbeddings::all) {
    WASMFORMER_CHECK(c.source_vocab_size == c.target_vocab_size, ErrorCode::marian,
                     "the vocabularies have " << c.source_vocab_size - 1 << " and " << c.target_vocab_size - 1
                                              << " pieces, but the model has one table for both");
    weights.table({shared}, "Wemb", c.source_vocab_size, shared);
  } else if (weights.has("Wemb")) {
    weights.table({encoder, decoder}, "Wemb", c.source_vocab_size, output);
  } else {
    weights.table({encoder}, "encoder_Wemb", c.source_vocab_size, output);
    weights.table({decoder}, "decoder_Wemb", c.target_vocab_size, output);
  }
  if (c.tie_embeddings == TieEmbeddings::none) {
    const std::string older = "decoder_ff_logit_out_W", newer = "decoder_ff_logit_out_Wt";
    const Matrix output = weights.has(newer) ? weights.take(newer) : Matrix(weights.take(older).transpose());
    weights.add("lm_head.weight", with_start(output));
  }
  c.output_bias = weights.has(marian_output_bias);
  if (c.output_bias)
    weights.add("final_logits_bias", with_start(weights.take(marian_output_bias).transpose()).transpose());
}

// The model that decoder.yml names, or the only one in the folder.
std::string npz_name(const FolderFiles& files, const DecoderYml& decoder) {
  const std::vector<std::string> models = decoder.list("models");
  WASMFORMER_CHECK(models.size() <= 1, ErrorCode::marian,
                   "decoder.yml names " << models.size() << " models; only one is supported");
  if (models.size() == 1) return file_name(models[0]);
  std::vector<std::string> found;
  for (const auto& [name, bytes] : files)
    if (name.ends_with(".npz")) found.push_back(name);
  WASMFORMER_CHECK(found.size() == 1, ErrorCode::marian,
                   "the folder has " << found.size() << " .npz files, and decoder.yml names none");
  return found[0];
}

// Takes the options out of the tensors.
DecoderYml take_options(SafetensorsFile& tensors) {
  const auto found = tensors.tensors.find(marian_options);
  WASMFORMER_CHECK(found != tensors.tensors.end() && found->second.dtype == Dtype::i8, ErrorCode::marian,
                   "the weights lack " << marian_options << ", where Marian stores its options");
  std::string_view text = found->second.data;
  while (text.ends_with('\0')) text.remove_suffix(1);
  DecoderYml options(text, marian_options);
  tensors.tensors.erase(found);
  return options;
}

ModelFile assemble(SafetensorsFile tensors, Tokenizer source, Tokenizer target) {
  Config config = read_config(take_options(tensors));
  config.source_vocab_size = source.vocab_size();
  config.target_vocab_size = target.vocab_size();
  config.eos_id = target.eos_id();
  WASMFORMER_CHECK(source.eos_id() == config.eos_id, ErrorCode::marian,
                   "</s> is piece " << source.eos_id() << " of the source and " << config.eos_id << " of the target");
  config.bos_id = static_cast<TokenId>(target.vocab_size() - 1);
  config.pad_id = target.unk_id();  // Marian never chooses it either
  config.check();

  TensorMapping weights(std::move(tensors));
  take_embeddings(weights, config);
  weights.layers(config);
  return assemble_model(config, weights.file(), std::move(source), std::move(target));
}

void take_shortlist(ModelFile& model, const FolderFiles& files) {
  for (const auto& [name, bytes] : files)  // for its pieces, without the start that read_tokenizer() adds
    if (is_marian_shortlist(bytes))
      model.shortlist = parse_marian_shortlist(bytes, model.source_tokenizer->vocab_size() - 1,
                                               model.target_tokenizer->vocab_size() - 1);
}

// The name of the only file that passes.
template <class Predicate>
std::string only_file(const FolderFiles& files, const char* what, Predicate passes) {
  std::string found;
  for (const auto& [name, bytes] : files) {
    if (!passes(name, bytes)) continue;
    WASMFORMER_CHECK(found.empty(), ErrorCode::marian,
                     "the folder has " << what << " twice: " << found << " and " << name);
    found = name;
  }
  WASMFORMER_CHECK(!found.empty(), ErrorCode::marian_file_missing, "the folder has no " << what, {"name", what});
  return found;
}

}  // namespace

ModelFile import_marian_npz(const FolderFiles& files) {
  const DecoderYml decoder(folder_file(files, "decoder.yml"), "decoder.yml");
  SafetensorsFile npz = parse_npz(folder_file(files, npz_name(files, decoder)));
  const std::vector<std::string> vocabs = decoder.list("vocabs");
  WASMFORMER_CHECK(vocabs.size() == 2, ErrorCode::marian,
                   "decoder.yml names " << vocabs.size() << " vocabs; there must be two");
  ModelFile model = assemble(std::move(npz), read_tokenizer(files, file_name(vocabs[0]), "source.spm"),
                             read_tokenizer(files, file_name(vocabs[1]), "target.spm"));
  take_shortlist(model, files);
  const std::string beams = decoder.text("beam-size");
  if (!beams.empty()) model.metadata["num_beams"] = beams;
  return model;
}

ModelFile import_student(const FolderFiles& files) {
  const std::string weights = only_file(
      files, "weights that end in .bin",
      [](const auto& name, std::string_view bytes) { return name.ends_with(".bin") && is_marian_bin(bytes); });
  const auto vocabulary = [&](const std::string& start) {
    return only_file(files, "vocabulary that ends in .spm",
                     [&](const std::string& name, auto) { return name.starts_with(start) && name.ends_with(".spm"); });
  };
  const auto has = [&](const std::string& start) {
    return std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.first.starts_with(start); });
  };
  const std::string source = vocabulary(has("srcvocab") ? "srcvocab" : "vocab"),
                    target = vocabulary(has("trgvocab") ? "trgvocab" : "vocab");
  SafetensorsFile tensors = parse_marian_bin(files.at(weights));
  const bool is_int8 = std::any_of(tensors.tensors.begin(), tensors.tensors.end(),
                                   [](const auto& item) { return item.first.ends_with(multiplier_suffix); });
  ModelFile model = assemble(std::move(tensors), read_tokenizer(files, source, source.c_str()),
                             read_tokenizer(files, target, target.c_str()));
  take_shortlist(model, files);
  model.metadata["num_beams"] = "1";
  if (is_int8) model.precision = "int8";
  return model;
}

}  // namespace wasmformer
