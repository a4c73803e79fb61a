#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "autograd/arena.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  wasmformer::keep_freed_memory();
  CLI::App app{"The Transformer of 'Attention Is All You Need': trains, translates, evaluates."};
  app.name("wasmformer");
  app.require_subcommand(1);
  wasmformer::add_tokenizer_command(app);
  wasmformer::add_train_command(app);
  wasmformer::add_translate_command(app);
  wasmformer::add_evaluate_command(app);
  wasmformer::add_average_command(app);
  wasmformer::add_quantize_command(app);
  wasmformer::add_inspect_command(app);
  wasmformer::add_export_commands(app);
  wasmformer::add_import_marian_command(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& e) {  // a command's own exit code
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help
    std::fprintf(stderr, "wasmformer: %s\n", e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "wasmformer: there is not enough memory for this; smaller --batch-tokens need less.\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wasmformer: %s\n", e.what());
  }
  return 1;
}
