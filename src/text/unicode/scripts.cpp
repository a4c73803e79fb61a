#include "text/unicode/scripts.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

namespace wasmformer {
namespace {

enum class Script : std::uint8_t;

struct ScriptRange {
  char32_t first, last;
  Script script;
};

struct LanguagesOfScript {
  Script script;
  std::string_view codes;  // each followed by a space
};

#include "text/unicode/script_tables.inc"

constexpr char32_t before_surrogates = 0xD7FF, after_surrogates = 0xE000, last_character = 0x10FFFF;

using Scripts = std::uint32_t;  // a bit for each
constexpr Scripts bit(Script script) { return Scripts{1} << static_cast<int>(script); }

struct Characters {
  char32_t first, last;
};
// Characters of no script that every language has: those of ASCII, quotes, dashes and spaces.
constexpr Characters usual[] = {{0x20, 0x7E},     {0xA0, 0xA0},     {0xAB, 0xAB},     {0xBB, 0xBB},
                                {0x2010, 0x2014}, {0x2018, 0x201A}, {0x201C, 0x201E}, {0x2026, 0x2026},
                                {0x202F, 0x202F}, {0x2039, 0x203A}};
// The same of Chinese, Japanese and Korean: the middle dot, and what is as wide as an ideograph.
constexpr Characters wide[] = {{0xB7, 0xB7}, {0x3000, 0x3000}, {0xFF01, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF60}};
constexpr Scripts scripts_with_wide = bit(Script::hani) | bit(Script::hang) | bit(Script::hira) | bit(Script::kana);

Scripts scripts_of_language(std::string_view language) {
  constexpr std::size_t code_length = 2;
  if (language.size() != code_length) return 0;
  const std::string code = std::string(language) + ' ';
  Scripts found = 0;
  for (const LanguagesOfScript& entry : languages_of_scripts)
    if (entry.codes.find(code) != std::string_view::npos) found |= bit(entry.script);
  return found;
}

// No script for characters that belong to none, or to one that is not in everyday use.
Scripts script_of(char32_t c) {
  const auto range = std::lower_bound(std::begin(script_ranges), std::end(script_ranges), c,
                                      [](const ScriptRange& r, char32_t value) { return r.last < value; });
  return range != std::end(script_ranges) && range->first <= c ? bit(range->script) : 0;
}

}  // namespace

CharacterSet CharacterSet::all() {
  CharacterSet result;
  result.add(0, last_character);
  return result;
}

CharacterSet CharacterSet::of_translation(std::string_view language, std::u32string_view source) {
  Scripts scripts = scripts_of_language(language);
  if (scripts == 0) return all();
  scripts |= bit(Script::latn);
  std::u32string others;
  for (const char32_t c : source) {
    const Scripts script = script_of(c);
    scripts |= script;
    if (script == 0) others += c;
  }
  CharacterSet result;
  for (const ScriptRange& range : script_ranges)
    if ((scripts & bit(range.script)) != 0) result.add(range.first, range.last);
  for (const auto& [first, last] : usual) result.add(first, last);
  if ((scripts & scripts_with_wide) != 0)
    for (const auto& [first, last] : wide) result.add(first, last);
  for (const char32_t c : others) result.add(c, c);
  return result;
}

void CharacterSet::add(char32_t first, char32_t last) {
  const Range low{first, std::min(last, before_surrogates)};
  const Range high{std::max(first, after_surrogates), std::min(last, last_character)};
  for (const Range& range : {low, high})
    if (range.first <= range.last) insert(range.first, range.last);
}

void CharacterSet::insert(char32_t first, char32_t last) {
  // Ranges that overlap the new one, or touch it, become part of it.
  const auto begin =
      std::find_if(ranges_.rbegin(), ranges_.rend(), [first](const Range& r) { return r.last + 1 < first; }).base();
  auto end = begin;
  while (end != ranges_.end() && end->first <= last + 1) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
    ++end;
  }
  ranges_.insert(ranges_.erase(begin, end), {first, last});
}

bool CharacterSet::meets(char32_t first, char32_t last) const {
  const auto range = std::lower_bound(ranges_.begin(), ranges_.end(), first,
                                      [](const Range& r, char32_t value) { return r.last < value; });
  return range != ranges_.end() && range->first <= last;
}

}  // namespace wasmformer
