// SPDX-License-Identifier: Apache-2.0
// A view of something callable: two pointers, no allocation. The callable must outlive every call.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace nereid {

template <typename Signature>
class FunctionRef;

template <typename R, typename... A>
class FunctionRef<R(A...)> {
 public:
  // From any callable, also a temporary one (a lambda written in the call): as a parameter it lives long enough.
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, A...>)
      FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))), call_([](void* object, A... a) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<A>(a)...);
        }) {}

  R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }

 private:
  void* object_;
  R (*call_)(void*, A...);
};

}  // namespace nereid
