#include "tasks/translate/source.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "schema/error.h"
#include "text/keep/characters.h"
#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

// Pieces such as <0x41> and </s> stay as they are.
std::string piece_in_capitals(const std::string& piece) {
  const bool is_special = piece.starts_with('<') && piece.ends_with('>');
  return is_special ? piece : encode_utf8(in_capitals(decode_utf8(piece)));
}

// Changes the piece of a token.
class PieceWriter {
 public:
  explicit PieceWriter(const Source& source) : source_(source) {}

  void operator()(SourceToken& token, bool is_target) const {
    const std::string kept = source_.kept ? kept_piece(*source_.kept, token.piece, is_target) : "";
    if (!kept.empty())
      token.piece = kept;
    else if (source_.in_capitals)
      token.piece = piece_in_capitals(token.piece);
  }
  void operator()(Hypothesis& hypothesis) const {
    for (TargetToken& token : hypothesis.tokens) {
      (*this)(token, /*is_target=*/true);
      if (token.top)
        for (Candidate& other : *token.top) (*this)(other, /*is_target=*/true);
    }
  }

 private:
  const Source& source_;
};

// Returns whether the metadata has this key. Throws Error if its value is not `word`, the only one allowed.
bool says(const ModelFile& model, const char* key, const std::string& word) {
  const auto entry = model.metadata.find(key);
  if (entry == model.metadata.end()) return false;
  WASMFORMER_CHECK(entry->second == word, ErrorCode::model,
                   key << " must be '" << word << "', not '" << entry->second << "'");
  return true;
}

// The text in capitals, with the placeholders as they are.
std::u32string raised(const Source& source, std::u32string text) {
  text = in_capitals(std::move(text));
  if (!source.kept) return text;
  for (const KeptText::InnerSpan& inner : source.kept->inner) {
    const std::u32string symbol = in_capitals(inner.symbol);
    const std::size_t place = symbol.empty() ? std::u32string::npos : text.find(symbol);
    if (place != std::u32string::npos) text.replace(place, symbol.size(), inner.symbol);
  }
  return text;
}

// The placeholder stands once in the translation if the source has it, else never.
Constraint constraint_of(const std::string& name, const ModelFile& model, const std::vector<TokenId>& source) {
  Constraint constraint;
  for (const std::string& piece : {name, "\xE2\x96\x81" + name}) {
    if (const auto id = model.target_tokenizer->find_piece(piece)) constraint.spellings.push_back({*id});
    const auto read = model.source_tokenizer->find_piece(piece);
    for (std::size_t i = 0; i < source.size(); ++i)
      if (read == source[i]) constraint.places.push_back({static_cast<Index>(i), 1});
  }
  constraint.least = constraint.most = constraint.places.empty() ? 0 : 1;
  return constraint;
}

// How much attention the tokens give to the source up to a place, and behind it, in sums from the first token on.
struct AttentionSums {
  std::vector<double> before, behind;  // entry t: of the tokens before t
};

AttentionSums attention_sums(const AttentionMaps& cross, Index place) {
  AttentionSums sums{.before = {0}, .behind = {0}};
  // The first layer attends to positions rather than to words.
  const Index first_layer = cross.layers > 1 ? 1 : 0;
  for (Index row = 0; row < cross.rows; ++row) {
    double before = 0, behind = 0;
    for (Index map = first_layer * cross.heads; map < cross.layers * cross.heads; ++map) {
      const float* weights = cross.data.data() + (map * cross.rows + row) * cross.columns;
      for (Index column = 0; column < cross.columns - 1; ++column)
        (column < place ? before : behind) += weights[column];
    }
    sums.before.push_back(sums.before.back() + before);
    sums.behind.push_back(sums.behind.back() + behind);
  }
  return sums;
}

bool ends_word(std::u32string_view text, std::size_t i) {
  const char32_t previous = wasmformer::before(text, i), next = at(text, i);
  if (previous == U'\0' || next == U'\0') return true;
  return is_space(previous) || is_space(next) || is_ideograph(previous) || is_ideograph(next) ||
         contains(sentence_punctuation, next);
}

// The end of the text or, for what has text behind it in the source, the punctuation at its end.
std::size_t last_place(std::u32string_view text, const KeptText& kept, const KeptText::InnerSpan& inner) {
  std::size_t end = text.size();
  if (inner.place == kept.core.size()) return end;
  while (end > 0 && contains(sentence_punctuation, text[end - 1])) --end;
  return end;
}

// A model writes a space alone before the digits of a number. Where a term with a space of its own was made to stand
// there instead, the first space goes.
std::vector<TokenId> without_double_spaces(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  constexpr std::string_view space = "▁";  // as SentencePiece writes it
  std::vector<TokenId> result;
  for (const TokenId id : ids) {
    const bool is_second = !result.empty() && tokenizer.piece(result.back()) == space;
    if (is_second && tokenizer.piece(id).starts_with(space)) result.pop_back();
    result.push_back(id);
  }
  return result;
}

}  // namespace

std::string lowered(const std::u32string& text) {
  const auto rest = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_letter) - text.begin()) + 1;
  return encode_utf8(text.substr(0, rest) + in_small_letters(text.substr(std::min(rest, text.size()))));
}

Source tokenize(const ModelFile& model, const std::string& text, std::uint64_t number, const KeepNames& names,
                const std::vector<ByteRange>& own) {
  // Files of earlier versions say it in other words.
  const bool lowers_all_caps = says(model, "all_caps", "lowercase") || says(model, "capitals", "lowered");
  Source source{{}, number};
  std::u32string words, whole;
  if (names.empty() && own.empty()) {
    words = whole = decode_utf8(text);
  } else {
    auto kept = std::make_shared<KeptText>(keep_apart(model, text, names, own));
    whole = kept->is_plain() ? kept->source : kept->core;
    words = without_symbols(*kept, whole);
    if (!kept->is_plain()) source.kept = std::move(kept);
  }
  if (lowers_all_caps) source.in_capitals = is_in_capitals(words);
  source.text = encode_utf8(whole);
  source.ids = model.source_tokenizer->encode(source.in_capitals ? lowered(whole) : source.text);
  source.ids.push_back(model.transformer->config().eos_id);
  return source;
}

std::vector<Constraint> placeholder_constraints(const ModelFile& model, const Source& source) {
  std::vector<Constraint> constraints;
  if (!has_placeholders(model)) return constraints;
  for (const KeepName kind : {KeepName::number, KeepName::code, KeepName::emoji})
    for (int number = 1; number <= placeholders_of_a_kind; ++number) {
      Constraint one = constraint_of(encode_utf8(placeholder(kind, number)), model, source.ids);
      // A text that has one as text, which nothing stands for, is up to the model.
      const bool is_of_text = !source.kept && !one.places.empty();
      if (!one.spellings.empty() && !is_of_text) constraints.push_back(std::move(one));
    }
  return constraints;
}

std::u32string decoded(const ModelFile& model, const Source& source, const std::vector<TokenId>& ids) {
  const Tokenizer& tokenizer = *model.target_tokenizer;
  std::u32string text = decode_utf8(tokenizer.decode(source.has_terms ? without_double_spaces(tokenizer, ids) : ids));
  return source.in_capitals ? raised(source, std::move(text)) : text;
}

Restored restored_text(const ModelFile& model, const Source& source, const std::vector<TokenId>& ids,
                       const std::vector<std::size_t>& places) {
  const std::u32string text = decoded(model, source, ids);
  return source.kept ? put_back(*source.kept, text, places) : Restored{.text = encode_utf8(text)};
}

std::string text_so_far(const ModelFile& model, const Source& source, const std::vector<TokenId>& ids) {
  const std::u32string text = decoded(model, source, ids);
  return source.kept ? put_back_begin(*source.kept, text) : encode_utf8(text);
}

std::vector<SourceToken> shown_tokens(const ModelFile& model, const Source& source) {
  const PieceWriter write(source);
  std::vector<SourceToken> tokens;
  for (TokenId id : source.ids) write(tokens.emplace_back(model.source_tokenizer->piece(id), id), /*is_target=*/false);
  return tokens;
}

void show_pieces(Translation& translation, const Source& source) {
  if (!source.kept && !source.in_capitals) return;
  const PieceWriter write(source);
  write(static_cast<Hypothesis&>(translation));
  for (Hypothesis& other : translation.alternatives) write(other);
  if (translation.beam)
    for (BeamNode& node : *translation.beam) write(node, /*is_target=*/true);
}

std::vector<std::size_t> places_by_attention(const ModelFile& model, const Source& source,
                                             const std::vector<TokenId>& ids, const AttentionMaps& cross) {
  const KeptText& kept = *source.kept;
  const std::u32string text = decoded(model, source, ids);
  std::vector<std::size_t> ends{0};  // of the tokens in the text
  for (std::size_t t = 1; t <= ids.size(); ++t)
    ends.push_back(decoded(model, source, {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(t)}).size());
  std::vector<std::size_t> places;
  for (const KeptText::InnerSpan& inner : kept.inner) {
    if (!inner.symbol.empty()) continue;
    const std::string before = encode_utf8(kept.core.substr(0, inner.place));
    const auto place = static_cast<Index>(model.source_tokenizer->encode(before).size());
    const AttentionSums sums = attention_sums(cross, place);
    const std::size_t last = last_place(text, kept, inner);
    std::size_t best = inner.place == 0 ? 0 : last;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < sums.before.size() && t < ends.size(); ++t) {
      if (ends[t] > last || !ends_word(text, ends[t])) continue;
      // Attention that crosses the gap: of earlier tokens to what is behind it, and of later ones to what is before.
      const double crossing = sums.behind[t] + sums.before.back() - sums.before[t];
      if (crossing >= least) continue;
      least = crossing;
      best = ends[t];
    }
    places.push_back(best);
  }
  return places;
}

}  // namespace wasmformer
