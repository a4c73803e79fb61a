#include "model/cache.h"

#include "tensor/check.h"

namespace wasmformer {

Cache::Cache(Index decoder_layers, Index slots, Index tokens, Index d_model)
    : layers(decoder_layers), lengths(slots, 0), capacity(tokens) {
  for (Layer& layer : layers) {
    layer.keys.resize(slots * tokens, d_model);
    layer.values.resize(slots * tokens, d_model);
  }
  spare_.resize(slots * tokens, d_model);
}

void Cache::select(const std::vector<Index>& parents) {
  const Index slots = static_cast<Index>(parents.size());
  WASMFORMER_CHECK(slots * capacity <= spare_.rows(),
                   "[cache] " << slots << " slots are more than it was made for");
  for (Layer& layer : layers) {
    for (Matrix* rows : {&layer.keys, &layer.values}) {
      for (Index i = 0; i < slots; ++i)
        spare_.middleRows(i * capacity, lengths[parents[i]]) =
            rows->middleRows(parents[i] * capacity, lengths[parents[i]]);
      rows->swap(spare_);
    }
  }
  std::vector<Index> selected(parents.size());
  for (Index i = 0; i < slots; ++i) selected[i] = lengths[parents[i]];
  lengths = std::move(selected);
}

}  // namespace wasmformer
