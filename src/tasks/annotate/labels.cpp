#include "tasks/annotate/labels.h"

#include <algorithm>
#include <set>

#include "schema/error.h"
#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<std::string> strings(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

TokenId find(const std::vector<std::string>& sorted, const std::string& name) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), name);
  return found != sorted.end() && *found == name ? static_cast<TokenId>(found - sorted.begin()) : -1;
}

void begin(const Config& config, std::vector<TokenId>& ids) {
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

Objective objective(const Config& config) {
  if (config.classes > 0) return config.tags > 0 ? Objective::classify_and_tag : Objective::classify;
  return config.tags > 0 ? Objective::tag : Objective::masked;
}

ParallelText parse_conll(std::string_view text, const std::string& name) {
  ParallelText pairs;
  std::string tokens, tags;
  const auto end_sentence = [&] {
    if (tokens.empty()) return;
    pairs.sources.push_back(std::move(tokens));
    pairs.targets.push_back(std::move(tags));
    tokens.clear(), tags.clear();
  };
  for_each_line(text, name, [&](std::string_view line, std::size_t number) {
    if (line.empty()) return end_sentence();
    const std::vector<std::string_view> columns = split(line, '\t');
    WASMFORMER_CHECK(columns.size() == 2 && line.find(' ') == line.npos, ErrorCode::corpus,
                     "line " << number << " of " << name << " is not a token, a tab and a tag");
    const char* space = tokens.empty() ? "" : " ";
    tokens.append(space).append(columns[0]);
    tags.append(space).append(columns[1]);
  });
  end_sentence();
  return pairs;
}

ParallelText labelled_and_tagged(const ParallelText& labelled, const ParallelText& tagged) {
  WASMFORMER_CHECK(labelled.sources.size() == tagged.sources.size(), ErrorCode::corpus,
                   "there are " << labelled.sources.size() << " labelled texts but " << tagged.sources.size()
                                << " tagged ones; they go together line by line");
  ParallelText both = tagged;
  for (std::size_t i = 0; i < both.targets.size(); ++i) both.targets[i] = labelled.targets[i] + "\t" + both.targets[i];
  return both;
}

Annotation parse_annotation(const std::string& source, const std::string& target, Objective objective,
                            bool multi_label) {
  Annotation a;
  std::string_view classes = target, tags = target;
  if (objective == Objective::classify_and_tag) {
    const std::size_t tab = target.find('\t');
    WASMFORMER_CHECK(tab != target.npos, ErrorCode::corpus,
                     "the labels and the tags of a text need a tab between them");
    classes = classes.substr(0, tab), tags.remove_prefix(tab + 1);
  }
  if (has_classes(objective)) {
    if (multi_label)
      a.classes = strings(split(classes, ','));
    else
      a.classes.emplace_back(classes);
    WASMFORMER_CHECK(multi_label || !classes.empty(), ErrorCode::corpus, "a text has no label");
  }
  if (has_tags(objective)) {
    a.tags = strings(split_at_spaces(tags));
    const std::size_t words = split_at_spaces(source).size();
    WASMFORMER_CHECK(a.tags.size() == words, ErrorCode::corpus,
                     "a text has " << words << " words but " << a.tags.size() << " tags");
  }
  return a;
}

std::string to_string(const Annotation& a, Objective objective) {
  const std::string classes = join(a.classes, ","), tags = join(a.tags, " ");
  return objective == Objective::classify_and_tag ? classes + "\t" + tags : classes + tags;
}

LabelNames label_names(const ParallelText& text, Objective objective, bool multi_label) {
  constexpr std::size_t longest = 200;  // bytes
  std::set<std::string> classes, tags;
  for (std::size_t i = 0; i < text.sources.size(); ++i) {
    try {
      Annotation a = parse_annotation(text.sources[i], text.targets[i], objective, multi_label);
      for (auto [names, all] : {std::pair(&a.classes, &classes), std::pair(&a.tags, &tags)}) {
        for (const std::string& name : *names) {
          WASMFORMER_CHECK(name.size() <= longest, ErrorCode::corpus,
                           "a label of " << name.size() << " bytes is too long; " << longest << " are allowed");
          all->insert(name);
        }
      }
    } catch (const Error& e) {
      throw e.with("", " (text " + std::to_string(i + 1) + ")", {"text", i + 1});
    }
  }
  WASMFORMER_CHECK(!has_classes(objective) || classes.size() > 1, ErrorCode::one_label,
                   "all texts have the same label; there must be two labels at least");
  WASMFORMER_CHECK(!has_tags(objective) || tags.size() > 1, ErrorCode::train,
                   "all words have the same tag; there must be two tags at least");
  return {{classes.begin(), classes.end()}, {tags.begin(), tags.end()}};
}

std::vector<std::string_view> split_at_spaces(std::string_view text) { return split(text, ' '); }

std::vector<std::string_view> split_words(std::string_view text) {
  const std::u32string characters = decode_utf8(text);
  std::vector<std::size_t> bytes{0};  // where each character begins
  for (char32_t c : characters) bytes.push_back(bytes.back() + (c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4));
  std::vector<std::string_view> words;
  const auto add = [&](std::size_t from, std::size_t to) {
    words.push_back(text.substr(bytes[from], bytes[to] - bytes[from]));
  };
  const auto add_each = [&](std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      if (characters[from] > U' ' && characters[from] != U'\u00A0' && characters[from] != U'\u3000')
        add(from, from + 1);
  };
  std::size_t at = 0;
  for (const Word& word : find_words(characters)) {
    add_each(at, word.begin);
    at = word.begin + word.size;
    if (is_ideograph(characters[word.begin]))
      add_each(word.begin, at);
    else
      add(word.begin, at);
  }
  add_each(at, characters.size());
  return words;
}

WordTokens tokenize_words(const ModelFile& model, const std::vector<std::string_view>& words, std::size_t first) {
  const Config& config = model.transformer->config();
  WordTokens tokens;
  begin(config, tokens.ids);
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
  begin(config, result.ids);
  const std::vector<TokenId> tokens = model.source_tokenizer->encode(text);
  result.ids.insert(result.ids.end(), tokens.begin(), tokens.end());
  result.is_cut = static_cast<Index>(result.ids.size()) > config.max_length - 1;
  if (result.is_cut) result.ids.resize(config.max_length - 1);
  result.ids.push_back(config.eos_id);
  return result;
}

Corpus annotated_corpus(const ParallelText& text, const ModelFile& model) {
  const Config& config = model.transformer->config();
  const Objective what = objective(config);
  Corpus corpus;
  for (std::size_t i = 0; i < text.sources.size(); ++i) {
    SentencePair pair;
    Annotation a;
    if (what != Objective::masked) a = parse_annotation(text.sources[i], text.targets[i], what, config.multi_label);
    bool is_known = true;
    for (const std::string& name : a.classes) {
      pair.classes.push_back(find(model.labels.classes, name));
      is_known &= pair.classes.back() >= 0;
    }
    if (has_tags(what)) {
      const auto [ids, at] = tokenize_words(model, split_at_spaces(text.sources[i]));
      pair.source = ids;
      for (std::size_t w = 0; w < at.size(); ++w) {
        const TokenId tag = find(model.labels.tags, a.tags[w]);
        if (tag >= 0) pair.words.push_back(at[w]), pair.target.push_back(tag);
      }
    } else {
      pair.source = tokenize_text(model, text.sources[i]).ids;
    }
    const bool is_empty = pair.source.size() < 2 || (has_tags(what) && pair.words.empty());
    if (is_empty || !is_known) {
      ++corpus.skipped;
      continue;
    }
    corpus.pairs.push_back(std::move(pair));
    corpus.lines.push_back(static_cast<Index>(i));
  }
  WASMFORMER_CHECK(!corpus.pairs.empty(), ErrorCode::no_usable_texts,
                   "none of the " << corpus.skipped << " texts can be used: they are "
                                  << "empty or have no known label",
                   {"count", corpus.skipped});
  return corpus;
}

}  // namespace wasmformer
