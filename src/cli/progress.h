// Progress on standard error: on a terminal one line that is redrawn, elsewhere plain lines.
#pragma once

#include <chrono>
#include <string>

namespace wasmformer {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();

  // Shown at most ten times a second, on a terminal only. `fraction` in [0, 1] draws a bar; below 0, none.
  void update(double fraction, const std::string& text);
  // A line that stays, everywhere.
  void print(const std::string& text);
  // Before anything else is printed.
  void erase();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// "1:02:03" or "2:03".
std::string duration(double seconds);

}  // namespace wasmformer
