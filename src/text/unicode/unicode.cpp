#include "text/unicode/unicode.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace wasmformer {
namespace {

struct Run {
  char32_t first, last, step;
  std::int32_t added;
};

#include "text/unicode/unicode_tables.inc"

template <std::size_t size>
bool within(const char32_t (&ranges)[size], char32_t c) {
  // Inside a range, an odd number of bounds lie below c; a range includes both of its bounds.
  const auto above = std::lower_bound(ranges, ranges + size, c);
  return above != ranges + size && ((above - ranges) % 2 == 1 || *above == c);
}

// Second element of the pair whose first is c, or 0. The pairs are sorted by their first elements.
template <std::size_t size>
char32_t find(const char32_t (&pairs)[size], char32_t c) {
  std::size_t low = 0, high = size / 2;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (pairs[2 * middle] < c)
      low = middle + 1;
    else
      high = middle;
  }
  return low < size / 2 && pairs[2 * low] == c ? pairs[2 * low + 1] : 0;
}

}  // namespace

bool is_mark(char32_t c) { return within(marks, c); }
bool is_punctuation(char32_t c) {
  return c < 0x80 ? c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
                  : within(punctuation, c);
}
bool is_invisible(char32_t c) { return within(invisible, c); }

char32_t lower_case(char32_t c) {
  const auto run = std::lower_bound(std::begin(capitals), std::end(capitals), c,
                                    [](const Run& r, char32_t value) { return r.last < value; });
  if (run == std::end(capitals) || c < run->first || (c - run->first) % run->step != 0) return c;
  return static_cast<char32_t>(static_cast<std::int32_t>(c) + run->added);
}

void append_without_marks(char32_t c, std::u32string& text) {
  if (is_mark(c)) return;
  if (c >= 0xAC00 && c < 0xD7A4) {  // a syllable of Hangul: Unicode, section 3.12
    const char32_t syllable = c - 0xAC00, trail = syllable % 28;
    text += {0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28};
    if (trail > 0) text += 0x11A7 + trail;
    return;
  }
  const char32_t base = find(bases, c), tail = find(tails, c);
  if (base == 0) {
    text += c;
    return;
  }
  append_without_marks(base, text);
  if (tail != 0) append_without_marks(tail, text);
}

}  // namespace wasmformer
