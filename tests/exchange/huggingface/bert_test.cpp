// To add a kind of model: write it in tests/fixtures/bert/make.py, and name its folder below.
#include "exchange/huggingface/bert.h"

#include <catch_amalgamated.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "schema/error.h"
#include "tasks/annotate/inference.h"
#include "tests/exchange/folder.h"

using namespace wasmformer;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

const json& bert_expected() {
  static const json all = json::parse(read_file(own_fixtures_path() + "/bert/expected.json"));
  return all;
}

Folder bert_folder(const std::string& kind) { return Folder(kind, "bert"); }

// The label scores in the order of expected.json: one row for the text or, from a tagger, one per token.
std::vector<double> scores(const ModelFile& model, const std::vector<TokenId>& ids, const json& labels) {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Spans spans{{0, static_cast<Index>(ids.size())}};
  Var memory = model.transformer->encode(tape, ids, spans);
  const bool tags = model.transformer->config().tags > 0;
  std::vector<Index> rows(ids.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
  const Matrix found =
      (tags ? model.transformer->tag(tape, memory, rows) : model.transformer->classify(tape, memory, spans)).value();
  const std::vector<std::string>& names = tags ? model.labels.tags : model.labels.classes;
  std::vector<double> all;
  for (Index i = 0; i < found.rows(); ++i)
    for (const json& label : labels)
      all.push_back(found(i, std::find(names.begin(), names.end(), label.get<std::string>()) - names.begin()));
  return all;
}

// The largest and the mean difference from PyTorch's scores.
std::pair<double, double> differences(const ModelFile& model, const json& right) {
  double worst = 0, sum = 0, count = 0;
  for (std::size_t i = 0; i < right["tokens"].size(); ++i) {
    const auto all = right["logits"][i].get<std::vector<double>>();
    const std::vector<double> found = scores(model, right["tokens"][i], right["labels"]);
    REQUIRE(found.size() == all.size());
    for (std::size_t j = 0; j < all.size(); ++j, ++count) {
      worst = std::max(worst, std::abs(found[j] - all[j]));
      sum += std::abs(found[j] - all[j]);
    }
  }
  return {worst, sum / count};
}

}  // namespace

TEST_CASE("BERT and DistilBERT split text by their rules and give PyTorch's scores") {
  const std::string kind = GENERATE("bert-classify", "distilbert-tag");
  INFO(kind);
  ModelFile model = bert_folder(kind).import();
  const json& right = bert_expected().at(kind);
  for (std::size_t i = 0; i < right["tokens"].size(); ++i) {
    const std::string text = bert_expected()["texts"][i];
    INFO(text);
    CHECK(tokenize_text(model, text).ids == right["tokens"][i].get<std::vector<TokenId>>());
  }
  CHECK(differences(model, right).first < 1e-4);
  const ModelFile again = parse_model(serialize_model(model, Precision::f32));
  CHECK(again.transformer->config() == model.transformer->config());
  CHECK(*again.source_tokenizer == *model.source_tokenizer);
  CHECK(differences(again, right).first < 1e-4);
  model.transformer->quantize();
  const double rounded =
      differences(parse_model(serialize_model(model, Precision::f32), Weights::packed), right).second;
  CHECK(rounded > 1e-4);
  CHECK(rounded < 0.3);  // of scores up to 6
}

TEST_CASE("An imported tagger tags words with their positions, and a classifier gives probabilities") {
  ThreadPool pool;
  const Annotation tagged = annotate(bert_folder("bert-tag").import(), pool, {"Hello  combining wörld"})[0];
  REQUIRE(tagged.words.size() == 3);
  CHECK(tagged.words[1].begin == 7);
  CHECK(tagged.words[1].size == 9);
  REQUIRE(tagged.tokens.size() == 6);
  CHECK(tagged.tokens[0].piece == "[CLS]");
  CHECK(tagged.tokens[2].piece == "\u2581combin");
  CHECK(tagged.tokens[3].piece == "ing");
  // A folder does not say how spans begin, so each word has its best tag, as in Transformers.
  CHECK(bert_folder("bert-tag").import().labels.scheme == TagScheme::any);

  const ModelFile model = bert_folder("bert-classify").import();
  const auto logits = bert_expected()["bert-classify"]["logits"][0].get<std::vector<double>>();
  const Annotation found = annotate(model, pool, {bert_expected()["texts"][0]})[0];
  const auto most = static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - logits[most]);
  CHECK(found.labels[0].label == bert_expected()["bert-classify"]["labels"][most]);
  CHECK(found.labels[0].probability == Catch::Approx(1 / sum).epsilon(1e-4));
}

TEST_CASE("A BERT folder gives the config and the tokenizer's rules") {
  Folder f = bert_folder("bert-classify");
  const Config c = f.import().transformer->config();
  CHECK(c.pooling == Pooling::first);
  CHECK(c.pooler == Pooler::tanh);
  CHECK(c.embedding_norm);
  CHECK(c.positions == Positions::learned);
  CHECK(c.activation == Activation::gelu);
  CHECK(c.norm_epsilon == 1e-12);
  CHECK(c.max_length == 112);
  CHECK(c.dropout == 0.1);
  CHECK_FALSE(c.multi_label);
  CHECK(bert_folder("distilbert-classify").import().transformer->config().pooler == Pooler::relu);
  CHECK(bert_folder("distilbert-tag").import().transformer->config().pooler == Pooler::none);

  f.change("config.json", [](json& c) {
    c["problem_type"] = "multi_label_classification";
    c.erase("id2label");
  });
  f.change("tokenizer_config.json", [](json& t) { t["strip_accents"] = false; });
  ModelFile model = f.import();
  CHECK(model.transformer->config().multi_label);
  CHECK(model.labels.classes == std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"});
  CHECK(model.source_tokenizer->encode("WÖRLD") == model.source_tokenizer->encode("wörld"));
  CHECK(model.source_tokenizer->encode("wörld") != model.source_tokenizer->encode("world"));
  f.files.erase("tokenizer_config.json");
  CHECK(f.import().source_tokenizer->encode("WÖRLD") == model.source_tokenizer->encode("world"));
  // Norms as TensorFlow calls them, lines as Windows ends them, and a table that is not used.
  f.change_tensors([](auto& tensors) {
    auto all = std::exchange(tensors, {});
    for (auto& [name, tensor] : all) {
      const auto at = name.find("LayerNorm.");
      tensors[at == name.npos ? name : name.substr(0, at + 10) + (name[at + 10] == 'w' ? "gamma" : "beta")] = tensor;
    }
  });
  std::string& lines = f.files["vocab.txt"];
  for (std::size_t i = 0; (i = lines.find('\n', i)) != lines.npos; i += 2) lines.insert(i, "\r");
  CHECK(f.import().source_tokenizer->encode("WÖRLD") == model.source_tokenizer->encode("world"));
}

TEST_CASE("Heads of other tasks, and rows beyond the vocabulary, change nothing in a BERT model") {
  const std::string kind = GENERATE("bert-classify", "distilbert-tag");
  Folder f = bert_folder(kind);
  const std::string right = serialize_model(f.import(), Precision::f32);
  const std::string bytes(4 * 16 * 3, '\x3E');
  std::string longer;
  f.change_tensors([&](auto& tensors) {
    for (const char* name : {"cls.predictions.bias", "cls.seq_relationship.weight", "vocab_projector.weight",
                             "vocab_layer_norm.bias", "qa_outputs.weight"})
      tensors[name] = {Dtype::f32, {3, 16}, bytes};
    const auto is_table = [](const auto& tensor) { return tensor.first.ends_with("word_embeddings.weight"); };
    TensorEntry& pieces = std::find_if(tensors.begin(), tensors.end(), is_table)->second;
    longer = std::string(pieces.data) + std::string(2 * pieces.data.size() / pieces.shape[0], '\x3E');
    pieces = {Dtype::f32, {pieces.shape[0] + 2, pieces.shape[1]}, longer};
  });
  f.change("config.json", [](json& c) { c["vocab_size"] = c["vocab_size"].get<int>() + 2; });
  CHECK(serialize_model(f.import(), Precision::f32) == right);
}

TEST_CASE("PreTrainedTokenizerFast has the rules of tokenizer.json") {
  Folder f = bert_folder("bert-classify");
  f.change("tokenizer_config.json", [](json& t) { t = {{"tokenizer_class", "PreTrainedTokenizerFast"}}; });
  CHECK_THROWS_WITH(f.import(), StartsWith("[import] the folder has no tokenizer.json"));
  json tokenizer{
      {"model", {{"type", "WordPiece"}}},
      {"normalizer",
       {{"type", "BertNormalizer"}, {"lowercase", true}, {"strip_accents", false}, {"handle_chinese_chars", true}}}};
  f.files["tokenizer.json"] = tokenizer.dump();
  const ModelFile model = f.import();
  CHECK(model.source_tokenizer->encode("WÖRLD") == model.source_tokenizer->encode("wörld"));
  CHECK(model.source_tokenizer->encode("wörld") != model.source_tokenizer->encode("world"));
  tokenizer["normalizer"]["strip_accents"] = nullptr;  // as lowercase is
  f.files["tokenizer.json"] = tokenizer.dump();
  const ModelFile plain = f.import();
  CHECK(plain.source_tokenizer->encode("wörld") == plain.source_tokenizer->encode("world"));
  tokenizer["model"]["type"] = "BPE";
  f.files["tokenizer.json"] = tokenizer.dump();
  CHECK_THROWS_WITH(f.import(), StartsWith("[bert] the model in tokenizer.json is \"BPE\"; only WordPiece"));
}

TEST_CASE("Unsupported BERT folders are refused with one sentence") {
  Folder f = bert_folder("bert-classify");
  std::string message;
  SECTION("another head") {
    f.configure("architectures", {"BertForMaskedLM"});
    message = "[bert] the architecture in config.json is 'BertForMaskedLM'; only BERT and DistilBERT";
  }
  SECTION("another model") {
    f.configure("model_type", "roberta");
    message = "[import] config.json has model_type 'roberta'; only 'marian', 'bert' and 'distilbert' can be read";
  }
  SECTION("no vocabulary") {
    f.files.erase("vocab.txt");
    message = "[import] the folder has no vocab.txt";
  }
  SECTION("a vocabulary of another size") {
    f.files["vocab.txt"] += "more\n";
    message = "[bert] vocab.txt has ";
  }
  SECTION("no special token") {
    f.change("tokenizer_config.json", [](json& t) { t["cls_token"] = "<s>"; });
    message = "[wordpiece] the vocabulary has no <s>";
  }
  SECTION("relative positions") {
    f.configure("position_embedding_type", "relative_key");
    message = "[bert] position_embedding_type is 'relative_key'; only 'absolute' can be read";
  }
  SECTION("a decoder") {
    f.configure("is_decoder", true);
    message = "[bert] is_decoder is true; only encoders can be read";
  }
  SECTION("an activation") {
    f.configure("hidden_act", "gelu_new");
    message = "[import] hidden_act is 'gelu_new'; expected relu, gelu or swish";
  }
  SECTION("regression") {
    f.configure("problem_type", "regression");
    message = "[bert] problem_type is 'regression'";
  }
  SECTION("another tokenizer") {
    f.change("tokenizer_config.json", [](json& t) { t["tokenizer_class"] = "BertJapaneseTokenizer"; });
    message = "[bert] the tokenizer is 'BertJapaneseTokenizer'; only BertTokenizer can be read";
  }
  SECTION("labels of another number") {
    f.configure("id2label", {{"0", "yes"}, {"1", "no"}});
    message = "[bert] id2label must name 3 labels, as the weights have, but is {\"0\":\"yes\",\"1\":\"no\"}";
  }
  SECTION("a label twice") {
    f.configure("id2label", {{"0", "yes"}, {"1", "no"}, {"2", "no"}});
    message = "[bert] id2label has two labels of the same name";
  }
  SECTION("weights of another size") {
    f.configure("intermediate_size", 32);
    message = "[model] tensor 'model.encoder.layers.0.fc1.weight' is [24, 16], the config asks for [32, 16]";
  }
  SECTION("a missing layer") {
    f.configure("num_hidden_layers", 3);
    message = "[model] the tensor 'model.encoder.layers.2.";
  }
  SECTION("a layer too many") {
    f.configure("num_hidden_layers", 1);
    message = "[model] the tensor 'model.encoder.layers.1.";
  }
  SECTION("truncated weights") {
    f.files["model.safetensors"].resize(20000);
    message = "[safetensors]";
  }
  SECTION("no weights") {
    f.files.erase("model.safetensors");
    message = "[import] the folder has no weights";
  }
  INFO(message);
  CHECK_THROWS_WITH(f.import(), StartsWith(message));
}
