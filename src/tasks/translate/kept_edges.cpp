#include "tasks/translate/kept_edges.h"

#include <algorithm>

#include "text/keep/characters.h"
#include "text/keep/numbers.h"
#include "text/unicode/unicode.h"

namespace wasmformer {
namespace {

using Text = std::u32string_view;

// Returns whether the mark has a partner that closes or opens what it does not.
bool is_partner(Text one, Text other) {
  if (contains(U"*_~=", one[0])) return one == other;
  if (one[0] == U'[') return other[0] == U']';
  if (one[0] == U']') return other[0] == U'[';
  const bool are_tags = one[0] == U'<' && other[0] == U'<' && one.size() > 2 && other.size() > 2;
  if (!are_tags) return false;
  const auto name = [](Text tag) {
    const std::size_t begin = tag[1] == U'/' ? 2 : 1;
    return tag.substr(begin, skip(tag, begin, is_ascii_alphanumeric) - begin);
  };
  return (one[1] == U'/') != (other[1] == U'/') && name(one) == name(other);
}

// Returns whether it is an emoji by its name, such as :smile:.
bool is_emoji_name(Text text) { return text.size() > 2 && text.front() == U':' && text.back() == U':'; }

bool is_capital(char32_t c) { return lower_case(c) != c; }

// Takes kept spans, brackets and quotes off both ends of a text.
class EdgeCutter {
 public:
  EdgeCutter(KeptText& kept, const std::vector<KeptSpan>& spans, const KeepNames& names, const LanguagePair& languages)
      : kept_(kept),
        text_(kept.source),
        spans_(spans),
        languages_(languages),
        maps_signs_(contains(names, KeepName::typography)),
        end_(text_.size()),
        last_span_(spans.size()) {}

  void cut() {
    bool goes_on = true;
    while (goes_on && begin_ < end_) {
      cut_space();
      goes_on = cut_first_span() || cut_last_span() || cut_enclosing() || cut_ellipsis();
    }
    std::ranges::reverse(kept_.tail);
  }

  Middle middle() const {
    Middle middle{.begin = begin_, .end = end_, .spans = {}};
    for (std::size_t i = first_span_; i < last_span_; ++i)
      middle.spans.push_back({.span = spans_[i], .text = written(spans_[i])});
    return middle;
  }

 private:
  std::u32string written(const KeptSpan& span) const {
    if (span.kind == KeepName::number)
      return in_target_format(text_, span.begin, span.end, languages_.source, languages_.target);
    return std::u32string(text_.substr(span.begin, span.end - span.begin));
  }

  Text of(const KeptSpan& span) const { return text_.substr(span.begin, span.end - span.begin); }

  void add_lead(std::size_t end, std::u32string written, std::optional<KeptSpan> span = {}) {
    kept_.lead.push_back({std::move(written), span});
    begin_ = end;
  }
  void add_tail(std::size_t begin, std::u32string written, std::optional<KeptSpan> span = {}) {
    kept_.tail.push_back({std::move(written), span});
    end_ = begin;
  }

  void cut_space() {
    const std::size_t begin = skip(text_, begin_, is_space);
    if (begin >= end_) return;
    if (begin > begin_) add_lead(begin, std::u32string(text_.substr(begin_, begin - begin_)));
    std::size_t end = end_;
    while (end > begin && is_space(text_[end - 1])) --end;
    if (end < end_) add_tail(end, std::u32string(text_.substr(end, end_ - end)));
  }

  // Returns whether the partner of a mark stays inside.
  bool is_torn(std::size_t span, std::size_t other_edge) const {
    if (spans_[span].kind != KeepName::markup) return false;
    for (std::size_t i = first_span_; i < last_span_; ++i) {
      if (i == span || spans_[i].kind != KeepName::markup) continue;
      if (is_partner(of(spans_[span]), of(spans_[i]))) return i != other_edge;
    }
    return false;
  }

  bool is_sign(const KeptSpan& span) const { return span.is_sign() || is_emoji_name(of(span)); }

  // Returns whether a name such as @ana is followed by a space and a capital letter, and so stands before a sentence.
  bool is_address(const KeptSpan& span) const {
    const std::size_t next = skip(text_, span.end, is_space);
    return span.kind == KeepName::handle && next > span.end && next < end_ && is_capital(text_[next]);
  }

  bool cut_first_span() {
    if (first_span_ == last_span_ || spans_[first_span_].begin != begin_) return false;
    const KeptSpan& span = spans_[first_span_];
    // Other names are in the sentence unless a colon or the end follows.
    const bool is_apart = span.end == end_ || contains(U":：", at(text_, span.end)) || is_address(span);
    if (!is_sign(span) && !is_apart) return false;
    const bool has_last = spans_[last_span_ - 1].end == end_;
    if (is_torn(first_span_, has_last ? last_span_ - 1 : last_span_)) return false;
    add_lead(span.end, written(span), span);
    ++first_span_;
    const bool has_colon = begin_ < end_ && contains(U":：", text_[begin_]);
    if (has_colon && !is_sign(span)) add_lead(begin_ + 1, {text_[begin_]});
    return true;
  }

  bool cut_last_span() {
    if (first_span_ == last_span_ || spans_[last_span_ - 1].end != end_) return false;
    const KeptSpan& span = spans_[last_span_ - 1];
    std::size_t previous = span.begin;
    while (previous > begin_ && is_space(text_[previous - 1])) --previous;
    const bool is_apart = contains(U".!?:。！？：", before(text_, previous));
    if (!is_sign(span) && !is_apart) return false;
    const bool has_first = spans_[first_span_].begin == begin_;
    if (is_torn(last_span_ - 1, has_first ? first_span_ : last_span_)) return false;
    add_tail(span.begin, written(span), span);
    --last_span_;
    return true;
  }

  std::size_t count_inside(std::size_t begin, std::size_t end, Closing signs) const {
    const Text inside = text_.substr(begin, end - begin);
    return static_cast<std::size_t>(std::ranges::count_if(inside, [&](char32_t c) { return signs.closes(c); }));
  }

  // Quotes or brackets around the whole sentence, or only one of them where its partner is in another sentence.
  bool cut_enclosing() {
    if (!maps_signs_) return false;
    const char32_t open = text_[begin_];
    const Closing closing = closing_of(open);
    std::size_t last = end_;
    while (last > begin_ + 1 && contains(sentence_punctuation, text_[last - 1])) --last;
    const bool is_free = !begins_span(begin_) && !ends_span(last);
    const bool is_enclosed = closing.closes(text_[last - 1]) && last > begin_ + 2;
    if (is_free && is_enclosed && (encloses_all(open, closing, last) || is_doubled(open, closing, last))) {
      const std::u32string punctuation(text_.substr(last, end_ - last));
      add_tail(last - 1, enclosing_sign(text_[last - 1], /*opens=*/false, languages_.target) + punctuation,
               KeptSpan{.begin = last - 1, .end = end_, .kind = KeepName::markup});
      add_lead(begin_ + 1, enclosing_sign(open, /*opens=*/true, languages_.target),
               KeptSpan{.begin = begin_, .end = begin_ + 1, .kind = KeepName::markup});
      return true;
    }
    return cut_lonely_open() || cut_lonely_close();
  }

  // Neither sign stands inside.
  bool encloses_all(char32_t open, Closing closing, std::size_t last) const {
    return count_inside(begin_ + 1, last - 1, closing) + count_inside(begin_ + 1, last - 1, {open}) == 0;
  }

  // The same signs follow at once, as in <<…>>.
  bool is_doubled(char32_t open, Closing closing, std::size_t last) const {
    return text_[begin_ + 1] == open && closing.closes(text_[last - 2]) && last > begin_ + 4;
  }

  bool begins_span(std::size_t i) const { return first_span_ < last_span_ && spans_[first_span_].begin == i; }
  bool ends_span(std::size_t i) const { return first_span_ < last_span_ && spans_[last_span_ - 1].end == i; }

  bool cut_lonely_open() {
    const char32_t open = text_[begin_];
    const Closing closing = closing_of(open);
    const bool is_lonely = opens_sentence(open) && open != U'\'' && open != U'’' && !begins_span(begin_) &&
                           count_inside(begin_ + 1, end_, closing) == 0 && count_inside(begin_ + 1, end_, {open}) == 0;
    if (!is_lonely || begin_ + 1 == end_) return false;
    add_lead(begin_ + 1, enclosing_sign(open, /*opens=*/true, languages_.target),
             KeptSpan{.begin = begin_, .end = begin_ + 1, .kind = KeepName::markup});
    return true;
  }

  bool cut_lonely_close() {
    const char32_t close = text_[end_ - 1];
    if (!closes_sentence(close) || close == U'\'' || close == U'’' || ends_span(end_)) return false;
    const Text inside = text_.substr(begin_, end_ - 1 - begin_);
    const bool is_opened =
        std::ranges::any_of(inside, [close](char32_t c) { return c == close || closing_of(c).closes(close); });
    if (is_opened || begin_ + 1 == end_) return false;
    add_tail(end_ - 1, enclosing_sign(close, /*opens=*/false, languages_.target),
             KeptSpan{.begin = end_ - 1, .end = end_, .kind = KeepName::markup});
    return true;
  }

  bool cut_ellipsis() {
    if (!maps_signs_ || text_[end_ - 1] != U'…' || begin_ + 1 == end_) return false;
    add_tail(end_ - 1, U"…", KeptSpan{.begin = end_ - 1, .end = end_, .kind = KeepName::markup});
    return true;
  }

  KeptText& kept_;
  const Text text_;
  const std::vector<KeptSpan>& spans_;
  const LanguagePair& languages_;
  const bool maps_signs_;
  std::size_t begin_ = 0, end_;
  std::size_t first_span_ = 0, last_span_;  // those between the edges
};

}  // namespace

LanguagePair languages_of(const ModelFile& model) {
  const auto entry = model.metadata.find("languages");
  if (entry == model.metadata.end()) return {};
  const std::size_t hyphen = entry->second.find('-');
  if (hyphen == std::string::npos) return {};
  return {entry->second.substr(0, hyphen), entry->second.substr(hyphen + 1)};
}

Middle cut_edges(KeptText& kept, const std::vector<KeptSpan>& spans, const KeepNames& names,
                 const LanguagePair& languages) {
  EdgeCutter cutter(kept, spans, names, languages);
  cutter.cut();
  return cutter.middle();
}

}  // namespace wasmformer
