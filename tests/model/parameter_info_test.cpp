#include "nn/parameter_info.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <set>
#include <vector>

#include "tests/model/small_model.h"

using namespace wasmformer;

namespace {

std::vector<ParameterInfo> infos(const Config& config) {
  std::vector<ParameterInfo> all;
  const Transformer model(config);
  model.visit([&](const ParameterInfo& info, const Parameter&) { all.push_back(info); });
  return all;
}

// What a model must have, in any order.
class Expected {
 public:
  void add(Stack stack, Index layer, Module module, const std::vector<Role>& roles) {
    for (const Role role : roles) ids_.insert({stack, layer, module, role});
  }
  void attention(Stack stack, Index layer, Module module) {
    add(stack, layer, module,
        {Role::query_weight, Role::query_bias, Role::key_weight, Role::key_bias, Role::value_weight, Role::value_bias,
         Role::output_weight, Role::output_bias, Role::norm_weight, Role::norm_bias});
  }
  void recurrent_unit(Index layer) {
    add(Stack::decoder, layer, Module::recurrent,
        {Role::input_weight, Role::forget_gate_weight, Role::forget_gate_bias, Role::norm_weight, Role::norm_bias});
  }
  void feed_forward(Stack stack, Index layer) {
    add(stack, layer, Module::feed_forward,
        {Role::inner_weight, Role::inner_bias, Role::outer_weight, Role::outer_bias, Role::norm_weight,
         Role::norm_bias});
  }
  void encoder_layer(Index layer) {
    attention(Stack::encoder, layer, Module::self_attention);
    feed_forward(Stack::encoder, layer);
  }
  const std::set<ParameterId>& ids() const { return ids_; }

 private:
  std::set<ParameterId> ids_;
};

void check_infos(const Config& config, const Expected& expected) {
  const std::vector<ParameterInfo> found = infos(config);
  std::set<ParameterId> ids(found.begin(), found.end());
  std::set<std::string> names;
  for (const ParameterInfo& info : found) names.insert(info.name);
  CHECK(ids == expected.ids());
  CHECK(ids.size() == found.size());
  CHECK(names.size() == found.size());
  CHECK(std::is_partitioned(found.begin(), found.end(),
                            [](const ParameterInfo& info) { return info.stack != Stack::heads; }));
}

}  // namespace

TEST_CASE("Stack, layer, module and role tell the parameters of an encoder-decoder apart") {
  Config c = small_config();
  Expected expected;
  expected.add(Stack::shared, no_layer, Module::embedding, {Role::token_embedding});
  expected.encoder_layer(0);
  for (const Index layer : {0, 1}) {
    expected.attention(Stack::decoder, layer, Module::self_attention);
    expected.attention(Stack::decoder, layer, Module::cross_attention);
    expected.feed_forward(Stack::decoder, layer);
  }
  expected.add(Stack::heads, no_layer, Module::vocabulary, {Role::bias});
  check_infos(c, expected);
}

TEST_CASE("Stack, layer, module and role tell the parameters of a recurrent decoder with untied tables apart") {
  Config c = small_config();
  c.decoder_self = DecoderSelf::ssru;
  c.decoder_layers = 1;
  c.tie_embeddings = TieEmbeddings::none;
  c.norm = NormPosition::pre;
  c.positions = Positions::learned;
  Expected expected;
  for (const Stack stack : {Stack::encoder, Stack::decoder}) {
    expected.add(stack, no_layer, Module::embedding, {Role::token_embedding, Role::position_embedding});
    expected.add(stack, no_layer, Module::output_norm, {Role::norm_weight, Role::norm_bias});
  }
  expected.encoder_layer(0);
  expected.recurrent_unit(0);
  expected.attention(Stack::decoder, 0, Module::cross_attention);
  expected.feed_forward(Stack::decoder, 0);
  expected.add(Stack::heads, no_layer, Module::vocabulary, {Role::weight, Role::bias});
  check_infos(c, expected);
}

TEST_CASE("Stack, layer, module and role tell the parameters of an encoder with heads apart") {
  Config c = small_config();
  c.encoder_layers = 2;
  c.decoder_layers = 0;
  c.classes = 3;
  c.tags = 5;
  c.crf = true;
  c.pooler = Pooler::tanh;
  c.embedding_norm = true;
  c.convolution_width = 3;
  c.attention = AttentionScore::additive;
  Expected expected;
  expected.add(Stack::shared, no_layer, Module::embedding, {Role::token_embedding});
  expected.add(Stack::encoder, no_layer, Module::embedding, {Role::norm_weight, Role::norm_bias});
  expected.add(Stack::encoder, no_layer, Module::convolution, {Role::weight, Role::bias});
  for (const Index layer : {0, 1}) {
    expected.encoder_layer(layer);
    expected.add(Stack::encoder, layer, Module::self_attention, {Role::score});
  }
  for (const Module head : {Module::pooler, Module::classifier, Module::tagger})
    expected.add(Stack::heads, no_layer, head, {Role::weight, Role::bias});
  expected.add(Stack::heads, no_layer, Module::tagger, {Role::transitions});
  check_infos(c, expected);
}
