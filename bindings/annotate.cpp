// Classifying and tagging: the jobs, and what their results look like in JavaScript.
#include "annotate.h"

namespace wasmformer {
namespace {

void add_tags(Json& json, const ModelFile& model, const std::string& text, const std::vector<TaggedWord>& words) {
  std::vector<std::size_t> utf16{0};  // where each byte stands for JavaScript, which counts in UTF-16
  for (unsigned char byte : text) utf16.push_back(utf16.back() + ((byte & 0xC0) != 0x80) + (byte >= 0xF0));
  const auto place = [&](std::size_t begin, std::size_t end) -> Json {
    return {{"text", text.substr(begin, end - begin)}, {"start", utf16[begin]}, {"end", utf16[end]}};
  };
  Labels tags;
  json["tokens"] = json["spans"] = Json::array();
  for (const TaggedWord& w : words) {
    Json& token = json["tokens"].emplace_back(place(w.begin, w.begin + w.size));
    tags.push_back(token["tag"] = w.tag);
    token["probability"] = w.probability;
  }
  if (!are_spans(model.labels.tags)) return;
  for (const auto& [begin, end, type] : tag_spans(tags)) {
    const TaggedWord& last = words[end - 1];
    Json& span = json["spans"].emplace_back(place(words[begin].begin, last.begin + last.size));
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += words[i].probability;
    span["type"] = type;
    span["probability"] = sum / static_cast<double>(end - begin);
  }
}

AnnotateOptions checked_options(const Config& c, const std::string& json, const std::string& use) {
  check_use(c, use, use);
  AnnotateOptions options;
  from_json(json, fields(options), use, Naming::camel);
  WASMFORMER_CHECK(c.classes > 0 || options.top_labels == 0, ErrorCode::wrong_task,
                   "[" << use << "] topLabels is given, but this model has no labels of whole texts");
  WASMFORMER_CHECK(c.tags > 0 || options.split, ErrorCode::wrong_task,
                   "[" << use << "] split is false, but this model does not split texts");
  return options;
}

}  // namespace

Annotations::Annotations(const ModelFile& model, std::vector<std::string> texts, const std::string& options,
                         const std::string& use)
    : model_(model),
      texts_(std::move(texts)),
      job_(model, pool(), texts_, checked_options(model.transformer->config(), options, use), batch_tokens) {}

std::vector<AnnotationResult> Annotations::result() {
  const Config& config = model_.transformer->config();
  std::vector<AnnotationResult> results;
  for (Annotation& found : job_.take()) {
    Json json{{"sourceTokens", Json::array()}};
    for (const auto& [piece, id] : found.tokens) json["sourceTokens"].push_back({{"piece", piece}, {"id", id}});
    if (config.classes > 0) {
      json["labels"] = Json::array();
      for (const auto& [label, p] : found.labels) json["labels"].push_back({{"label", label}, {"probability", p}});
      json["isCut"] = found.is_cut;
    }
    if (config.tags > 0) add_tags(json, model_, texts_[results.size()], found.words);
    results.push_back({json.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(found.attention)});
  }
  return results;
}

std::unique_ptr<Annotations> translator_annotate(const Translator& model, const std::vector<std::string>& texts,
                                                 const std::string& options, const std::string& use) {
  return std::make_unique<Annotations>(model.model(), texts, options, use);
}

}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_annotate) {
  using namespace emscripten;
  using namespace wasmformer;
  register_array<AnnotationResult>("AnnotationResult[]");
  value_object<AnnotationResult>("AnnotationResult")
      .field("json", &AnnotationResult::json)
      .field("attention", &AnnotationResult::attention);
  class_<Annotations>("Annotations").function("step", &Annotations::step).function("result", &Annotations::result);
}
