// Labelled and tagged texts as sentence pairs, whose target is the labels in writing: "weather,alarm" (one or several
// labels), "O B-place I-place" (one tag per word), or both with a tab between them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bundle/model_file.h"
#include "tasks/translate/corpus.h"

namespace wasmformer {

// What an encoder is trained to find. masked: the tokens that were hidden, without labels.
enum class Objective { classify, tag, classify_and_tag, masked };
WASMFORMER_ENUM_NAMES(Objective, "classify", "tag", "classify_and_tag", "masked");
constexpr bool has_classes(Objective o) { return o == Objective::classify || o == Objective::classify_and_tag; }
constexpr bool has_tags(Objective o) { return o == Objective::tag || o == Objective::classify_and_tag; }
Objective objective(const Config& config);  // of an encoder

// CoNLL: lines of token, tab, tag, an empty line after each sentence. The source is the tokens with spaces between
// them. Throws Error, naming `name` and the line, when a token or its tag is missing or not UTF-8.
ParallelText parse_conll(std::string_view text, const std::string& name);
// The pairs of both, line by line. Throws Error if they differ in number.
ParallelText labelled_and_tagged(const ParallelText& labelled, const ParallelText& tagged);

struct Annotation {
  std::vector<std::string> classes, tags;
};
// Throws Error when `target` lacks a part or has another number of tags than `source` has words.
Annotation parse_annotation(const std::string& source, const std::string& target, Objective objective,
                            bool multi_label);
std::string to_string(const Annotation& annotation, Objective objective);

// The names that occur, sorted. Throws Error as parse_annotation, naming the line, for names of more than 200 bytes,
// and when there is one class only.
LabelNames label_names(const ParallelText& text, Objective objective, bool multi_label);

// The words of a text for tagging: at spaces.
std::vector<std::string_view> split_at_spaces(std::string_view text);
// The same for unsplit text: words, numbers, and every other character by itself.
std::vector<std::string_view> split_words(std::string_view text);

// Tokens of `words`, from word `first`, as many as max_length allows, with the end token and, if the config says so, a
// begin token. `at`: the place of the first token of each word, which stands for it.
struct WordTokens {
  std::vector<TokenId> ids;
  std::vector<Index> at;
};
WordTokens tokenize_words(const ModelFile& model, const std::vector<std::string_view>& words, std::size_t first = 0);
// The same for a whole text, which is cut at max_length tokens.
struct TextTokens {
  std::vector<TokenId> ids;
  bool is_cut = false;
};
TextTokens tokenize_text(const ModelFile& model, const std::string& text);

// Examples for an encoder; `target` is its tags. A text that is too long is cut, one with an unknown class left out, a
// word with an unknown tag not used.
Corpus annotated_corpus(const ParallelText& text, const ModelFile& model);

}  // namespace wasmformer
