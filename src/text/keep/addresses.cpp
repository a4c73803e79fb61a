#include "text/keep/addresses.h"

#include <algorithm>
#include <string>

#include "text/keep/characters.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

// Domains in which a bare host name is taken for one: the generic ones and those of large countries.
constexpr Text top_level_domains =
    U" com org net edu gov mil int info biz io dev app de fr uk us eu ch at be nl it es pt pl cz se "
    U"no dk fi ru cn jp kr tw hk in br au ca ";
constexpr Text file_suffixes =
    U" txt pdf doc docx odt rtf xls xlsx ods csv tsv ppt pptx odp md html htm xml json yml yaml toml "
    U"ini conf cfg log c h cpp hpp cc py js mjs ts java rs go rb php sh bat exe dll so zip gz tar xz "
    U"7z png jpg jpeg gif svg webp mp3 mp4 wav po mo desktop ";

constexpr Text closing_punctuation = U".,;:!?'\")]}*_~…";

bool is_of_host(char32_t c) { return is_ascii_alphanumeric(c) || c == U'-'; }

bool is_of_url(char32_t c) {
  if (c <= U' ') return false;
  if (c < 0x7F) return !contains(U"<>\"{}|\\^`", c);
  return is_letter(c) && !is_ideograph(c);
}

// Without the punctuation of the sentence around it; a bracket stays if it was opened inside.
std::size_t without_punctuation(Text text, std::size_t begin, std::size_t end) {
  while (end > begin && contains(closing_punctuation, text[end - 1])) {
    const Text inside = text.substr(begin, end - begin);
    const bool is_closed =
        text[end - 1] == U')' && std::ranges::count(inside, U'(') >= std::ranges::count(inside, U')');
    if (is_closed) break;
    --end;
  }
  return end;
}

std::size_t end_of_scheme(Text text, std::size_t begin) {
  const std::size_t name =
      skip(text, begin, [](char32_t c) { return is_ascii_alphanumeric(c) || contains(U"+-.", c); });
  if (name == begin || !is_ascii_letter(text[begin])) return begin;
  if (starts_with(text, name, U"://")) return name + 3;
  const Text scheme = text.substr(begin, name - begin);
  const bool needs_no_slashes = scheme == U"mailto" || scheme == U"tel" || scheme == U"data";
  return needs_no_slashes && at(text, name) == U':' && is_of_url(at(text, name + 1)) ? name + 1 : begin;
}

// Labels with dots between them; `labels` counts them.
std::size_t end_of_labels(Text text, std::size_t begin, std::size_t& labels) {
  std::size_t end = begin;
  for (labels = 0;; ++labels) {
    const std::size_t label = labels == 0 ? begin : end + 1;
    if (labels > 0 && at(text, end) != U'.') return end;
    const std::size_t next = skip(text, label, is_of_host);
    if (next == label) return end;
    end = next;
  }
}

bool ends_in_known_domain(Text host) {
  const Text last = host.substr(host.rfind(U'.') + 1);
  return contains_word(top_level_domains, last);
}

// A path, a port or a query behind a host.
std::size_t end_of_rest(Text text, std::size_t begin, std::size_t host) {
  std::size_t end = host;
  if (at(text, end) == U':' && is_digit(at(text, end + 1))) end = skip(text, end + 1, is_digit);
  if (contains(U"/?#", at(text, end))) end = without_punctuation(text, begin, skip(text, end, is_of_url));
  return end;
}

std::size_t end_of_email(Text text, std::size_t begin) {
  const std::size_t name =
      skip(text, begin, [](char32_t c) { return is_ascii_alphanumeric(c) || contains(U"._%+-", c); });
  if (name == begin || at(text, name) != U'@') return begin;
  std::size_t labels = 0;
  const std::size_t end = end_of_labels(text, name + 1, labels);
  return labels > 1 && is_ascii_letter(text[end - 1]) ? end : begin;
}

// Four numbers of at most 255 with dots, then perhaps a mask or a port.
std::size_t end_of_ipv4(Text text, std::size_t begin) {
  std::size_t end = begin;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && at(text, end++) != U'.') return begin;
    const std::size_t digits = skip(text, end, is_digit);
    if (digits == end || digits > end + 3) return begin;
    end = digits;
  }
  if (at(text, end) == U'.' && is_digit(at(text, end + 1))) return begin;
  if (contains(U"/:", at(text, end)) && is_digit(at(text, end + 1))) end = skip(text, end + 1, is_digit);
  return end;
}

// Hexadecimal groups with at least two colons, such as fe80::1.
std::size_t end_of_ipv6(Text text, std::size_t begin) {
  const auto is_of_address = [](char32_t c) {
    return is_digit(c) || c == U':' || (c >= U'a' && c <= U'f') || (c >= U'A' && c <= U'F');
  };
  const std::size_t end = skip(text, begin, is_of_address);
  const Text found = text.substr(begin, end - begin);
  const auto colons = std::ranges::count(found, U':');
  // "12::30" is not an address.
  const bool has_letter = has_any(found, is_ascii_letter);
  const bool is_short = found.find(U"::") != Text::npos && found.size() > 2 && (has_letter || found[0] == U':');
  const bool is_whole = colons == 7;
  return is_short || is_whole ? end : begin;
}

bool is_of_path(char32_t c) {
  return is_ascii_alphanumeric(c) || contains(U"._-+~%$@=", c) || (c > 0x7F && is_letter(c) && !is_ideograph(c));
}

// NAME/NAME/NAME from `begin` on; `slashes` counts them.
std::size_t end_of_segments(Text text, std::size_t begin, char32_t slash, std::size_t& slashes) {
  std::size_t end = begin;
  slashes = 0;
  for (;;) {
    end = skip(text, end, is_of_path);
    if (at(text, end) != slash) break;
    ++slashes;
    ++end;
  }
  return without_punctuation(text, begin, end);
}

bool is_file_name(Text name) {
  const std::size_t dot = name.rfind(U'.');
  if (dot == Text::npos || dot == 0) return false;
  std::u32string suffix(name.substr(dot + 1));
  for (char32_t& c : suffix)
    if (is_ascii_capital(c)) c += U'a' - U'A';
  return contains_word(file_suffixes, suffix);
}

}  // namespace

std::size_t end_of_url(Text text, std::size_t begin) {
  if (!begins_word(text, begin) || before(text, begin) == U'@') return begin;
  if (const std::size_t rest = end_of_scheme(text, begin); rest > begin) {
    const std::size_t end = without_punctuation(text, begin, skip(text, rest, is_of_url));
    return end > rest ? end : begin;
  }
  if (const std::size_t end = end_of_email(text, begin); end > begin) return end;
  if (const std::size_t end = end_of_ipv4(text, begin); end > begin) return end;
  if (const std::size_t end = end_of_ipv6(text, begin); end > begin) return end;
  std::size_t labels = 0;
  const std::size_t host = end_of_labels(text, begin, labels);
  const bool is_host =
      labels > 1 && !is_word_character(at(text, host)) &&
      (ends_in_known_domain(text.substr(begin, host - begin)) || (labels > 2 && starts_with(text, begin, U"www.")));
  return is_host ? end_of_rest(text, begin, host) : begin;
}

std::size_t end_of_path(Text text, std::size_t begin) {
  if (!begins_word(text, begin) || contains(U"/\\.<", before(text, begin))) return begin;
  std::size_t slashes = 0;
  const bool is_of_windows =
      is_ascii_letter(at(text, begin)) && at(text, begin + 1) == U':' && at(text, begin + 2) == U'\\';
  if (is_of_windows || starts_with(text, begin, U"\\\\")) {
    const std::size_t end = end_of_segments(text, begin + 2, U'\\', slashes);
    return slashes > 0 && end > begin + 3 ? end : begin;
  }
  const std::size_t end = end_of_segments(text, begin, U'/', slashes);
  if (end == begin) return begin;
  const Text found = text.substr(begin, end - begin);
  const bool has_letter = has_any(found, is_letter);
  const bool is_rooted = found.size() > 1 && (found[0] == U'/' || found.starts_with(U"./") ||
                                              found.starts_with(U"../") || found.starts_with(U"~/"));
  // "he/she/it" is not a path.
  const bool is_deep = slashes > 1 && is_ascii_alphanumeric(found[0]) &&
                       (has_any(found, is_digit) || contains(found, U'.') || contains(found, U'_'));
  const bool is_file = is_file_name(found) && (is_ascii_alphanumeric(found[0]) || found[0] == U'_');
  return has_letter && (is_rooted || is_deep || is_file) ? end : begin;
}

std::size_t end_of_handle(Text text, std::size_t begin) {
  const bool is_handle = contains(U"@#", at(text, begin)) && begins_word(text, begin) && is_letter(at(text, begin + 1));
  if (!is_handle) return begin;
  const auto is_of_name = [](char32_t c) { return is_word_character(c) || c == U'-'; };
  return without_punctuation(text, begin, skip(text, begin + 1, is_of_name));
}

}  // namespace wasmformer
