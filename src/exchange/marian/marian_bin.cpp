#include "exchange/marian/marian_bin.h"

#include <algorithm>
#include <cstring>

#include "schema/error.h"

namespace wasmformer {
namespace {

constexpr std::uint64_t version = 1;
constexpr std::size_t start_bytes = 16, header_bytes = 32, max_dimensions = 8;
constexpr std::size_t alignment = 256;  // of the data
constexpr std::uint64_t shortlist_magic = 0xF11A48D5013417F5;
// Class of the type and bytes of a number.
enum Type : std::uint64_t { int8 = 0x101, float16 = 0x402, float32 = 0x404, intgemm8 = 0x4101 };

template <class T>
T value(std::string_view bytes) {
  T x;
  std::memcpy(&x, bytes.data(), sizeof x);
  return x;
}

template <class T>
void append(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Checksum of a shortlist, over the bytes after the stored checksum.
std::uint64_t checksum_of(std::string_view bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 16; at + 8 <= bytes.size(); at += 8)
    sum ^= value<std::uint64_t>(bytes.substr(at)) + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  return sum;
}

struct Reader {
  std::string_view rest;

  std::string_view take(std::uint64_t size) {
    WASMFORMER_CHECK(size <= rest.size(), ErrorCode::bin_damaged, "the .bin file is truncated or damaged");
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
};

struct Item {
  std::uint64_t name_length, type, dimensions, bytes;
  std::string name;
};

Dtype dtype(const Item& item) {
  switch (item.type) {
    case float32:
      return Dtype::f32;
    case float16:
      return Dtype::f16;
    case int8:
    case intgemm8:
      return Dtype::i8;
    default: {
      constexpr std::uint64_t packed_classes = 0x3800;  // packed for fbgemm, with AVX2 or AVX512
      throw Error(ErrorCode::marian,
                  item.name + " of the .bin file " +
                      (item.type & packed_classes ? "is packed for one kind of processor; convert the model to intgemm8"
                                                  : "has the unknown type " + std::to_string(item.type)));
    }
  }
}

void add(SafetensorsFile& file, const Item& item, std::vector<Index> shape, std::string_view data) {
  std::uint64_t size = dtype_bytes(dtype(item));
  for (const Index n : shape) {
    WASMFORMER_CHECK(n >= 0 && (n == 0 || size <= data.size() / static_cast<std::uint64_t>(n)), ErrorCode::marian,
                     item.name << " of the .bin file has a shape that does not fit its " << data.size() << " bytes");
    size *= static_cast<std::uint64_t>(n);
  }
  WASMFORMER_CHECK(size <= data.size(), ErrorCode::marian, item.name << " of the .bin file has no data");
  if (item.type == intgemm8) {
    WASMFORMER_CHECK(data.size() >= size + sizeof(float), ErrorCode::marian,
                     item.name << " of the .bin file has no multiplier after its bytes");
    file.tensors[item.name + multiplier_suffix] = {Dtype::f32, {1, 1}, data.substr(size, sizeof(float))};
  }
  const bool is_new =
      file.tensors.emplace(item.name, TensorEntry{dtype(item), std::move(shape), data.substr(0, size)}).second;
  WASMFORMER_CHECK(is_new, ErrorCode::marian, "the .bin file has '" << item.name << "' twice");
}

}  // namespace

bool is_marian_bin(std::string_view bytes) {
  return bytes.size() >= start_bytes && value<std::uint64_t>(bytes) == version &&
         value<std::uint64_t>(bytes.substr(8)) <= (bytes.size() - start_bytes) / header_bytes;
}

SafetensorsFile parse_marian_bin(std::string_view bytes) {
  WASMFORMER_CHECK(is_marian_bin(bytes), ErrorCode::marian, "the .bin file is not in version 1 of Marian's format");
  Reader reader{bytes};
  reader.take(8);
  std::vector<Item> items(value<std::uint64_t>(reader.take(8)));
  for (Item& item : items) {
    const std::string_view header = reader.take(header_bytes);
    item.name_length = value<std::uint64_t>(header);
    item.type = value<std::uint64_t>(header.substr(8));
    item.dimensions = value<std::uint64_t>(header.substr(16));
    item.bytes = value<std::uint64_t>(header.substr(24));
    WASMFORMER_CHECK(item.name_length > 0 && item.dimensions <= max_dimensions, ErrorCode::bin_damaged,
                     "the .bin file is truncated or damaged");
  }
  for (Item& item : items) item.name = reader.take(item.name_length).substr(0, item.name_length - 1);
  std::vector<std::vector<Index>> shapes;
  for (const Item& item : items) {
    std::vector<Index>& shape = shapes.emplace_back();
    for (std::uint64_t i = 0; i < item.dimensions; ++i) shape.push_back(value<std::int32_t>(reader.take(4)));
  }
  reader.take(value<std::uint64_t>(reader.take(8)));  // up to a multiple of 256 bytes
  SafetensorsFile file;
  for (std::size_t i = 0; i < items.size(); ++i) add(file, items[i], std::move(shapes[i]), reader.take(items[i].bytes));
  return file;
}

std::string serialize_marian_bin(const SafetensorsFile& file) {
  std::vector<Item> items;
  std::string names, shapes, data;
  for (const auto& [name, tensor] : file.tensors) {
    if (name.ends_with(multiplier_suffix)) continue;
    const auto multiplier = file.tensors.find(name + multiplier_suffix);
    const bool is_quantized = multiplier != file.tensors.end();
    std::string bytes(tensor.data);
    if (is_quantized) bytes += multiplier->second.data;
    const bool is_text = tensor.dtype == Dtype::i8 && !is_quantized;
    if (!is_text) bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
    Type type = float32;
    if (is_text) type = int8;
    if (is_quantized) type = intgemm8;
    items.push_back({.name_length = name.size() + 1,
                     .type = type,
                     .dimensions = tensor.shape.size(),
                     .bytes = bytes.size(),
                     .name = name});
    names.append(name.c_str(), name.size() + 1);
    for (const Index n : tensor.shape) append(shapes, static_cast<std::int32_t>(n));
    data += bytes;
  }
  std::string out;
  append(out, version);
  append(out, static_cast<std::uint64_t>(items.size()));
  for (const Item& item : items)
    for (const std::uint64_t number : {item.name_length, item.type, item.dimensions, item.bytes}) append(out, number);
  out += names + shapes;
  const std::size_t start = ((out.size() + 8) / alignment + 1) * alignment;
  append(out, static_cast<std::uint64_t>(start - out.size() - 8));
  out.resize(start);
  return out + data;
}

bool is_marian_shortlist(std::string_view bytes) {
  return bytes.size() >= sizeof shortlist_magic && value<std::uint64_t>(bytes) == shortlist_magic;
}

Shortlist parse_marian_shortlist(std::string_view bytes, Index sources, Index targets) {
  constexpr std::size_t header = 48;
  const auto number = [&](std::size_t i) { return value<std::uint64_t>(bytes.substr(8 * i)); };
  WASMFORMER_CHECK(is_marian_shortlist(bytes) && bytes.size() >= header, ErrorCode::marian,
                   "the shortlist is truncated");
  const std::uint64_t checksum = number(1), offsets = number(4), ids = number(5);
  WASMFORMER_CHECK(offsets <= bytes.size() && ids <= bytes.size() && bytes.size() == header + 8 * offsets + 4 * ids,
                   ErrorCode::marian,
                   "the shortlist is truncated or damaged: its " << bytes.size() << " bytes do not fit its header");
  WASMFORMER_CHECK(checksum == 0 || checksum == checksum_of(bytes), ErrorCode::marian,
                   "the shortlist is damaged: its checksum is wrong");
  WASMFORMER_CHECK(offsets == static_cast<std::uint64_t>(sources) + 1, ErrorCode::marian,
                   "the shortlist is for a vocabulary of " << static_cast<std::int64_t>(offsets) - 1
                                                           << " pieces, but the model's has " << sources);
  Shortlist shortlist;
  shortlist.first = static_cast<Index>(std::min<std::uint64_t>(number(2), static_cast<std::uint64_t>(targets)));
  for (std::uint64_t i = 0; i < offsets; ++i)
    shortlist.offsets.push_back(static_cast<std::int32_t>(std::min<std::uint64_t>(number(6 + i), ids + 1)));
  shortlist.ids.resize(ids);
  if (ids > 0) std::memcpy(shortlist.ids.data(), bytes.data() + header + 8 * offsets, 4 * ids);
  shortlist.check(sources, targets);
  return shortlist;
}

std::string serialize_marian_shortlist(Shortlist shortlist, Index sources, Index targets) {
  std::vector<std::int32_t>& offsets = shortlist.offsets;
  offsets.resize(static_cast<std::size_t>(sources) + 1, offsets.back());
  shortlist.ids.resize(static_cast<std::size_t>(offsets.back()));
  shortlist.first = std::min(shortlist.first, targets);
  shortlist.check(sources, targets);
  std::int32_t longest = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) longest = std::max(longest, offsets[i] - offsets[i - 1]);
  std::string out;
  for (const std::uint64_t number : {shortlist_magic, std::uint64_t{0}, static_cast<std::uint64_t>(shortlist.first),
                                     static_cast<std::uint64_t>(longest), static_cast<std::uint64_t>(offsets.size()),
                                     static_cast<std::uint64_t>(shortlist.ids.size())})
    append(out, number);
  for (const std::int32_t offset : offsets) append(out, static_cast<std::uint64_t>(offset));
  for (const std::int32_t id : shortlist.ids) append(out, id);
  const std::uint64_t sum = checksum_of(out);
  std::memcpy(&out[8], &sum, sizeof sum);
  return out;
}

}  // namespace wasmformer
