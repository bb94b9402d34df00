// Test kit: logits straight from a checkpoint, without an archive.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "formats/checkpoint.h"
#include "interp/interpreter.h"
#include "ir/module.h"

namespace headrace::testing {

// Long enough to leave every window of the zoo.
inline constexpr int64_t kScoredTokens = 14;

// Changes a weight's values before they are used.
using ChangeWeight = void (*)(const Parameter& parameter, std::span<double> values);

// Weights straight from the checkpoint, each read once. Both arguments outlive the result.
[[nodiscard]] std::unique_ptr<ParameterSource<double>> checkpoint_parameters(const Checkpoint& checkpoint,
                                                                             const Module& module,
                                                                             ChangeWeight change = nullptr);

// Of the model of the checkpoint for kScoredTokens fixed ids, in f64. Errors: those of reading, linking and tracing.
[[nodiscard]] Result<std::vector<double>> logits_of(const Checkpoint& checkpoint, ChangeWeight change = nullptr);

// Another value of the same kind, near enough to be valid where any is.
[[nodiscard]] MetaValue perturbed(const MetaValue& value);

// How far logits lie apart at most.
[[nodiscard]] double distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace headrace::testing
