// Results of a search: its best hypotheses and the tree of all tokens that it considered.
#include <algorithm>

#include "tasks/translate/search.h"

namespace wasmformer {

SearchHypothesis Search::hypothesis(std::int32_t node) const {
  SearchHypothesis result;
  result.sum = nodes_[node].sum;
  for (; nodes_[node].parent >= 0; node = nodes_[node].parent) {
    result.ids.push_back(nodes_[node].id);
    result.log_probabilities.push_back(nodes_[node].log_probability);
  }
  std::reverse(result.ids.begin(), result.ids.end());
  std::reverse(result.log_probabilities.begin(), result.log_probabilities.end());
  result.score = score(result.sum, static_cast<Index>(result.ids.size()));
  return result;
}

std::vector<TracedToken> Search::trace(Index i) const {
  std::vector<TracedToken> result;
  std::vector<std::int32_t> places(nodes_.size(), -1);  // of each node in `result`; -1: of another sentence
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const bool is_root = node.parent < 0;
    const std::int32_t parent = is_root ? -1 : places[node.parent];
    const bool is_of_sentence = is_root ? n == static_cast<std::size_t>(i) : parent >= 0;  // roots are the first nodes
    if (!is_of_sentence) continue;
    places[n] = static_cast<std::int32_t>(result.size());
    const Index length = is_root ? 0 : result[parent].length + 1;
    result.push_back({.parent = parent,
                      .id = node.id,
                      .log_probability = node.log_probability,
                      .sum = node.sum,
                      .score = score(node.sum, length),
                      .length = length,
                      .outcome = node.outcome,
                      .hypothesis = -1});
  }
  Index hypothesis = 0;
  for (const auto& finished : sentences_[i].finished.best()) {
    result[places[finished.node]].hypothesis = hypothesis;
    ++hypothesis;
  }
  return result;
}

std::vector<SearchHypothesis> Search::hypotheses(Index i) const {
  const Sentence& sentence = sentences_[i];
  if (sentence.done) {
    std::vector<SearchHypothesis> result;
    for (const auto& finished : sentence.finished.best()) result.push_back(hypothesis(finished.node));
    return result;
  }
  const auto best = std::find_if(live_.begin(), live_.end(), [i](const Live& h) { return h.sentence == i; });
  return {hypothesis(best->node)};
}

}  // namespace wasmformer
