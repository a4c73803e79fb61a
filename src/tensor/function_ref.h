// A non-owning reference to a callable, for parameters: std::function without copy or allocation.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace wasmformer {

template <class Signature>
class FunctionRef;

// Valid as long as the callable is.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  FunctionRef() = default;
  // The cast is undone by the type F, which is const where the callable is.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>) FunctionRef(F&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* c, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(c))(std::forward<Arguments>(arguments)...);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const { return call_(callable_, std::forward<Arguments>(arguments)...); }

 private:
  void* callable_ = nullptr;
  Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace wasmformer
