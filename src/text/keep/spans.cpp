#include "text/keep/spans.h"

#include "text/keep/addresses.h"
#include "text/keep/marks.h"
#include "text/keep/numbers.h"

namespace wasmformer {
namespace {

struct Finder {
  KeepName kind;
  std::function<std::size_t(std::u32string_view, std::size_t)> end;
};

// The first that matches wins, so that what is more specific comes first.
std::vector<Finder> finders(const KeepNames& names, const KnowsCharacter& knows) {
  const std::vector<Finder> all = {
      {KeepName::url, end_of_url},
      {KeepName::path, end_of_path},
      {KeepName::code, end_of_code},
      {KeepName::placeholder, end_of_placeholder},
      {KeepName::number, end_of_number_to_keep},
      {KeepName::emoji, [&knows](std::u32string_view text, std::size_t i) { return end_of_emoji(text, i, knows); }},
      {KeepName::handle, end_of_handle},
      {KeepName::markup, end_of_markup},
      {KeepName::script, [&knows](std::u32string_view text, std::size_t i) { return end_of_script(text, i, knows); }},
  };
  std::vector<Finder> chosen;
  for (const Finder& finder : all)
    if (contains(names, finder.kind)) chosen.push_back(finder);
  return chosen;
}

}  // namespace

std::vector<KeptSpan> find_kept_spans(std::u32string_view text, const KeepNames& names, const KnowsCharacter& knows,
                                      std::vector<KeptSpan> own) {
  const std::vector<Finder> chosen = finders(names, knows);
  std::vector<KeptSpan> spans;
  auto next_own = own.begin();
  for (std::size_t i = 0; i < text.size();) {
    while (next_own != own.end() && next_own->end <= i) ++next_own;
    if (next_own != own.end() && next_own->begin <= i) {
      spans.push_back({.begin = i, .end = next_own->end});
      i = next_own->end;
      continue;
    }
    const std::size_t limit = next_own == own.end() ? text.size() : next_own->begin;
    std::size_t end = i;
    for (const Finder& finder : chosen) {
      end = finder.end(text, i);
      if (end > limit) end = i;
      if (end == i) continue;
      spans.push_back({.begin = i, .end = end, .kind = finder.kind});
      break;
    }
    i = end > i ? end : i + 1;
  }
  return spans;
}

}  // namespace wasmformer
