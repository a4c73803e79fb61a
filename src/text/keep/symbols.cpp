#include "text/keep/symbols.h"

#include "text/keep/characters.h"
#include "text/unicode/unicode.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

constexpr char32_t emoji_style = 0xFE0F, text_style = 0xFE0E, joiner = 0x200D, keycap = 0x20E3;

bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

// Arrows, dingbats and the planes of emoji, in which a vocabulary's single piece would not mean the picture.
bool is_pictograph(char32_t c) {
  return within(c, 0x2190, 0x21FF) || within(c, 0x2600, 0x27BF) || within(c, 0x2B00, 0x2BFF) ||
         within(c, 0x1F000, 0x1FAFF);
}

bool is_symbol(char32_t c) {
  constexpr char32_t first = 0xA1;
  return c >= first && !is_letter(c) && !is_space(c) && !is_punctuation(c) && !is_mark(c) && !is_invisible(c);
}

// Characters that change the one before them: styles, joiners, and the tags that spell flags.
bool is_modifier(char32_t c) {
  return c == emoji_style || c == text_style || c == joiner || c == keycap || within(c, 0xE0020, 0xE007F);
}

bool is_latin(char32_t c) {
  return c < 0x250 || within(c, 0x1E00, 0x1EFF) || within(c, 0x2C60, 0x2C7F) || within(c, 0xA720, 0xA7FF) ||
         within(c, 0xFB00, 0xFB06) || within(c, 0xFF21, 0xFF5A);
}

bool is_foreign_letter(char32_t c) { return is_letter(c) && !is_latin(c); }

}  // namespace

std::size_t end_of_emoji(Text text, std::size_t begin, const KnowsCharacter& knows) {
  const std::size_t style = begin + 1 + (at(text, begin + 1) == emoji_style);
  const bool is_keycap = (is_digit(at(text, begin)) || contains(U"#*", at(text, begin))) && at(text, style) == keycap;
  std::size_t end = is_keycap ? style + 1 : begin;
  for (;;) {
    const char32_t c = at(text, end);
    const bool is_kept = is_pictograph(c) || (is_symbol(c) && !knows(c));
    const bool belongs = end > begin && is_modifier(c);
    if (!is_kept && !belongs) return end;
    ++end;
  }
}

std::size_t end_of_script(Text text, std::size_t begin, const KnowsCharacter& knows) {
  const auto begins_stretch = [text](std::size_t i) {
    const char32_t previous = before(text, i);
    return !is_foreign_letter(previous) || is_ideograph(previous) != is_ideograph(text[i]);
  };
  if (!is_foreign_letter(at(text, begin)) || !begins_stretch(begin)) return begin;
  const bool has_ideographs = is_ideograph(text[begin]);
  std::size_t end = begin, letters = 0, known = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (is_foreign_letter(c) && is_ideograph(c) == has_ideographs) {
      ++letters;
      known += knows(c);
      end = i + 1;
    } else if (is_mark(c) || is_modifier(c)) {
      end = i + 1;
    } else if (is_letter(c) || is_digit(c)) {
      break;
    }
  }
  return 2 * known < letters ? end : begin;
}

}  // namespace wasmformer
