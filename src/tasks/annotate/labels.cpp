#include "tasks/annotate/labels.h"

#include <algorithm>
#include <set>
#include <utility>

#include "schema/error.h"
#include "tasks/translate/corpus.h"

namespace wasmformer {
namespace {

TokenId find(const std::vector<std::string>& sorted, const std::string& name) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), name);
  return found != sorted.end() && *found == name ? static_cast<TokenId>(found - sorted.begin()) : -1;
}

void push_begin_token(const Config& config, std::vector<TokenId>& ids) {
  if (config.pooling == Pooling::first) ids.push_back(config.bos_id);
}

// The tokens of one word, without the space before it where that is a token of its own.
std::vector<TokenId> word_tokens(const Tokenizer& tokenizer, std::string_view word) {
  std::vector<TokenId> ids = tokenizer.encode(word);
  if (ids.size() > 1 && tokenizer.piece(ids[0]) == "▁") ids.erase(ids.begin());
  if (ids.empty()) ids.push_back(tokenizer.unk_id());
  return ids;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

AnnotatedText tagged_text(std::vector<std::string> words, Labels tags) {
  std::string text = join(words, " ");
  return {.text = std::move(text), .words = std::move(words), .classes = {}, .tags = std::move(tags)};
}

std::vector<AnnotatedText> parse_labelled(std::string_view text, const std::string& name) {
  ParallelText lines =
      parse_tsv(text, name, {.source = 1, .target = 0, .names = "text and label", .goes_to_end = true});
  std::vector<AnnotatedText> texts;
  for (std::size_t i = 0; i < lines.sources.size(); ++i)
    texts.push_back({.text = std::move(lines.sources[i]), .words = {}, .classes = {lines.targets[i]}, .tags = {}});
  return texts;
}

std::vector<AnnotatedText> labelled_and_tagged(const std::vector<AnnotatedText>& labelled,
                                               std::vector<AnnotatedText> tagged) {
  WASMFORMER_CHECK(labelled.size() == tagged.size(), ErrorCode::corpus,
                   "there are " << labelled.size() << " labelled texts but " << tagged.size()
                                << " tagged ones; they go together line by line");
  for (std::size_t i = 0; i < tagged.size(); ++i) tagged[i].classes = labelled[i].classes;
  return tagged;
}

void check_labels(const AnnotatedTexts& texts, bool multi_label) {
  constexpr std::size_t longest = 200;  // bytes
  std::size_t number = 0;
  const auto check_sizes = [&number](const Labels& names) {
    for (const std::string& name : names)
      WASMFORMER_CHECK(
          name.size() <= longest, ErrorCode::corpus,
          "a label of " << name.size() << " bytes is too long; " << longest << " are allowed (text " << number << ")");
  };
  for (const AnnotatedText& text : texts.all) {
    ++number;
    const bool is_labelled = text.classes.size() == 1 && !text.classes[0].empty();
    WASMFORMER_CHECK(!texts.kind.has_classes || multi_label || is_labelled, ErrorCode::corpus,
                     "a text has " << (text.classes.size() > 1 ? "several labels, which needs multi_label" : "no label")
                                   << " (text " << number << ")");
    WASMFORMER_CHECK(
        !texts.kind.has_tags || text.tags.size() == text.words.size(), ErrorCode::corpus,
        "a text has " << text.words.size() << " words but " << text.tags.size() << " tags (text " << number << ")");
    check_sizes(text.classes);
    check_sizes(text.tags);
  }
}

LabelNames label_names(const AnnotatedTexts& texts, bool multi_label) {
  check_labels(texts, multi_label);
  const bool have_classes = texts.kind.has_classes, have_tags = texts.kind.has_tags;
  std::set<std::string> classes, tags;
  for (const AnnotatedText& text : texts.all) {
    classes.insert(text.classes.begin(), text.classes.end());
    tags.insert(text.tags.begin(), text.tags.end());
  }
  WASMFORMER_CHECK(!have_classes || classes.size() > 1, ErrorCode::one_label,
                   "all texts have the same label; there must be two labels at least");
  WASMFORMER_CHECK(!have_tags || tags.size() > 1, ErrorCode::train,
                   "all words have the same tag; there must be two tags at least");
  LabelNames names{{classes.begin(), classes.end()}, {tags.begin(), tags.end()}};
  if (have_tags && are_spans(names.tags)) {
    std::vector<Labels> all;
    for (const AnnotatedText& text : texts.all) all.push_back(text.tags);
    names.scheme = scheme_of(all);
  }
  return names;
}

std::vector<std::string_view> split_at_spaces(std::string_view text) { return split(text, ' '); }

WordTokens tokenize_words(const ModelFile& model, const std::vector<std::string_view>& words, std::size_t first) {
  const Config& config = model.transformer->config();
  WordTokens tokens;
  push_begin_token(config, tokens.ids);
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::vector<TokenId> word = word_tokens(*model.source_tokenizer, words[i]);
    const std::size_t room = static_cast<std::size_t>(config.max_length) - 1;
    const bool is_only = tokens.at.empty();  // a word longer than the model allows is cut
    if (tokens.ids.size() + (is_only ? 1 : word.size()) > room) break;
    tokens.at.push_back(static_cast<Index>(tokens.ids.size()));
    tokens.ids.insert(tokens.ids.end(), word.begin(),
                      word.begin() + static_cast<Index>(std::min(word.size(), room - tokens.ids.size())));
  }
  tokens.ids.push_back(config.eos_id);
  return tokens;
}

TextTokens tokenize_text(const ModelFile& model, const std::string& text) {
  const Config& config = model.transformer->config();
  TextTokens result;
  push_begin_token(config, result.ids);
  const std::vector<TokenId> tokens = model.source_tokenizer->encode(text);
  result.ids.insert(result.ids.end(), tokens.begin(), tokens.end());
  result.is_truncated = static_cast<Index>(result.ids.size()) > config.max_length - 1;
  if (result.is_truncated) result.ids.resize(config.max_length - 1);
  result.ids.push_back(config.eos_id);
  return result;
}

// The tokens of the words, and the tags that the model knows.
static void take_words(AnnotatedExamples::Example& example, const AnnotatedText& text, const ModelFile& model) {
  const auto [ids, at] = tokenize_words(model, {text.words.begin(), text.words.end()});
  example.source = ids;
  for (std::size_t w = 0; w < std::min(at.size(), text.tags.size()); ++w) {
    const TokenId tag = find(model.labels.tags, text.tags[w]);
    if (tag < 0) continue;
    example.words.push_back(at[w]);
    example.tags.push_back(tag);
  }
}

AnnotatedExamples annotated_examples(const std::vector<AnnotatedText>& texts, const ModelFile& model) {
  const bool has_tags = model.transformer->config().tags > 0;
  AnnotatedExamples examples;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const AnnotatedText& text = texts[i];
    AnnotatedExamples::Example example;
    bool is_known = true;
    for (const std::string& name : text.classes) {
      example.classes.push_back(find(model.labels.classes, name));
      is_known &= example.classes.back() >= 0;
    }
    if (has_tags)
      take_words(example, text, model);
    else
      example.source = tokenize_text(model, text.text).ids;
    const bool is_empty = example.source.size() < 2 || (has_tags && example.words.empty());
    if (is_empty || !is_known) {
      ++examples.skipped;
      continue;
    }
    examples.all.push_back(std::move(example));
    examples.lines.push_back(static_cast<Index>(i));
  }
  WASMFORMER_CHECK(!examples.all.empty(), ErrorCode::no_usable_texts,
                   "none of the " << examples.skipped << " texts can be used: they are "
                                  << "empty or have no known label",
                   {"count", examples.skipped});
  return examples;
}

}  // namespace wasmformer
