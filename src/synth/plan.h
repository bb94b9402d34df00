// What the plans of both formats share. Internal to synth.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "synth/synth.h"

namespace headrace::synth_detail {

[[nodiscard]] Result<std::vector<SynthFile>> plan_gguf(const SynthOptions& options);
[[nodiscard]] Result<std::vector<SynthFile>> plan_hf(const SynthOptions& options);

// The model of a GGUF of that shape, by Headrace's names of tensors.
[[nodiscard]] Result<std::unique_ptr<Model>> gguf_model(const SynthShape& shape);

// The index of what a configuration looks for before the model says what else it wants.
void add_first_tensors(Checkpoint& checkpoint, const TensorNames& names, const SynthShape& shape);

// What the model says of one field of its configuration; empty without that.
[[nodiscard]] std::string_view config_value(const Model& model, std::string_view field);

// Tensors of each file, so many that none holds more data than allowed (0: one file); length_bytes is set.
[[nodiscard]] std::vector<std::vector<SynthTensor>> parts_of(std::vector<SynthTensor> tensors, uint64_t split_bytes);

// "" of one, "-00002-of-00003" of several.
[[nodiscard]] std::string part_suffix(size_t part, size_t parts);

}  // namespace headrace::synth_detail
