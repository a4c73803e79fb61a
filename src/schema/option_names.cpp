#include "schema/option_names.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace wasmformer {
namespace {

// Fewest letters to insert, remove or replace to turn `a` into `b` (Levenshtein).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

std::string named(const char* name, Naming naming) {
  if (naming == Naming::snake) return name;
  std::string camel;
  bool begins_word = false;
  for (; *name; ++name) {
    const bool is_separator = *name == '_' && name[1];
    if (!is_separator) camel += begins_word ? static_cast<char>(std::toupper(*name)) : *name;
    begins_word = is_separator;
  }
  return camel;
}

std::string suggestion(const std::string& given, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, given.size() / 2) + 1;
  for (const std::string& name : names) {
    // A part of a name means that name; one far longer than any name cannot be a slip.
    const bool is_part = given.size() > 2 && name.find(given) != std::string::npos;
    const bool is_too_long = given.size() > 2 * name.size() + 2;
    if (is_too_long && !is_part) continue;
    const std::size_t distance = is_part ? 1 : edit_distance(given, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace wasmformer
