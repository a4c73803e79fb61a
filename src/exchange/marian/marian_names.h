// Names and values of Marian's files.
#pragma once

#include <string>

#include "nn/parameter_info.h"

namespace wasmformer {

// "encoder_l1_ffn_W1" for the inner weight of the encoder's first layer. Throws Error for a parameter that Marian does
// not have, or that is outside of the layers.
std::string marian_name(const ParameterInfo& info);

inline constexpr const char* marian_options = "special:model.yml";
inline constexpr const char* marian_output_bias = "decoder_ff_logit_out_b";
// The output bias of tokens that are never chosen: far below every score, so that their probability is 0, but within
// the range of F16.
inline constexpr float never_chosen_bias = -1e4f;
inline constexpr const char* alpha_suffix = "_QuantMultA";  // the multiplier of the inputs of products with a matrix

}  // namespace wasmformer
