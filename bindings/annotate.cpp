// Classifying and tagging: the jobs, and what their results look like in JavaScript.
#include "annotate.h"

namespace wasmformer {
namespace {

// The parts of one text by their place in UTF-8.
class TextParts {
 public:
  explicit TextParts(const std::string& text) : text_(text) {
    utf16_.reserve(text.size() + 1);
    std::size_t units = 0;
    for (const unsigned char byte : text) {
      utf16_.push_back(units);
      const bool begins = (byte & 0xC0) != 0x80;
      const bool is_pair = byte >= 0xF0;  // a surrogate pair in UTF-16
      if (begins) units += is_pair ? 2 : 1;
    }
    utf16_.push_back(units);
  }

  TextPart operator()(std::size_t begin, std::size_t end) const {
    return {.text = text_.substr(begin, end - begin), .start = utf16_[begin], .end = utf16_[end]};
  }

 private:
  const std::string& text_;
  std::vector<std::size_t> utf16_;  // where each byte stands, and the end
};

std::vector<TaggedToken> tagged_tokens(const TextParts& part, const std::vector<TaggedWord>& words) {
  std::vector<TaggedToken> tokens;
  for (const TaggedWord& word : words)
    tokens.push_back({part(word.begin, word.begin + word.size), word.tag, word.probability});
  return tokens;
}

std::vector<TaggedSpan> tagged_spans(const TextParts& part, const std::vector<TaggedWord>& words) {
  Labels tags;
  for (const TaggedWord& word : words) tags.push_back(word.tag);
  std::vector<TaggedSpan> spans;
  for (const auto& [begin, end, type] : tag_spans(tags)) {
    const TaggedWord& last = words[end - 1];
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += words[i].probability;
    spans.push_back({part(words[begin].begin, last.begin + last.size), type, sum / static_cast<double>(end - begin)});
  }
  return spans;
}

AnnotateOptions checked_options(const Config& c, const std::string& json, const std::string& use) {
  check_use(c, use, use);
  AnnotateOptions options;
  from_json(json, fields(options), use, Naming::camel);
  WASMFORMER_CHECK(c.classes > 0 || options.top_labels == 0, ErrorCode::wrong_task,
                   "topLabels is given, but this model has no labels of whole texts", {"place", use});
  check_split(options, c, use);
  return options;
}

}  // namespace

Annotations::Annotations(const ModelFile& model, std::vector<std::string> texts, const std::string& options,
                         const std::string& use)
    : model_(model),
      texts_(std::move(texts)),
      job_(model, pool(), texts_, checked_options(model.transformer->config(), options, use), batch_tokens) {}

AnnotationResult Annotations::annotation(const std::string& text, Annotation&& found) const {
  const Config& config = model_.transformer->config();
  AnnotationResult annotation;
  annotation.source_tokens = std::move(found.tokens);
  if (config.classes > 0) {
    annotation.labels = std::move(found.labels);
    annotation.is_truncated = found.is_truncated;
  }
  if (config.tags > 0) {
    const TextParts part(text);
    annotation.tokens = tagged_tokens(part, found.words);
    annotation.spans.emplace();
    if (are_spans(model_.labels.tags)) annotation.spans = tagged_spans(part, found.words);
  }
  if (found.attention) annotation.attention.emplace(std::move(*found.attention));
  return annotation;
}

std::vector<AnnotationResult> Annotations::result() {
  std::vector<AnnotationResult> annotations;
  for (Annotation& found : job_.take()) annotations.push_back(annotation(texts_[annotations.size()], std::move(found)));
  return annotations;
}

std::unique_ptr<Annotations> translator_annotate(const LoadedModel& model, const std::vector<std::string>& texts,
                                                 const std::string& options, const std::string& use) {
  return std::make_unique<Annotations>(model.model(), texts, options, use);
}

}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_annotate) {
  using namespace emscripten;
  using namespace wasmformer;
  register_array<LabelProbability>("LabelProbability[]");
  register_array<TaggedToken>("TaggedToken[]");
  register_array<TaggedSpan>("TaggedSpan[]");
  register_array<AnnotationResult>("Annotation[]");
  register_optional<std::vector<LabelProbability>>();
  register_optional<bool>();
  register_optional<std::vector<TaggedToken>>();
  register_optional<std::vector<TaggedSpan>>();
  register_optional<EncoderAttention>();
  value_object<LabelProbability>("LabelProbability")
      .field("label", &LabelProbability::label)
      .field("probability", &LabelProbability::probability);
  value_object<TaggedToken>("TaggedToken")
      .field("text", &TaggedToken::text)
      .field("start", &TaggedToken::start)
      .field("end", &TaggedToken::end)
      .field("tag", &TaggedToken::tag)
      .field("probability", &TaggedToken::probability);
  value_object<TaggedSpan>("TaggedSpan")
      .field("text", &TaggedSpan::text)
      .field("start", &TaggedSpan::start)
      .field("end", &TaggedSpan::end)
      .field("type", &TaggedSpan::type)
      .field("probability", &TaggedSpan::probability);
  value_object<EncoderAttention>("EncoderAttention").field("encoder", &EncoderAttention::encoder);
  value_object<AnnotationResult>("Annotation")
      .field("sourceTokens", &AnnotationResult::source_tokens)
      .field("labels", &AnnotationResult::labels)
      .field("isTruncated", &AnnotationResult::is_truncated)
      .field("isCut", &AnnotationResult::is_truncated)
      .field("tokens", &AnnotationResult::tokens)
      .field("spans", &AnnotationResult::spans)
      .field("attention", &AnnotationResult::attention);
  class_<Annotations>("Annotations").function("step", &Annotations::step).function("result", &Annotations::result);
}
