#include "tasks/translate/spelling.h"

#include <algorithm>
#include <catch_amalgamated.hpp>

#include "tasks/translate/search.h"
#include "tests/tasks/translate/bytes_model.h"
#include "text/unicode/utf8.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Ids = std::vector<TokenId>;

namespace {

std::vector<SearchHypothesis> spelled(const ModelFile& file, const SearchInput& input,
                                      const TranslateOptions& options) {
  ThreadPool pool;
  Search s(*file.transformer, pool, {input}, options);
  while (s.step()) {
  }
  return s.hypotheses(0);
}

SearchInput input_for(const ModelFile& file, std::uint64_t number, Index max_length = 24) {
  return {.source = {4, static_cast<TokenId>(5 + number % 200), 3},
          .max_length = max_length,
          .number = number,
          .tokenizer = file.target_tokenizer.get(),
          .characters = CharacterSet::all()};
}

std::string bytes_of(const ModelFile& file, const Ids& ids) {
  std::string bytes;
  for (const TokenId id : ids) {
    const int byte = file.target_tokenizer->byte_pieces().byte(id);
    if (byte != BytePieces::none)
      bytes += static_cast<char>(byte);
    else
      bytes += file.target_tokenizer->piece(id);
  }
  return bytes;
}

Ids pieces_of(const ModelFile& file, const std::string& bytes) {
  Ids ids;
  for (const char byte : bytes)
    ids.push_back(file.target_tokenizer->byte_pieces().piece(static_cast<std::uint8_t>(byte)));
  return ids;
}

// Returns whether the automaton takes all these bytes, one after the other, and has a whole character then.
bool spells(const ModelFile& file, const CharacterSet& characters, const std::string& bytes) {
  const Spelling spelling(file.target_tokenizer->byte_pieces(), characters, {});
  Spelling::State state = Spelling::between;
  for (const TokenId id : pieces_of(file, bytes)) {
    const TokenScore token{id, 0};
    if (!spelling.allows(state, {&token, 1}, /*room=*/4)) return false;
    state = spelling.after(state, id);
  }
  return state == Spelling::between;
}

const TranslateOptions kinds_of_search[] = {{.beam_size = 1},
                                            {.beam_size = 4, .n_best = 4},
                                            {.sampling = Sampling{.temperature = 3}},
                                            {.sampling = Sampling{.temperature = 3, .top_k = 5, .top_p = 0.8}}};

}  // namespace

TEST_CASE("A search over random bytes finds nothing but UTF-8, whatever its options") {
  for (const TranslateOptions& options : kinds_of_search) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const ModelFile file = bytes_model(seed);
      for (const SearchHypothesis& found : spelled(file, input_for(file, seed), options)) {
        INFO("seed " << seed);
        CHECK(is_utf8(bytes_of(file, found.ids)));
      }
    }
  }
}

TEST_CASE("A translation that max_length cuts off ends with a whole character") {
  for (const TranslateOptions& options : kinds_of_search)
    for (Index max_length = 1; max_length <= 6; ++max_length) {
      const ModelFile file = bytes_model(static_cast<std::uint64_t>(max_length));
      for (const SearchHypothesis& found : spelled(file, input_for(file, 1, max_length), options)) {
        CHECK(is_utf8(bytes_of(file, found.ids)));
        CHECK(found.ids.size() <= static_cast<std::size_t>(max_length));
      }
    }
}

TEST_CASE("A character that a prefix ends inside of is completed, with a shortlist and with any characters allowed") {
  const ModelFile file = bytes_model(3);
  for (const TranslateOptions& options : kinds_of_search)
    for (const std::string start : {"\xC3", "\xE2\x82", "\xF0\x9F", "\xED", "a\xF4"})
      for (const bool has_shortlist : {false, true}) {
        SearchInput input = input_for(file, 1);
        input.prefix = pieces_of(file, start);
        input.characters = CharacterSet::of_translation("de", U"");
        if (has_shortlist) input.candidates = {4, 5, 261};
        for (const SearchHypothesis& found : spelled(file, input, options)) {
          const std::string bytes = bytes_of(file, found.ids);
          CHECK(bytes.starts_with(start));
          CHECK(is_utf8(bytes));
        }
      }
  SearchInput input = input_for(file, 1, 3);
  input.prefix = pieces_of(file, "\xF0\x9F");
  CHECK_THROWS_WITH(spelled(file, input, {}), ContainsSubstring("needs 2 more tokens, but max_length leaves 1"));
}

TEST_CASE("The automaton takes well-formed characters alone") {
  const ModelFile file = bytes_model(1);
  const CharacterSet all = CharacterSet::all();
  for (const std::string good : {"a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                 "\xEF\xBF\xBD", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF",
                                 "a\xC3\xA4"
                                 "b"})
    CHECK(spells(file, all, good));
  CHECK(spells(file, all, std::string(1, '\0')));
  for (const std::string bad :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98",
        "\xC3"
        "a",
        "\xE2\x82\xE2"})
    CHECK_FALSE(spells(file, all, bad));
}

TEST_CASE("Bytes spell the scripts of the target language and of the source") {
  const ModelFile file = bytes_model(1);
  const CharacterSet german = CharacterSet::of_translation("de", U"Hi");
  for (const std::string good : {"ä", "ẞ", "ő", "„", "–", "#"}) CHECK(spells(file, german, good));
  for (const std::string bad : {"д", "α", "中", "あ", "😀", "£", "½", "⁁", "ⱪ", "ⁱ", "\xEF\xBF\xBD"})
    CHECK_FALSE(spells(file, german, bad));

  const CharacterSet with_source = CharacterSet::of_translation("de", U"£5 für Иван 😀");
  for (const std::string good : {"£", "д", "😀", "ß"}) CHECK(spells(file, with_source, good));
  for (const std::string bad : {"€", "😁", "中"}) CHECK_FALSE(spells(file, with_source, bad));

  const CharacterSet chinese = CharacterSet::of_translation("zh", U"");
  for (const std::string good : {"中", "龘", "𠀀", "。", "，", "《", "　", "é"}) CHECK(spells(file, chinese, good));
  for (const std::string bad : {"д", "あ", "한", "😀"}) CHECK_FALSE(spells(file, chinese, bad));

  const CharacterSet unknown = CharacterSet::of_translation("xx", U"");
  for (const std::string good : {"中", "д", "😀", "½"}) CHECK(spells(file, unknown, good));
}
