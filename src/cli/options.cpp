#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace wasmformer {
namespace {

std::string flag(const Option& option) {
  if (option.flag) return option.flag;
  std::string name = option.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

using Set = std::function<void(const std::string& text)>;

void add_option(CLI::App& command, const Field& field, const Set& set) {
  const std::string name = flag(field.option);
  if (name.empty()) return;
  command.add_option_function<std::string>("--" + name, set, summary(field))->type_name("");
}

}  // namespace

void add_options(CLI::App& command, const Fields& fields, const std::string& place) {
  for (const Field& field : fields) {
    const auto* optional = std::get_if<field_views::Optional>(&field.value);
    if (!optional) {
      add_option(command, field, [fields, field, place](const std::string& text) {
        set_field(fields, field.option.name, text, place);
      });
      continue;
    }
    // A flag of an optional group sets the group.
    const auto inner = [](const Value& value) { return std::get<field_views::Group>(value).fields(); };
    for (const Field& part : inner(optional->make()))
      add_option(command, part, [optional = *optional, inner, part, place](const std::string& text) {
        set_field(inner(optional.has() ? optional.value() : optional.make()), part.option.name, text, place);
      });
    optional->reset();
  }
}

std::string key_list(const Fields& fields) {
  std::size_t width = 0;
  for (const Field& field : fields) width = std::max(width, std::string(field.option.name).size());
  std::string lines;
  for (const Field& field : fields) {
    const std::string name = field.option.name;
    lines += "  " + name + std::string(width + 2 - name.size(), ' ') + summary(field) + "\n";
  }
  return lines;
}

}  // namespace wasmformer
