// A text in two parts: text for the model, and kept spans (text/keep/spans.h). At the edges of a text kept spans are
// taken off and put back. Inside, a placeholder token stands for each if the model has such tokens. A span without one
// is taken out, and the attention tells where it belongs, as for tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bundle/model_file.h"
#include "tasks/translate/kept_parts.h"
#include "tasks/translate/translate_options.h"
#include "tasks/translate/translation.h"

namespace wasmformer {

// Kinds that are kept if the options do not say: everything for a model with placeholder tokens, what `keep` in the
// metadata names for others, and nothing where a prefix is forced. Throws Error for an unknown name in the metadata.
KeepNames kept_names(const ModelFile& model, const TranslateOptions& options);

// Names of the pieces that stand for kept spans: numbers, signs such as emoji, and spans used like a word.
// Each has a second piece, with the space before it.
constexpr int placeholders_of_a_kind = 8;
std::u32string placeholder(KeepName kind, int number);
bool has_placeholders(const ModelFile& model);

// `own`: ranges of the caller's, in bytes of UTF-8. Throws Error for a range that is not inside the text.
KeptText keep_apart(const ModelFile& model, std::string_view text, const KeepNames& names,
                    const std::vector<ByteRange>& own);

// The whole translation with its kept parts and their positions. `places`: positions in `translated`, in code
// points, of the inner spans without a symbol, in their order.
struct Restored {
  std::string text = {};
  std::vector<Kept> kept = {};
};
Restored put_back(const KeptText& kept, const std::u32string& translated, const std::vector<std::size_t>& places = {});
// The beginning of a translation in progress, as far as it is known.
std::string put_back_begin(const KeptText& kept, const std::u32string& translated);

// The text without the placeholders of this one.
std::u32string without_symbols(const KeptText& kept, std::u32string text);

// The text that stands for a piece of either side; empty if the piece is no placeholder of this text.
std::string kept_piece(const KeptText& kept, std::string_view piece, bool is_target);

}  // namespace wasmformer
