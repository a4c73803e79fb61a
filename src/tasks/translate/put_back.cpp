#include <algorithm>

#include "tasks/translate/kept_text.h"
#include "text/keep/characters.h"
#include "text/keep/marks.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

// Behind those that do not come later. There are few.
template <class Item>
void insert_in_order(std::vector<Item>& items, const Item& item) {
  std::size_t place = items.size();
  while (place > 0 && items[place - 1].order() > item.order()) --place;
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), item);
}

Index utf16_units(Text text) {
  constexpr char32_t last_of_one_unit = 0xFFFF;
  Index units = 0;
  for (const char32_t c : text) units += c > last_of_one_unit ? 2 : 1;
  return units;
}

KeptPart part_of(Text text, std::size_t begin, std::size_t end) {
  const Text before = text.substr(0, begin), part = text.substr(begin, end - begin);
  const Index start = utf16_units(before);
  return {.text = encode_utf8(part),
          .begin = static_cast<Index>(encode_utf8(before).size()),
          .start = start,
          .end = start + utf16_units(part)};
}

// Writes a text and notes where spans stand in it.
class Writer {
 public:
  void add(Text text) { written_ += text; }
  void add(Text text, const KeptSpan& span) {
    insert_in_order(spans_, Placed{span, written_.size(), written_.size() + text.size()});
    add(text);
  }
  bool ends_in_space() const { return written_.empty() || is_space(written_.back()); }

  Restored result(Text source) {
    Restored restored{.text = encode_utf8(written_)};
    for (const Placed& placed : spans_)
      restored.kept.push_back({.kind = placed.span.kind ? word(*placed.span.kind) : "own",
                               .source = part_of(source, placed.span.begin, placed.span.end),
                               .target = part_of(written_, placed.begin, placed.end)});
    return restored;
  }

 private:
  struct Placed {
    KeptSpan span;
    std::size_t begin, end;

    std::size_t order() const { return span.begin; }
  };
  std::u32string written_;
  std::vector<Placed> spans_;
};

// An inner span and where it goes into the translation.
struct Insertion {
  std::size_t begin, end;  // of what it replaces
  const KeptText::InnerSpan* inner;

  std::size_t order() const { return begin; }
};

// By the placeholders in the translation. Those that the search did not produce come last.
std::vector<Insertion> found_symbols(const KeptText& kept, const std::u32string& translated) {
  std::vector<Insertion> insertions;
  for (const KeptText::InnerSpan& inner : kept.inner) {
    if (inner.symbol.empty()) continue;
    const std::size_t found = translated.find(inner.symbol);
    const bool is_found = found != std::u32string::npos;
    const std::size_t begin = is_found ? found : translated.size();
    insert_in_order(insertions, Insertion{begin, is_found ? begin + inner.symbol.size() : begin, &inner});
  }
  return insertions;
}

// Directives of printf that came into another order get their numbers.
std::u32string numbered(const KeptText& kept, const KeptText::InnerSpan& inner) {
  int number = 0;
  for (const KeptText::InnerSpan& other : kept.inner) {
    number += is_unnumbered_directive(other.text);
    if (&other == &inner) break;
  }
  std::u32string written = U"%";
  for (const char c : std::to_string(number)) written += static_cast<char32_t>(c);
  return written + U"$" + inner.text.substr(1);
}

bool has_another_order(const std::vector<Insertion>& insertions) {
  const KeptText::InnerSpan* last = nullptr;
  for (const Insertion& insertion : insertions) {
    if (!is_unnumbered_directive(insertion.inner->text)) continue;
    if (last && last > insertion.inner) return true;
    last = insertion.inner;
  }
  return false;
}

// Spaces to be written around a span.
struct Spaces {
  bool before = false, behind = false;
};

// A span that a placeholder stood for has the model's spaces. One that is inserted has those of the source, and as many
// as a word needs.
Spaces spaces_around(const Insertion& insertion, Text translated) {
  if (insertion.begin < insertion.end) return {};
  const KeptText::InnerSpan& inner = *insertion.inner;
  const bool is_sign = inner.span.is_sign();
  const char32_t next = at(translated, insertion.end);
  const bool touches_word_before = !is_sign && is_word_character(before(translated, insertion.begin));
  const bool touches_word_behind = !is_sign && is_word_character(next);
  const bool is_followed = next != U'\0' && !is_space(next) && !contains(sentence_punctuation, next);
  return {.before = inner.has_space_before || touches_word_before,
          .behind = is_followed && (inner.has_space_after || touches_word_behind)};
}

}  // namespace

Restored put_back(const KeptText& kept, const std::u32string& translated, const std::vector<std::size_t>& places) {
  Writer writer;
  const auto add_edge = [&writer](const std::vector<KeptText::EdgePart>& parts) {
    for (const KeptText::EdgePart& part : parts) part.span ? writer.add(part.text, *part.span) : writer.add(part.text);
  };
  add_edge(kept.lead);
  std::vector<Insertion> insertions = found_symbols(kept, translated);
  auto place = places.begin();
  for (const KeptText::InnerSpan& inner : kept.inner) {
    if (!inner.symbol.empty() || place == places.end()) continue;
    insert_in_order(insertions, Insertion{*place, *place, &inner});
    ++place;
  }
  const bool is_reordered = has_another_order(insertions);
  Typesetter typeset(kept.target_language, kept.signs);
  std::size_t from = 0;
  for (const Insertion& insertion : insertions) {
    writer.add(typeset(Text(translated).substr(from, insertion.begin - from)));
    const KeptText::InnerSpan& inner = *insertion.inner;
    const bool is_numbered = is_reordered && is_unnumbered_directive(inner.text);
    const Spaces spaces = spaces_around(insertion, translated);
    if (spaces.before && !writer.ends_in_space()) writer.add(U" ");
    writer.add(is_numbered ? numbered(kept, inner) : inner.text, inner.span);
    if (spaces.behind) writer.add(U" ");
    from = insertion.end;
  }
  writer.add(typeset(Text(translated).substr(from)));
  add_edge(kept.tail);
  return writer.result(kept.source);
}

std::string put_back_begin(const KeptText& kept, const std::u32string& translated) {
  KeptText begun{
      .source = kept.source, .lead = kept.lead, .signs = kept.signs, .target_language = kept.target_language};
  for (const KeptText::InnerSpan& inner : kept.inner)
    if (!inner.symbol.empty() && translated.find(inner.symbol) != std::u32string::npos) begun.inner.push_back(inner);
  return put_back(begun, translated).text;
}

}  // namespace wasmformer
