#include "exchange/huggingface/encoder_settings.h"

#include <nlohmann/json.hpp>

#include "text/wordpiece.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;

const char* architecture(const Config& c) {
  if (c.predicts_tokens()) return "BertForMaskedLM";
  return c.classes > 0 ? "BertForSequenceClassification" : "BertForTokenClassification";
}

Json config_json(const ModelFile& model) {
  const Config& c = model.transformer->config();
  Json json{{"architectures", {architecture(c)}},
            {"model_type", "bert"},  // programs take it for the names of inputs and outputs
            {"vocab_size", c.source_vocab_size},
            {"hidden_size", c.d_model},
            {"num_hidden_layers", c.encoder_layers},
            {"num_attention_heads", c.num_heads},
            {"intermediate_size", c.ffn_dim},
            {"max_position_embeddings", c.max_length},
            {"pad_token_id", c.pad_id},
            {"bos_token_id", c.bos_id},
            {"eos_token_id", c.eos_id}};
  if (c.classes > 0) json["problem_type"] = std::string(c.multi_label ? "multi" : "single") + "_label_classification";
  const auto add = [&json](const char* ids, const char* names, const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      json[ids][std::to_string(i)] = labels[i];
      json[names][labels[i]] = i;
    }
  };
  add("id2label", "label2id", c.classes > 0 ? model.labels.classes : model.labels.tags);
  if (c.classes > 0) add("id2tag", "tag2id", model.labels.tags);
  return json;
}

}  // namespace

std::map<std::string, std::string> encoder_settings(const ModelFile& model) {
  const Tokenizer& tokenizer = *model.source_tokenizer;
  std::map<std::string, std::string> files{{"config.json", config_json(model).dump(2) + "\n"}};
  if (const auto& rules = tokenizer.wordpiece()) {
    for (const std::string& line : wordpiece_vocabulary(tokenizer.model())) files["vocab.txt"] += line + "\n";
    const Json json{{"tokenizer_class", "BertTokenizer"},
                    {"do_lower_case", rules->lower_case},
                    {"strip_accents", rules->strip_accents},
                    {"tokenize_chinese_chars", rules->split_chinese},
                    {"unk_token", tokenizer.piece(tokenizer.unk_id())},
                    {"cls_token", tokenizer.piece(tokenizer.bos_id())},
                    {"sep_token", tokenizer.piece(tokenizer.eos_id())},
                    {"pad_token", tokenizer.piece(tokenizer.pad_id())},
                    {"model_max_length", model.transformer->config().max_length}};
    files["tokenizer_config.json"] = json.dump(2) + "\n";
  } else {
    files["source.spm"] = tokenizer.model();
    files["vocab.json"] = nlohmann::json(tokenizer.ids()).dump(2) + "\n";
  }
  return files;
}

}  // namespace wasmformer
