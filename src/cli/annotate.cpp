#include "cli/annotate.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/attention_file.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "train/training_run.h"

namespace wasmformer {
namespace {

struct AnnotateArguments {
  std::string model, input = "-", attention;
  AnnotateOptions annotate;
  Index batch_tokens = 2048;
  int threads = 1;
};

nlohmann::json attention_of(const Annotation& text) {
  nlohmann::json entry{{"tokens", nlohmann::json::array()}};
  for (const SourceToken& token : text.tokens) entry["tokens"].push_back(token.piece);
  if (text.attention) entry["encoder"] = attention_json(*text.attention);
  return entry;
}

std::string label_line(const Annotation& text) {
  std::string line;
  for (const auto& [label, probability] : text.labels)
    line += (line.empty() ? "" : "\t") + label + "\t" + fixed(probability, 4);
  return line + "\n";
}

std::string tag_lines(const Annotation& text, const std::string& content) {
  std::string lines;
  for (const TaggedWord& word : text.words)
    lines.append(content, word.begin, word.size).append("\t").append(word.tag).append("\n");
  return lines + "\n";
}

// Output for a part of the input.
std::string lines_of(const std::vector<Annotation>& found, const std::vector<std::string>& part, bool tags) {
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) text += tags ? tag_lines(found[i], part[i]) : label_line(found[i]);
  return text;
}

// Warns of texts that were classified in part. `first`: the number of the first one's line.
void warn_of_truncated(const std::vector<Annotation>& found, std::size_t first, const Config& config) {
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].is_truncated)
      ProgressLine().warn("line " + std::to_string(first + i) + " has more than " +
                          std::to_string(config.max_length - 1) + " tokens; only the first ones were read");
}

// Reads the input in parts, so that input of any size fits in memory.
void run(const AnnotateArguments& o, bool tags) {
  const ModelFile model = load_model(o.model, Weights::packed);
  const Config& config = model.transformer->config();
  check_split(o.annotate, config, "annotate");
  WASMFORMER_CHECK((tags ? config.tags : config.classes) > 0, ErrorCode::wrong_task,
                   o.model << ": [annotate] this model has no " << (tags ? "tags" : "labels of whole texts") << "; it "
                           << purpose(config));
  ThreadPool pool(o.threads);
  std::size_t damaged = 0;
  LineReader input(o.input, [&damaged](std::size_t line) {
    ProgressLine().warn("line " + std::to_string(line) + " is not UTF-8; it is taken as empty");
    ++damaged;
  });
  std::optional<AttentionFile> attention;
  if (!o.attention.empty()) attention.emplace(o.attention);
  const std::size_t max_lines = attention ? 64 : 512;
  const std::size_t max_bytes = attention ? static_cast<std::size_t>(o.batch_tokens) : 1 << 20;
  std::size_t lines = 0;
  ProgressOf progress(tags ? "tagged" : "classified");
  for (std::vector<std::string> part; !(part = input.next_part(max_lines, max_bytes)).empty();) {
    const std::vector<Annotation> found = annotate(model, pool, part, o.annotate, o.batch_tokens);
    if (attention)
      for (const Annotation& text : found) attention->add(attention_of(text));
    progress.erase();
    if (!tags) warn_of_truncated(found, lines + 1, config);
    print(lines_of(found, part, tags));
    lines += part.size();
    if (const auto share = input.share_read())
      progress.update(*share, std::to_string(lines) + " lines, " + percent(*share));
  }
  if (attention) attention->commit();
  check_damaged(damaged, lines);
}

CLI::App* add_command(CLI::App& app, const char* name, const char* help, bool tags) {
  auto o = std::make_shared<AnnotateArguments>();
  auto* command = app.add_subcommand(name, help);
  add_model(*command, o->model);
  command->add_option("--input", o->input, "text file; - is standard input")->capture_default_str()->type_name("FILE");
  Fields options = fields(o->annotate);
  if (tags) std::erase_if(options, [](const Field& field) { return field.option.name == std::string("top_labels"); });
  add_options(*command, options, "annotate");
  add_attention(*command, o->attention, "the attention of the encoder");
  add_batch_tokens(*command, o->batch_tokens, "tokens per batch");
  add_threads(*command, o->threads);
  command->callback([o, tags] {
    o->annotate.attention = !o->attention.empty();
    run(*o, tags);
  });
  return command;
}

nlohmann::ordered_json by_label(const Scores& scores) {
  nlohmann::ordered_json json;
  for (const auto& [label, score] : scores)
    json[label] = {{"precision", 100 * score.precision()},
                   {"recall", 100 * score.recall()},
                   {"f1", 100 * score.f1()},
                   {"expected", score.expected}};
  return json;
}

void print_scores(const char* heading, const Scores& scores) {
  if (scores.empty()) return;
  print_formatted("%-24s  precision  recall     F1  expected\n", heading);
  for (const auto& [label, score] : scores)
    print_formatted("%-24s  %9.2f  %6.2f  %5.2f  %8zu\n", label.c_str(), 100 * score.precision(), 100 * score.recall(),
                    100 * score.f1(), score.expected);
}

}  // namespace

std::shared_ptr<AnnotatedTexts> read_annotated(const AnnotatedFiles& files) {
  std::vector<AnnotatedText> labelled, tagged;
  if (!files.labels.empty()) labelled = parse_labelled(read_file(files.labels), files.labels);
  if (!files.tags.empty()) tagged = parse_conll(read_file(files.tags), files.tags);
  const AnnotatedTexts::Kind kind{
      .has_classes = !files.labels.empty(), .has_tags = !files.tags.empty(), .commas_separate = true};
  for (const auto& [file, texts] : {std::pair(&files.labels, &labelled), {&files.tags, &tagged}})
    WASMFORMER_CHECK(file->empty() || !texts->empty(), ErrorCode::corpus, *file << " has no texts");
  if (files.tags.empty()) return std::make_shared<AnnotatedTexts>(std::move(labelled), kind);
  if (files.labels.empty()) return std::make_shared<AnnotatedTexts>(std::move(tagged), kind);
  return naming(files.tags, [&] {
    return std::make_shared<AnnotatedTexts>(labelled_and_tagged(labelled, std::move(tagged)), kind);
  });
}

void evaluate_annotations(const std::string& name, const AnnotatedFiles& files, const AnnotateOptions& options,
                          Index batch_tokens, int threads, bool json) {
  const ModelFile model = load_model(name, Weights::packed);
  const Config& config = model.transformer->config();
  const std::shared_ptr<AnnotatedTexts> texts = read_annotated(files);
  WASMFORMER_CHECK((config.classes > 0) == !files.labels.empty() && (config.tags > 0) == !files.tags.empty(),
                   ErrorCode::evaluate,
                   name << " has " << config.classes << " classes and " << config.tags
                        << " tags; give --labels and --tags for what it has");
  ThreadPool pool(threads);
  const auto start = std::chrono::steady_clock::now();
  texts->settle(config);
  AnnotationJob job(model, pool, texts->all, options, batch_tokens);
  while (job.step()) {
  }
  const std::vector<Annotation> found = job.take();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const AnnotationScores scores = score(model, texts->all, found);
  if (json) {
    nlohmann::ordered_json all;
    for (const auto& [key, value] : scores.figures) all[key] = value;
    all.update({{"texts", texts->size()}, {"seconds", seconds}});
    if (!scores.by_class.empty()) all["by_label"] = by_label(scores.by_class);
    if (!scores.confusion.empty()) all["confusion"] = scores.confusion;
    if (!scores.by_span.empty()) all["by_span"] = by_label(scores.by_span);
    print_formatted("%s\n", all.dump(2).c_str());
    return;
  }
  for (const auto& [key, value] : scores.figures) print_formatted("%s %.2f\n", key.c_str(), value);
  print_formatted("%zu texts in %.1f s\n", texts->size(), seconds);
  print_scores("label", scores.by_class);
  print_scores("span", scores.by_span);
  if (scores.confusion.empty()) return;
  print_formatted("\nexpected and predicted labels\n");
  for (const auto& [expected, row] : scores.confusion)
    for (const auto& [predicted, count] : row)
      print_formatted("%-24s  %-24s  %8zu\n", expected.c_str(), predicted.c_str(), count);
}

void add_annotation_commands(CLI::App& app) {
  CLI::App* classify = add_command(
      app, "classify", "Print the labels of each line, the most probable first: LABEL TAB PROBABILITY ...", false);
  add_examples(*classify, {"wasmformer classify sentiment.safetensors --input reviews.txt --top 1",
                           "echo 'A lovely film.' | wasmformer classify sentiment.safetensors"});
  CLI::App* tag = add_command(
      app, "tag", "Tag the words of each line: TOKEN TAB TAG, an empty line after each line of the input", true);
  add_examples(*tag, {"wasmformer tag names.safetensors --input news.txt > news.conll",
                      "echo 'Ada lives in London.' | wasmformer tag names.safetensors --threads 2"});
}

}  // namespace wasmformer
