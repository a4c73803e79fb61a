#include "exchange/containers/pickle.h"

#include <charconv>
#include <cstring>
#include <utility>

#include "schema/error.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

constexpr std::size_t max_instructions = 1 << 20;  // a thousand tensors take about 40,000
constexpr std::size_t max_arguments = 8;

struct StorageType {
  std::string_view name;
  Dtype dtype;
};
constexpr StorageType storage_types[] = {{"torch.FloatStorage", Dtype::f32},     {"torch.HalfStorage", Dtype::f16},
                                         {"torch.BFloat16Storage", Dtype::bf16}, {"torch.CharStorage", Dtype::i8},
                                         {"torch.IntStorage", Dtype::i32},       {"torch.LongStorage", Dtype::i64}};
constexpr std::string_view ordered_dict = "collections.OrderedDict", rebuild_tensor = "torch._utils._rebuild_tensor_v2";

}  // namespace

const Dtype* storage_dtype(std::string_view name) {
  for (const StorageType& type : storage_types)
    if (type.name == name) return &type.dtype;
  return nullptr;
}

std::string_view Pickles::take_bytes(std::uint64_t size) {
  WASMFORMER_CHECK(size <= bytes_.size() - at_, ErrorCode::pickle,
                   "the file is truncated: at byte " << at_ << " of " << bytes_.size() << " it needs another " << size);
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += size;
  return taken;
}

template <class T>
T Pickles::take() {
  T value;
  std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
  return value;
}

PickleValue Pickles::read() {
  stack_.clear();
  marks_.clear();
  memo_.clear();
  while (step(take<std::uint8_t>())) {
  }
  WASMFORMER_CHECK(stack_.size() == 1, ErrorCode::pickle, "the file ends with " << stack_.size() << " values, not one");
  return values_[stack_[0]];
}

std::string_view Pickles::take_line() {
  const std::size_t end = bytes_.find('\n', at_);
  WASMFORMER_CHECK(end != std::string_view::npos, ErrorCode::pickle,
                   "the file is truncated: a name at byte " << at_ << " has no end");
  const std::string_view line = take_bytes(end - at_);
  ++at_;
  return line;
}

PickleValue& Pickles::push_new(Kind kind) {
  push(static_cast<Ref>(values_.size()));
  PickleValue& value = values_.emplace_back();
  value.kind = kind;
  return value;
}

// No instruction reaches below the last mark.
Pickles::Ref Pickles::pop() {
  WASMFORMER_CHECK(stack_.size() > (marks_.empty() ? 0 : marks_.back()), ErrorCode::pickle,
                   "an instruction before byte " << at_ << " takes a value from an empty stack");
  const Ref top = stack_.back();
  stack_.pop_back();
  return top;
}

PickleValue& Pickles::top(Kind kind) {
  const Ref place = pop();
  push(place);
  WASMFORMER_CHECK(values_[place].kind == kind, ErrorCode::pickle,
                   "the value before byte " << at_ << " is of the wrong kind");
  return values_[place];
}

std::vector<Pickles::Ref> Pickles::pop_to_mark() {
  WASMFORMER_CHECK(!marks_.empty(), ErrorCode::pickle, "the instruction before byte " << at_ << " has no mark");
  std::vector<Ref> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return items;
}

void Pickles::push_tuple(std::size_t size) {
  std::vector<Ref> items(size);
  while (size > 0) items[--size] = pop();
  push_items(Kind::list, std::move(items));
}

void Pickles::append(Kind kind, const std::vector<Ref>& items) {
  WASMFORMER_CHECK(kind == Kind::list || items.size() % 2 == 0, ErrorCode::pickle, "a key has no value");
  auto& all = top(kind).items;
  all.insert(all.end(), items.begin(), items.end());
}

void Pickles::repeat(std::uint64_t place) {
  const auto found = memo_.find(place);
  WASMFORMER_CHECK(found != memo_.end(), ErrorCode::pickle, "there is no value " << place << " to repeat");
  push(found->second);
}

void Pickles::remember(std::uint64_t place) {
  const Ref value = pop();
  push(value);
  memo_[place] = value;
}

void Pickles::global() {
  const std::size_t begin = at_;
  const std::string_view module = take_line(), name = take_line();
  std::string& text = names_.emplace_back(module);
  text.append(".").append(name);
  WASMFORMER_CHECK(is_utf8(text) && text.size() < 200, ErrorCode::pickle, "byte " << begin << ": not a class name");
  WASMFORMER_CHECK(text == ordered_dict || text == rebuild_tensor || storage_dtype(text), ErrorCode::pickle,
                   "the file asks for " << text
                                        << ", which is not part of a state dict of F32, F16 or BF16; "
                                           "nothing was run");
  push_text(Kind::global, text);
}

// Pops the tuple on top and returns its few items.
std::vector<Pickles::Ref> Pickles::arguments() {
  const std::vector<Ref>& items = top(Kind::list).items;
  WASMFORMER_CHECK(items.size() <= max_arguments, ErrorCode::pickle,
                   "an object is made of " << items.size() << " values at byte " << at_);
  pop();
  return items;
}

void Pickles::reduce() {
  std::vector<Ref> items = arguments();
  const std::string_view name = top(Kind::global).text;
  pop();
  WASMFORMER_CHECK(name != ordered_dict || items.empty(), ErrorCode::pickle,
                   "an OrderedDict has arguments, which a state dict never gives it");
  WASMFORMER_CHECK(!storage_dtype(name), ErrorCode::pickle,
                   "the file calls " << name << ", which a state dict never does");
  push_items(name == rebuild_tensor ? Kind::tensor : Kind::dict, std::move(items));
}

// LONG1. The only number longer than 64 bits, the magic one, is compared as bytes.
void Pickles::push_long() {
  const std::string_view digits = take_bytes(take<std::uint8_t>());
  WASMFORMER_CHECK(digits.size() <= sizeof(std::int64_t), ErrorCode::pickle,
                   "a number has " << digits.size() << " bytes");
  const bool is_negative = !digits.empty() && (digits.back() & 0x80) != 0;
  std::int64_t number = is_negative ? -1 : 0;
  std::memcpy(&number, digits.data(), digits.size());
  push_number(number);
}

// BINUNICODE.
void Pickles::push_unicode() {
  const std::string_view text = take_bytes(take<std::uint32_t>());
  WASMFORMER_CHECK(is_utf8(text), ErrorCode::pickle, "a text before byte " << at_ << " is not UTF-8");
  push_text(Kind::text, text);
}

// Instructions that push a value read from the file; false for others.
bool Pickles::push_value(std::uint8_t instruction) {
  switch (instruction) {
    case 'N':
      push_new(Kind::none);
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      push_number(instruction == 0x88);
      return true;
    case 'K':
      push_number(take<std::uint8_t>());
      return true;
    case 'M':
      push_number(take<std::uint16_t>());
      return true;
    case 'J':
      push_number(take<std::int32_t>());
      return true;
    case 0x8A:
      push_long();
      return true;
    case 'X':
      push_unicode();
      return true;
    case 'c':
      global();
      return true;
    case ')':
    case ']':
      push_new(Kind::list);
      return true;
    case '}':
      push_new(Kind::dict);
      return true;
  }
  return false;
}

// Instructions that make one value of those on the stack; false for others.
bool Pickles::combine(std::uint8_t instruction) {
  switch (instruction) {
    case 'R':
      reduce();
      return true;
    case 'Q':  // BINPERSID
      push_items(Kind::storage, arguments());
      return true;
    case 'b':  // BUILD: attributes of the dict, such as _metadata
      pop();
      top(Kind::dict);
      return true;
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case 0x85:  // TUPLE1 to TUPLE3
    case 0x86:
    case 0x87:
      push_tuple(instruction - 0x84u);
      return true;
    case 't':
      push_items(Kind::list, pop_to_mark());
      return true;
  }
  return false;
}

// Instructions that add to a list or a dict; false for others.
bool Pickles::add_items(std::uint8_t instruction) {
  switch (instruction) {
    case 's': {  // SETITEM
      const Ref value = pop();
      const Ref key = pop();
      append(Kind::dict, {key, value});
      return true;
    }
    case 'u':
      append(Kind::dict, pop_to_mark());
      return true;
    case 'a':
      append(Kind::list, {pop()});
      return true;
    case 'e':
      append(Kind::list, pop_to_mark());
      return true;
  }
  return false;
}

// Instructions of the memo; false for others.
bool Pickles::use_memo(std::uint8_t instruction) {
  switch (instruction) {
    case 'q':
      remember(take<std::uint8_t>());
      return true;
    case 'r':
      remember(take<std::uint32_t>());
      return true;
    case 'h':
      repeat(take<std::uint8_t>());
      return true;
    case 'j':
      repeat(take<std::uint32_t>());
      return true;
  }
  return false;
}

// False at the end of the pickle.
bool Pickles::step(std::uint8_t instruction) {
  WASMFORMER_CHECK(++instructions_ <= max_instructions, ErrorCode::pickle,
                   "the file has more than " << max_instructions << " instructions");
  if (instruction == '.') return false;
  if (instruction == 0x80) {  // PROTO
    const int version = take<std::uint8_t>();
    WASMFORMER_CHECK(version == 2, ErrorCode::pickle,
                     "protocol " << version << " is not supported; torch.save writes 2");
    return true;
  }
  const bool is_known =
      push_value(instruction) || combine(instruction) || add_items(instruction) || use_memo(instruction);
  if (is_known) return true;
  char digits[2];
  char* const end = std::to_chars(digits, digits + sizeof(digits), int{instruction}, 16).ptr;
  throw Error(ErrorCode::pickle, "instruction 0x" + std::string(digits, end) + " at byte " + std::to_string(at_ - 1) +
                                     " is not used by state dicts; nothing was run");
}

}  // namespace wasmformer
