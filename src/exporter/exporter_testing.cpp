#include "exporter/exporter_testing.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "exporter/export.h"
#include "formats/file.h"
#include "interp/interpreter.h"
#include "quant/decode.h"

namespace headrace::testing {

namespace {

// Weights straight from the checkpoint.
class CheckpointParameters final : public ParameterSource<double> {
 public:
  CheckpointParameters(const Checkpoint& checkpoint, const Module& module, ChangeWeight change)
      : checkpoint_(checkpoint), module_(module), change_(change) {}

  [[nodiscard]] Result<HostTensor<double>> load(const Parameter& parameter) const override {
    const auto known = read_.find(parameter.name);
    if (known != read_.end()) return known->second;
    const SourceRange& source = module_.recipes[parameter.recipe].sources[0];
    std::vector<std::byte> bytes(source.length_bytes);
    HR_TRY(const InputFile file, InputFile::reopen(checkpoint_.files[source.file]));
    HR_TRY_STATUS(file.read_at(source.offset_bytes, bytes));
    HostTensor<double> out(DType::kF32, static_sizes(parameter.type.shape));
    std::vector<float> values(static_cast<size_t>(out.elements()));
    decode_f32(source.type, bytes, values);
    std::ranges::copy(values, out.mutable_floats().begin());
    if (change_ != nullptr) change_(parameter, out.mutable_floats());
    return read_.emplace(parameter.name, std::move(out)).first->second;
  }

 private:
  mutable std::map<std::string, HostTensor<double>> read_;  // one thread runs a test
  const Checkpoint& checkpoint_;
  const Module& module_;
  ChangeWeight change_;
};

}  // namespace

std::unique_ptr<ParameterSource<double>> checkpoint_parameters(const Checkpoint& checkpoint, const Module& module,
                                                               ChangeWeight change) {
  return std::make_unique<CheckpointParameters>(checkpoint, module, change);
}

Result<std::vector<double>> logits_of(const Checkpoint& checkpoint, ChangeWeight change) {
  Warnings warnings;
  HR_TRY(const auto model, make_model(checkpoint, {}, warnings));
  HR_TRY(const Module module, trace_model(*model, checkpoint, kScoredTokens, warnings));
  HostTensor<double> tokens(DType::kI32, {1, kScoredTokens});
  for (int64_t i = 0; i < kScoredTokens; ++i) tokens.mutable_ints()[static_cast<size_t>(i)] = (37 * i + 5) % 300;
  std::vector<HostTensor<double>> inputs;
  inputs.push_back(std::move(tokens));
  HR_TRY(const auto results,
         interpret<double>(module, "score", std::move(inputs), CheckpointParameters(checkpoint, module, change)));
  return std::vector<double>(results[0].floats().begin(), results[0].floats().end());
}

MetaValue perturbed(const MetaValue& value) {
  MetaValue out = value;
  if (auto* flag = std::get_if<bool>(&out.value)) *flag = !*flag;
  if (auto* number = std::get_if<int64_t>(&out.value)) *number += 1;
  if (auto* number = std::get_if<uint64_t>(&out.value)) *number += 1;
  if (auto* number = std::get_if<double>(&out.value)) *number *= 1.5;
  if (auto* text = std::get_if<std::string>(&out.value)) *text += "x";
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace headrace::testing
