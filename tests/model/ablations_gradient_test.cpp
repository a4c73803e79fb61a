#include "ops/cross_entropy.h"
#include "tests/model/ablations.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of a model with a part taken out match central differences") {
  const Ablation& ablation = GENERATE(from_range(std::begin(ablations), std::end(ablations)));
  const double dropout = GENERATE(0.0, 0.2);
  INFO(ablation.what << ", dropout " << dropout);
  Config c = changed(ablation);
  c.dropout = c.attention_dropout = c.activation_dropout = dropout;
  Transformer model = random_model(c, 3);
  model.enable_gradients();
  std::vector<Parameter*> parameters;
  model.visit([&](const ParameterInfo&, Parameter& p) { parameters.push_back(&p); });
  const Packed source = packed({{4, 5, 6, 3}, {3}, {6, 6, 3}});
  const Packed target = packed({{2, 7}, {2, 8, 4, 5, 7}, {2}});
  const std::vector<TokenId> expected{7, 3, 8, 4, 5, 7, 3, 3};
  check_gradients(
      {}, parameters,
      [&](Tape& tape, const std::vector<Var>&) {
        Var memory = model.encode(tape, source.ids, source.spans);
        Var hidden = model.decode(tape, target.ids, target.spans, memory, source.spans);
        return cross_entropy(tape, model.logits(tape, hidden), expected, 0.1).loss;
      },
      /*places=*/12);
}
