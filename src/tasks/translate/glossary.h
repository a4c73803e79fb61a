// Terms that translations must use: which of them a text has, and what its translation must have for that.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "bundle/model_file.h"
#include "tasks/translate/constraints.h"
#include "tasks/translate/glossary_terms.h"

namespace wasmformer {

// A term that stands in a text; positions are those of its code points.
struct TermMatch {
  std::size_t term, begin, end;
};

class Glossary {
 public:
  explicit Glossary(std::vector<GlossaryTerm> terms);

  // Finds the terms of the text, in its order: as whole words, the longest where several begin, none within another. A
  // small letter of a term also matches its capital, and the white space between words is any.
  std::vector<TermMatch> find(std::u32string_view text) const;

  // For the translation of a text, which the model's tokenizer made these source tokens of: each target term stands as
  // often as its source terms match. `targets` gets the characters of these targets.
  std::vector<Constraint> constraints(const ModelFile& model, const std::string& text,
                                      const std::vector<TokenId>& tokens, std::u32string& targets) const;

 private:
  struct Source {
    std::u32string words;
    bool is_stem;  // any ending may follow
  };
  TermMatch longest(std::u32string_view text, std::size_t begin) const;
  std::size_t match(const Source& source, std::u32string_view text, std::size_t begin) const;

  std::vector<GlossaryTerm> terms_;
  std::vector<Source> sources_;
  std::unordered_map<char32_t, std::vector<std::size_t>> by_first_;  // sources by their first letter, in lower case
};

}  // namespace wasmformer
