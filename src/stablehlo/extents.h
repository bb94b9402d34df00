// Shapes as values: what the dynamic forms take for a shape with symbols. A symbol's value is read off an argument
// whose dim it is. Private to src/stablehlo.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/type.h"

namespace headrace {

class Extents {
 public:
  // Writes `%x = <text>` and returns %x.
  using Line = std::function<std::string(std::string_view text)>;

  // Reads the symbols of a function's arguments, so that their names are known from its first line on. Arguments whose
  // dim is a symbol plus a number tell its value; other symbols stay unknown.
  void read_symbols(const std::vector<Type>& types, const std::vector<std::string>& names, const Line& line);

  // The name of a tensor<rank x i32> that holds `shape`. One that was written before in the same block or in one around
  // it is used again. Errors: kEmit for a symbol that no argument tells.
  [[nodiscard]] Result<std::string> of(const Shape& shape, const Line& line);

  // What is written inside a region cannot be used after it: keep mark() before, and give it back after.
  using Mark = std::map<Shape, std::string>;
  [[nodiscard]] Mark mark() const { return known_; }
  void reset(Mark mark) { known_ = std::move(mark); }

 private:
  [[nodiscard]] Result<std::string> of(const Dim& dim, const Line& line);

  std::map<std::string, std::string, std::less<>> symbols_;  // tensor<i32>
  Mark known_;
};

}  // namespace headrace
