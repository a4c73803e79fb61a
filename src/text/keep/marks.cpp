#include "text/keep/marks.h"

#include <algorithm>

#include "text/keep/characters.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

bool is_of_name(char32_t c) { return is_ascii_alphanumeric(c) || c == U'_' || c == U'.'; }

// Finds the end of one name between `open` and `close`. It begins with a letter or, where `digits` may be, is a
// number.
std::size_t end_of_enclosed(Text text, std::size_t begin, Text open, Text close, bool digits) {
  if (!starts_with(text, begin, open)) return begin;
  const std::size_t name = begin + open.size(), end = skip(text, name, is_of_name);
  const bool begins_well =
      is_ascii_letter(at(text, name)) || at(text, name) == U'_' || (digits && is_digit(at(text, name)));
  return end > name && begins_well && starts_with(text, end, close) ? end + close.size() : begin;
}

// %[position$][flags][width][.precision][length]conversion, and Python's %(name)s. The flag of a space is left out: it
// would take "50 % des".
std::size_t end_of_directive(Text text, std::size_t begin) {
  std::size_t i = begin + 1;
  if (at(text, i) == U'%') return i + 1;
  if (at(text, i) == U'(') {
    const std::size_t name = skip(text, i + 1, is_of_name);
    if (name == i + 1 || at(text, name) != U')') return begin;
    i = name + 1;
  } else {
    const std::size_t position = skip(text, i, is_digit);
    if (position > i && at(text, position) == U'$') i = position + 1;
  }
  i = skip(text, i, [](char32_t c) { return contains(U"#-+0'I", c); });
  i = at(text, i) == U'*' ? i + 1 : skip(text, i, is_digit);
  if (at(text, i) == U'.') i = at(text, i + 1) == U'*' ? i + 2 : skip(text, i + 1, is_digit);
  i = skip(text, i, [](char32_t c) { return contains(U"hlLqjztZ", c); });
  const bool is_conversion = contains(U"diouxXeEfFgGaAcspnmCS@", at(text, i));
  const bool is_alone = !is_ascii_alphanumeric(at(text, i + 1)) || i > begin + 1;
  return is_conversion && is_alone ? i + 1 : begin;
}

// $x and $HOME, but not the price $5.
std::size_t end_of_variable(Text text, std::size_t begin) {
  if (!is_ascii_letter(at(text, begin + 1))) return begin;
  const std::size_t end = skip(text, begin + 1, [](char32_t c) { return is_ascii_alphanumeric(c) || c == U'_'; });
  return end;
}

// :smile:, which needs a letter first.
std::size_t end_of_short_code(Text text, std::size_t begin) {
  if (!begins_word(text, begin) || !is_ascii_letter(at(text, begin + 1))) return begin;
  const std::size_t end =
      skip(text, begin + 1, [](char32_t c) { return is_ascii_alphanumeric(c) || contains(U"_+-", c); });
  return at(text, end) == U':' && !is_word_character(at(text, end + 1)) ? end + 1 : begin;
}

// A tag of HTML or XML.
std::size_t end_of_tag(Text text, std::size_t begin) {
  constexpr std::size_t longest = 300;
  const std::size_t name = begin + 1 + (at(text, begin + 1) == U'/');
  const std::size_t named = skip(text, name, [](char32_t c) { return is_ascii_alphanumeric(c) || contains(U"-:", c); });
  if (named == name || !is_ascii_letter(text[name])) return begin;
  const std::size_t close = text.substr(0, std::min(text.size(), begin + longest)).find(U'>', named);
  if (close == Text::npos) return begin;
  const Text rest = text.substr(named, close - named);
  const bool has_attributes = rest.find(U'=') != Text::npos && is_space(rest[0]);
  return rest.empty() || rest == U"/" || rest == U" /" || has_attributes ? close + 1 : begin;
}

std::size_t end_of_entity(Text text, std::size_t begin) {
  const std::size_t name = begin + 1 + (at(text, begin + 1) == U'#');
  const std::size_t end = skip(text, name, is_ascii_alphanumeric);
  return end > name + 1 && at(text, end) == U';' ? end + 1 : begin;
}

// "1. ", "2) ", "a) ", "(3) " at the beginning of a line.
std::size_t end_of_list_number(Text text, std::size_t begin) {
  constexpr std::size_t most_digits = 3;
  const bool is_opened = at(text, begin) == U'(';
  const std::size_t number = begin + is_opened;
  std::size_t end = skip(text, number, is_digit);
  if (end == number && is_ascii_letter(at(text, number))) end = number + 1;
  const bool is_number = end > number && end <= number + most_digits;
  const bool is_letter_here = is_ascii_letter(at(text, number));
  const char32_t mark = at(text, end);
  const bool is_closed = mark == U')' || (mark == U'.' && !is_opened && !is_letter_here);
  return is_number && is_closed && is_space(at(text, end + 1)) ? end + 1 : begin;
}

// At the beginning of a line: marks of lists, headings, quotations and tasks.
std::size_t end_of_line_mark(Text text, std::size_t begin) {
  std::size_t line = begin;
  while (line > 0 && text[line - 1] != U'\n' && is_space(text[line - 1])) --line;
  if (line > 0 && text[line - 1] != U'\n') return begin;
  const std::size_t marks = skip(text, begin, [](char32_t c) { return contains(U"#>|", c); });
  if (marks > begin && (is_space(at(text, marks)) || marks == text.size())) return marks;
  const bool is_bullet = contains(U"-*+•·▪◦‣∙–—", at(text, begin)) && is_space(at(text, begin + 1));
  if (is_bullet) {
    for (const Text box : {U" [ ]", U" [x]", U" [X]"})
      if (starts_with(text, begin + 1, box)) return begin + 1 + box.size();
    return begin + 1;
  }
  return end_of_list_number(text, begin);
}

// After an address in brackets at `open`, which may have balanced brackets itself, as in Markdown; `open` if there is
// none.
std::size_t end_of_address(Text text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size() && !is_space(text[i]); ++i) {
    depth += text[i] == U'(';
    depth -= text[i] == U')';
    if (depth == 0) return i + 1;
  }
  return open;
}

// [1] and [a] are marks of footnotes, ](address) ends a link.
std::size_t end_of_bracket(Text text, std::size_t begin) {
  if (text[begin] == U']') {
    if (at(text, begin + 1) != U'(') return begin + 1;
    return end_of_address(text, begin + 1);
  }
  const std::size_t number = skip(text, begin + 1, is_ascii_alphanumeric);
  constexpr std::size_t most = 3;
  const bool is_footnote = number > begin + 1 && number <= begin + 1 + most && at(text, number) == U']' &&
                           at(text, number + 1) != U'(' && (is_digit(text[begin + 1]) || number == begin + 2);
  return is_footnote ? number + 1 : begin + 1;
}

// As in Markdown, a sign of emphasis stands at the beginning or the end of a word: *so* and _so_, but not 2*3 or 2 * 3.
bool is_emphasis(Text text, std::size_t begin, std::size_t end) {
  const char32_t left = before(text, begin), right = at(text, end);
  const bool is_after_space = begin == 0 || is_space(left);
  const bool is_before_space = end == text.size() || is_space(right);
  const bool opens = !is_before_space && !is_word_character(left);
  const bool closes = !is_after_space && !is_word_character(right);
  return opens || closes;
}

bool is_superscript(char32_t c) { return c == U'¹' || c == U'²' || c == U'³' || (c >= 0x2070 && c <= 0x209C); }

}  // namespace

std::size_t end_of_code(Text text, std::size_t begin) {
  if (at(text, begin) == U'`') {
    const std::size_t ticks = skip(text, begin, [](char32_t c) { return c == U'`'; }) - begin;
    const std::size_t close = text.find(text.substr(begin, ticks), begin + ticks);
    return close != Text::npos && close > begin + ticks ? close + ticks : begin;
  }
  if (!begins_word(text, begin) || !(is_ascii_letter(at(text, begin)) || at(text, begin) == U'_')) return begin;
  std::size_t end = skip(text, begin, is_of_name);
  while (end > begin && text[end - 1] == U'.') --end;
  if (is_word_character(at(text, end))) return begin;  // a word with letters beyond ASCII
  const bool is_call = starts_with(text, end, U"()");
  const Text name = text.substr(begin, end - begin);
  bool joins_letters = false, is_camel = false;
  for (std::size_t i = 1; i + 1 < name.size(); ++i)
    joins_letters |= name[i] == U'_' && is_ascii_alphanumeric(name[i - 1]) && is_ascii_alphanumeric(name[i + 1]);
  for (std::size_t i = 1; i < name.size(); ++i)
    is_camel |= is_ascii_capital(name[i]) && is_ascii_letter(name[i - 1]) && !is_ascii_capital(name[i - 1]);
  const bool has_digit = has_any(name, is_digit), has_dot = name.find(U'.') != Text::npos;
  const bool is_code = joins_letters || is_call || (is_camel && (has_digit || has_dot));
  if (!is_code) return begin;
  return is_call ? end + 2 : end;
}

std::size_t end_of_placeholder(Text text, std::size_t begin) {
  switch (at(text, begin)) {
    case U'{':
      if (const std::size_t end = end_of_enclosed(text, begin, U"{{", U"}}", /*digits=*/true); end > begin) return end;
      return end_of_enclosed(text, begin, U"{", U"}", /*digits=*/true);
    case U'$':
      if (const std::size_t end = end_of_enclosed(text, begin, U"${", U"}", /*digits=*/false); end > begin) return end;
      return end_of_variable(text, begin);
    case U'%':
      return end_of_directive(text, begin);
    case U':':
      return end_of_short_code(text, begin);
    default:
      return begin;
  }
}

std::size_t end_of_markup(Text text, std::size_t begin) {
  if (const std::size_t end = end_of_line_mark(text, begin); end > begin) return end;
  const char32_t c = at(text, begin);
  if (c == U'<') return end_of_tag(text, begin);
  if (c == U'&') return end_of_entity(text, begin);
  if (c == U'[' || c == U']') return end_of_bracket(text, begin);
  if (contains(U"*_~=", c)) {
    std::size_t end = begin;
    while (at(text, end) == c) ++end;
    const bool is_pair = end > begin + 1;
    const bool is_single = contains(U"*_", c) && is_emphasis(text, begin, end);
    return is_pair || is_single ? end : begin;
  }
  const bool is_sign = contains(U"|†‡§¶【】〈〉", c);
  if (is_sign) return begin + 1;
  return skip(text, begin, is_superscript);
}

bool is_unnumbered_directive(Text span) {
  return span.size() > 1 && span[0] == U'%' && span[1] != U'%' && span[1] != U'(' && span.find(U'$') == Text::npos;
}

}  // namespace wasmformer
