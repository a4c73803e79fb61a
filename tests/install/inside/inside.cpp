// Translates its second argument with the model of its first, and prints the library's version.
#include <wasmformer/wasmformer.h>

#include <iostream>

int main(int, char** arguments) {
  std::cout << wasmformer::version() << '\n'
            << wasmformer::Translator(arguments[1]).translate(arguments[2]).text << '\n';
  return wasmformer::version() == std::string_view(WASMFORMER_VERSION) ? 0 : 1;
}
