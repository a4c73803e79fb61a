#include "text/metrics/labels.h"

#include <algorithm>
#include <set>

#include "schema/error.h"

namespace wasmformer {
namespace {

std::string type_of(const std::string& tag) { return tag == "O" || tag.size() < 2 ? "" : tag.substr(2); }

}  // namespace

Score total(const Scores& scores) {
  Score sum;
  for (const auto& [label, score] : scores) {
    sum.right += score.right;
    sum.predicted += score.predicted;
    sum.expected += score.expected;
  }
  return sum;
}

double macro_f1(const Scores& scores) {
  double sum = 0;
  for (const auto& [label, score] : scores) sum += score.f1();
  return scores.empty() ? 0 : sum / static_cast<double>(scores.size());
}

Scores label_scores(const std::vector<Labels>& expected, const std::vector<Labels>& predicted) {
  Scores scores;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (const std::string& label : expected[i]) {
      ++scores[label].expected;
      scores[label].right += std::count(predicted[i].begin(), predicted[i].end(), label);
    }
    for (const std::string& label : predicted[i]) ++scores[label].predicted;
  }
  return scores;
}

std::vector<TagSpan> tag_spans(const std::vector<std::string>& tags) {
  std::vector<TagSpan> spans;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string type = type_of(tags[i]);
    if (type.empty()) continue;
    const bool goes_on = tags[i][0] == 'I' && !spans.empty() && spans.back().end == i && spans.back().type == type;
    if (goes_on)
      ++spans.back().end;
    else
      spans.push_back({i, i + 1, type});
  }
  return spans;
}

bool are_spans(const std::vector<std::string>& tags) {
  return std::all_of(tags.begin(), tags.end(), [](const std::string& tag) {
    return tag == "O" || (tag.size() > 2 && (tag.starts_with("B-") || tag.starts_with("I-")));
  });
}

TagScheme scheme_of(const std::vector<Labels>& texts) {
  std::size_t of_iob1 = 0, of_iob2 = 0;  // spans that only this scheme begins so
  for (const Labels& tags : texts) {
    for (const TagSpan& span : tag_spans(tags)) {
      const bool follows_its_type = span.begin > 0 && type_of(tags[span.begin - 1]) == span.type;
      of_iob1 += tags[span.begin][0] == 'I';
      of_iob2 += tags[span.begin][0] == 'B' && !follows_its_type;
    }
  }
  const auto are_mistakes = [all = of_iob1 + of_iob2](std::size_t count) { return 100 * count <= all; };
  if (are_mistakes(of_iob1)) return TagScheme::iob2;
  return are_mistakes(of_iob2) ? TagScheme::iob1 : TagScheme::any;
}

bool may_follow(const std::string* before, const std::string& next, const std::vector<std::string>& tags,
                TagScheme scheme) {
  const auto needs_its_type = [&] {
    if (scheme == TagScheme::iob1) return next[0] == 'B';
    const bool begins_with_b = std::ranges::find(tags, "B" + next.substr(1)) != tags.end();
    return scheme == TagScheme::iob2 && next[0] == 'I' && begins_with_b;
  };
  return !needs_its_type() || (before && type_of(*before) == type_of(next));
}

Scores span_scores(const std::vector<Labels>& expected, const std::vector<Labels>& predicted) {
  Scores scores;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    WASMFORMER_CHECK(
        expected[i].size() == predicted[i].size(), ErrorCode::evaluate,
        "text " << i + 1 << " has " << expected[i].size() << " tags, but " << predicted[i].size() << " are predicted");
    const std::vector<TagSpan> right = tag_spans(expected[i]), found = tag_spans(predicted[i]);
    const std::set<TagSpan> all(right.begin(), right.end());
    for (const TagSpan& span : right) ++scores[span.type].expected;
    for (const TagSpan& span : found) {
      ++scores[span.type].predicted;
      scores[span.type].right += all.contains(span);
    }
  }
  return scores;
}

}  // namespace wasmformer
