#include "text/normalizer.h"

#include <sentencepiece_model.pb.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace wasmformer {
namespace {

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
  constexpr int max_matches = 32;  // SentencePiece has room for so many prefixes of a text
  std::uint32_t trie_bytes = 0;
  if (charsmap.size() < sizeof trie_bytes) return false;
  std::memcpy(&trie_bytes, charsmap.data(), sizeof trie_bytes);
  charsmap.remove_prefix(sizeof trie_bytes);
  if (trie_bytes > charsmap.size() || trie_bytes < sizeof(Unit)) return false;
  std::vector<Unit> units(trie_bytes / sizeof(Unit));
  std::memcpy(units.data(), charsmap.data(), units.size() * sizeof(Unit));
  const std::string_view replacements = charsmap.substr(trie_bytes);
  if (replacements.empty() || replacements.back() != '\0') return false;

  // For each node the most matches on a way from it to a leaf. A walk in depth, which visits each node once:
  // a trie has no loops.
  enum : std::int8_t { unseen = -2, open = -1 };
  std::vector<std::int8_t> matches(units.size(), unseen);
  struct Step {
    std::uint32_t base, byte;
    int most;
  };
  std::vector<Step> way;
  const auto enter = [&](std::uint32_t base) {
    // Any byte of a text may be looked up: base ^ 0 to base ^ 255 are the 256 units around it.
    if ((base | 0xFF) >= units.size() || matches[base] == open) return false;
    if (matches[base] == unseen) matches[base] = open, way.push_back({base, 0, 0});
    return true;
  };
  if (!enter(units[0].offset())) return false;
  while (!way.empty()) {
    auto [base, byte, most] = way.back();
    while (byte <= 0xFF && units[base ^ byte].label() != byte) ++byte;  // most bytes lead nowhere
    way.back().byte = byte;
    if (byte > 0xFF) {
      matches[base] = static_cast<std::int8_t>(most);
      way.pop_back();
      continue;
    }
    const Unit unit = units[base ^ byte];
    const std::uint32_t child = base ^ byte ^ unit.offset();
    // An unused unit of zeros leads from its node to itself, which matches nothing.
    if (child != base || unit.has_leaf()) {
      if (!enter(child)) return false;
      if (matches[child] == open) continue;  // comes back here after the child
      if (unit.has_leaf() && units[child].value() >= replacements.size()) return false;
      way.back().most = std::max(most, matches[child] + unit.has_leaf());
      if (way.back().most > max_matches) return false;
    }
    ++way.back().byte;
  }
  return true;
}

}  // namespace

bool rules_are_sound(const sentencepiece::ModelProto& model) {
  for (const auto* spec : {&model.normalizer_spec(), &model.denormalizer_spec()}) {
    const std::string& charsmap = spec->precompiled_charsmap();
    if (!charsmap.empty() && !charsmap_is_sound(charsmap)) return false;
  }
  return true;
}

}  // namespace wasmformer
