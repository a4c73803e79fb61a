#include "tasks/output_sample.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tensor/random.h"

namespace wasmformer {

OutputSampler::OutputSampler(std::span<const Index> counts, Index size) : size_(static_cast<std::size_t>(size)) {
  for (std::size_t piece = 0; piece < counts.size(); ++piece)
    if (counts[piece] > 0) candidates_.push_back(static_cast<TokenId>(piece));
}

OutputSample OutputSampler::draw(std::span<const TokenId> targets, std::uint64_t seed) const {
  OutputSample sample;
  std::vector<TokenId>& pieces = sample.pieces;
  pieces.assign(targets.begin(), targets.end());
  std::sort(pieces.begin(), pieces.end());
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  sample.wanted = pieces.size();

  std::vector<TokenId> others;
  std::set_difference(candidates_.begin(), candidates_.end(), pieces.begin(), pieces.end(), std::back_inserter(others));
  const std::size_t room = size_ - std::min(size_, sample.wanted);
  const std::size_t drawn = std::min(room, others.size());
  Random random(seed);
  for (std::size_t i = 0; i < drawn; ++i) {
    const Index left = static_cast<Index>(others.size() - i);
    std::swap(others[i], others[i + static_cast<std::size_t>(random.below(left))]);
    pieces.push_back(others[i]);
  }
  const double stands_for = static_cast<double>(others.size()) / static_cast<double>(std::max<std::size_t>(drawn, 1));
  sample.offsets.assign(sample.wanted, 0);
  sample.offsets.resize(pieces.size(), static_cast<Scalar>(std::log(stands_for)));
  return sample;
}

CrossEntropy loss_of_pieces(Tape& tape, const Transformer& transformer, Var hidden, std::span<const TokenId> targets,
                            const OutputSample* sample, double label_smoothing, double total) {
  if (!sample) return cross_entropy(tape, transformer.logits(tape, hidden), targets, label_smoothing, {}, total);
  const std::span<const TokenId> wanted(sample->pieces.data(), sample->wanted);
  std::vector<TokenId> columns;
  for (const TokenId target : targets)
    columns.push_back(static_cast<TokenId>(std::lower_bound(wanted.begin(), wanted.end(), target) - wanted.begin()));
  const Var scores = transformer.logits(tape, hidden, sample->pieces, sample->offsets);
  return cross_entropy(tape, scores, columns, label_smoothing, {}, total);
}

}  // namespace wasmformer
