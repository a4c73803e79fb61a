// A model that learns from one sentence at a time: figure 1 backwards, and a step against the gradient.
#pragma once

#include "bundle/model_file.h"
#include "model/backward_pass.h"
#include "tasks/translate/translation.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

// A pair of sentences, and what its loss depends on. The rows of encoder boxes are the source tokens; row i of the
// other boxes is the step that should choose target token i.
struct Lesson {
  std::vector<SourceToken> source_tokens, target_tokens;  // the end token last
  BackwardPass pass;
};

class Learner {
 public:
  // Copies the weights, int8 ones as floats; the model itself stays as it is, and is not needed any more. The pool must
  // outlive the learner.
  Learner(const ModelFile& model, ThreadPool& pool);

  // The losses and gradients of the present weights. Texts are read as in training: nothing is kept. Throws Error for
  // text that is not UTF-8, a text without a token, or one that is longer than max_length.
  Lesson backward(const std::string& source, const std::string& target);
  // The same, and then one step of gradient descent: each weight w becomes w - rate * dloss/dw. Throws Error as
  // backward(), and when a gradient is not finite; no weight has changed then.
  Lesson step(const std::string& source, const std::string& target, double rate);
  Index steps() const { return steps_; }
  // Takes back all steps: the weights are those of the beginning, bit by bit.
  void undo();
  // To translate with until the next call.
  const ModelFile& packed_model();

 private:
  std::vector<TokenId> read(const Tokenizer& tokenizer, const std::string& text, const char* side) const;

  ModelFile model_;
  ThreadPool& pool_;
  Tape tape_;
  std::vector<Matrix> beginning_;  // the weights before the first step, from then on
  Index steps_ = 0;
  bool is_packed_ = false;
};

}  // namespace wasmformer
