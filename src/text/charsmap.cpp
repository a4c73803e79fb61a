#include "text/charsmap.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace wasmformer {
namespace {

// The fields of a protocol buffer message, in order. https://protobuf.dev/programming-guides/encoding
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  // False at the end, and where the bytes are no message.
  bool next() {
    const auto tag = varint();
    if (!tag) return false;
    number = *tag >> 3;
    bytes = {};
    switch (*tag & 7) {
      case 0:
        return varint().has_value();
      case 1:
        return take(8);
      case 2: {
        const auto size = varint();
        return size && take(*size);
      }
      case 5:
        return take(4);
      default:
        return false;
    }
  }

  // Whether next() has ended where the message does.
  bool whole() const { return rest_.empty(); }

  std::uint64_t number = 0;
  std::string_view bytes;  // of a field of a given length

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 10 && i < rest_.size(); ++i) {
      value |= (rest_[i] & 0x7FULL) << (7 * i);
      if (!(rest_[i] & 0x80)) {
        rest_.remove_prefix(i + 1);
        return value;
      }
    }
    return std::nullopt;
  }

  bool take(std::uint64_t size) {
    if (size > rest_.size()) return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
};

// A unit of the double array (https://github.com/s-yata/darts-clone): from the node at `base` the byte b
// leads to the unit at base ^ b, if that has the label b; its own base is then base ^ b ^ offset.
struct Unit {
  std::uint32_t bits;
  bool has_leaf() const { return bits >> 8 & 1; }
  std::uint32_t value() const { return bits & 0x7FFFFFFF; }
  std::uint32_t label() const { return bits & 0x800000FF; }
  std::uint32_t offset() const { return bits >> 10 << ((bits & 1 << 9) >> 6); }
};

// charsmap: the size of the trie, the trie, and the replacements, each ended by a zero byte.
bool charsmap_is_sound(std::string_view charsmap) {
  constexpr int max_matches = 32;  // for so many prefixes of a text SentencePiece has room
  std::uint32_t trie_bytes = 0;
  if (charsmap.size() < sizeof trie_bytes) return false;
  std::memcpy(&trie_bytes, charsmap.data(), sizeof trie_bytes);
  charsmap.remove_prefix(sizeof trie_bytes);
  if (trie_bytes > charsmap.size() || trie_bytes < sizeof(Unit)) return false;
  std::vector<Unit> units(trie_bytes / sizeof(Unit));
  std::memcpy(units.data(), charsmap.data(), units.size() * sizeof(Unit));
  const std::string_view replacements = charsmap.substr(trie_bytes);
  if (replacements.empty() || replacements.back() != '\0') return false;

  // Nodes still to be visited, and the most matches on a way to each node; more matches mean another visit,
  // so that a loop with a match in it ends here.
  std::vector<int> matches(units.size(), -1);
  std::vector<std::uint32_t> nodes;
  const auto visit = [&](std::uint32_t base, int count) {
    // Any byte of a text may be looked up: base ^ 0 to base ^ 255 are the 256 units around it.
    if ((base | 0xFF) >= units.size() || count > max_matches) return false;
    if (count > matches[base]) {
      matches[base] = count;
      nodes.push_back(base);
    }
    return true;
  };
  if (!visit(units[0].offset(), 0)) return false;
  while (!nodes.empty()) {
    const std::uint32_t base = nodes.back();
    nodes.pop_back();
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const Unit unit = units[base ^ byte];
      if (unit.label() != byte) continue;
      const std::uint32_t child = base ^ byte ^ unit.offset();
      if (!visit(child, matches[base] + unit.has_leaf())) return false;
      if (unit.has_leaf() && units[child].value() >= replacements.size()) return false;
    }
  }
  return true;
}

}  // namespace

bool rules_are_sound(std::string_view model) {
  constexpr std::uint64_t normalizer_spec = 3, denormalizer_spec = 5, precompiled_charsmap = 2;
  Fields fields(model);
  while (fields.next()) {
    if (fields.number != normalizer_spec && fields.number != denormalizer_spec) continue;
    Fields spec(fields.bytes);
    while (spec.next()) {
      if (spec.number == precompiled_charsmap && !spec.bytes.empty() && !charsmap_is_sound(spec.bytes))
        return false;
    }
    if (!spec.whole()) return false;
  }
  return fields.whole();
}

}  // namespace wasmformer
