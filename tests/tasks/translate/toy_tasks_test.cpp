#include "tasks/translate/toy_tasks.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "schema/error.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// The value of digits, one after the other, or of a numeral such as 三千零五十.
int chinese_value(const std::string& text) {
  const std::string digits = "零一二三四五六七八九", units = "十百千万";
  int all = 0, digit = 0;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    const std::string c = text.substr(i, 3) == "〇" ? "零" : text.substr(i, 3);
    if (const std::size_t unit = units.find(c); unit != std::string::npos) {
      constexpr int values[] = {10, 100, 1000, 10000};
      all += std::max(digit, 1) * values[unit / 3], digit = 0;
    } else {
      digit = (i > 0 && digit > 0 ? digit * 10 : 0) + static_cast<int>(digits.find(c) / 3);
    }
  }
  return all + digit;
}

std::string expected(const std::string& task, const std::string& source) {
  std::string result = source;
  std::smatch m;
  if (task == "reverse") std::reverse(result.begin(), result.end());
  if (task == "sort") std::sort(result.begin(), result.end());
  if (task == "add" && std::regex_match(source, m, std::regex("(\\d+)\\+(\\d+)")))
    return std::to_string(std::stoi(m[1]) + std::stoi(m[2]));
  if (task == "dates") {
    const char* months =
        "January  February March    April    May      June     July     August   SeptemberOctober  "
        "November December ";
    REQUIRE(std::regex_search(source, m, std::regex("[A-Z][a-z]+")));
    const std::size_t month = std::string(months).find(m[0]) / 9 + 1;
    REQUIRE(std::regex_search(source, m, std::regex("\\b(\\d{1,2})(st|nd|rd|th|\\b)")));
    const int day = std::stoi(m[1]);
    const std::string ending = m[2];
    if (!ending.empty()) {
      const char* right = day % 100 / 10 == 1 ? "th"
                          : day % 10 == 1     ? "st"
                          : day % 10 == 2     ? "nd"
                          : day % 10 == 3     ? "rd"
                                              : "th";
      CHECK(ending == right);
    }
    REQUIRE(std::regex_search(source, m, std::regex("\\d{4}")));
    char text[32];
    std::snprintf(text, sizeof text, "%s-%02d-%02d", m[0].str().c_str(), static_cast<int>(month), day);
    return text;
  }
  if (task == "roman") {  // digit by digit, another way than the task's own
    const char* ones[] = {"", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"};
    const char* tens[] = {"", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"};
    const char* hundreds[] = {"", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"};
    const int n = std::stoi(source);
    return std::string(static_cast<std::size_t>(n / 1000), 'M') + hundreds[n / 100 % 10] + tens[n / 10 % 10] +
           ones[n % 10];
  }
  if (task == "pig-latin") {
    std::istringstream words(source);
    result.clear();
    for (std::string word; words >> word;) {
      const std::size_t vowel = word.find_first_of("aeiou");
      result += (result.empty() ? "" : " ") + word.substr(vowel) + (vowel == 0 ? "w" : word.substr(0, vowel)) + "ay";
    }
  }
  if (task == "chinese-numbers") return std::to_string(chinese_value(source));
  if (task == "chinese-dates") {
    std::smatch m;
    REQUIRE(std::regex_match(source, m, std::regex("(.+)年(.+)月(.+)日")));
    char text[32];
    std::snprintf(text, sizeof text, "%04d-%02d-%02d", chinese_value(m[1]), chinese_value(m[2]), chinese_value(m[3]));
    return text;
  }
  return result;
}

}  // namespace

TEST_CASE("Every task's pairs are distinct and correct, and its example is one of them") {
  for (const ToyTask& task : toy_tasks()) {
    CAPTURE(task.name);
    const ParallelText text = make_pairs(task.name, 500, 7);
    REQUIRE(text.sources.size() == 500);
    REQUIRE(text.targets.size() == 500);
    CHECK(std::set<std::string>(text.sources.begin(), text.sources.end()).size() == 500);
    for (std::size_t i = 0; i < 500; ++i) {
      CAPTURE(text.sources[i]);
      REQUIRE(text.targets[i] == expected(task.name, text.sources[i]));
    }
    CHECK(task.target == expected(task.name, task.source));
  }
}

TEST_CASE("Chinese numerals are written as people write them") {
  const ParallelText text = make_pairs("chinese-numbers", 60'000, 1);
  std::map<std::string, std::string> written;
  for (std::size_t i = 0; i < text.sources.size(); ++i) written[text.targets[i]] = text.sources[i];
  CHECK(written["0"] == "零");
  CHECK(written["10"] == "十");
  CHECK(written["15"] == "十五");
  CHECK(written["105"] == "一百零五");
  CHECK(written["110"] == "一百一十");
  CHECK(written["2015"] == "二千零一十五");
  CHECK(written["3000"] == "三千");
}

TEST_CASE("The seed alone decides a task's pairs") {
  CHECK(make_pairs("sort", 50, 3).sources == make_pairs("sort", 50, 3).sources);
  CHECK(make_pairs("sort", 50, 3).sources != make_pairs("sort", 50, 4).sources);
  const auto some = make_pairs("sort", 20, 3).sources, more = make_pairs("sort", 50, 3).sources;
  CHECK(std::equal(some.begin(), some.end(), more.begin()));
}

TEST_CASE("Bounds of the sources' lengths keep other pairs out") {
  for (const std::string& source : make_pairs("copy", 300, 1, {.most = 5}).sources) CHECK(source.size() <= 5);
  for (const std::string& source : make_pairs("copy", 300, 1, {.least = 6}).sources) CHECK(source.size() >= 6);
  // Characters are counted, not bytes: no date in Chinese has fewer than 9, in 27 bytes.
  CHECK(make_pairs("chinese-dates", 20, 1, {.most = 10}).sources.size() == 20);
  CHECK_THROWS_WITH(make_pairs("roman", 20, 1, {.most = 1}),
                    ContainsSubstring("of 20 pairs of roman") && ContainsSubstring("lengths"));
}

TEST_CASE("Unknown tasks and impossible numbers of pairs are refused") {
  CHECK_THROWS_WITH(make_pairs("revers", 5, 1), ContainsSubstring("no task 'revers'") && ContainsSubstring("reverse"));
  CHECK_THROWS_WITH(make_pairs("roman", 4000, 1),
                    ContainsSubstring("4000 pairs of roman") && ContainsSubstring("3900"));
  CHECK_THROWS_WITH(make_pairs("copy", 0, 1), ContainsSubstring("0 pairs"));
  CHECK(make_pairs("roman", 3900, 1).sources.size() == 3900);
}
