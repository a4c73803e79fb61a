#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>

#include "autograd/arena.h"
#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/ranks.h"

namespace {

using namespace wasmformer;

void add_commands(CLI::App& app) {
  app.name("wasmformer");
  set_help_layout(app);
  app.set_version_flag("-V,--version", "wasmformer " WASMFORMER_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  add_tokenizer_command(app);
  add_train_command(app);
  add_translate_command(app);
  add_evaluate_command(app);
  add_annotation_commands(app);
  add_model_commands(app);
  add_exchange_commands(app);
  add_shortlist_command(app);
  add_bench_command(app);
  for (CLI::App* command : app.get_subcommands({}))
    command->add_flag_callback("--quiet", show_warnings_only, "print results and warnings, but no progress");
  add_examples(
      app, {"wasmformer train --help", "echo 'Wo ist mein Buch?' | wasmformer translate de-en.safetensors"},
      "`wasmformer help COMMAND` is the same as `wasmformer COMMAND --help`. In the npm package, `npx wasmformer "
      "models LIST` prints what is in a list of models by Mozilla.");
  app.parse_complete_callback([&app] {  // before any command runs
    const std::string name = app.get_subcommands().front()->get_name();
    WASMFORMER_CHECK(ranks().size() == 1 || name == "train" || name == "translate", ErrorCode::mpi,
                     "only train and translate share work between ranks; start " << name << " without mpirun");
  });
}

// `help train` stands for `train --help`.
std::vector<std::string> without_help_command(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  const auto is_named = [&words](const CLI::App* command) { return command->get_name() == words.front(); };
  const bool is_known = words.empty() || !app.get_subcommands(is_named).empty();
  if (is_known) words.push_back("--help");
  return words;
}

std::string unknown_command(CLI::App& app) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) commands.push_back(command->get_name());
  const std::vector<std::string> words = app.remaining();
  const auto word = std::find_if(words.begin(), words.end(), [](const std::string& w) { return !w.starts_with("-"); });
  if (word == words.end()) return "no command; the commands are " + join(commands);
  if (*word == "models") return "the command 'models' is in the npm package only: npx wasmformer models LIST";
  const std::string hint = suggestion(*word, commands);
  return "unknown command '" + *word + "'" + (hint.empty() ? "; the commands are " + join(commands) : hint);
}

// Describes the error in the command line. CLI11 knows what it could not parse, but not what was meant.
std::string explain(CLI::App& app, const CLI::ParseError& error) {
  if (app.get_subcommands().empty()) return unknown_command(app);
  const CLI::App* command = app.get_subcommands().front();
  for (const std::string& word : command->remaining()) {
    if (!word.starts_with("-")) continue;
    std::vector<std::string> flags;
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    const std::string given = word.substr(0, word.find('='));
    return "unknown option '" + given + "' of " + command->get_name() + suggestion(given, flags);
  }
  return error.what();
}

// Allocates nothing, since memory may have run out.
void fail(const char* problem, int exit_code) {
  fail_together(problem, exit_code);
  std::fprintf(stderr, "wasmformer: %s\n", problem);
}

int report_missing_memory() {
  fail("not enough memory; a smaller --batch-tokens needs less", 1);
  return 1;
}

// Says what was thrown, and returns the exit code.
int report() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return report_missing_memory();
  } catch (const std::exception& e) {
    fail(e.what(), 1);
  }
  return 1;
}

// Returns 2 for a wrong command line.
int run(int argc, char** argv) {
  CLI::App app{"The Transformer of 'Attention Is All You Need': trains, translates, evaluates."};
  add_commands(app);
  try {
    std::vector<std::string> words = with_config(app, without_help_command(app, {argv + 1, argv + argc}));
    std::reverse(words.begin(), words.end());  // as parse() takes them
    app.parse(std::move(words));
    return 0;
  } catch (const CLI::RuntimeError& e) {  // a command's own exit code
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) {
      fail(explain(app, e).c_str(), 2);
      return 2;
    }
    std::ostringstream text;  // --help or --version
    app.exit(e, text, text);
    print(text.str());
    return 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is then an error of write()
#endif
  // Destructors of JSON values allocate; if memory has run out, what they throw ends up here. So does what libstdc++
  // throws while listing a folder, but there current_exception() is null.
  std::set_terminate([] {
    if (std::current_exception()) std::_Exit(report());
    if (std::uncaught_exceptions() > 0) std::_Exit(report_missing_memory());
    std::abort();
  });
  try {
    return run(argc, argv);
  } catch (...) {
    return report();
  }
}
