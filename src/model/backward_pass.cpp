#include "model/backward_pass.h"

#include <cmath>

#include "ops/cross_entropy.h"

namespace wasmformer {
namespace {

// A box, and the variables whose gradients it shows.
struct Watched {
  BoxGradient box;
  Var output;
  const AttentionRecord* attention = nullptr;
};

// The sublayers of a layer, from below.
struct Sublayer {
  FigurePart part, norm;
};
constexpr Sublayer self{FigurePart::self_attention, FigurePart::self_attention_norm};
constexpr Sublayer cross{FigurePart::cross_attention, FigurePart::cross_attention_norm};
constexpr Sublayer feed_forward{FigurePart::feed_forward, FigurePart::feed_forward_norm};

const AttentionRecord* attention_of(const StackRecord& record, FigurePart part, std::size_t layer) {
  if (part == FigurePart::self_attention && !record.self_attention.empty()) return &record.self_attention[layer];
  if (part == FigurePart::cross_attention) return &record.cross_attention[layer];
  return nullptr;
}

// The boxes of a stack, from below; a record lists sublayers and norms in the order in which they ran.
std::vector<Watched> boxes_of(const StackRecord& record, Stack stack, NormPosition norm) {
  std::vector<Watched> all;
  const auto add = [&](Index layer, FigurePart part, Var output, const AttentionRecord* attention) {
    all.push_back({{.stack = stack, .layer = layer, .part = part, .tokens = {}, .heads = {}}, output, attention});
  };
  add(no_layer, FigurePart::embedding, record.embedded, nullptr);
  std::vector<Sublayer> sublayers{self, feed_forward};
  if (stack == Stack::decoder) sublayers = {self, cross, feed_forward};
  for (std::size_t i = 0; i < record.results.size(); ++i) {
    const std::size_t layer = i / sublayers.size();
    const auto [part, norm_part] = sublayers[i % sublayers.size()];
    const auto number = static_cast<Index>(layer);
    if (norm == NormPosition::pre) add(number, norm_part, record.norms[i], nullptr);
    add(number, part, record.results[i], attention_of(record, part, layer));
    if (norm == NormPosition::post) add(number, norm_part, record.norms[i], nullptr);
  }
  if (norm == NormPosition::pre) add(no_layer, FigurePart::output_norm, record.output, nullptr);
  return all;
}

bool is_norm(const ParameterId& p) { return p.role == Role::norm_weight || p.role == Role::norm_bias; }

// The box of a parameter that is in a layer.
FigurePart part_of(const ParameterId& p) {
  const bool norm = is_norm(p);
  if (p.module == Module::cross_attention) return norm ? cross.norm : cross.part;
  if (p.module == Module::feed_forward) return norm ? feed_forward.norm : feed_forward.part;
  return norm ? self.norm : self.part;
}

// Returns whether the box reads the parameter. Section 3.4: embeddings and the output projection may share a matrix.
bool reads(const BoxGradient& box, const ParameterId& p, TieEmbeddings tied) {
  if (p.is_in_layer()) return p.stack == box.stack && p.layer == box.layer && part_of(p) == box.part;
  const bool is_embedding = p.module == Module::embedding;
  switch (box.part) {
    case FigurePart::embedding:
      return is_embedding && (p.stack == Stack::shared || p.stack == box.stack);
    case FigurePart::output_norm:
      return p.module == Module::output_norm && p.stack == box.stack;
    case FigurePart::output: {
      const bool is_shared =
          tied != TieEmbeddings::none && p.role == Role::token_embedding && p.stack != Stack::encoder;
      return p.module == Module::vocabulary || is_shared;
    }
    default:
      return false;
  }
}

void add_parameter_norms(const Transformer& model, BackwardPass& pass) {
  const TieEmbeddings tied = model.config().tie_embeddings;
  double total = 0;
  std::vector<double> squares(pass.boxes.size());
  model.visit([&](const ParameterInfo& info, const Parameter& p) {
    const auto square = static_cast<double>(p.gradient.squaredNorm());
    total += square;
    for (std::size_t i = 0; i < squares.size(); ++i)
      if (reads(pass.boxes[i], info, tied)) squares[i] += square;
  });
  pass.parameter_norm = std::sqrt(total);
  for (std::size_t i = 0; i < squares.size(); ++i) pass.boxes[i].parameter_norm = std::sqrt(squares[i]);
}

// The norm of each row of columns that belong together, [rows, groups].
std::vector<float> row_norms(ConstView gradient, Index groups) {
  const Index width = gradient.cols() / groups;
  std::vector<float> norms;
  for (Index i = 0; i < gradient.rows(); ++i)
    for (Index g = 0; g < groups; ++g)
      norms.push_back(static_cast<float>(gradient.row(i).segment(g * width, width).norm()));
  return norms;
}

}  // namespace

BackwardPass backward_pass(Transformer& model, Tape& tape, std::span<const TokenId> source,
                           std::span<const TokenId> target) {
  WASMFORMER_CHECK(!target.empty(), ErrorCode::backward, "the target has no token");
  const Config& config = model.config();
  model.visit([](const ParameterInfo&, Parameter& p) { p.gradient.setZero(); });
  tape.clear();

  // The decoder reads the tokens shifted right, behind the begin token (section 3.1).
  std::vector<TokenId> shifted{config.bos_id};
  shifted.insert(shifted.end(), target.begin(), target.end() - 1);
  const Span source_span{0, static_cast<Index>(source.size())}, target_span{0, static_cast<Index>(target.size())};
  StackRecord encoder, decoder;
  const Var memory = model.encode(tape, source, {&source_span, 1}, {}, &encoder);
  const Var hidden =
      model.decode(tape, shifted, {&target_span, 1}, memory, {&source_span, 1}, /*cache=*/nullptr, {}, &decoder);
  const Var logits = model.logits(tape, hidden);

  std::vector<Watched> watched = boxes_of(encoder, Stack::encoder, config.norm);
  for (Watched& box : boxes_of(decoder, Stack::decoder, config.norm)) watched.push_back(std::move(box));
  watched.push_back({{}, logits});
  for (const Watched& w : watched) {
    tape.keep_gradient(w.output);
    if (w.attention) tape.keep_gradient(w.attention->output);
  }
  const CrossEntropy loss = cross_entropy(tape, logits, target, /*smoothing=*/0);
  BackwardPass pass;
  pass.loss = loss.nll;
  pass.losses.assign(loss.row_nll.begin(), loss.row_nll.end());
  tape.backward(loss.loss);
  if (Parameter* start = model.zero_start_embedding()) start->gradient.row(config.bos_id).setZero();  // is not trained

  for (Watched& w : watched) {
    BoxGradient& box = w.box;
    box.tokens = row_norms(w.output.gradient(), 1);
    box.norm = static_cast<double>(w.output.gradient().norm());
    if (w.attention) box.heads = row_norms(w.attention->output.gradient(), config.num_heads);
    pass.boxes.push_back(std::move(box));
  }
  add_parameter_norms(model, pass);
  return pass;
}

}  // namespace wasmformer
