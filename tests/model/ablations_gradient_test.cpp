#include "tests/model/ablations.h"
#include "tests/model/model_gradients.h"

using namespace wasmformer;

TEST_CASE("The gradients of a model with a part taken out match central differences") {
  const Ablation& ablation = GENERATE(from_range(std::begin(ablations), std::end(ablations)));
  const double dropout = GENERATE(0.0, 0.2);
  INFO(ablation.what << ", dropout " << dropout);
  Config c = changed(ablation);
  c.dropout = c.attention_dropout = c.activation_dropout = dropout;
  Transformer model = random_model(c, 3);
  check_model_gradients(model);
}
