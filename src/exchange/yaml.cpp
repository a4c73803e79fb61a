#include "exchange/yaml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "tensor/check.h"
#include "text/utf8.h"

namespace wasmformer {
namespace {

void add_utf8(std::string& text, std::uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xF00 >> (more + 1) & 0xFF) | c >> (6 * more));
  for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
}

class Line {
 public:
  Line(std::string_view text, std::size_t number, const std::string& name)
      : text_(text), number_(number), name_(name) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("[yaml] line " + std::to_string(number_) + " of " + name_ + " " + what);
  }

  bool at_end() {
    skip_spaces();
    return text_.empty() || text_[0] == '#';
  }
  bool take(char c) {
    skip_spaces();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  // Up to one of `ends` outside of quotes, or the end; `ends` of more than ":" are those of a list in
  // brackets.
  std::string scalar(std::string_view ends) {
    skip_spaces();
    if (text_.starts_with('"')) return double_quoted();
    if (text_.starts_with('\'')) return single_quoted();
    if (!text_.empty() && std::string_view("{}|>&*!%@`?").find(text_[0]) != std::string_view::npos &&
        (text_.size() == 1 || text_[0] != '?' || text_[1] == ' '))
      fail("has YAML that Marian does not write: " + std::string(text_.substr(0, 40)));
    std::size_t end = 0;
    while (end < text_.size() && !ends_at(end, ends)) ++end;
    std::string_view value = text_.substr(0, end);
    text_.remove_prefix(end);
    while (value.ends_with(' ')) value.remove_suffix(1);
    return std::string(value);
  }

  // After the opening bracket.
  std::vector<std::string> flow_list() {
    std::vector<std::string> items;
    while (!take(']')) {
      if (at_end()) fail("has a list without an end");
      items.push_back(scalar(",]"));
      skip_spaces();
      if (!take(',') && !text_.starts_with(']')) fail("has a list without an end");
    }
    return items;
  }

 private:
  void skip_spaces() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size())); }

  bool ends_at(std::size_t i, std::string_view ends) const {
    if (text_[i] == '#') return i > 0 && text_[i - 1] == ' ';
    if (ends.find(text_[i]) == std::string_view::npos) return false;
    return text_[i] != ':' || i + 1 == text_.size() || text_[i + 1] == ' ';
  }

  std::string single_quoted() {
    std::string value;
    for (std::size_t i = 1; i < text_.size(); ++i) {
      if (text_[i] != '\'') {
        value += text_[i];
      } else if (i + 1 < text_.size() && text_[i + 1] == '\'') {
        value += text_[++i];
      } else {
        text_.remove_prefix(i + 1);
        return value;
      }
    }
    fail("has a quote without an end");
  }

  std::string double_quoted() {
    std::string value;
    for (std::size_t i = 1; i < text_.size(); ++i) {
      if (text_[i] == '"') {
        text_.remove_prefix(i + 1);
        return value;
      }
      if (text_[i] != '\\') {
        value += text_[i];
        continue;
      }
      const char kind = ++i < text_.size() ? text_[i] : '\0';
      constexpr std::string_view plain = "\"\\/ 0abtnvfre";
      constexpr std::string_view meant("\"\\/ \0\a\b\t\n\v\f\r\x1B", 13);
      if (const std::size_t at = plain.find(kind); kind != '\0' && at != std::string_view::npos) {
        value += meant[at];
        continue;
      }
      const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
      std::uint32_t code = 0;
      const std::string_view hex = text_.substr(std::min(i + 1, text_.size()), digits);
      const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
      if (digits == 0 || hex.size() < digits || read.ptr != hex.data() + hex.size() || code > 0x10FFFF)
        fail("has an escape in quotes that is none: \\" + std::string(1, kind));
      add_utf8(value, code);
      i += digits;
    }
    fail("has a quote without an end");
  }

  std::string_view text_;
  std::size_t number_;
  const std::string& name_;
};

}  // namespace

Yaml parse_yaml(std::string_view text, const std::string& name) {
  WASMFORMER_CHECK(is_utf8(text), "[yaml] " << name << " is not UTF-8");
  Yaml yaml;
  std::vector<std::string>* open = nullptr;  // of the last key, where nothing followed it
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    if (content.ends_with('\r')) content.remove_suffix(1);
    const bool indented = content.starts_with(' ');
    Line line(content, ++number, name);
    if (line.at_end() || content == "---" || content == "...") continue;
    const std::string_view start = content.substr(content.find_first_not_of(' '));
    if (start == "-" || start.starts_with("- ")) {
      if (!open) line.fail("is of a list without a key");
      line.take('-');
      open->push_back(line.scalar(":"));
    } else if (indented) {
      if (!open || !open->empty() || !line.take('[')) line.fail("is indented, which only lists are");
      *open = line.flow_list();
    } else {
      const auto [entry, is_new] = yaml.emplace(line.scalar(":"), std::vector<std::string>());
      if (!is_new) line.fail("has the key '" + entry->first + "' again");
      if (!line.take(':')) line.fail("has no key");
      open = line.at_end() ? &entry->second : nullptr;
      if (!open && line.take('['))
        entry->second = line.flow_list();
      else if (!open)
        entry->second.push_back(line.scalar(""));
    }
    if (!line.at_end()) line.fail("goes on after its value");
  }
  return yaml;
}

}  // namespace wasmformer
