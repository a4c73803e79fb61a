#include "text/keep/numbers.h"

#include <array>

#include "text/keep/characters.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

constexpr Text currencies = U"$€£¥₹₽₩฿";
constexpr Text signs = U"+-−±";
constexpr Text group_spaces = U" \u00A0\u202F";
constexpr std::size_t group_digits = 3;

constexpr Text units =
    U" km/h kWh kHz MHz GHz THz kcal mph m/s °C °F km cm mm µm nm kg mg µg ml kB KB MB GB TB PB Hz kW "
    U"MW kV mV mA ms m² m³ m g % ‰ ° V ";

bool is_of_unit(char32_t c) { return is_ascii_letter(c) || contains(U"µ°²³/%‰", c); }

std::size_t end_of_unit(Text text, std::size_t begin) {
  if (contains(currencies, at(text, begin))) return begin + 1;
  const std::size_t end = skip(text, begin, is_of_unit);
  const bool is_unit = !is_word_character(at(text, end)) && contains_word(units, text.substr(begin, end - begin));
  return is_unit ? end : begin;
}

// Three digits follow the space, and no more: the next group of 1 234 567.
bool is_group_space(Text text, std::size_t i, std::size_t group) {
  if (!contains(group_spaces, text[i]) || i - group > group_digits) return false;
  const std::size_t end = skip(text, i + 1, is_digit);
  return end - i - 1 == group_digits;
}

bool joins_digits(Text text, std::size_t i, std::size_t group) {
  if (!is_digit(at(text, i + 1))) return false;
  return contains(U".,:/'’-–×⁄", text[i]) || is_group_space(text, i, group);
}

struct Digits {
  std::size_t end, count = 0;
  bool has_separator = false;
};

Digits read_digits(Text text, std::size_t begin) {
  Digits digits{.end = begin};
  std::size_t group = begin;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (is_digit(text[i])) {
      ++digits.count;
    } else if (joins_digits(text, i, group)) {
      digits.has_separator = true;
      group = i + 1;
    } else {
      break;
    }
    digits.end = i + 1;
  }
  return digits;
}

// Returns whether letters end a word such as 1st, 2e or the 1990s, which the model translates.
bool is_word_ending(Text letters) { return contains_word(U" st nd rd th er re e s ème ter te ", letters); }

// Letters directly behind the digits, as in 12b, 0.85.x and 4K; `begin` where they make no such number.
std::size_t end_of_letters(Text text, std::size_t begin) {
  constexpr std::size_t most = 3;
  const std::size_t letters = at(text, begin) == U'.' ? begin + 1 : begin;
  const std::size_t end = skip(text, letters, is_ascii_alphanumeric);
  const bool is_short = end > letters && end - letters <= most && !is_word_character(at(text, end));
  const bool is_version = letters > begin && end == letters + 1;
  return is_short && (letters == begin || is_version) && !is_word_ending(text.substr(letters, end - letters)) ? end
                                                                                                              : begin;
}

struct Separators {
  std::string_view language;
  char32_t decimal, group;
};
// From Unicode's CLDR 44.
constexpr std::array<Separators, 22> separators = {{
    {"de", U',', U'.'},      {"en", U'.', U','},      {"fr", U',', U'\u202F'}, {"zh", U'.', U','},
    {"es", U',', U'.'},      {"it", U',', U'.'},      {"nl", U',', U'.'},      {"pt", U',', U'.'},
    {"ja", U'.', U','},      {"ko", U'.', U','},      {"pl", U',', U'\u00A0'}, {"ru", U',', U'\u00A0'},
    {"uk", U',', U'\u00A0'}, {"cs", U',', U'\u00A0'}, {"sk", U',', U'\u00A0'}, {"sv", U',', U'\u00A0'},
    {"nb", U',', U'\u00A0'}, {"fi", U',', U'\u00A0'}, {"da", U',', U'.'},      {"id", U',', U'.'},
    {"tr", U',', U'.'},      {"hu", U',', U'\u00A0'},
}};

const Separators* separators_of(std::string_view language) {
  for (const Separators& one : separators)
    if (one.language == language) return &one;
  return nullptr;
}

bool is_group_separator(char32_t c, const Separators& of) {
  if (is_space(of.group)) return contains(group_spaces, c);
  return c == of.group;
}

// A number with other separators; empty if it is not a number with those of `from`.
std::u32string converted(Text number, const Separators& from, const Separators& to) {
  std::u32string written;
  std::size_t begin = 0;
  for (bool is_first = true;; is_first = false) {
    const std::size_t end = skip(number, begin, is_digit);
    const std::size_t digits = end - begin;
    if (digits == 0 || (!is_first && digits != group_digits)) return {};
    if (!is_first) written += to.group;
    written += number.substr(begin, digits);
    if (end == number.size()) return written;
    if (number[end] == from.decimal) {
      const Text decimals = number.substr(end + 1);
      if (decimals.empty() || skip(decimals, 0, is_digit) < decimals.size()) return {};
      written += to.decimal;
      return written += decimals;
    }
    const bool goes_on = is_group_separator(number[end], from) && (!is_first || digits <= group_digits);
    if (!goes_on) return {};
    begin = end + 1;
  }
}

// "Python 3.11" and "v1.2" name versions, whose point is no decimal one.
bool is_after_name(Text text, std::size_t begin) {
  std::size_t end = begin;
  while (end > 0 && is_space(text[end - 1])) --end;
  std::size_t word = end;
  while (word > 0 && is_word_character(text[word - 1])) --word;
  const bool is_capitalized = word < end && word > 0 && is_ascii_capital(text[word]);
  const Text name = text.substr(word, end - word);
  return is_capitalized || name == U"version" || name == U"v";
}

}  // namespace

std::size_t end_of_number_to_keep(Text text, std::size_t begin) {
  constexpr std::size_t many_digits = 4;
  if (!begins_word(text, begin) || contains(U".,", before(text, begin))) return begin;
  std::size_t first = begin;
  if (contains(signs, at(text, first))) ++first;
  if (contains(currencies, at(text, first))) {
    ++first;
    if (contains(group_spaces, at(text, first))) ++first;
  }
  if (contains(U"#", at(text, first))) ++first;
  const bool is_marked = first > begin;
  if (!is_digit(at(text, first))) return begin;
  const Digits digits = read_digits(text, first);
  std::size_t end = digits.end;
  const std::size_t space = contains(group_spaces, at(text, end)) ? end + 1 : end;
  const std::size_t unit = end_of_unit(text, space);
  const bool has_unit = unit > space;
  const std::size_t letters = has_unit ? end : end_of_letters(text, end);
  if (has_unit) end = unit;
  if (letters > end) end = letters;
  const bool goes_on = is_ascii_letter(at(text, end)) && !has_unit;
  const bool is_kept = is_marked || digits.has_separator || digits.count >= many_digits || end > digits.end;
  return is_kept && !goes_on ? end : begin;
}

std::u32string in_target_format(Text text, std::size_t begin, std::size_t end, std::string_view source,
                                std::string_view target) {
  const Text all = text.substr(begin, end - begin);
  const Separators *from = separators_of(source), *to = separators_of(target);
  if (!from || !to) return std::u32string(all);
  std::size_t first = 0;
  while (first < all.size() && !is_digit(all[first])) ++first;
  std::size_t last = all.size();
  while (last > first && !is_digit(all[last - 1])) --last;
  const Text digits = all.substr(first, last - first);
  const bool is_version = from->decimal == U'.' && contains(digits, U'.') && is_after_name(text, begin);
  const std::u32string number = is_version ? std::u32string() : converted(digits, *from, *to);
  if (number.empty()) return std::u32string(all);
  std::u32string written(all.substr(0, first));
  written += number;
  return written += all.substr(last);
}

}  // namespace wasmformer
