#include "text/keep/spans.h"

#include "text/keep/addresses.h"
#include "text/keep/marks.h"
#include "text/keep/numbers.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

struct Finder {
  KeepName kind;
  std::size_t (*end)(Text text, std::size_t begin, const KnowsCharacter& knows);
};

template <std::size_t (*end)(Text, std::size_t)>
std::size_t by_text(Text text, std::size_t begin, const KnowsCharacter&) {
  return end(text, begin);
}

// The first that matches wins, so that what is more specific comes first.
constexpr Finder finders[] = {
    {KeepName::url, by_text<end_of_url>},
    {KeepName::path, by_text<end_of_path>},
    {KeepName::code, by_text<end_of_code>},
    {KeepName::placeholder, by_text<end_of_placeholder>},
    {KeepName::number, by_text<end_of_number_to_keep>},
    {KeepName::emoji, end_of_emoji},
    {KeepName::handle, by_text<end_of_handle>},
    {KeepName::markup, by_text<end_of_markup>},
    {KeepName::script, end_of_script},
};

// The span of a kind that begins here; an empty span if no span begins here.
KeptSpan span_at(Text text, std::size_t begin, std::size_t limit, const KeepNames& names, const KnowsCharacter& knows) {
  for (const Finder& finder : finders) {
    if (!contains(names, finder.kind)) continue;
    const std::size_t end = finder.end(text, begin, knows);
    if (end > begin && end <= limit) return {.begin = begin, .end = end, .kind = finder.kind};
  }
  return {.begin = begin, .end = begin};
}

}  // namespace

std::vector<KeptSpan> find_kept_spans(std::u32string_view text, const KeepNames& names, const KnowsCharacter& knows,
                                      std::vector<KeptSpan> own) {
  std::vector<KeptSpan> spans;
  auto next_own = own.begin();
  for (std::size_t i = 0; i < text.size();) {
    while (next_own != own.end() && next_own->end <= i) ++next_own;
    const bool is_own = next_own != own.end() && next_own->begin <= i;
    const std::size_t limit = next_own == own.end() ? text.size() : next_own->begin;
    const KeptSpan span = is_own ? KeptSpan{.begin = i, .end = next_own->end} : span_at(text, i, limit, names, knows);
    if (span.end > i) spans.push_back(span);
    i = std::max(span.end, i + 1);
  }
  return spans;
}

}  // namespace wasmformer
