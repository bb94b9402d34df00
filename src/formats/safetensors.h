// One safetensors file, read as an index.
//
//   file   | u64 n, little-endian | n bytes: JSON, padded with spaces | data |
//   JSON   { "__metadata__": {string: string, ...},                       may be absent
//            name: {"dtype": "BF16", "shape": [2, 3], "data_offsets": [begin, end]}, ... }
//
// Offsets count from the start of `data`. Shapes are outermost first; the data is row-major and little-endian. Types of
// fewer than eight bits are packed: a tensor takes a whole number of bytes, a row need not.
// Source: the format's README and its reference implementation (huggingface/safetensors, safetensors/src/tensor.rs).
//
// As the reference, this reader refuses: a header beyond 100,000,000 bytes or beyond the file, a header that does not
// start with '{', a length that is not shape times dtype, overlaps, holes, and bytes after the last tensor. It accepts
// tensors of no elements, in any place, and a file without tensors.
// Beyond the reference, it refuses: keys that are repeated anywhere; members of a tensor other than those three; names
// that is_tensor_name (names.h) does not like or of more than 1,024 bytes; more than 8 dims; more than 131,072 tensors
// or 16,384 keys in __metadata__; a dtype that quant.def does not have, whoever might want the tensor. (A dtype that it
// has and that cannot be decoded is indexed, and refused where the tensor is wanted.)
// A broken file is reported by its first fault: what follows cannot be trusted.
#pragma once

#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "formats/file.h"
#include "formats/header_reader.h"

namespace headrace {

// The reference implementation's limit on the JSON, read and written.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

struct SafetensorsFile {
  SourceFile source;
  std::vector<TensorEntry> tensors;  // by offset; TensorEntry::file is left 0. The shape of a scalar, [], becomes {1}.
};

// Adds the header's bytes, the length word included, to `hash`. What __metadata__ says is checked and dropped: it holds
// no configuration. Messages start with the file's path.
// Errors: kFileRead; kNotACheckpoint (a git-LFS pointer, HTML...: formats/sniff.h); kSafetensors; kBlockType.
[[nodiscard]] Result<SafetensorsFile> read_safetensors(const InputFile& file, HeaderHash& hash);

}  // namespace headrace
