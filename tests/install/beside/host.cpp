// Opens the plugin, uses it, closes it, and does so again.
#include <dlfcn.h>

#include <cstddef>
#include <iostream>
#include <string>

using Translate = bool (*)(const char* model, const char* text, char* result, std::size_t size);

bool works(const char* plugin, const char* model) {
  void* const opened = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    std::cout << dlerror() << '\n';
    return false;
  }
  const auto translate = reinterpret_cast<Translate>(dlsym(opened, "translate"));
  char text[1000] = {}, code[1000] = {};
  const bool is_translated = translate(model, "Wo ist mein Buch?", text, sizeof text);
  const bool is_refused = !translate("absent", "Wo ist mein Buch?", code, sizeof code);
  std::cout << text << '\n' << code << '\n';
  return is_translated && *text && is_refused && code == std::string("files") && dlclose(opened) == 0;
}

int main(int, char** arguments) {
  for (int time = 0; time < 2; ++time)
    if (!works(arguments[1], arguments[2])) return 1;
}
