// Progress on standard error: on a terminal one line that is redrawn, elsewhere plain lines.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace wasmformer {

// From now on only warnings are shown, as --quiet asks.
void show_warnings_only();

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();

  // Whether update() would show anything now.
  bool is_due() const;
  // Shown at most ten times a second, on a terminal only. `fraction` in [0, 1] draws a bar; below 0, none.
  void update(double fraction, const std::string& text);
  // A line that stays, everywhere.
  void print(const std::string& text);
  // The same, shown even with --quiet.
  void warn(const std::string& text);
  // Before anything else is printed.
  void erase();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// "1:02:03" or "2:03".
std::string duration(double seconds);
// "  2:03 left" of work whose share `done` took `seconds`; "" before anything is done.
std::string time_left(double seconds, double done);

// Shows how far one piece of work is, with the time left.
class ProgressOf {
 public:
  explicit ProgressOf(std::string what) : what_(std::move(what)) {}
  // `share` in [0, 1] of all; the text says it in numbers, such as "120 of 300 MB".
  void update(double share, const std::string& text);
  void update(double share);  // says it in percent
  // Whether update() would show anything now.
  bool is_due() const { return line_.is_due(); }
  // Before anything else is printed.
  void erase() { line_.erase(); }

 private:
  std::string what_;
  ProgressLine line_;
  std::optional<std::chrono::steady_clock::time_point> start_;  // of the first call, which may come late
  double first_ = 0;                                            // share of that call
};
std::string percent(double share);
// "12.3 of 300.0 MB".
std::string megabytes_of(std::size_t done, std::size_t all);

}  // namespace wasmformer
