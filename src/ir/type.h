// The type of a graph value: a ranked tensor. Written `f32[1, seq, 64]` in HIR text.
#pragma once

#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace headrace {

struct Type {
  DType dtype{};
  Shape shape;
  friend bool operator==(const Type&, const Type&) = default;
};

[[nodiscard]] inline std::string to_string(const Type& type) {
  return std::string(name(type.dtype)) + to_string(type.shape);
}

}  // namespace headrace
