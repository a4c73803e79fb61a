#include "tasks/translate/sampling.h"

#include <cmath>

namespace wasmformer {

TokenScore sample(std::span<const TokenScore> choices, const Sampling& sampling, std::span<double> weights,
                  Random& random) {
  double total = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    weights[i] = std::exp(choices[i].score / sampling.temperature);
    total += weights[i];
  }
  // The nucleus: the fewest of the best whose weights reach the share top_p.
  std::size_t nucleus = 0;
  double nucleus_weight = 0;
  while (nucleus < choices.size() && (nucleus == 0 || nucleus_weight < sampling.top_p * total)) {
    nucleus_weight += weights[nucleus];
    ++nucleus;
  }
  // The weights lie end to end; a uniform point falls on one of them.
  double point = random.uniform() * nucleus_weight;
  std::size_t chosen = 0;
  while (chosen + 1 < nucleus && point >= weights[chosen]) {
    point -= weights[chosen];
    ++chosen;
  }
  return choices[chosen];
}

}  // namespace wasmformer
