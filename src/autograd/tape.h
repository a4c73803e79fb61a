// Reverse-mode differentiation: operations record how to pass their gradient on; backward() walks them from
// the last.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "autograd/arena.h"
#include "gemm/quantized_rows.h"
#include "schema/error.h"
#include "tensor/function_ref.h"
#include "tensor/matrix.h"
#include "tensor/random.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

struct Parameter;

// A matrix on a tape: a handle, cheap to copy, valid until the tape is cleared.
class Var {
 public:
  Var() = default;
  Index rows() const { return node_->rows; }
  Index cols() const { return node_->cols; }
  ConstView value() const { return {node_->value, node_->rows, node_->cols}; }
  View mutable_value() { return {node_->value, node_->rows, node_->cols}; }
  bool wants_gradient() const { return node_->wants_gradient; }
  // After backward(), for variables that are not results of operations (whose memory is reused), and for those of
  // keep_gradient(). Throws Error if no gradient reached it.
  ConstView gradient() const;

 private:
  friend class Tape;
  struct Node {
    Index rows, cols;
    Scalar* value;     // [rows, cols]
    Scalar* gradient;  // the same, or null until a gradient reaches it
    bool wants_gradient;
    bool keeps_gradient;             // backward() does not reuse its memory
    const QuantizedRows* quantized;  // for the last product with int8 weights, or null
  };
  explicit Var(Node* node) : node_(node) {}
  Node* node_ = nullptr;
};

// Destination of an operation's gradient, which adds to it. `fresh`: holds no gradient yet, so it must be overwritten.
struct GradientSlot {
  View view;
  bool fresh;
};

class Tape {
 public:
  // `recording` off: operations only compute; the same code serves for inference.
  Tape(ThreadPool& pool, bool recording) : pool_(pool), recording_(recording) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Called with the weight and the input of every product of linear(); null for none.
  using Observer = std::function<void(const Parameter& weight, ConstView x)>;
  void observe(const Observer* observer) { observer_ = observer; }
  void show(const Parameter& weight, ConstView x) const {
    if (observer_) (*observer_)(weight, x);
  }

  ThreadPool& pool() { return pool_; }
  bool recording() const { return recording_; }

  // Seeds of dropout, one per operation. The trainer seeds the tape for each step.
  void seed(std::uint64_t seed) { random_ = Random(seed); }
  std::uint64_t next_seed() { return random_.bits(); }
  // Index in the whole batch of the first row of the next operations: this tape may have only a part of the batch.
  void set_first_row(Index row) { first_row_ = row; }
  Index first_row() const { return first_row_; }

  // An uninitialized [rows, cols] matrix.
  Var variable(Index rows, Index cols, bool wants_gradient);
  // The same in the memory of `var`, a variable() that must have no other readers.
  Var variable_over(Var var, bool wants_gradient);
  // A matrix without gradient; it must outlive the variables.
  Var constant(const Matrix& value);
  template <class T>
  T* scratch(Index count) {
    return arena_.take<T>(count);
  }

  // A copy that lives as long as the variables.
  template <class T>
  std::span<const T> keep(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* copy = arena_.take<T>(static_cast<Index>(items.size()));
    std::copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }

  // `backward(out_gradient)` runs once, after those of all later operations, if a gradient reached `out`. The
  // tape keeps a copy of it.
  template <class F>
  void record(Var out, F backward) {
    static_assert(std::is_trivially_destructible_v<F>, "what a step keeps lives in the tape's memory");
    operations_.push_back(
        {[](void* f, ConstView g) { (*static_cast<F*>(f))(g); }, new (arena_.take<F>(1)) F(backward), out.node_});
  }

  // backward() calls passed(id) once the gradients of all later operations are complete.
  void mark(Index id) {
    if (recording_) operations_.push_back({nullptr, nullptr, nullptr, id});
  }

  // The rows of `var`, quantized for products with `weights` of int8; made once for all readers with the same
  // multiplier.
  const QuantizedRows& quantized(Var var, const PackedMatrix& weights);

  GradientSlot gradient(Var var);
  View zeroed_gradient(Var var) {
    auto [view, fresh] = gradient(var);
    if (fresh) view.setZero();
    return view;
  }
  // The same in the memory of the value, which must have no other readers.
  GradientSlot gradient_reusing_value(Var var);
  // Makes the gradient of `var`, the result of an operation, readable after backward().
  void keep_gradient(Var var) { var.node_->keeps_gradient = true; }
  // The gradient of `var`, or null if none has reached it yet.
  const Scalar* gradient_or_null(Var var) const { return var.node_->gradient; }
  // Adds `upstream`, of the same shape, to the gradient of `var`.
  template <class M>
  void add_gradient(Var var, const M& upstream) {
    auto [view, fresh] = gradient(var);
    if (fresh)
      view = upstream;
    else
      view += upstream;
  }

  // Computes all gradients of `loss`, [1, 1]; calls after_operation() after each. Throws Error if recording is off.
  void backward(Var loss, FunctionRef<void(Index id)> passed = {}, FunctionRef<void()> after_operation = {});
  // Forgets all variables and operations, keeps the memory.
  void clear();
  // Calls body(begin, end) over rows of `cols` columns, several threads at a time.
  template <class F>
  void for_rows(Index rows, Index cols, F&& body) {
    constexpr Index elements_per_chunk = 16384;
    pool_.parallel_for(rows, std::max<Index>(1, elements_per_chunk / std::max<Index>(cols, 1)), body);
  }
  // The same over columns, for sums over all rows, whose order may not depend on the threads.
  template <class F>
  void for_columns(Index cols, F&& body) {
    pool_.parallel_for(cols, 64, body);
  }
  std::size_t bytes() const { return arena_.bytes(); }

 private:
  struct Operation {
    void (*run)(void*, ConstView);
    void* closure;
    Var::Node* out;  // null for a mark
    Index id = 0;
  };

  ThreadPool& pool_;
  bool recording_;
  Random random_;
  Index first_row_ = 0;
  Arena arena_;
  std::vector<Operation> operations_;

  struct Piece {
    Scalar* memory;
    Index size;
  };
  std::vector<Piece> free_;  // memory of gradients that are no longer needed
  const Observer* observer_ = nullptr;
};

}  // namespace wasmformer
