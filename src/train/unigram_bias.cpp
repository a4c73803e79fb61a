#include "train/unigram_bias.h"

#include <algorithm>
#include <numeric>

namespace wasmformer {

void check_output_biases(const Config& config) {
  WASMFORMER_CHECK(config.output_bias && config.predicts_tokens(), ErrorCode::train,
                   "unigram_bias is given, but the model has no biases of tokens: it needs output_bias, and a decoder "
                   "or masked training");
}

void begin_at_unigrams(Transformer& transformer, std::span<const Index> counts) {
  check_output_biases(transformer.config());
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), Index(0)));
  transformer.visit([&](const ParameterInfo& info, Parameter& p) {
    if (info.module != Module::vocabulary || info.role != Role::bias) return;
    for (Index piece = 0; piece < p.cols; ++piece) {
      const double count = std::max(static_cast<double>(counts[static_cast<std::size_t>(piece)]), 0.5);
      p.value(0, piece) = static_cast<Scalar>(std::log(count / all));
    }
  });
}

}  // namespace wasmformer
