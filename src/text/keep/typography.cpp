#include "text/keep/typography.h"

#include <array>

#include "text/keep/characters.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

constexpr Text double_quotes = U"“”„‟«»❝❞〝〞＂", single_quotes = U"‘’‚‛‹›´`ʼ";
constexpr Text dashes = U"–—―‒", hyphens = U"‐‑";
constexpr Text corner_quotes = U"「」『』";
constexpr Text invisible_marks = U"\u00AD\u200B\u2060\uFEFF\u200E\u200F";

struct Quotes {
  std::string_view language;
  Text open, close, single_open, single_close;
};
// From Unicode's CLDR 44.
constexpr std::array<Quotes, 4> all_quotes = {{
    {.language = "en", .open = U"“", .close = U"”", .single_open = U"‘", .single_close = U"’"},
    {.language = "de", .open = U"„", .close = U"“", .single_open = U"‚", .single_close = U"‘"},
    {.language = "fr", .open = U"«\u00A0", .close = U"\u00A0»", .single_open = U"‘", .single_close = U"’"},
    {.language = "zh", .open = U"“", .close = U"”", .single_open = U"‘", .single_close = U"’"},
}};

const Quotes& quotes_of(std::string_view language) {
  for (const Quotes& one : all_quotes)
    if (one.language == language) return one;
  return all_quotes.front();
}

bool has_own_quotes(std::string_view language) { return language == "zh" || language == "ja"; }

struct Pair {
  char32_t open;
  Closing closing;
};
constexpr std::array<Pair, 21> pairs = {{
    {U'"', {U'"', U'”'}}, {U'\'', {U'\'', U'’'}}, {U'“', {U'”', U'“'}}, {U'„', {U'“', U'”'}}, {U'«', {U'»'}},
    {U'»', {U'«', U'»'}}, {U'‘', {U'’', U'‘'}},   {U'‚', {U'‘', U'’'}}, {U'‹', {U'›'}},       {U'›', {U'‹'}},
    {U'(', {U')'}},       {U'[', {U']'}},         {U'{', {U'}'}},       {U'<', {U'>'}},       {U'「', {U'」'}},
    {U'『', {U'』'}},     {U'【', {U'】'}},       {U'《', {U'》'}},     {U'〈', {U'〉'}},     {U'（', {U'）'}},
    {U'”', {U'”'}},
}};

bool begins_quote(Text text, std::size_t i) {
  const char32_t previous = before(text, i);
  return previous == U'\0' || is_space(previous) || contains(U"([{-–—", previous);
}

char32_t chinese_quote(char32_t corner) { return corner == U'「' || corner == U'『' ? U'“' : U'”'; }

// Adds the plain sign of a typographic one, if it is one.
bool add_plain(char32_t c, std::u32string& plain, Typography& found) {
  if (contains(double_quotes, c)) {
    const bool closes_behind_space = c == U'»' && !plain.empty() && is_space(plain.back());
    if (closes_behind_space) plain.pop_back();
    plain += U'"';
    return found.quotes = true;
  }
  if (contains(single_quotes, c)) {
    plain += U'\'';
    return found.apostrophes = true;
  }
  if (contains(dashes, c)) {
    plain += U'-';
    return found.dashes = true;
  }
  if (c != U'…') return false;
  plain += U"...";
  return found.ellipses = true;
}

}  // namespace

std::u32string plain_signs(Text text, std::string_view language, Typography& found) {
  std::u32string plain;
  const bool is_chinese = has_own_quotes(language);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (contains(invisible_marks, c)) continue;
    if (contains(corner_quotes, c)) {
      plain += is_chinese ? chinese_quote(c) : U'"';
      found.quotes = true;
    } else if (contains(hyphens, c)) {
      plain += U'-';
    } else if (is_chinese || !add_plain(c, plain, found)) {
      plain += c;
    }
    // French writes a space inside of its quotes.
    const bool opens_with_space = c == U'«' && !is_chinese && is_space(at(text, i + 1));
    if (opens_with_space) ++i;
  }
  return plain;
}

std::u32string Typesetter::operator()(Text text) {
  const Quotes& quotes = quotes_of(language_);
  std::u32string written;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == U'"' && signs_.quotes) {
      written += is_open_ ? quotes.close : quotes.open;
      is_open_ = !is_open_;
    } else if (c == U'\'' && signs_.apostrophes) {
      written += begins_quote(text, i) ? quotes.single_open : U"’";
    } else if (c == U'-' && signs_.dashes && is_space(before(text, i)) && is_space(at(text, i + 1))) {
      written += U'–';
    } else if (signs_.ellipses && text.substr(i).starts_with(U"...")) {
      written += U'…';
      i += 2;
    } else {
      written += c;
    }
  }
  return written;
}

Closing closing_of(char32_t open) {
  for (const Pair& pair : pairs)
    if (pair.open == open) return pair.closing;
  return {};
}

bool opens_sentence(char32_t c) { return closing_of(c).usual != U'\0'; }

bool closes_sentence(char32_t c) {
  for (const Pair& pair : pairs)
    if (pair.closing.closes(c)) return true;
  return false;
}

std::u32string enclosing_sign(char32_t sign, bool opens, std::string_view language) {
  const Quotes& quotes = quotes_of(language);
  if (contains(double_quotes, sign) || contains(corner_quotes, sign))
    return std::u32string(opens ? quotes.open : quotes.close);
  if (contains(U"‘’‚‛‹›", sign)) return std::u32string(opens ? quotes.single_open : quotes.single_close);
  return {sign};
}

}  // namespace wasmformer
