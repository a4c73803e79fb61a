#include "train/distributed/gradient_sum.h"

#include <algorithm>
#include <ranges>

namespace wasmformer {
namespace {

// 1 + the layer that a parameter belongs to, encoder layers first; 0 if it belongs to none.
std::size_t bucket_of(const ParameterInfo& info, const Config& c) {
  if (!info.is_in_layer()) return 0;
  const Index first = info.stack == Stack::decoder ? c.encoder_layers : 0;
  return static_cast<std::size_t>(1 + first + info.layer);
}

}  // namespace

GradientSum::GradientSum(Transformer& transformer, Communicator& ranks) : ranks_(ranks) {
  const Config& c = transformer.config();
  buckets_.resize(static_cast<std::size_t>(1 + c.encoder_layers + c.decoder_layers));
  transformer.visit([&](const ParameterInfo& info, Parameter& p) {
    Bucket& bucket = buckets_[bucket_of(info, c)];
    bucket.parameters.push_back(&p);
    bucket.values.resize(bucket.values.size() + static_cast<std::size_t>(p.gradient.size()));
  });
}

void GradientSum::add(Bucket& bucket) {
  Scalar* to = bucket.values.data();
  for (Parameter* p : bucket.parameters) {
    View sum(to, p->gradient.rows(), p->gradient.cols());
    if (bucket.is_empty)
      sum = p->gradient;
    else
      sum += p->gradient;
    p->gradient.setZero();
    to += p->gradient.size();
  }
  bucket.is_empty = false;
}

void GradientSum::begin_sum(Bucket& bucket) {
  add(bucket);
  bucket.begun = true;
  ranks_.begin_sum(bucket.values);
}

void GradientSum::finish() {
  // A rank without targets begins all its sums here, and the others at least that of bucket 0.
  for (Bucket& bucket : std::views::reverse(buckets_))
    if (!bucket.begun) begin_sum(bucket);
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
