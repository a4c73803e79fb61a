#include "exchange/containers/yaml.h"

#include <yaml.h>

#include "schema/error.h"

namespace wasmformer {
namespace {

// libyaml's events, one at a time.
class Events {
 public:
  Events(std::string_view text, const std::string& name) : name_(name) {
    if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Events() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  yaml_event_type_t next() {
    yaml_event_delete(&event_);
    if (!yaml_parser_parse(&parser_, &event_))
      fail(parser_.problem ? parser_.problem : "not enough memory", parser_.problem_mark);
    return event_.type;
  }
  [[noreturn]] void fail(const std::string& what) const { fail(what, event_.start_mark); }

  // The text of a scalar, which must have neither anchor nor tag.
  std::string scalar() const {
    const auto& s = event_.data.scalar;
    if (event_.type != YAML_SCALAR_EVENT || s.anchor || s.tag)
      fail("only keys with one value or a list of values are supported");
    return {reinterpret_cast<const char*>(s.value), s.length};
  }
  bool is_empty() const { return scalar().empty() && event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }

 private:
  [[noreturn]] void fail(const std::string& what, const yaml_mark_t& mark) const {
    throw Error(ErrorCode::yaml, "line " + std::to_string(mark.line + 1) + " of " + name_ + ": " + what);
  }

  const std::string& name_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

}  // namespace

Yaml parse_yaml(std::string_view text, const std::string& name) {
  Events events(text, name);
  Yaml yaml;
  events.next();                                            // the start of the stream
  if (events.next() == YAML_STREAM_END_EVENT) return yaml;  // else the start of a document
  if (events.next() != YAML_MAPPING_START_EVENT) events.fail("there is no key");
  while (events.next() != YAML_MAPPING_END_EVENT) {
    const auto [entry, is_new] = yaml.emplace(events.scalar(), std::vector<std::string>());
    if (!is_new) events.fail("the key '" + entry->first + "' occurs twice");
    if (events.next() != YAML_SEQUENCE_START_EVENT) {
      if (!events.is_empty()) entry->second.push_back(events.scalar());
    } else {
      while (events.next() != YAML_SEQUENCE_END_EVENT) entry->second.push_back(events.scalar());
    }
  }
  events.next();  // the end of the document
  if (events.next() != YAML_STREAM_END_EVENT) events.fail("there is a second document");
  return yaml;
}

}  // namespace wasmformer
