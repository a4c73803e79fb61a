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

// A walk in depth over the nodes of a trie, which finds for each the most matches on a way from it to a leaf. It visits
// each node once: a trie has no loops.
class TrieWalk {
 public:
  TrieWalk(const std::vector<Unit>& units, std::size_t replacement_bytes)
      : units_(units), replacement_bytes_(replacement_bytes), matches_(units.size(), unseen) {}

  // Returns whether all reachable units lie in the trie, without loops, and no text has too many matches.
  bool is_sound() {
    if (!enter(units_[0].offset())) return false;
    while (!way_.empty()) {
      if (!step()) return false;
    }
    return true;
  }

 private:
  static constexpr int max_matches = 32;  // SentencePiece has room for so many prefixes of a text
  enum : std::int8_t { unseen = -2, open = -1 };
  struct Step {
    std::uint32_t base, byte;
    int max_after;  // the most matches behind the bytes so far
  };

  bool enter(std::uint32_t base) {
    // Any byte of a text may be looked up: base ^ 0 to base ^ 255 are the 256 units around it.
    if ((base | 0xFF) >= units_.size() || matches_[base] == open) return false;
    if (matches_[base] == unseen) {
      matches_[base] = open;
      way_.push_back({base, 0, 0});
    }
    return true;
  }

  // Continues with the next byte that leads anywhere from the last node of the way; most lead nowhere.
  bool step() {
    Step& last = way_.back();
    while (last.byte <= 0xFF && units_[last.base ^ last.byte].label() != last.byte) ++last.byte;
    if (last.byte <= 0xFF) return follow(last);
    matches_[last.base] = static_cast<std::int8_t>(last.max_after);
    way_.pop_back();
    return true;
  }

  bool follow(Step step) {
    const std::size_t place = way_.size() - 1;
    const Unit unit = units_[step.base ^ step.byte];
    const std::uint32_t child = step.base ^ step.byte ^ unit.offset();
    // An unused unit of zeros leads from its node to itself, which matches nothing.
    const bool is_used = child != step.base || unit.has_leaf();
    if (is_used) {
      if (!enter(child)) return false;
      if (matches_[child] == open) return true;  // comes back here after the child
      if (unit.has_leaf() && units_[child].value() >= replacement_bytes_) return false;
      const int matches = matches_[child] + (unit.has_leaf() ? 1 : 0);
      way_[place].max_after = std::max(step.max_after, matches);
    }
    ++way_[place].byte;
    return way_[place].max_after <= max_matches;
  }

  const std::vector<Unit>& units_;
  std::size_t replacement_bytes_;
  std::vector<std::int8_t> matches_;  // by node
  std::vector<Step> way_;
};

// charsmap: the size of the trie, the trie, and the replacements, each ended by a zero byte.
bool charsmap_is_sound(std::string_view charsmap) {
  std::uint32_t trie_bytes = 0;
  if (charsmap.size() < sizeof trie_bytes) return false;
  std::memcpy(&trie_bytes, charsmap.data(), sizeof trie_bytes);
  charsmap.remove_prefix(sizeof trie_bytes);
  if (trie_bytes > charsmap.size() || trie_bytes < sizeof(Unit)) return false;
  std::vector<Unit> units(trie_bytes / sizeof(Unit));
  std::memcpy(units.data(), charsmap.data(), units.size() * sizeof(Unit));
  const std::string_view replacements = charsmap.substr(trie_bytes);
  if (replacements.empty() || replacements.back() != '\0') return false;
  return TrieWalk(units, replacements.size()).is_sound();
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
