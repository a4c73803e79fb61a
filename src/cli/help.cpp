#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

constexpr std::size_t line_width = 80, text_column = 26;
const std::string last_heading = "Options";

std::size_t width_of(const std::string& text) { return decode_utf8(text).size(); }

// Appends the words of a text at `column`; lines that are full go on below `column`.
void append_words(std::string& lines, std::size_t column, const std::string& text) {
  std::istringstream words(text);
  std::size_t width = column;
  for (std::string word; words >> word; width += width_of(word)) {
    const bool begins_line = width == column;
    const bool fits = width + 1 + width_of(word) <= line_width;
    if (!begins_line && !fits) {
      lines += "\n" + std::string(column, ' ');
      width = column;
    } else if (!begins_line) {
      lines += " ";
      ++width;
    }
    lines += word;
  }
}

// The names of the types that CLI11 gives, as they stand for a value.
std::string value_name(const CLI::Option& option) {
  const bool is_flag = option.get_items_expected_max() == 0;
  if (is_flag) return "";
  const std::string type = option.get_type_name();
  std::string name = type.substr(0, type.find(':'));  // without the values that are allowed
  if (name == "INT" || name == "UINT") name = "N";
  if (name == "FLOAT" || name == "POSITIVE") name = "X";
  const bool is_list = option.get_items_expected_max() > 1;
  return (name.empty() ? "" : " " + name) + (is_list ? "..." : "");
}

std::string names_of(const CLI::Option& option) {
  std::string names;
  const auto add = [&names](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  return names;
}

std::string text_of(const CLI::Option& option) {
  const std::string start = option.get_default_str();
  return option.get_description() + (option.get_required() ? " (required)" : "") +
         (start.empty() ? "" : " (default " + start + ")");
}

class HelpLayout : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string name = is_positional ? option->get_name(true, false) : names_of(*option) + value_name(*option);
    return help_row(name, text_of(*option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return help_row(command->get_name(), command->get_description());
  }

  std::string make_description(const CLI::App* app) const override { return wrapped(app->get_description()); }

  std::string make_footer(const CLI::App* app) const override { return app->get_footer(); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, name) + make_positionals(app) + groups_of(*app) +
           make_subcommands(app, mode) + "\n" + make_footer(app);
  }

 private:
  // The options of all commands, among them --help, come last.
  std::string groups_of(const CLI::App& app) const {
    std::vector<std::string> headings = app.get_groups();
    std::stable_partition(headings.begin(), headings.end(),
                          [](const std::string& heading) { return heading != last_heading; });
    std::string text;
    for (const std::string& heading : headings) {
      const auto options = app.get_options(
          [&heading](const CLI::Option* option) { return option->get_group() == heading && option->nonpositional(); });
      if (!heading.empty() && !options.empty()) text += make_group(heading, /*is_positional=*/false, options);
    }
    return text;
  }
};

}  // namespace

void set_help_layout(CLI::App& app) { app.formatter(std::make_shared<HelpLayout>()); }

void group_options(CLI::App& command, const std::vector<HelpGroup>& groups) {
  for (const auto& [heading, flags] : groups)
    for (const std::string& flag : flags) command.get_option(flag)->group(heading);
}

void add_examples(CLI::App& command, const std::vector<std::string>& lines, const std::string& notes) {
  std::string text = "Examples:\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  if (!notes.empty()) text += "\n" + wrapped(notes);
  command.footer(text);
}

std::string help_row(const std::string& name, const std::string& text) {
  std::string lines = "  " + name;
  const std::size_t width = width_of(lines);
  lines += width + 2 <= text_column ? std::string(text_column - width, ' ') : "\n" + std::string(text_column, ' ');
  append_words(lines, text_column, text);
  return lines + "\n";
}

std::string wrapped(const std::string& text) {
  std::string lines;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph); lines += "\n") {
    const bool fits = width_of(paragraph) <= line_width;
    if (fits)
      lines += paragraph;
    else
      append_words(lines, 0, paragraph);
  }
  return lines;
}

}  // namespace wasmformer
