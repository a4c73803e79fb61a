// A PyTorch dump of one small model, worked through; its form and names are those of
// tests/fixtures/pytorch/README.md. Every size is read from the files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "bundle/safetensors.h"
#include "model/transformer.h"
#include "tasks/translate/corpus.h"
#include "tests/support.h"

namespace wasmformer {

// The bytes of a safetensors file and what they hold.
struct FixtureFile {
  std::string bytes;
  SafetensorsFile parsed;

  explicit FixtureFile(const std::string& path) : bytes(read_file(path)), parsed(parse_safetensors(bytes)) {}
  FixtureFile(const FixtureFile&) = delete;

  double number(const std::string& key) const { return std::stod(parsed.metadata.at(key)); }
  bool has(const std::string& name) const { return parsed.tensors.count(name) > 0; }

  // A tensor of any number of dimensions: the last are the columns, all others the rows.
  Matrix matrix(const std::string& name) const {
    if (!has(name)) throw std::runtime_error("the fixture has no tensor " + name);
    SafetensorsFile one;
    TensorEntry& entry = one.tensors[name] = parsed.tensors.at(name);
    while (entry.shape.size() > 2) {
      entry.shape[1] *= entry.shape[0];
      entry.shape.erase(entry.shape.begin());
    }
    return one.matrix(name);
  }
};

// Every folder under fixtures_path(), itself counted, that holds a dump.
inline std::vector<std::string> pytorch_fixtures() {
  namespace fs = std::filesystem;
  const auto holds_dump = [](const fs::path& folder) {
    return fs::exists(folder / "model.safetensors") && fs::exists(folder / "forward.safetensors");
  };
  std::vector<std::string> folders;
  if (holds_dump(fixtures_path())) folders.push_back(fixtures_path());
  for (const auto& entry : fs::recursive_directory_iterator(fixtures_path()))
    if (entry.is_directory() && holds_dump(entry.path())) folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

inline Config fixture_config(const FixtureFile& file, Index max_length) {
  const auto size = [&](const char* key) { return static_cast<Index>(file.number(key)); };
  Config c;
  c.source_vocab_size = c.target_vocab_size = size("vocab");
  c.d_model = size("d_model");
  c.num_heads = size("heads");
  c.ffn_dim = size("d_ff");
  c.encoder_layers = c.decoder_layers = size("layers");
  c.max_length = max_length;
  c.norm_epsilon = file.number("ln_eps");
  c.dropout = file.number("dropout");
  c.output_bias = false;
  c.pad_id = static_cast<TokenId>(size("pad"));
  c.bos_id = static_cast<TokenId>(size("bos"));
  c.eos_id = static_cast<TokenId>(size("eos"));
  return c;
}

// What the dump calls a parameter of ours: model.decoder.layers.0.encoder_attn.q_proj.weight is
// decoder.0.cross.q.weight.
inline std::string fixture_name(std::string name) {
  const bool decoder = name.find("decoder") != std::string::npos;
  const std::pair<const char*, const char*> replacements[] = {
      {"model.shared", "emb"},
      {"model.", ""},
      {"layers.", ""},
      {"self_attn_layer_norm", "norm1"},
      {"encoder_attn_layer_norm", "norm2"},
      {"final_layer_norm", decoder ? "norm3" : "norm2"},
      {"self_attn", "self"},
      {"encoder_attn", "cross"},
      {"out_proj", "o"},
      {"_proj", ""},
      {"fc", "ff"},
  };
  for (const auto& [ours, theirs] : replacements)
    if (const auto at = name.find(ours); at != std::string::npos) name.replace(at, std::string(ours).size(), theirs);
  return name;
}

// `config` may have fewer layers than the file.
inline Transformer fixture_model(const FixtureFile& file, const Config& config) {
  Transformer transformer(config);
  transformer.visit([&](const ParameterInfo& info, Parameter& p) {
    const Matrix value = file.matrix(fixture_name(info.name));
    WASMFORMER_CHECK(
        value.rows() == p.rows && value.cols() == p.cols, ErrorCode::other,
        "[fixture] " << info.name << " is [" << p.rows << ", " << p.cols << "], stored " << shape(value) << ".");
    p.value = value;
  });
  return transformer;
}

// Row `row` of padded ids without its pads, which follow the text.
inline std::vector<TokenId> without_pads(const Matrix& ids, Index row, TokenId pad) {
  std::vector<TokenId> tokens;
  for (Index j = 0; j < ids.cols(); ++j) {
    const TokenId id = static_cast<TokenId>(ids(row, j));
    if (id == pad) continue;
    WASMFORMER_CHECK(j == static_cast<Index>(tokens.size()), ErrorCode::other,
                     "[fixture] a pad precedes token " << j << ".");
    tokens.push_back(id);
  }
  return tokens;
}

// The batch of the dump as sentence pairs.
inline Corpus fixture_corpus(const FixtureFile& forward, TokenId pad) {
  const Matrix source = forward.matrix("src"), target = forward.matrix("tgt_out");
  Corpus corpus;
  for (Index i = 0; i < source.rows(); ++i)
    corpus.pairs.push_back({without_pads(source, i, pad), without_pads(target, i, pad)});
  return corpus;
}

}  // namespace wasmformer
