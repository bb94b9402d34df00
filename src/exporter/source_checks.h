// What of a checkpoint's data must be known before an export is accepted, and no header says.
#pragma once

#include "base/result.h"
#include "formats/checkpoint.h"
#include "ir/module.h"

namespace headrace {

// Takes a GGUF's `output.weight` out of the index if it is a copy of `token_embd.weight` (formats/same_tensor.h). The
// model is then a tied one and the matrix is stored once; a warning says so. Errors: kFileOpen, kFileRead.
[[nodiscard]] Status drop_copied_head(Checkpoint& checkpoint, Warnings& warnings);

// Frequencies are divided by these: each must be a finite number above 0. Errors: kConfigValue with tensor, index and
// value; kFileOpen, kFileRead.
[[nodiscard]] Status check_rope_factors(const Checkpoint& checkpoint, const Module& module);

}  // namespace headrace
