// A Hugging Face checkpoint: a directory with config.json and safetensors, in one file or in shards.
//
//   config.json                          and, if they are there, generation_config.json, tokenizer_config.json
//   model.safetensors                    one file, or
//   model.safetensors.index.json         {"metadata": {"total_size": n}, "weight_map": {tensor: shard, ...}}
//   model-00001-of-00002.safetensors ... its shards, whatever their names
//
// Where readers disagree, this one:
//   - refuses a directory that has model.safetensors and an index of other files; one of them may be named instead
//   - refuses shard names that are anything but a plain file name ending in .safetensors: an index reaches no other
//     directory (a symbolic link may; caches are made of them)
//   - wants every tensor of the index in the shard named for it, and every tensor of a shard in the index: a second
//     copy, stale or not, is refused
//   - ignores files that the index does not name
//   - warns when metadata.total_size is not the sum of the tensors' bytes
#pragma once

#include <string>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

// True for `...safetensors.index.json`.
[[nodiscard]] bool is_index_name(std::string_view path);

// Opens the checkpoint of a directory. Errors: kNotACheckpoint (says what is missing or is there instead), and
// open_hf_file's.
[[nodiscard]] Result<Checkpoint> open_hf_directory(const std::string& directory, Warnings& warnings);

// The same from an index, a file, or any shard of a set with the index beside it (`x-00001-of-00002.safetensors`
// belongs to `x.safetensors.index.json`). Errors: kSafetensors, kSafetensorsSet, kBlockType, kConfigFile,
// kNotACheckpoint, kFileOpen, kFileRead.
[[nodiscard]] Result<Checkpoint> open_hf_file(const std::string& path, Warnings& warnings);

}  // namespace headrace
