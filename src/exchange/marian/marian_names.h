// What Marian calls the parameters of a layer.
#pragma once

#include <string>

namespace wasmformer {

// "model.encoder.layers.0.fc1.weight" as "encoder_l1_ffn_W1"; `is_ssru`: the decoder has recurrent cells. Throws Error
// for a parameter outside of the layers.
std::string marian_name(const std::string& ours, bool is_ssru);

inline constexpr const char* marian_options = "special:model.yml";
inline constexpr const char* marian_output_bias = "decoder_ff_logit_out_b";
inline constexpr const char* alpha_suffix = "_QuantMultA";  // the multiplier of the inputs of products with a matrix

}  // namespace wasmformer
