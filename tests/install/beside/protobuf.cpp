#include <google/protobuf/descriptor.pb.h>
#include <wasmformer/translator.h>

#include <iostream>

int main(int, char** arguments) {
  const wasmformer::Translator translator(arguments[1]);
  const auto tokens = translator.tokenize("Wasmformer übersetzt Sätze.");
  google::protobuf::FileDescriptorProto sent, received;
  for (const wasmformer::SourceToken& token : tokens) sent.add_message_type()->set_name(token.piece);
  const bool is_right = received.ParseFromString(sent.SerializeAsString()) && !tokens.empty() &&
                        received.message_type_size() == static_cast<int>(tokens.size());
  std::cout << is_right << '\n';
  return is_right ? 0 : 1;
}
