// Marian's own files; that they are read right is in marian_test.cpp.
#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/exchange/containers/stored_zip.h"
#include "tests/exchange/folder.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// The archive with its options changed: `from` replaced by `to`.
void change_options(Folder& folder, const std::string& from, const std::string& to) {
  StoredZip zip(folder.files.at("model.npz"));
  std::string& options = zip.files.at("special:model.yml.npy");
  const std::size_t at = options.find(from);
  REQUIRE(at != std::string::npos);
  options.replace(at, from.size(), to);
  const std::size_t header = options.find('\n') + 1;
  zip.files["special:model.yml.npy"] = npy("|i1", {options.size() - header}, options.substr(header));
  folder.files["model.npz"] = zip.bytes();
}

}  // namespace

TEST_CASE("Unsupported Marian models are refused, naming the setting") {
  Folder f("tiny-npz");
  const auto [from, to, message] = GENERATE(table<std::string, std::string, std::string>({
      {"\ntype: transformer", "\ntype: s2s", "[marian] the model is of type 's2s'; only 'transformer' is supported"},
      {"autoreg: self-attention", "autoreg: average-attention",
       "[marian] transformer-decoder-autoreg is 'average-attention'; only 'self-attention' is supported"},
      {"postprocess: dan", "postprocess: dhn", "[marian] transformer-postprocess is 'dhn'; only"},
      {"preprocess: \"\"", "preprocess: n", "[marian] transformer-preprocess is 'n'"},
      {"ffn-depth: 2", "ffn-depth: 3", "[marian] transformer-ffn-depth is '3'"},
      {"right-left: false", "right-left: true", "[marian] right-left is 'true'"},
      {"lemma-dim-emb: 0", "lemma-dim-emb: 8", "[marian] lemma-dim-emb is '8'"},
      {"tied-layers:\n  []", "tied-layers:\n  - 1", "[marian] transformer-tied-layers is set"},
      {"activation: swish", "activation: tanh", "[marian] transformer-ffn-activation is 'tanh'"},
      {"dim-emb: 16", "dim-emb: big", "[marian] dim-emb of special:model.yml must be a whole number, not 'big'"},
      {"enc-depth: 1", "enc-depth: 2", "[marian] the tensor 'encoder_l2_self_Wq' is missing"},
      {"dec-depth: 2", "dec-depth: 1", "' is unknown to a model with these options"},
      {"version: v1.9.0", "a: {b: c}", "[yaml] line "},
  }));
  INFO(to);
  change_options(f, from, to);
  CHECK_THROWS_WITH(f.import(), ContainsSubstring(message));
}

TEST_CASE("Inconsistent Marian folders are refused") {
  Folder f("tiny-npz");
  std::string& decoder = f.files.at("decoder.yml");
  std::string message;
  SECTION("two models") {
    decoder = "models: [a.npz, b.npz]\nvocabs: [tiny.vocab.yml, tiny.vocab.yml]\n";
    message = "[marian] decoder.yml names 2 models; only one is supported";
  }
  SECTION("a missing model") {
    decoder = "models: [a.npz]\nvocabs: [tiny.vocab.yml, tiny.vocab.yml]\n";
    message = "[import] the folder has no a.npz";
  }
  SECTION("one vocabulary") {
    decoder = "vocabs:\n- tiny.vocab.yml\n";
    message = "[marian] decoder.yml names 1 vocabs; there must be two";
  }
  SECTION("factors") {
    f.files["v.fsv"] = "";
    decoder = "vocabs: [v.fsv, v.fsv]\n";
    message = "[marian] the vocabulary v.fsv must end in .spm or .yml";
  }
  SECTION("a vocabulary of the wrong size") {
    f.files["tiny.vocab.yml"] += "new: 12\n";
    message = "[marian] Wemb has 12 rows, but the vocabulary 13 pieces";
  }
  SECTION("a vocabulary with a gap") {
    f.files["tiny.vocab.yml"] += "new: 14\n";
    message = "[marian] tiny.vocab.yml has 'new' with id '14'; ids must be 0 to 12, each once";
  }
  SECTION("no .spm for a .yml vocabulary") {
    f.files.erase("target.spm");
    message = "[import] the folder has no target.spm";
  }
  CHECK_THROWS_WITH(f.import(), ContainsSubstring(message));
}

TEST_CASE("A Marian vocabulary can be the SentencePiece model itself") {
  Folder f("tiny-npz");
  f.files["v.spm"] = f.files["target.spm"];  // <unk>, <s>, </s> and 7 letters
  f.files["decoder.yml"] = "vocabs: [v.spm, v.spm]\n";
  StoredZip zip(f.files.at("model.npz"));
  zip.files["Wemb.npy"] = npy("<f4", {10, 16}, std::string(10 * 16 * 4, '\0'));
  zip.files["decoder_ff_logit_out_b.npy"] = npy("<f4", {1, 10}, std::string(10 * 4, '\0'));
  f.files["model.npz"] = zip.bytes();
  const ModelFile model = f.import();
  CHECK(model.transformer->config().eos_id == 2);
  CHECK(model.transformer->config().bos_id == 10);
  CHECK(model.source_tokenizer == model.target_tokenizer);
  CHECK(model.source_tokenizer->encode("ab") == Tokenizer(f.files["v.spm"]).encode("ab"));
}
