#include "text/piece_splitter.h"

namespace wasmformer {

PieceSplitter::PieceSplitter(const Tokenizer& tokenizer, double rate) : rate_(rate) {
  if (rate == 0) return;
  const auto ids = tokenizer.ids();
  for (const auto& [piece, id] : ids)
    for (std::size_t cut = 1; cut < piece.size(); ++cut) {
      const auto first = ids.find(piece.substr(0, cut)), second = ids.find(piece.substr(cut));
      if (first != ids.end() && second != ids.end()) parts_[id].push_back({first->second, second->second});
    }
}

void PieceSplitter::add(TokenId id, Random& random, std::vector<TokenId>& result) const {
  const auto parts = parts_.find(id);
  if (parts == parts_.end() || random.uniform() >= rate_) return result.push_back(id);
  const auto [first, second] = parts->second[random.below(parts->second.size())];
  add(first, random, result);
  add(second, random, result);
}

std::vector<TokenId> PieceSplitter::split(const std::vector<TokenId>& ids, Random& random) const {
  std::vector<TokenId> result;
  for (const TokenId id : ids) add(id, random, result);
  return result;
}

}  // namespace wasmformer
