#include <google/protobuf/descriptor.pb.h>
#include <wasmformer/text/tokenizer.h>

#include <fstream>
#include <iostream>
#include <iterator>

int main(int, char** arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  const wasmformer::Tokenizer tokenizer(std::string(std::istreambuf_iterator<char>(file), {}));
  const auto ids = tokenizer.encode("Wasmformer übersetzt Sätze.");
  google::protobuf::FileDescriptorProto sent, received;
  for (const wasmformer::TokenId id : ids) sent.add_message_type()->set_name(tokenizer.piece(id));
  const bool is_right = received.ParseFromString(sent.SerializeAsString()) && !ids.empty() &&
                        received.message_type_size() == static_cast<int>(ids.size());
  std::cout << is_right << '\n';
  return is_right ? 0 : 1;
}
