#include "cli/config_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/files.h"
#include "model/config.h"
#include "schema/error.h"
#include "schema/json.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;
using WordList = std::vector<std::string>;

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }
bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }
bool takes_pairs(const CLI::Option& option) { return option.get_type_name() == key_value_type; }

// One option in the file, and where it stands, for errors.
struct Entry {
  const std::string& file;
  const std::string& command;
  const std::string& name;
  const Json& value;
};

[[noreturn]] void refuse(const Entry& e, const std::string& expected) {
  throw Error(ErrorCode::option_value, e.file + ": " + e.name + " must be " + expected + ", not " + e.value.dump(),
              {{"place", e.command}, {"option", e.name}});
}

// A value as it is written in a command line.
std::string word_of(const Entry& e, const Json& value) {
  const bool is_word = value.is_string() || value.is_number() || value.is_boolean();
  if (!is_word) refuse(e, "true or false, a number, a text, or a list of texts");
  return value.is_string() ? value.get<std::string>() : value.dump();
}

WordList values_of(const Entry& e, const CLI::Option& option) {
  WordList values;
  if (e.value.is_boolean() != is_flag(option)) refuse(e, is_flag(option) ? "true or false" : "a value, not a switch");
  if (e.value.is_object()) {
    if (!takes_pairs(option)) refuse(e, "a number, a text, or a list of texts");
    for (const auto& [key, value] : e.value.items()) values.push_back(key + "=" + word_of(e, value));
  } else if (e.value.is_array()) {
    if (!is_list(option)) refuse(e, "a single number or text");
    for (const Json& item : e.value) values.push_back(word_of(e, item));
  } else {
    values.push_back(word_of(e, e.value));
  }
  return values;
}

// The command that the words begin with; null for another word.
const CLI::App* command_of(const CLI::App& app, const WordList& words) {
  const auto is_named = [&](const CLI::App* command) { return !words.empty() && command->get_name() == words.front(); };
  const auto found = app.get_subcommands(is_named);
  return found.empty() ? nullptr : found.front();
}

// The value of --config in the words; "" without it.
std::string config_file(const WordList& words) {
  const std::string flag = "--config";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(flag + "=")) return words[i].substr(flag.size() + 1);
    if (words[i] == flag && i + 1 < words.size()) return words[i + 1];
  }
  return "";
}

// Guesses what was meant by a --config that is no file.
std::string meant_by(const std::string& word) {
  if (word.find('=') != std::string::npos) return "; --set " + word + " changes one setting";
  const WordList presets = preset_names();
  const bool is_preset = std::find(presets.begin(), presets.end(), word) != presets.end();
  return is_preset ? "; the preset is --preset " + word : ", such as the options.json of a run";
}

Json read_config(const std::string& file, const std::string& command) {
  WASMFORMER_CHECK(file == "-" || std::filesystem::exists(file), ErrorCode::files,
                   "cannot read '" << file << "': --config takes a JSON file of options" << meant_by(file));
  Json config;
  try {
    config = Json::parse(read_file(file), nullptr, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const Json::exception& e) {
    const std::string reason = e.what();  // begins with the library's own tag
    throw Error(ErrorCode::options_not_json, file + ": invalid JSON: " + reason.substr(reason.find(' ') + 1),
                {{"place", command}});
  }
  const bool has_command = config.is_object() && config.contains(command) && config[command].is_object();
  WASMFORMER_CHECK(has_command, ErrorCode::options_not_json, file << " has no object \"" << command << "\"",
                   {"place", command});
  // The same file may say how the texts were prepared, which concerns another command.
  const WordList known{"prepare", command};
  for (const auto& [name, value] : config.items())
    WASMFORMER_CHECK(std::find(known.begin(), known.end(), name) != known.end(), ErrorCode::unknown_option,
                     file << ": unknown object '" << name << "'" << suggestion(name, known), {"place", command},
                     {"option", name});
  return std::move(config[command]);
}

// The flag of the command that an entry of the file names.
const CLI::Option& option_of(const Entry& e, const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--" + e.name);
  const bool is_usable = option && e.name != "config" && e.name != "help";
  if (is_usable) return *option;
  WordList names;
  for (const CLI::Option* one : command.get_options()) {
    const bool is_shown = !one->get_group().empty();
    if (is_shown && !one->get_lnames().empty()) names.push_back(one->get_lnames().front());
  }
  throw Error(ErrorCode::unknown_option,
              e.file + ": unknown option '" + e.name + "' of " + e.command + suggestion(e.name, names),
              {{"place", e.command}, {"option", e.name}});
}

std::set<const CLI::Option*> options_in(const WordList& words, const CLI::App& command) {
  std::set<const CLI::Option*> found;
  for (const std::string& word : words)
    if (word.starts_with("--")) found.insert(command.get_option_no_throw(word.substr(0, word.find('='))));
  return found;
}

// A number only if it would be written as it was given.
Json typed(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_number() && json.dump() == text ? json : Json(text);
}

Json json_of_results(const CLI::Option& option) {
  const WordList& results = option.results();
  if (is_flag(option)) return results.back() != "false";
  if (!is_list(option)) return typed(results.back());
  const bool has_pairs =
      takes_pairs(option) && std::all_of(results.begin(), results.end(),
                                         [](const std::string& word) { return word.find('=') != std::string::npos; });
  if (!has_pairs) return results;
  Json pairs = Json::object();
  for (const std::string& word : results) {
    const std::size_t equals = word.find('=');
    pairs[word.substr(0, equals)] = typed(word.substr(equals + 1));
  }
  return pairs;
}

}  // namespace

std::vector<std::string> with_config(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = command_of(app, words);
  const std::string file = config_file(words);
  if (file.empty() || !command || !command->get_option_no_throw("--config")) return words;
  const std::string name = command->get_name();
  const std::set<const CLI::Option*> given = options_in(words, *command);
  WordList all{words.front()};
  const Json config = read_config(file, name);
  for (const auto& [key, value] : config.items()) {
    const Entry entry{file, name, key, value};
    const CLI::Option& option = option_of(entry, *command);
    // Pairs are merged: those of the command line come later, and the last one for a key holds.
    if (given.contains(&option) && !takes_pairs(option)) continue;
    for (const std::string& word : values_of(entry, option)) all.push_back("--" + key + "=" + word);
  }
  all.insert(all.end(), words.begin() + 1, words.end());
  return all;
}

nlohmann::ordered_json given_options(const CLI::App& command) {
  Json given = Json::object();
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && !option->get_lnames().empty())
      given[option->get_lnames().front()] = json_of_results(*option);
  return given;
}

}  // namespace wasmformer
