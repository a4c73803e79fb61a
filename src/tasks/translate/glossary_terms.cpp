#include "tasks/translate/glossary_terms.h"

#include <set>

#include "schema/error.h"
#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

bool has_words(const std::string& text) {
  const std::u32string words = with_single_spaces(decode_utf8(text));
  return words.find_first_not_of(U"* ") != std::u32string::npos;
}

}  // namespace

void check_glossary(const std::vector<GlossaryTerm>& terms, Naming naming) {
  std::set<std::u32string> sources;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto& [source, target] = terms[i];
    const std::string place = std::string(named("glossary", naming)) + "[" + std::to_string(i) + "]";
    WASMFORMER_CHECK(is_utf8(source) && is_utf8(target), ErrorCode::translate, place << " is not UTF-8");
    WASMFORMER_CHECK(has_words(source), ErrorCode::translate, place << " has no words in its source");
    WASMFORMER_CHECK(has_words(target), ErrorCode::translate, place << " has no words in its target");
    const bool is_new = sources.insert(with_single_spaces(decode_utf8(source))).second;
    WASMFORMER_CHECK(is_new, ErrorCode::translate, place << " has the source '" << source << "' of an earlier term");
  }
}

}  // namespace wasmformer
