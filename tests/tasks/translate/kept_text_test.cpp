#include "tasks/translate/kept_text.h"

#include <catch_amalgamated.hpp>

#include "tasks/translate/translator.h"
#include "tests/support.h"
#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

using namespace wasmformer;

namespace {

// A model of this project that has no placeholders, and reads German.
const ModelFile& german_model() {
  static const ModelFile model = [] {
    ModelFile loaded = parse_model(read_file(own_fixtures_path() + "/tiny-de-en.safetensors"), Weights::packed);
    loaded.metadata["languages"] = "de-en";
    return loaded;
  }();
  return model;
}

KeptText apart(const std::string& text, const KeepNames& names = all_keep_names()) {
  return keep_apart(german_model(), text, names, {});
}

std::string core(const std::string& text) { return encode_utf8(apart(text).core); }

// What becomes of a text if the model writes `translated` for what it gets.
std::string with_translation(const std::string& text, const std::string& translated) {
  return put_back(apart(text), decode_utf8(translated)).text;
}

}  // namespace

TEST_CASE("Signs at the edges of a text are taken off and put back", "[keep]") {
  for (const char* text :
       {"😀 Guten Morgen", "# Guten Morgen", "- Guten Morgen", "**Guten Morgen**", "[Guten Morgen]", "→ Guten Morgen ✓",
        "»Guten Morgen«", "(Guten Morgen)", "2. Guten Morgen", "* Guten Morgen 😂👍🏽", "« Guten Morgen",
        "Guten Morgen »", "<b>Guten Morgen</b>", "Guten Morgen …", "[x](a.de) Guten Morgen"})
    CHECK(core(text) == (std::string(text).starts_with("[x]") ? "x Guten Morgen" : "Guten Morgen"));
  CHECK(with_translation("😀 Guten Morgen ✓", "Good morning") == "😀 Good morning ✓");
  CHECK(with_translation("  # Guten Morgen", "Good morning") == "  # Good morning");
  CHECK(put_back_begin(apart("# 😀 Guten Morgen"), U"Good") == "# 😀 Good");
  CHECK(with_translation("„Guten Morgen.“", "Good morning.") == "“Good morning.”");
  CHECK(with_translation("»Guten Morgen«.", "Good morning") == "“Good morning”.");
}

TEST_CASE("What a sentence needs stays inside, and marks stay with their partners", "[keep]") {
  CHECK(apart("Das kostet 1.500 €").inner.size() == 1);
  CHECK(apart("@anna kommt morgen").inner.size() == 1);
  CHECK(core("README.md: Guten Morgen") == "Guten Morgen");
  CHECK(core("Guten Morgen: https://a.de/b") == "Guten Morgen:");
  CHECK(apart("**Guten** Morgen").inner.size() == 2);
  CHECK(core("„Ja!“ sagte er") == "\"Ja!\" sagte er");
}

TEST_CASE("A name before a sentence, and an emoji by its name, are not part of the sentence", "[keep]") {
  CHECK(core("@anna Kommst du morgen?") == "Kommst du morgen?");
  CHECK(with_translation("@anna Öffnest du?", "Do you open?") == "@anna Do you open?");
  CHECK(apart("Sag @anna Bescheid").inner.size() == 1);
  CHECK(core(":smile: Da kommt der Bus!") == "Da kommt der Bus!");
  CHECK(core("da kommt der Bus :smile:") == "da kommt der Bus");
}

TEST_CASE("A text without letters is copied", "[keep]") {
  for (const char* text : {"...", "!!!", "-", "„“", "😀", "→ 12.5", "https://a.de", "5", "привет"}) {
    CHECK(core(text).empty());
    CHECK(with_translation(text, "") == (std::string(text) == "→ 12.5" ? "→ 12.5" : text));
  }
}

TEST_CASE("A text in which nothing is found stays as it is", "[keep]") {
  for (const char* text :
       {"Guten Morgen", " Er hat 3 Katzen, und ich?", "\"Ja\" - sagte er ...", "Es ist 5 - nein, 6."}) {
    const Source source = tokenize(german_model(), text, 0, all_keep_names());
    CHECK_FALSE(source.kept);
    CHECK(source.ids == tokenize(german_model(), text, 0).ids);
  }
}

TEST_CASE("The result tells where everything stands, in bytes and in units of UTF-16", "[keep]") {
  const Restored restored = put_back(apart("😀 Grüß Gott ✓"), U"Hello");
  CHECK(restored.text == "😀 Hello ✓");
  REQUIRE(restored.kept.size() == 2);
  CHECK((restored.kept[0].kind == "emoji" && restored.kept[0].source.end == 2 && restored.kept[0].target.text == "😀"));
  CHECK((restored.kept[1].source.begin == 17 && restored.kept[1].source.start == 13 &&
         restored.kept[1].target.start == 9));
}

TEST_CASE("Placeholders give way to their spans, and directives of printf in another order get numbers", "[keep]") {
  KeptText kept;
  kept.source = U"%s von %d";
  kept.core = U"<w1> von <w2>";
  kept.inner = {{.span = {.begin = 0, .end = 2, .kind = KeepName::placeholder}, .text = U"%s", .symbol = U"<w1>"},
                {.span = {.begin = 7, .end = 9, .kind = KeepName::placeholder}, .text = U"%d", .symbol = U"<w2>"}};
  CHECK(put_back(kept, U"<w1> of <w2>").text == "%s of %d");
  CHECK(put_back(kept, U"<w2>, <w1>").text == "%2$d, %1$s");
  CHECK(put_back(kept, U"of <w2>").text == "of %2$d%1$s");
  CHECK(put_back_begin(kept, U"<w1> of") == "%s of");
}

TEST_CASE("A span without a placeholder stands where the attention says, beside those with one", "[keep]") {
  KeptText kept;
  kept.source = U"a.de und b.de und c.de";
  kept.core = U"und <w1> und";
  kept.inner = {{.span = {.begin = 0, .end = 4, .kind = KeepName::url}, .text = U"a.de", .has_space_after = true},
                {.span = {.begin = 9, .end = 13, .kind = KeepName::url}, .text = U"b.de", .symbol = U"<w1>"},
                {.span = {.begin = 18, .end = 22, .kind = KeepName::url}, .text = U"c.de", .has_space_before = true}};
  CHECK(kept.needs_attention());
  CHECK(put_back(kept, U"and <w1> and", {0, 12}).text == "a.de and b.de and c.de");
}

TEST_CASE("The caller's ranges must be characters of the text", "[keep]") {
  const KeptText kept = keep_apart(german_model(), "Grüß Anna jetzt", {}, {{.begin = 7, .end = 11}});
  REQUIRE(kept.inner.size() == 1);
  CHECK(kept.inner[0].text == U"Anna");
  CHECK_THROWS_AS(keep_apart(german_model(), "Grüß", {}, {{.begin = 3, .end = 4}}), Error);
  CHECK_THROWS_AS(keep_apart(german_model(), "Grüß", {}, {{.begin = 2, .end = 40}}), Error);
}
