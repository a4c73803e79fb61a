#include "exchange/marian/marian_names.h"

#include <map>

#include "schema/error.h"

namespace wasmformer {

std::string marian_name(const std::string& ours, bool is_ssru) {
  // ?: W or b.
  static const std::map<std::string, std::string> parts{{"self_attn.q_proj", "self_?q"},
                                                        {"self_attn.k_proj", "self_?k"},
                                                        {"self_attn.v_proj", "self_?v"},
                                                        {"self_attn.out_proj", "self_?o"},
                                                        {"encoder_attn.q_proj", "context_?q"},
                                                        {"encoder_attn.k_proj", "context_?k"},
                                                        {"encoder_attn.v_proj", "context_?v"},
                                                        {"encoder_attn.out_proj", "context_?o"},
                                                        {"recurrent.input_proj", "rnn_?"},
                                                        {"recurrent.forget_gate", "rnn_?f"},
                                                        {"fc1", "ffn_?1"},
                                                        {"fc2", "ffn_?2"},
                                                        {"self_attn_layer_norm", "self_Wo_ln"},
                                                        {"encoder_attn_layer_norm", "context_Wo_ln"},
                                                        {"final_layer_norm", "ffn_ffn_ln"}};
  const std::size_t stack = ours.find('.') + 1, layers = ours.find(".layers."), number = layers + 8,
                    part = ours.find('.', number), kind = ours.rfind('.');
  const auto found = layers == std::string::npos ? parts.end() : parts.find(ours.substr(part + 1, kind - part - 1));
  WASMFORMER_CHECK(found != parts.end(), ErrorCode::marian, "Marian has no parameter like " << ours);
  const std::string side = ours.substr(stack, layers - stack);
  std::string theirs = found->second;
  const bool is_weight = ours.ends_with(".weight");
  if (const std::size_t at = theirs.find('?'); at != std::string::npos)
    theirs[at] = is_weight ? 'W' : 'b';
  else
    theirs += is_weight ? "_scale" : "_bias";
  if (is_ssru && side == "decoder" && theirs.starts_with("self_Wo")) theirs.replace(0, 7, "rnn_ffn");
  return side + "_l" + std::to_string(std::stoi(ours.substr(number)) + 1) + "_" + theirs;
}

}  // namespace wasmformer
