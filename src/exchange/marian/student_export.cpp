#include "exchange/marian/student_export.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <tuple>
#include <utility>

#include "exchange/containers/npz.h"
#include "exchange/marian/marian_bin.h"
#include "exchange/marian/marian_names.h"
#include "schema/error.h"
#include "tasks/translate/search.h"
#include "tasks/translate/translator.h"

namespace wasmformer {
namespace {

using Multipliers = std::map<const Parameter*, float>;

template <class T>
void check_key(const char* key, const T& value, const T& expected, const char* expected_word) {
  WASMFORMER_CHECK(value == expected, ErrorCode::export_, key << " must be " << expected_word << " for a .bin file");
}

// Throws unless ids below the result are those of the .spm file; one more may follow, which imports add.
Index check_pieces(const Tokenizer& tokenizer, const Config& c) {
  const Tokenizer plain(tokenizer.model());
  const Index pieces = plain.vocab_size(), more = tokenizer.vocab_size() - pieces;
  const std::string added = more == 1 ? tokenizer.piece(static_cast<TokenId>(pieces)) : "";
  bool same = more == 0 || added == "<pad>" || added == "<start>";
  for (TokenId id = 0; same && id < pieces; ++id) same = tokenizer.piece(id) == plain.piece(id);
  WASMFORMER_CHECK(same && plain.eos_id() == c.eos_id, ErrorCode::export_,
                   "the model does not number its pieces as its SentencePiece file does; a .bin file "
                   "cannot express that");
  return pieces;
}

void check_config(const Config& c) {
  WASMFORMER_CHECK(!c.is_encoder(), ErrorCode::export_, "only translators can be written as .bin files");
  check_key("positions", c.positions, Positions::sinusoidal_marian, "sinusoidal_marian");
  check_key("norm", c.norm, NormPosition::post, "post");
  check_key("residual", c.residual, true, "true");
  check_key("causal", c.causal, true, "true");
  check_key("key_dim", c.key_width(), c.d_model, "d_model / num_heads");
  check_key("attention", c.attention, AttentionScore::scaled_dot, "scaled_dot");
  check_key("norm_epsilon", c.norm_epsilon, 1e-6, "1e-6");
  check_key("scale_embedding", c.scale_embedding, true, "true");
  WASMFORMER_CHECK(c.tie_embeddings != TieEmbeddings::none, ErrorCode::export_,
                   "tie_embeddings must be all or target for a .bin file");
}

// The names of marian-dev/src/common/config_parser.cpp that its models store.
std::string options_text(const Config& c, Index sources, Index targets) {
  const bool is_ssru = c.decoder_self == DecoderSelf::ssru;
  const bool ties_all = c.tie_embeddings == TieEmbeddings::all;
  const std::pair<const char*, std::string> options[] = {
      {"dec-cell", is_ssru ? "ssru" : "gru"},
      {"dec-depth", std::to_string(c.decoder_layers)},
      {"dim-emb", std::to_string(c.d_model)},
      {"dim-vocabs", "[" + std::to_string(sources) + ", " + std::to_string(targets) + "]"},
      {"enc-depth", std::to_string(c.encoder_layers)},
      {"input-types", "[]"},
      {"layer-normalization", "false"},
      {"lemma-dim-emb", "0"},
      {"right-left", "false"},
      {"skip", "false"},
      {"special-vocab", "[]"},
      {"tied-embeddings", ties_all ? "false" : "true"},
      {"tied-embeddings-all", ties_all ? "true" : "false"},
      {"tied-embeddings-src", "false"},
      {"transformer-decoder-autoreg", is_ssru ? "rnn" : "self-attention"},
      {"transformer-dim-ffn", std::to_string(c.ffn_dim)},
      {"transformer-ffn-activation", word(c.activation)},
      {"transformer-ffn-depth", "2"},
      {"transformer-guided-alignment-layer", "last"},
      {"transformer-heads", std::to_string(c.num_heads)},
      {"transformer-no-projection", "false"},
      {"transformer-postprocess", "dan"},
      {"transformer-postprocess-emb", "d"},
      {"transformer-postprocess-top", "\"\""},
      {"transformer-preprocess", "\"\""},
      {"transformer-tied-layers", "[]"},
      {"transformer-train-position-embeddings", "false"},
      {"type", "transformer"},
      {"ulr", "false"},
      {"version", "v1.9.0"},
  };
  std::string text;
  for (const auto& [name, value] : options) text += std::string(name) + ": " + value + "\n";
  return text;
}

std::string decoder_text(bool is_shared, bool has_shortlist) {
  return std::string("relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n") +
         (is_shared ? "  - vocab.spm\n  - vocab.spm\n" : "  - srcvocab.spm\n  - trgvocab.spm\n") +
         (has_shortlist ? "shortlist:\n  - lex.s2t.bin\n  - false\n" : "");
}

// The items of a .bin file.
class Items {
 public:
  // As floats, or as bytes with one multiplier for all.
  void floats(const std::string& name, const Matrix& value) {
    const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> numbers = value.cast<float>();
    add(name, Dtype::f32, {value.rows(), value.cols()},
        {reinterpret_cast<const char*>(numbers.data()), static_cast<std::size_t>(numbers.size()) * sizeof(float)});
  }
  void bytes(const std::string& name, std::vector<Index> shape, const Int8Matrix& w) {
    add(name, Dtype::i8, std::move(shape), {reinterpret_cast<const char*>(w.values.data()), w.values.size()});
    floats(name + multiplier_suffix, Matrix::Constant(1, 1, 1 / static_cast<Scalar>(w.scales[0])));
  }
  void text(const std::string& name, const std::string& value) {
    add(name, Dtype::i8, {static_cast<Index>(value.size()) + 1}, {value.c_str(), value.size() + 1});
  }
  const SafetensorsFile& file() const { return file_; }

 private:
  void add(const std::string& name, Dtype dtype, std::vector<Index> shape, std::string data) {
    file_.tensors[name] = {dtype, std::move(shape), data_.emplace_back(std::move(data))};
  }

  SafetensorsFile file_;
  std::list<std::string> data_;  // its strings never move
};

// With one scale for all, as in Marian; the first `rows` rows.
Int8Matrix with_one_scale(const std::string& name, const Parameter& p, Index rows, bool is_table) {
  Int8Matrix w;
  if (p.packed.format() == PackedMatrix::Format::int8) {
    w = p.packed.int8_matrix();
    w.rows = rows;
    w.values.resize(static_cast<std::size_t>(rows * w.cols));
    w.scales.resize(static_cast<std::size_t>(rows));
    const bool same = std::adjacent_find(w.scales.begin(), w.scales.end(), std::not_equal_to<>()) == w.scales.end();
    WASMFORMER_CHECK(same, ErrorCode::export_,
                     name << " has a scale for each row; a .bin file of int8 needs the float model");
    return w;
  }
  // Bergamot in WebAssembly saturates the sum of two neighboring products, of bytes 0 to 254 and weights, at 16 bits.
  // If no two weights add up to more than 129, none saturates, so all processors agree.
  constexpr int most = 129;
  const Matrix value = p.matrix().topRows(rows);
  Scalar unit = value.cwiseAbs().maxCoeff() / 127;
  for (Index j = 1; j < value.cols() && !is_table; j += 2)  // rounding may add 1 to a sum
    unit = std::max(unit, (value.col(j - 1) + value.col(j)).cwiseAbs().maxCoeff() / (most - 1));
  const float multiplier = unit > 0 ? 1 / static_cast<float>(unit) : 1;
  w.rows = rows;
  w.cols = value.cols();
  w.scales = {1 / multiplier};
  for (const Scalar x : value.reshaped<Eigen::RowMajor>())
    w.values.push_back(
        static_cast<std::int8_t>(std::nearbyint(std::clamp(static_cast<float>(x) * multiplier, -127.0f, 127.0f))));
  // Bergamot rescales a table so that its largest byte is 127; to keep a 127, the smaller of its pair shrinks.
  for (std::size_t i = 1; i < w.values.size() && is_table; i += 2) {
    std::int8_t &first = w.values[i - 1], &second = w.values[i];
    std::int8_t& smaller = std::abs(first) < std::abs(second) ? first : second;
    const int excess = std::abs(first + second) - most;
    if (excess > 0) smaller = static_cast<std::int8_t>(smaller > 0 ? smaller - excess : smaller + excess);
  }
  return w;
}

// The items of a model by Marian's names, as floats or, with multipliers, as bytes.
class StudentItems {
 public:
  StudentItems(const Config& config, Index sources, Index targets, const Multipliers* multipliers)
      : c_(config),
        sources_(sources),
        targets_(targets),
        multipliers_(multipliers),
        output_bias_(Matrix::Zero(1, config.target_vocab_size)) {}

  void add(const ParameterInfo& info, const Parameter& p) {
    if (info.module == Module::vocabulary)  // its bias, as tie_embeddings is not none
      output_bias_ = p.value;
    else if (info.role == Role::token_embedding)
      add_table(info, p);
    else if (info.can_be_packed())
      add_weight(marian_name(info), p);
    else
      items_.floats(marian_name(info), p.value);
  }

  // All items, when the parameters are there. `unk_id`: the one special token that can be chosen.
  const SafetensorsFile& finished(TokenId unk_id) {
    for (const TokenId id : {c_.bos_id, c_.pad_id})
      if (id != unk_id) output_bias_(0, id) = never_chosen_bias;
    items_.floats(marian_output_bias, output_bias_.leftCols(targets_));
    items_.text(marian_options, options_text(c_, sources_, targets_));
    return items_.file();
  }

 private:
  void add_table(const ParameterInfo& info, const Parameter& p) {
    const bool is_source = info.stack == Stack::encoder;
    WASMFORMER_CHECK(is_source || p.matrix().row(c_.bos_id).isZero(0), ErrorCode::export_,
                     "the begin token has an embedding, but in Marian the decoder begins with zeros, as in "
                     "models trained from the start with positions=sinusoidal_marian");
    const Index rows = is_source ? sources_ : targets_;
    const std::string name = table_name(is_source);
    if (!multipliers_) return items_.floats(name, p.matrix().topRows(rows));
    items_.bytes(name, {rows, p.cols}, with_one_scale(name, p, rows, /*is_table=*/true));
    if (!is_source) add_input_multiplier(name, p);  // the target's table multiplies the output as well
  }

  std::string table_name(bool is_source) const {
    if (c_.tie_embeddings == TieEmbeddings::all) return shared_table;
    return is_source ? "encoder_Wemb" : "decoder_Wemb";
  }

  void add_weight(const std::string& name, const Parameter& p) {
    if (!multipliers_) return items_.floats(name, p.matrix().transpose());
    items_.bytes(name, {p.cols, p.rows}, with_one_scale(name, p, p.rows, /*is_table=*/false));
    add_input_multiplier(name, p);
  }

  // Adds the factor by which inputs of the product with `p` are multiplied before they are rounded.
  void add_input_multiplier(const std::string& name, const Parameter& p) {
    const auto multiplier = multipliers_->find(&p);
    if (multiplier == multipliers_->end()) return;
    const Matrix alpha = Matrix::Constant(1, 1, multiplier->second);
    items_.floats(name + alpha_suffix, alpha);
    if (name == shared_table) items_.floats(std::string("none") + alpha_suffix, alpha);
  }

  static constexpr const char* shared_table = "Wemb";

  const Config& c_;
  Index sources_, targets_;  // pieces
  const Multipliers* multipliers_;
  Items items_;
  Matrix output_bias_;  // [1, target pieces]
};

std::map<std::string, std::string> export_files(const ModelFile& model, const Multipliers* multipliers,
                                                bool is_npz = false) {
  const Config& c = model.transformer->config();
  check_config(c);
  const Tokenizer &source = *model.source_tokenizer, &target = *model.target_tokenizer;
  const Index sources = check_pieces(source, c), targets = check_pieces(target, c);
  StudentItems items(c, sources, targets, multipliers);
  model.transformer->visit([&](const ParameterInfo& info, const Parameter& p) { items.add(info, p); });
  const SafetensorsFile& file = items.finished(target.unk_id());

  std::map<std::string, std::string> files;
  const bool is_shared = source.model() == target.model();
  if (is_npz) {
    files["model.npz"] = serialize_npz(file);
    files["decoder.yml"] = decoder_text(is_shared, model.shortlist.has_value());
  } else {
    files["model.bin"] = serialize_marian_bin(file);
  }
  if (is_shared) {
    files["vocab.spm"] = source.model();
  } else {
    files["srcvocab.spm"] = source.model();
    files["trgvocab.spm"] = target.model();
  }
  if (model.shortlist) files["lex.s2t.bin"] = serialize_marian_shortlist(*model.shortlist, sources, targets);
  return files;
}

// 127 / (mean + 1.1 deviations) of the largest inputs of every product, as Marian's tools choose it, while the texts
// are translated one by one.
Multipliers calibrated(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts) {
  struct Largest {
    double sum = 0, squares = 0, count = 0;
  };
  std::map<const Parameter*, Largest> inputs;
  const Tape::Observer observer = [&inputs](const Parameter& weight, ConstView x) {
    const double largest = static_cast<double>(x.cwiseAbs().maxCoeff());
    Largest& all = inputs[&weight];
    all.sum += largest;
    all.squares += largest * largest;
    ++all.count;
  };
  const Index longest = model.transformer->config().max_length;
  for (const std::string& text : texts) {
    std::vector<TokenId> ids = tokenize(model, text, 0).ids;
    const auto n = static_cast<Index>(ids.size());
    if (n == 1 || n > longest) continue;
    const Index max_tokens = std::min(2 * n, longest);
    Search search(*model.transformer, pool, {{std::move(ids), {}, max_tokens, 0}}, greedy());
    search.observe(&observer);
    while (search.step()) {
    }
  }
  Multipliers multipliers;
  for (const auto& [weight, all] : inputs) {
    const double mean = all.sum / all.count, variance = std::max(all.squares / all.count - mean * mean, 0.0);
    if (mean > 0) multipliers[weight] = static_cast<float>(127 / (mean + 1.1 * std::sqrt(variance)));
  }
  return multipliers;
}

}  // namespace

std::map<std::string, std::string> export_student(const ModelFile& model) { return export_files(model, nullptr); }

std::map<std::string, std::string> export_npz_student(const ModelFile& model) {
  return export_files(model, nullptr, /*is_npz=*/true);
}

std::map<std::string, std::string> export_int8_student(const ModelFile& model, ThreadPool& pool,
                                                       const std::vector<std::string>& texts) {
  const Config& c = model.transformer->config();
  check_config(c);
  constexpr Index inner = 64, columns = 8;
  for (const auto& [name, size, multiple] :
       {std::tuple("d_model", c.d_model, inner),
        {"ffn_dim", c.ffn_dim, inner},
        {"the number of target pieces", check_pieces(*model.target_tokenizer, c), columns}})
    WASMFORMER_CHECK(size % multiple == 0, ErrorCode::export_,
                     name << " is " << size << "; for int8 in Bergamot it must be a multiple of " << multiple);
  Multipliers multipliers = calibrated(model, pool, texts);
  model.transformer->visit([&](const ParameterInfo&, const Parameter& p) {
    if (const auto own = p.packed.input_multiplier(); own && *own > 0) multipliers[&p] = *own;
  });
  return export_files(model, &multipliers);
}

}  // namespace wasmformer
