// A text on its way into the model and back: as tokens, in lower case if it was in upper case, without kept parts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bundle/model_file.h"
#include "tasks/translate/constraints.h"
#include "tasks/translate/kept_text.h"
#include "tasks/translate/translation.h"

namespace wasmformer {

// A text as tokens, ended by the end token.
struct Source {
  std::vector<TokenId> ids;                   // only the end token if there is nothing to translate
  std::uint64_t number = 0;                   // its index in the whole input; sampling draws differently for each
  bool in_capitals = false;                   // translate into upper case
  std::string text = {};                      // the tokenized text
  std::shared_ptr<const KeptText> kept = {};  // if anything is kept or mapped
  bool has_terms = false;                     // a glossary may put terms into the translation

  bool is_empty() const { return ids.size() <= 1; }
};
// If the model's metadata has "all_caps" = "lowercase", an all-caps text is lowercased except for its first
// letter; "capitals" = "lowered" is the earlier form. `names`, `own`: as in keep_apart().
// Throws Error for text that is not UTF-8, and for other values of these.
Source tokenize(const ModelFile& model, const std::string& text, std::uint64_t number, const KeepNames& names = {},
                const std::vector<ByteRange>& own = {});

// Lowercases all letters after the first.
std::string lowered(const std::u32string& text);

// For a model with placeholder tokens: each placeholder of this source occurs exactly once in its translation, where it
// belongs, and no other placeholder occurs.
std::vector<Constraint> placeholder_constraints(const ModelFile& model, const Source& source);

// Text of the tokens of a translation, without kept parts: in uppercase if the source is, with placeholders.
std::u32string decoded(const ModelFile& model, const Source& source, const std::vector<TokenId>& ids);
// The whole text with its kept parts. `places`: as in put_back().
Restored restored_text(const ModelFile& model, const Source& source, const std::vector<TokenId>& ids,
                       const std::vector<std::size_t>& places);
// The whole text so far of an unfinished translation.
std::string text_so_far(const ModelFile& model, const Source& source, const std::vector<TokenId>& ids);

// The tokens of a source with what their pieces stand for: kept text, and capitals where the source has them.
std::vector<SourceToken> shown_tokens(const ModelFile& model, const Source& source);
// Replaces all placeholders by their kept text, and restores upper case where the source has it.
void show_pieces(Translation& translation, const Source& source);

// Positions of the inner spans that have no placeholder in the text of `tokens`, in code points: each at the end of a
// word, such that the tokens before it attend to what was before it in the source, and those behind it to the rest.
// `cross`: their attention to the source. The end token is the last of `ids`, unless max_length cut it off.
std::vector<std::size_t> places_by_attention(const ModelFile& model, const Source& source,
                                             const std::vector<TokenId>& ids, const AttentionMaps& cross);

}  // namespace wasmformer
