// GGUF versions 2 and 3, read as an index. All numbers are little-endian and follow each other without padding.
//
//   file    | "GGUF" | u32 version | u64 tensors | u64 keys | key ... | tensor ... | padding | data |
//   key     | string name | u32 type | value |
//   value   types 0-12: u8 i8 u16 i16 u32 i32 f32 bool string array u64 i64 f64; a bool is one byte, 0 or 1
//   array   | u32 item type | u64 items | value ... |
//   string  | u64 length | bytes |              no terminator; not always UTF-8 (pieces of a vocabulary)
//   tensor  | string name | u32 dims | u64 x dims, innermost first | u32 ggml type | u64 offset |
//
// `padding` and all offsets are multiples of general.alignment (default 32); offsets count from the start of `data`.
// Source: ggml's docs/gguf.md.
//
// A checkpoint may be cut into parts `<prefix>-00001-of-00003.gguf`: names count from 1, the key split.no from 0,
// split.tensors.count is the total over all parts. Part 1 holds the metadata, and sometimes no tensor.
//
// Where readers disagree, this one:
//   - accepts any alignment that is a multiple of 8 (the specification's rule) and refuses every other one;
//   - accepts gaps between tensors and any order, and refuses overlaps;
//   - accepts a file whose last tensor lacks its padding;
//   - refuses arrays of arrays (no known file has one), tensors without dims, dims of 0, and names beyond 64 bytes;
//   - refuses names that are not UTF-8 or hold control characters.
// A broken container is reported by its first fault: what follows cannot be trusted.
#pragma once

#include <string>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

// Opens the checkpoint that `path` is, or is a part of. Keys `split.*` are used up, so that a checkpoint in parts and
// the same in one file yield the same metadata.
// Errors: kFileOpen, kFileRead, kGgufHeader, kGgufMetadata, kGgufTensor, kGgufSplit, kBlockType.
[[nodiscard]] Result<Checkpoint> open_gguf(const std::string& path, Warnings& warnings);

}  // namespace headrace
