#include "tasks/translate/spelling.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace wasmformer {
namespace {

constexpr int bits_per_byte = 8, bits_per_continuation = 6;
constexpr int first_continuation = 0x80, last_continuation = 0xBF;

bool is_continuation(int byte) { return byte >= first_continuation && byte <= last_continuation; }

// The bytes of a character that begins with this one, by table 3-7 of the Unicode Standard; 0: none does.
Index character_length(int first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;  // continuations, and overlong forms
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first <= 0xF4 ? 4 : 0;
}

// Characters whose UTF-8 begins with the bytes of a state. No range has surrogates or what is above U+10FFFF, as no
// CharacterSet has them.
struct Beginning {
  char32_t first = 0, last = 0;
  Index missing = 0;  // bytes
};

std::optional<Beginning> beginning(Spelling::State state) {
  int size = 1;
  while (size < 4 && (state >> (bits_per_byte * size)) != 0) ++size;
  const auto byte = [&](int i) { return static_cast<int>(state >> (bits_per_byte * (size - 1 - i)) & 0xFF); };
  const Index length = character_length(byte(0));
  if (length < size) return {};
  char32_t code = static_cast<char32_t>(byte(0)) & (length == 1 ? 0x7Fu : 0x7Fu >> length);
  for (int i = 1; i < size; ++i) {
    if (!is_continuation(byte(i))) return {};
    code = code << bits_per_continuation | (static_cast<char32_t>(byte(i)) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // shorter forms have the characters below
  const Index missing = length - size;
  const int open_bits = bits_per_continuation * static_cast<int>(missing);
  const char32_t first = code << open_bits, last = first | ((char32_t{1} << open_bits) - 1);
  if (last < least[length]) return {};
  return Beginning{std::max(first, least[length]), last, missing};
}

Spelling::State with_byte(Spelling::State state, int byte) {
  return state << bits_per_byte | static_cast<Spelling::State>(byte);
}

}  // namespace

Spelling::Spelling(const BytePieces& pieces, CharacterSet characters, const std::vector<TokenId>& scored)
    : pieces_(&pieces), characters_(std::move(characters)) {
  for (std::size_t byte = 0; byte < columns_.size(); ++byte) {
    TokenId& column = columns_[byte];
    column = pieces.piece(static_cast<std::uint8_t>(byte));
    if (scored.empty() || column == BytePieces::none) continue;
    const auto at = std::lower_bound(scored.begin(), scored.end(), column);
    const bool is_scored = at != scored.end() && *at == column;
    column = is_scored ? static_cast<TokenId>(at - scored.begin()) : BytePieces::none;
  }
}

Spelling::State Spelling::after(State state, TokenId id) const {
  const int byte = pieces_->byte(id);
  if (byte == BytePieces::none) return between;
  std::optional<Beginning> spelled = beginning(with_byte(state, byte));
  if (spelled) return spelled->missing > 0 ? with_byte(state, byte) : between;
  spelled = beginning(static_cast<State>(byte));
  return spelled && spelled->missing > 0 ? static_cast<State>(byte) : between;
}

Index Spelling::missing(State state) {
  const std::optional<Beginning> begun = beginning(state);
  return state != between && begun ? begun->missing : 0;
}

bool Spelling::complete(State state) {
  if (can_be_completed(state)) return true;
  if (const std::optional<Beginning> begun = beginning(state)) characters_.add(begun->first, begun->last);
  return can_be_completed(state);
}

bool Spelling::can_be_completed(State state) const {
  const std::optional<Beginning> begun = beginning(state);
  if (!begun || !characters_.meets(begun->first, begun->last)) return false;
  if (begun->missing == 0) return true;
  for (int byte = first_continuation; byte <= last_continuation; ++byte) {
    const bool is_scored = columns_[static_cast<std::size_t>(byte)] != BytePieces::none;
    if (is_scored && can_be_completed(with_byte(state, byte))) return true;
  }
  return false;
}

bool Spelling::allows_byte(State state, int byte, Index room) const {
  const State longer = with_byte(state, byte);
  const std::optional<Beginning> begun = beginning(longer);
  return begun && begun->missing < room && can_be_completed(longer);
}

bool Spelling::allows(State state, std::span<const TokenScore> tokens, Index room) const {
  return std::all_of(tokens.begin(), tokens.end(), [&](const TokenScore& token) {
    const int byte = pieces_->byte(token.id);
    return byte == BytePieces::none ? state == between : allows_byte(state, byte, room);
  });
}

void Spelling::forbid(Eigen::Ref<RowVector> row, State state, Index room) const {
  std::array<Scalar, 256> allowed;
  constexpr Scalar never = -std::numeric_limits<Scalar>::infinity();
  for (std::size_t byte = 0; byte < allowed.size(); ++byte) {
    allowed[byte] = never;
    if (columns_[byte] == BytePieces::none) continue;
    Scalar& score = row(columns_[byte]);
    if (allows_byte(state, static_cast<int>(byte), room)) allowed[byte] = score;
    score = never;
  }
  if (state != between) row.setConstant(never);
  for (std::size_t byte = 0; byte < allowed.size(); ++byte)
    if (columns_[byte] != BytePieces::none) row(columns_[byte]) = allowed[byte];
}

}  // namespace wasmformer
