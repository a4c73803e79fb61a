// How --help looks: lines of at most 80 columns, options under headings, examples that can be copied, notes.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace wasmformer {

// To be called before commands are added, which inherit it.
void set_help_layout(CLI::App& app);

// A heading, and the long names of the options below it: "--input".
struct HelpGroup {
  std::string heading;
  std::vector<std::string> flags;
};
// Shows the options of the command under these headings. All others follow, under "Options".
void group_options(CLI::App& command, const std::vector<HelpGroup>& groups);

// Text that --help prints after the options: lines to copy, and notes.
void add_examples(CLI::App& command, const std::vector<std::string>& lines, const std::string& notes = "");

// A row of a table: a name, and beside it its text, wrapped. Ends with a line feed.
std::string help_row(const std::string& name, const std::string& text);
// Breaks lines that are too long between words. Ends with a line feed.
std::string wrapped(const std::string& text);

}  // namespace wasmformer
