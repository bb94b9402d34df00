// Writes the body of one function, line by line, by the ops' own `hlo` functions. Private to src/stablehlo.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "stablehlo/extents.h"

namespace headrace {

// How a target spells what lies outside a graph.
struct TargetSpelling {
  // The right-hand side that loads a parameter (`util.global.load @x : t`), or the name of the argument that holds it.
  struct Access {
    std::string text;
    bool is_value{};  // text is an SSA name already
  };
  std::function<Access(const std::string& parameter)> parameter;
  std::function<std::string(std::string_view function)> callee;
  bool symbolic{};  // whether the target takes symbolic dims, printed as `?`
};

// Values of a graph as the text spells them.
using ValueNames = std::vector<std::vector<std::string>>;

class FunctionWriter {
 public:
  explicit FunctionWriter(const TargetSpelling& target) : target_(target) {}

  // Appends the body of a function; its inputs are called `inputs`. Returns the names of its results.
  // Errors: kEmit for a structured op, a symbolic dim that the target does not take or an op has no form for.
  [[nodiscard]] Result<std::vector<std::string>> write(const Graph& graph, const std::vector<std::string>& inputs,
                                                       const std::string& indent);
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  friend class NodeWriter;
  [[nodiscard]] Result<std::vector<std::string>> write_block(const Graph& graph, const std::vector<std::string>& inputs,
                                                             const std::string& indent);
  [[nodiscard]] Status write_node(const Graph& graph, uint32_t id, ValueNames& names, const std::string& indent);
  [[nodiscard]] std::string fresh() { return fmt::format("%{}", next_++); }

  const TargetSpelling& target_;
  std::string out_;
  size_t next_ = 0;
  Extents extents_;
  Status status_;  // the first fault of an op's writer, which cannot return one
};

}  // namespace headrace
