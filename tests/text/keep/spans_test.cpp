#include "text/keep/spans.h"

#include <catch_amalgamated.hpp>

#include "schema/fields.h"
#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

using namespace wasmformer;

namespace {

// A vocabulary that knows Latin letters and Chinese characters but for one.
bool is_known(char32_t c) { return c < 0x250 || (is_ideograph(c) && c != U'龘'); }

// "kind:text" of each span, joined by a space bar.
std::string found(const std::string& text, const KeepNames& names = all_keep_names(),
                  const KnowsCharacter& knows = is_known) {
  const std::u32string characters = decode_utf8(text);
  std::string all;
  for (const KeptSpan& span : find_kept_spans(characters, names, knows)) {
    if (!all.empty()) all += " | ";
    all += word(*span.kind) + ":" + encode_utf8(characters.substr(span.begin, span.end - span.begin));
  }
  return all;
}

struct Case {
  std::string text, spans;
};

void check(const std::vector<Case>& cases) {
  for (const auto& [text, spans] : cases) {
    CAPTURE(text);
    CHECK(found(text) == spans);
  }
}

}  // namespace

TEST_CASE("URLs, e-mail addresses, hosts and IP numbers are kept without the sentence's punctuation", "[keep]") {
  check({
      {"Siehe https://example.org/a/b?c=1.", "url:https://example.org/a/b?c=1"},
      {"(http://example.org/a_(b))", "url:http://example.org/a_(b)"},
      {"Schreib an info@example.org, bitte", "url:info@example.org"},
      {"mailto:a@b.de oder www.example.co.uk!", "url:mailto:a@b.de | url:www.example.co.uk"},
      {"访问example.com网站", "url:example.com"},
      {"Der Router hat 192.168.0.1:8080 und fe80::1.", "url:192.168.0.1:8080 | url:fe80::1"},
      {"Ende.Und weiter z.B. so", ""},
      {"Er kam um 12::30 oder a:b", ""},
  });
}

TEST_CASE("Paths and file names are kept, alternatives with a slash are not", "[keep]") {
  check({
      {"Öffne /etc/hosts oder ~/x.txt.", "path:/etc/hosts | path:~/x.txt"},
      {"C:\\Users\\anna\\a.doc und \\\\server\\share", "path:C:\\Users\\anna\\a.doc | path:\\\\server\\share"},
      {"src/main.cpp und bericht.pdf", "path:src/main.cpp | path:bericht.pdf"},
      {"und/oder, he/she/it, km/h, 24/7", "number:24/7"},
  });
}

TEST_CASE("Code and placeholders of programs are kept", "[keep]") {
  check({
      {"Rufe `a b` auf", "code:`a b`"},
      {"max_length und print() und Array.mapAll", "code:max_length | code:print() | code:Array.mapAll"},
      {"JavaScript und WordPress sind Namen", ""},
      {"{name} hat {0} und {{x}}", "placeholder:{name} | placeholder:{0} | placeholder:{{x}}"},
      {"%s von %1$d, %-5.2f und %(name)s",
       "placeholder:%s | placeholder:%1$d | placeholder:%-5.2f | placeholder:%(name)s"},
      {"50 % des Preises, 5% d. M.", "number:50 % | number:5%"},
      {"$HOME, ${x}, :smile: um 10:30:00",
       "placeholder:$HOME | placeholder:${x} | placeholder::smile: | number:10:30:00"},
      {"@anna_42 mag #schnee", "handle:@anna_42 | handle:#schnee"},
  });
}

TEST_CASE("Marks of lists, headings, links and tags are kept, what they enclose is not", "[keep]") {
  check({
      {"# Titel", "markup:#"},
      {"- [x] fertig", "markup:- [x]"},
      {"12) zwei", "markup:12)"},
      {"Im Jahr 12. Das", ""},
      {"**fett** und *schräg*", "markup:** | markup:** | markup:* | markup:*"},
      {"*Das ist gut.*", "markup:* | markup:*"},
      {"_so_ (*und so*), nicht 2*3", "markup:_ | markup:_ | markup:* | markup:*"},
      {"[hier](https://a.de/b) steht", "markup:[ | markup:](https://a.de/b)"},
      {"[Köln](https://a.de/Köln_(Stadt)) liegt", "markup:[ | markup:](https://a.de/Köln_(Stadt))"},
      {"[a] (b)", "markup:[a]"},
      {"他喜欢「红楼梦」这本书", ""},  // quotes, as 『』 are
      {"Satz[12] mit Fußnote²", "markup:[12] | markup:²"},
      {"<b>a</b> <a href=\"x\">y</a> &amp; 3 < 4",
       "markup:<b> | markup:</b> | markup:<a href=\"x\"> | markup:</a> | markup:&amp;"},
      {"3 * 4", ""},
  });
}

TEST_CASE("Numbers are kept if they have four digits, a separator, a sign, a unit or a letter", "[keep]") {
  check({
      {"Ich habe 72333 Hunde und 3 Katzen", "number:72333"},
      {"am 24.12.2023 um 18:30", "number:24.12.2023 | number:18:30"},
      {"$1,234.56 oder 5 € oder -7", "number:$1,234.56 | number:5 € | number:-7"},
      {"1 234 567 hommes", "number:1 234 567"},
      {"Version 0.85.x, Hauptstraße 12b, 120 km/h", "number:0.85.x | number:12b | number:120 km/h"},
      {"der 1st, 2nd, 1990s und 10-jährige", ""},
      {"2019年有5%", "number:2019 | number:5%"},
      {"COVID-19 und A4 und H2O", ""},
  });
}

TEST_CASE("Emoji are kept with all that belongs to them, other symbols where the vocabulary lacks them", "[keep]") {
  check({
      {"Hallo 😀👍🏽 ❤️ 🇩🇪 1️⃣",
       "emoji:😀👍🏽 | emoji:❤️ | emoji:🇩🇪 | emoji:1️⃣"},
      {"👨‍👩‍👧 → ✓", "emoji:👨‍👩‍👧 | emoji:→ | emoji:✓"},
      {"20 ° und ™", "number:20 ° | emoji:™"},
  });
}

TEST_CASE("Words in a script that the vocabulary lacks are one span", "[keep]") {
  check({
      {"Er sagte привет, мир und ging", "script:привет, мир"},
      {"São Paulo, Łódź", ""},
      {"नमस्ते दुनिया!", "script:नमस्ते दुनिया"},
  });
  CHECK(found("我喜欢龘字") == "");
  CHECK(found("我说привет吗") == "script:привет");
  CHECK(found("er sagte 我喜欢", all_keep_names(), [](char32_t c) { return c < 0x250; }) == "script:我喜欢");
}

TEST_CASE("Only the kinds that are asked for are found, and the caller's ranges come first", "[keep]") {
  CHECK(found("a@b.de 😀 1234", {KeepName::emoji}) == "emoji:😀");
  const std::u32string text = U"siehe https://a.de jetzt";
  const auto spans = find_kept_spans(text, {KeepName::url}, is_known, {{.begin = 0, .end = 18}});
  REQUIRE(spans.size() == 1);
  CHECK((spans[0].begin == 0 && spans[0].end == 18 && !spans[0].kind));
}
