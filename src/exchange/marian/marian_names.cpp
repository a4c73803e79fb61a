#include "exchange/marian/marian_names.h"

#include <algorithm>
#include <iterator>

#include "schema/error.h"

namespace wasmformer {
namespace {

struct MarianName {
  Module module;
  Role role;
  const char* name;
};

constexpr MarianName names[] = {
    {Module::self_attention, Role::query_weight, "self_Wq"},
    {Module::self_attention, Role::query_bias, "self_bq"},
    {Module::self_attention, Role::key_weight, "self_Wk"},
    {Module::self_attention, Role::key_bias, "self_bk"},
    {Module::self_attention, Role::value_weight, "self_Wv"},
    {Module::self_attention, Role::value_bias, "self_bv"},
    {Module::self_attention, Role::output_weight, "self_Wo"},
    {Module::self_attention, Role::output_bias, "self_bo"},
    {Module::self_attention, Role::norm_weight, "self_Wo_ln_scale"},
    {Module::self_attention, Role::norm_bias, "self_Wo_ln_bias"},
    {Module::recurrent, Role::input_weight, "rnn_W"},
    {Module::recurrent, Role::forget_gate_weight, "rnn_Wf"},
    {Module::recurrent, Role::forget_gate_bias, "rnn_bf"},
    {Module::recurrent, Role::norm_weight, "rnn_ffn_ln_scale"},
    {Module::recurrent, Role::norm_bias, "rnn_ffn_ln_bias"},
    {Module::cross_attention, Role::query_weight, "context_Wq"},
    {Module::cross_attention, Role::query_bias, "context_bq"},
    {Module::cross_attention, Role::key_weight, "context_Wk"},
    {Module::cross_attention, Role::key_bias, "context_bk"},
    {Module::cross_attention, Role::value_weight, "context_Wv"},
    {Module::cross_attention, Role::value_bias, "context_bv"},
    {Module::cross_attention, Role::output_weight, "context_Wo"},
    {Module::cross_attention, Role::output_bias, "context_bo"},
    {Module::cross_attention, Role::norm_weight, "context_Wo_ln_scale"},
    {Module::cross_attention, Role::norm_bias, "context_Wo_ln_bias"},
    {Module::feed_forward, Role::inner_weight, "ffn_W1"},
    {Module::feed_forward, Role::inner_bias, "ffn_b1"},
    {Module::feed_forward, Role::outer_weight, "ffn_W2"},
    {Module::feed_forward, Role::outer_bias, "ffn_b2"},
    {Module::feed_forward, Role::norm_weight, "ffn_ffn_ln_scale"},
    {Module::feed_forward, Role::norm_bias, "ffn_ffn_ln_bias"},
};

}  // namespace

std::string marian_name(const ParameterInfo& info) {
  const auto* const found = std::find_if(std::begin(names), std::end(names), [&](const MarianName& row) {
    return row.module == info.module && row.role == info.role;
  });
  WASMFORMER_CHECK(info.is_in_layer() && found != std::end(names), ErrorCode::marian,
                   "Marian has no parameter like " << info.name);
  const std::string stack = info.stack == Stack::encoder ? "encoder" : "decoder";
  return stack + "_l" + std::to_string(info.layer + 1) + "_" + found->name;
}

}  // namespace wasmformer
