// The program's flags: those declared as options (schema/options.h), and those that several commands share.
#pragma once

#include <set>
#include <string>

#include "bundle/model_file.h"
#include "tasks/translate/corpus.h"
#include "tasks/translate/translate_options.h"

namespace CLI {
class App;
}

namespace wasmformer {

// Adds a flag for each field that has one, with its help, range and default; the flags of an optional group set the
// group. Wrong values throw Error with "[place]". The fields must live as long as the command.
void add_options(CLI::App& command, const Fields& fields, const std::string& place);

// A row of --help for each field, for what `--set` can change: "  d_model    features of a token (…)".
std::string key_list(const Fields& fields);

// The model file, as `--model M` or as M alone.
void add_model(CLI::App& command, std::string& model, const std::string& help = "model file");
void add_threads(CLI::App& command, int& threads);
// Returns an error unless the text is a number greater than 0. CLI::PositiveNumber itself names the largest double in
// full.
std::string check_positive(const std::string& text);
void add_batch_tokens(CLI::App& command, Index& batch_tokens, const std::string& help);
// --precision of the file that is written: f32, f16 or, where the command has it, int8.
inline Precision float_precision(const std::string& name) { return name == "f16" ? Precision::f16 : Precision::f32; }
void add_precision(CLI::App& command, std::string& precision, bool has_int8 = false);

// Options that `translate` and `evaluate` share.
struct DecodingOptions {
  std::string model;
  TranslateOptions translate;
  Index batch_tokens = 2048;
  int threads = 1;
};
// `without`: names of translate options that the command does not have.
void add_decoding_options(CLI::App& command, DecodingOptions& options, const std::set<std::string>& without);

// Sentence pairs from two files of lines or one TSV file.
struct ParallelTextOptions {
  std::string source, target;   // two files, line by line, or
  std::string tsv;              // one file of columns
  std::string columns = "0,1";  // source and target column of it, from 0
};
void add_parallel_text(CLI::App& command, ParallelTextOptions& options, const std::string& name_of_target);
// Throws Error naming the file when the files differ in length or a line lacks a column.
ParallelText read_parallel_text(const ParallelTextOptions& options);

}  // namespace wasmformer
