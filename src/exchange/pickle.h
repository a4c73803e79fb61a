// Python's pickles, as far as a state dict of PyTorch takes. A pickle is a program; of its instructions only
// those are known that build dicts, tuples and tensors, and none calls anything.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/safetensors.h"

namespace wasmformer {

// What a pickle builds. Values refer to each other by their place, so that a circle of them is no harm.
struct PickleValue {
  using Ref = std::uint32_t;
  // list: a tuple too; storage and tensor: items are what the pickle told of them, in the order of a
  // persistent id and of the arguments of _rebuild_tensor_v2.
  enum class Kind { none, number, text, list, dict, global, storage, tensor } kind = Kind::none;
  std::int64_t number = 0;  // of a truth value 0 or 1
  std::string_view text;    // of a global "module.name"
  std::vector<Ref> items;   // of a dict keys and values in turn
};

// The type of a torch.*Storage; null where `name` is none that is read.
const Dtype* storage_dtype(std::string_view name);

// Reads one pickle after the other. https://docs.python.org/3/library/pickletools.html
class Pickles {
 public:
  using Ref = PickleValue::Ref;

  // The bytes must outlive it.
  explicit Pickles(std::string_view bytes) : bytes_(bytes) {}

  // The next one's value. Throws Error, naming the fault, for an instruction, or a class, that no state dict
  // needs, and for pickles that are cut short.
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
  void push(PickleValue value);
  void push_number(std::int64_t number) { push({Kind::number, number, {}, {}}); }
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
  bool step(std::uint8_t instruction);

  std::string_view bytes_;
  std::size_t at_ = 0, instructions_ = 0;
  std::vector<PickleValue> values_;
  std::list<std::string> names_;  // of globals, which stay in place
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::unordered_map<std::uint64_t, Ref> memo_;
};

}  // namespace wasmformer
