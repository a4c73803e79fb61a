// Python's pickles, as far as PyTorch's state dicts use them. A pickle is a program; only the instructions
// that build dicts, tuples and tensors are implemented, and none of them calls anything.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bundle/safetensors.h"

namespace wasmformer {

// Value built by a pickle. Values refer to each other by index, so that cycles do no harm.
struct PickleValue {
  using Ref = std::uint32_t;
  // list: tuples too. storage: items are its persistent id. tensor: items are the arguments of _rebuild_tensor_v2.
  enum class Kind { none, number, text, list, dict, global, storage, tensor } kind = Kind::none;
  std::int64_t number = 0;  // also 0 or 1 for a bool
  std::string_view text;    // "module.name" for a global
  std::vector<Ref> items;   // for a dict: key, value, key, value, ...
};

// The type of a torch.*Storage, or null if `name` is not a supported one.
const Dtype* storage_dtype(std::string_view name);

// Reads pickles one after another. https://docs.python.org/3/library/pickletools.html
class Pickles {
 public:
  using Ref = PickleValue::Ref;

  // The bytes must outlive it.
  explicit Pickles(std::string_view bytes) : bytes_(bytes) {}

  // The value of the next one. Throws Error, naming the fault, for instructions and classes that no state
  // dict needs, and for truncated pickles.
  PickleValue read();

  const PickleValue& value(Ref place) const { return values_[place]; }
  std::string_view rest() const { return bytes_.substr(at_); }

 private:
  using Kind = PickleValue::Kind;

  std::string_view take_bytes(std::uint64_t size);
  std::string_view take_line();
  template <class T>
  T take();
  void push(Ref place) { stack_.push_back(place); }
  PickleValue& push_new(Kind kind);
  void push_items(Kind kind, std::vector<Ref> items) { push_new(kind).items = std::move(items); }
  void push_text(Kind kind, std::string_view text) { push_new(kind).text = text; }
  void push_number(std::int64_t number) { push_new(Kind::number).number = number; }
  void push_long();
  void push_unicode();
  void push_tuple(std::size_t size);
  Ref pop();
  PickleValue& top(Kind kind);
  std::vector<Ref> pop_to_mark();
  void append(Kind kind, const std::vector<Ref>& items);
  void remember(std::uint64_t place);
  void repeat(std::uint64_t place);
  void global();
  std::vector<Ref> arguments();
  void reduce();
  bool push_value(std::uint8_t instruction);
  bool combine(std::uint8_t instruction);
  bool add_items(std::uint8_t instruction);
  bool use_memo(std::uint8_t instruction);
  bool step(std::uint8_t instruction);

  std::string_view bytes_;
  std::size_t at_ = 0, instructions_ = 0;
  std::vector<PickleValue> values_;
  std::list<std::string> names_;  // names of globals; they never move
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::uint64_t, Ref> memo_;
};

}  // namespace wasmformer
