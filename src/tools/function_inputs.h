// What `headrace run` calls a function with, from --tokens and --input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/eval.h"
#include "weights/manifest.h"

namespace headrace::tools {

// --input NAME=VALUE. VALUE is a .npy file, comma-separated whole numbers, or `zeros`; NAME is an argument, or `caches`
// for all arguments of that kind which are not named themselves.
struct NamedInput {
  std::string name;
  std::string value;
};

// Throws UsageError for a text without a name, a `=` or a value, and for a name that is given twice.
[[nodiscard]] std::vector<NamedInput> parse_inputs(const std::vector<std::string>& texts);

// One tensor for each argument, in the function's order. `tokens` fill the argument of that name, for every row the
// same; an argument `length` that is not given is their number. Errors: kInput: an argument without a value, a value
// for none, numbers or `zeros` for sizes that are not known; those of load_npy.
template <class F>
[[nodiscard]] Result<std::vector<HostTensor<F>>> function_inputs(const ManifestFunction& function,
                                                                 const std::optional<std::vector<int64_t>>& tokens,
                                                                 const std::vector<NamedInput>& named);

}  // namespace headrace::tools
