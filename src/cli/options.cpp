#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/files.h"
#include "cli/help.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

using field_views::Group, field_views::Optional;

std::string hyphenated(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// Word that --help shows for the value of an option.
std::string value_name(const Value& value) {
  if (std::holds_alternative<double*>(value)) return "X";
  if (std::holds_alternative<std::string*>(value) || std::holds_alternative<TextOrTokens*>(value)) return "TEXT";
  if (std::holds_alternative<field_views::Choice>(value)) return "WORD";
  if (std::holds_alternative<field_views::List>(value)) return "LIST";
  const auto* optional = std::get_if<Optional>(&value);
  if (!optional) return "N";
  std::string name;
  optional->with_default([&name](const Value& inner) { name = value_name(inner); });
  return name;
}

std::string flag(const Option& option) { return option.flag ? option.flag : hyphenated(option.name); }

// Lets users of an earlier name go on, unless they give the option under both.
void add_earlier_flag(const CLI::Option& option, CLI::Option& earlier, const std::string& place) {
  earlier.group("");  // which --help does not show
  earlier.each([&option, &earlier, place](const std::string&) {
    WASMFORMER_CHECK(option.count() == 0, ErrorCode::option_twice,
                     earlier.get_name() << " is the earlier name of " << option.get_name() << "; give one of them",
                     {"place", place}, {"option", option.get_name()}, {"alias", earlier.get_name()});
  });
}

// `get` gives the fields that `field` is one of.
void add_option(CLI::App& command, const Field& field, const std::string& place, const std::function<Fields()>& get) {
  const std::string name = flag(field.option);
  if (name.empty()) return;
  const auto add = [&](const std::string& flag_name) -> CLI::Option* {
    if (bool* const* on = std::get_if<bool*>(&field.value)) {
      const std::string negation = **on ? ",!--no-" + flag_name : "";  // of what is on by default
      return command.add_flag("--" + flag_name + negation, **on, field.option.help);
    }
    const auto set = [=](const std::string& text) { set_field(get(), field.option.name, text, place); };
    return command.add_option_function<std::string>("--" + flag_name, set, summary(field))
        ->type_name(value_name(field.value));
  };
  CLI::Option* option = add(name);
  if (field.option.alias) add_earlier_flag(*option, *add(hyphenated(field.option.alias)), place);
}

Columns columns_of(const std::string& text) {
  Columns columns;
  char comma = 0;
  std::istringstream stream(text);
  const bool is_pair = text.find('-') == std::string::npos && stream >> columns.source >> comma >> columns.target;
  WASMFORMER_CHECK(is_pair && comma == ',' && stream.eof(), ErrorCode::options,
                   "--columns '" << text << "' is not SOURCE,TARGET such as 0,1");
  return columns;
}

// Adds the flags of an optional group, which set it; without them it stays unset.
void add_group(CLI::App& command, const Optional& optional, const Group& group, const std::string& place) {
  const auto parts = [optional] {
    return std::get<Group>(optional.has() ? optional.value() : optional.make()).fields();
  };
  for (const Field& part : group.fields()) add_option(command, part, place, parts);
}

}  // namespace

void add_options(CLI::App& command, const Fields& fields, const std::string& place) {
  for (const Field& field : fields) {
    if (flag(field.option).empty()) continue;
    const auto* optional = std::get_if<Optional>(&field.value);
    const Value inner = optional ? optional->make() : Value(static_cast<bool*>(nullptr));
    const auto* group = std::get_if<Group>(&inner);
    if (group) add_group(command, *optional, *group, place);
    if (optional) optional->reset();  // so that help shows no default for an option that is not set
    if (!group) add_option(command, field, place, [fields] { return fields; });
  }
}

std::string key_list(const Fields& fields) {
  std::string rows;
  for (const Field& field : fields) rows += help_row(field.option.name, summary(field));
  return rows;
}

void add_model(CLI::App& command, std::string& model, const std::string& help) {
  command.add_option("--model,model", model, help)->required()->type_name("FILE");
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "CPU threads to use, 1 to 256")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

std::string check_positive(const std::string& text) {
  if (CLI::PositiveNumber(text).empty()) return {};
  return "must be a number greater than 0, not " + text;
}

void add_batch_tokens(CLI::App& command, Index& batch_tokens, const std::string& help) {
  command.add_option("--batch-tokens", batch_tokens, help)
      ->type_name("N")
      ->check(check_positive)
      ->capture_default_str();
}

void add_precision(CLI::App& command, std::string& precision, bool has_int8) {
  std::vector<std::string> all{"f32", "f16"};
  if (has_int8) all.push_back("int8");
  command.add_option("--precision", precision, join(all))->check(CLI::IsMember(all))->capture_default_str();
}

namespace {

// Throws Error, naming the file, for a line without a tab.
std::vector<GlossaryTerm> read_glossary(const std::string& path) {
  ParallelText columns = parse_tsv(read_file(path), path);
  std::vector<GlossaryTerm> terms;
  for (std::size_t i = 0; i < columns.sources.size(); ++i)
    terms.push_back({std::move(columns.sources[i]), std::move(columns.targets[i])});
  return terms;
}

}  // namespace

void add_decoding_options(CLI::App& command, DecodingOptions& o, const std::set<std::string>& without) {
  add_model(command, o.model);
  Fields options = fields(o.translate);
  std::erase_if(options, [&](const Field& field) { return without.contains(field.option.name); });
  add_options(command, options, "translate");
  command
      .add_option_function<std::string>(
          "--glossary", [&o](const std::string& path) { o.translate.glossary = read_glossary(path); },
          "TSV file of terms that translations must use: SOURCE TAB TARGET; * at the end of SOURCE stands for any "
          "ending")
      ->type_name("FILE");
  add_batch_tokens(command, o.batch_tokens, "source tokens per batch");
  add_threads(command, o.threads);
  group_options(command,
                {{"Search", {"--beam-size", "--length-penalty", "--max-length", "--shortlist", "--full-vocabulary"}},
                 {"Sampling instead of search", {"--temperature", "--top-k", "--top-p", "--sample-seed"}},
                 {"What the translation must have", {"--keep", "--glossary", "--prefix"}},
                 {"Ablations", {"--mask-source", "--mask-heads"}},
                 {"Speed", {"--threads", "--batch-tokens"}}});
  command.parse_complete_callback([&command, &o] {
    if (command.count("--beam-size") > 0) refuse_beam_with_sampling(o.translate, Naming::snake);
  });
}

void add_parallel_text(CLI::App& command, ParallelTextOptions& o, const std::string& name_of_target) {
  command.add_option("--source", o.source, "sentences, one per line")->type_name("FILE");
  command.add_option(name_of_target, o.target, "their translations, line by line")->type_name("FILE");
  command.add_option("--data", o.tsv, "a TSV file of pairs instead of two files")->type_name("FILE");
  command.add_option("--columns", o.columns, "SOURCE,TARGET columns of --data, from 0")->capture_default_str();
}

ParallelText read_parallel_text(const ParallelTextOptions& o) {
  if (o.tsv.empty()) {
    WASMFORMER_CHECK(!o.source.empty() && !o.target.empty(), ErrorCode::options,
                     "sentence pairs are missing: give a source and a target file, or one TSV file");
    ParallelText text{read_lines(o.source), read_lines(o.target)};
    WASMFORMER_CHECK(
        text.sources.size() == text.targets.size(), ErrorCode::corpus,
        o.source << " has " << text.sources.size() << " lines but " << o.target << " has " << text.targets.size());
    return text;
  }
  WASMFORMER_CHECK(o.source.empty() && o.target.empty(), ErrorCode::options,
                   "give either two files or one TSV file, not both");
  return parse_tsv(read_file(o.tsv), o.tsv, columns_of(o.columns));
}

}  // namespace wasmformer
