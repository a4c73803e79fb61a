// Models with a part of the paper's taken out or changed, each with what differs from small_config().
#pragma once

#include "tests/model/small_model.h"

namespace wasmformer {

struct Ablation {
  const char* what;
  void (*change)(Config&);
};

inline void take_out_residual(Config& c, NormPosition norm) {
  c.residual = false;
  c.norm = norm;
}

inline void take_out_all(Config& c) {
  take_out_residual(c, NormPosition::none);
  c.positions = Positions::fractions;
  c.causal = false;
  c.key_dim = 3;
}

inline constexpr Ablation ablations[] = {
    {"no positions", [](Config& c) { c.positions = Positions::none; }},
    {"integers as positions", [](Config& c) { c.positions = Positions::integers; }},
    {"fractions as positions", [](Config& c) { c.positions = Positions::fractions; }},
    {"no norm", [](Config& c) { c.norm = NormPosition::none; }},
    {"no residual connection, norm after", [](Config& c) { take_out_residual(c, NormPosition::post); }},
    {"no residual connection, norm before", [](Config& c) { take_out_residual(c, NormPosition::pre); }},
    {"neither norm nor residual connection", [](Config& c) { take_out_residual(c, NormPosition::none); }},
    {"no causal mask", [](Config& c) { c.causal = false; }},
    {"keys of one feature", [](Config& c) { c.key_dim = 1; }},
    {"keys wider than values", [](Config& c) { c.key_dim = 7; }},
    {"all of them", take_out_all},
};

inline Config changed(const Ablation& ablation) {
  Config c = small_config();
  ablation.change(c);
  return c;
}

}  // namespace wasmformer
