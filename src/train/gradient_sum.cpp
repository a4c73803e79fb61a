#include "train/gradient_sum.h"

#include <algorithm>
#include <charconv>

namespace wasmformer {
namespace {

// The index of the layer that a parameter belongs to, encoder layers first; the number of layers if it belongs to none.
std::size_t layer_of(const std::string& name, const Config& c) {
  for (const auto& [stack, first] : {std::pair<std::string, Index>{"model.encoder.layers.", 0},
                                     std::pair<std::string, Index>{"model.decoder.layers.", c.encoder_layers}}) {
    Index layer = 0;
    if (!name.starts_with(stack)) continue;
    std::from_chars(name.data() + stack.size(), name.data() + name.size(), layer);
    return static_cast<std::size_t>(first + layer);
  }
  return static_cast<std::size_t>(c.encoder_layers + c.decoder_layers);
}

}  // namespace

GradientSum::GradientSum(Transformer& transformer, Ranks& ranks) : ranks_(ranks) {
  const Config& c = transformer.config();
  const auto layers = static_cast<std::size_t>(c.encoder_layers + c.decoder_layers);
  buckets_.resize(layers + 1);
  transformer.visit([&](const std::string& name, Parameter& p, Initializer) {
    const std::size_t layer = layer_of(name, c);
    Bucket& bucket = buckets_[layer == layers ? layers : layers - 1 - layer];
    bucket.parameters.push_back(&p);
    bucket.values.resize(bucket.values.size() + static_cast<std::size_t>(p.gradient.size()));
  });
}

void GradientSum::clear() {
  for (Bucket& bucket : buckets_) {
    bucket.begun = false;
    std::ranges::fill(bucket.values, Scalar(0));
  }
}

void GradientSum::add(Bucket& bucket) {
  Scalar* to = bucket.values.data();
  for (Parameter* p : bucket.parameters) {
    View(to, p->gradient.rows(), p->gradient.cols()) += p->gradient;
    p->gradient.setZero();
    to += p->gradient.size();
  }
}

void GradientSum::add_batch() {
  for (Bucket& bucket : buckets_) add(bucket);
}

void GradientSum::begin_sum(Index layer) {
  Bucket& bucket = buckets_[buckets_.size() - 2 - static_cast<std::size_t>(layer)];
  add(bucket);
  bucket.begun = true;
  ranks_.begin_sum(bucket.values);
}

void GradientSum::finish() {
  // A rank without targets begins all its sums here, and the others at least that of the last bucket.
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    if (!buckets_[i].begun) begin_sum(static_cast<Index>(buckets_.size()) - 2 - static_cast<Index>(i));
  ranks_.finish_sums();
  for (Bucket& bucket : buckets_) {
    const Scalar* from = bucket.values.data();
    for (Parameter* p : bucket.parameters) {
      std::copy_n(from, p->gradient.size(), p->gradient.data());
      from += p->gradient.size();
    }
  }
  clear();
}

}  // namespace wasmformer
