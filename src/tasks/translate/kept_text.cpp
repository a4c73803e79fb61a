#include "tasks/translate/kept_text.h"

#include <algorithm>
#include <iterator>

#include "schema/error.h"
#include "tasks/translate/kept_edges.h"
#include "text/keep/characters.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

char32_t class_of(KeepName kind) {
  switch (kind) {
    case KeepName::number:
      return U'n';
    case KeepName::emoji:
    case KeepName::markup:
      return U's';
    default:
      return U'w';
  }
}

constexpr KeepName placeholder_kinds[] = {KeepName::number, KeepName::code, KeepName::emoji};

// The kind of the next placeholder: the span's own, or one that is left; none if all are used.
std::optional<std::size_t> free_kind(const KeptSpan& span, const int (&used)[std::size(placeholder_kinds)]) {
  const char32_t own = class_of(span.kind.value_or(KeepName::code));
  std::optional<std::size_t> other;
  for (std::size_t i = 0; i < std::size(placeholder_kinds); ++i) {
    if (used[i] == placeholders_of_a_kind) continue;
    if (class_of(placeholder_kinds[i]) == own) return i;
    other = i;
  }
  return other;
}

// Gives the inner spans their placeholders. Attention places any left without one.
void choose_placeholders(std::vector<KeptText::InnerSpan>& inner) {
  int used[std::size(placeholder_kinds)] = {};
  for (KeptText::InnerSpan& one : inner) {
    const std::optional<std::size_t> kind = free_kind(one.span, used);
    if (kind) one.symbol = placeholder(placeholder_kinds[*kind], ++used[*kind]);
  }
}

// The text between the edges, with the inner spans replaced by their symbols or taken out.
void write_core(KeptText& kept, std::size_t begin, std::size_t end, const std::string& language, bool maps_signs) {
  const Text text = kept.source;
  const auto plain = [&](std::size_t from, std::size_t to) {
    const Text part = text.substr(from, to - from);
    return maps_signs ? plain_signs(part, language, kept.signs) : std::u32string(part);
  };
  std::size_t from = begin;
  for (KeptText::InnerSpan& one : kept.inner) {
    kept.core += plain(from, one.span.begin);
    one.has_space_before = !kept.core.empty() && is_space(kept.core.back());
    one.has_space_after = is_space(at(text, one.span.end));
    one.place = kept.core.size();
    kept.core += one.symbol;
    from = one.span.end;
    const bool leaves_two_spaces =
        one.symbol.empty() && one.has_space_after && (one.has_space_before || one.place == 0);
    if (leaves_two_spaces) ++from;
  }
  kept.core += plain(from, end);
}

// The place of a byte in code points; none if it is inside of a character.
std::optional<std::size_t> place_of(std::string_view text, Index byte) {
  const auto size = static_cast<Index>(text.size());
  const bool is_inside = byte >= 0 && byte <= size;
  if (!is_inside || !is_utf8(text.substr(0, static_cast<std::size_t>(byte)))) return {};
  return decode_utf8(text.substr(0, static_cast<std::size_t>(byte))).size();
}

std::vector<KeptSpan> in_code_points(std::string_view text, const std::vector<ByteRange>& ranges) {
  std::vector<KeptSpan> spans;
  for (const ByteRange& range : ranges) {
    const auto begin = place_of(text, range.begin), end = place_of(text, range.end);
    const bool follows = begin && (spans.empty() || *begin >= spans.back().end);
    WASMFORMER_CHECK(end && follows && range.begin < range.end, ErrorCode::translate,
                     "bytes " << range.begin << " to " << range.end << " are no characters of the text of "
                              << text.size() << " bytes behind the range before, so they cannot be kept");
    spans.push_back({.begin = *begin, .end = *end});
  }
  return spans;
}

}  // namespace

bool KeptText::is_plain() const {
  const std::size_t begin = skip(source, 0, is_space);
  const std::size_t end = std::max(begin, skip_back(source, source.size(), is_space));
  return core == Text(source).substr(begin, end - begin);
}

std::u32string placeholder(KeepName kind, int number) {
  return {U'<', class_of(kind), static_cast<char32_t>(U'0' + number), U'>'};
}

bool has_placeholders(const ModelFile& model) {
  const std::string first = encode_utf8(placeholder(KeepName::number, 1));
  return model.source_tokenizer->find_piece(first) && model.target_tokenizer->find_piece(first);
}

KeepNames kept_names(const ModelFile& model, const TranslateOptions& options) {
  const bool has_prefix = std::visit([](const auto& prefix) { return !prefix.empty(); }, options.prefix);
  if (has_prefix) return {};
  if (options.keep) return contains(*options.keep, KeepName::off) ? KeepNames{} : *options.keep;
  if (has_placeholders(model)) return all_keep_names();
  const auto entry = model.metadata.find("keep");
  if (entry == model.metadata.end()) return {};
  TranslateOptions parsed;
  set_field(fields(parsed), "keep", entry->second, "model");
  return *parsed.keep;
}

KeptText keep_apart(const ModelFile& model, std::string_view text, const KeepNames& names,
                    const std::vector<ByteRange>& own) {
  KeptText kept;
  kept.source = decode_utf8(text);
  const LanguagePair languages = languages_of(model);
  kept.target_language = languages.target;
  const auto knows = [&model](char32_t c) { return model.source_tokenizer->has_character(c); };
  const std::vector<KeptSpan> spans = find_kept_spans(kept.source, names, knows, in_code_points(text, own));
  Middle middle = cut_edges(kept, spans, names, languages);
  kept.inner = std::move(middle.spans);
  if (has_placeholders(model)) choose_placeholders(kept.inner);
  write_core(kept, middle.begin, middle.end, languages.source, contains(names, KeepName::typography));
  if (has_any(without_symbols(kept, kept.core), is_letter)) return kept;
  // Nothing is left to translate: the rest is copied.
  std::size_t from = middle.begin;
  for (const KeptText::InnerSpan& inner : kept.inner) {
    kept.lead.push_back({kept.source.substr(from, inner.span.begin - from)});
    kept.lead.push_back({inner.text, inner.span});
    from = inner.span.end;
  }
  kept.lead.push_back({kept.source.substr(from, middle.end - from)});
  kept.core.clear();
  kept.inner.clear();
  return kept;
}

std::u32string without_symbols(const KeptText& kept, std::u32string text) {
  for (const KeptText::InnerSpan& inner : kept.inner) {
    const std::size_t place = inner.symbol.empty() ? std::u32string::npos : text.find(inner.symbol);
    if (place != std::u32string::npos) text.erase(place, inner.symbol.size());
  }
  return text;
}

std::string kept_piece(const KeptText& kept, std::string_view piece, bool is_target) {
  constexpr std::string_view space_mark = "\xE2\x96\x81";
  const bool has_space = piece.starts_with(space_mark);
  const std::u32string name = decode_utf8(has_space ? piece.substr(space_mark.size()) : piece);
  const auto inner = std::ranges::find(kept.inner, name, &KeptText::InnerSpan::symbol);
  if (name.empty() || inner == kept.inner.end()) return {};
  const Text text = kept.source;
  const std::u32string written(is_target ? Text(inner->text)
                                         : text.substr(inner->span.begin, inner->span.end - inner->span.begin));
  return (has_space ? std::string(space_mark) : "") + encode_utf8(written);
}

}  // namespace wasmformer
