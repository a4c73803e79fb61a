#include "tasks/translate/toy_tasks.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "schema/error.h"
#include "tensor/heap_sort.h"
#include "tensor/random.h"

namespace wasmformer {
namespace {

using Pair = std::pair<std::string, std::string>;

std::string letters(Random& random) {
  std::string text(static_cast<std::size_t>(3 + random.below(8)), ' ');
  for (char& c : text) c = static_cast<char>('a' + random.below(26));
  return text;
}

Pair copy(Random& random) {
  const std::string text = letters(random);
  return {text, text};
}

Pair reverse(Random& random) {
  const std::string text = letters(random);
  return {text, {text.rbegin(), text.rend()}};
}

Pair sort(Random& random) {
  const std::string text = letters(random);
  std::string sorted = text;
  heap_sort(sorted);
  return {text, sorted};
}

Pair add(Random& random) {
  const Index a = random.below(1000), b = random.below(1000);
  return {std::to_string(a) + "+" + std::to_string(b), std::to_string(a + b)};
}

std::string iso_date(Index year, Index month, Index day) {
  const auto two = [](Index n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return std::to_string(year) + "-" + two(month) + "-" + two(day);
}

Pair date(Random& random) {
  constexpr std::array months = {"January", "February", "March",     "April",   "May",      "June",
                                 "July",    "August",   "September", "October", "November", "December"};
  const Index month = random.below(12), day = 1 + random.below(28), year = 1900 + random.below(200);
  const Index last = day % 10, kind = day / 10 == 1 || last > 3 ? 0 : last;
  const std::string d = std::to_string(day), y = std::to_string(year), m = months[month];
  const std::string words[] = {d + " " + m + " " + y, m + " " + d + ", " + y,
                               "the " + d + std::array{"th", "st", "nd", "rd"}[kind] + " of " + m + " " + y};
  return {words[random.below(3)], iso_date(year, month + 1, day)};
}

Pair roman(Random& random) {
  constexpr Index values[] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
  constexpr const char* numerals[] = {"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"};
  const Index number = 1 + random.below(3999);
  std::string text;
  Index rest = number;
  for (std::size_t i = 0; i < std::size(values); ++i)
    for (; rest >= values[i]; rest -= values[i]) text += numerals[i];
  return {std::to_string(number), text};
}

Pair pig_latin(Random& random) {
  constexpr std::array starts = {"b", "c", "d",  "f",  "g",  "h",  "l",  "m",  "n",  "p",  "r",  "s",  "t",
                                 "w", "",  "br", "ch", "cl", "dr", "fl", "gr", "pl", "sh", "st", "th", "tr"};
  constexpr std::array vowels = {"a", "e", "i", "o", "u", "ea", "oo"};
  constexpr std::array ends = {"", "n", "t", "r", "l", "ck", "m", "nd", "sh"};
  Pair pair;
  for (Index words = 1 + random.below(3); words > 0; --words) {
    const std::string start = starts[random.below(starts.size())];
    std::string rest = vowels[random.below(vowels.size())] + std::string(ends[random.below(ends.size())]);
    if (random.below(2) == 0) rest += vowels[random.below(vowels.size())];
    const char* space = pair.first.empty() ? "" : " ";
    pair.first += space + start + rest;
    pair.second += space + (start.empty() ? rest + "way" : rest + start + "ay");
  }
  return pair;
}

// 0 to 99,999, such as 一万零二十三.
std::string chinese_number(Index number) {
  constexpr std::array digits = {"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"};
  std::string text;
  bool has_gap = false;
  Index unit = 10'000;
  for (const char* name : {"万", "千", "百", "十", ""}) {
    const Index digit = number / unit % 10;
    if (digit > 0) {
      if (has_gap) text += digits[0];
      if (digit != 1 || unit != 10 || !text.empty()) text += digits[digit];
      text += name;
    }
    has_gap = digit == 0 && !text.empty();
    unit /= 10;
  }
  return text.empty() ? digits[0] : text;
}

Pair chinese_numbers(Random& random) {
  Index end = 10;
  for (Index digits = random.below(5); digits > 0; --digits) end *= 10;
  const Index number = random.below(end);
  return {chinese_number(number), std::to_string(number)};
}

Pair chinese_date(Random& random) {
  constexpr std::array digits = {"〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"};
  const Index year = 1900 + random.below(200), month = 1 + random.below(12), day = 1 + random.below(28);
  std::string text;
  for (const char c : std::to_string(year)) text += digits[static_cast<std::size_t>(c - '0')];
  return {text + "年" + chinese_number(month) + "月" + chinese_number(day) + "日", iso_date(year, month, day)};
}

// Counts characters of UTF-8: bytes except those after the first of a character, which are 10xxxxxx in binary.
Index characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

constexpr Index plenty = 1'000'000;
constexpr std::array<ToyTask, 9> all = {{
    {"copy", "the same letters again", "wasm", "wasm", plenty, 6000, 400},
    {"reverse", "letters in reverse order", "wasm", "msaw", plenty, 6000, 500},
    {"sort", "letters in the order of the alphabet", "wasm", "amsw", plenty, 6000, 600},
    {"add", "the sum of two numbers", "12+345", "357", 900'000, 20'000, 2000},
    {"dates", "dates in words as numbers", "the 3rd of March 1987", "1987-03-03", 180'000, 6000, 500},
    {"roman", "numbers as Roman numerals", "1987", "MCMLXXXVII", 3'900, 3500, 600},
    {"pig-latin", "words with their beginning at the end", "great wind", "eatgray indway", plenty, 10000, 1000},
    {"chinese-dates", "Chinese dates as numbers", "二〇二四年三月五日", "2024-03-05", 60'000, 6000, 500},
    {"chinese-numbers", "Chinese numerals as digits", "三千零五十", "3050", 60'000, 20'000, 1000},
}};
constexpr Pair (*makers[])(Random&) = {copy, reverse, sort, add, date, roman, pig_latin, chinese_date, chinese_numbers};
static_assert(std::size(makers) == all.size());

}  // namespace

std::span<const ToyTask> toy_tasks() { return all; }

const ToyTask& find_task(const std::string& name) {
  std::string names;
  for (const ToyTask& task : all) {
    if (name == task.name) return task;
    names += std::string(names.empty() ? "" : ", ") + task.name;
  }
  throw Error(ErrorCode::task, "there is no task '" + name + "'; there are " + names);
}

ParallelText make_pairs(const std::string& name, Index count, std::uint64_t seed, SourceLengths lengths) {
  const ToyTask& task = find_task(name);
  WASMFORMER_CHECK(count >= 1 && count <= task.max_pairs, ErrorCode::task,
                   count << " pairs of " << name << "; there are 1 to " << task.max_pairs);
  Random random(seed);
  ParallelText text;
  std::unordered_set<std::string> known;
  const bool has_bounds = lengths.least > 0 || lengths.most < std::numeric_limits<Index>::max();
  constexpr Index draws_per_pair = 100;
  for (Index draws = 0; static_cast<Index>(text.sources.size()) < count; ++draws) {
    WASMFORMER_CHECK(!has_bounds || draws < count * draws_per_pair, ErrorCode::task,
                     "only " << text.sources.size() << " of " << count << " pairs of " << name
                             << " with sources of such lengths were found");
    auto [source, target] = makers[&task - all.data()](random);
    const Index size = characters(source);
    if (size < lengths.least || size > lengths.most) continue;
    if (!known.insert(source).second) continue;
    text.sources.push_back(std::move(source));
    text.targets.push_back(std::move(target));
  }
  return text;
}

}  // namespace wasmformer
