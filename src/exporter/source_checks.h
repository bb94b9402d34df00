// What of a checkpoint's data must be known before a model is made of it: the two questions that no header answers.
#pragma once

#include "base/result.h"
#include "formats/checkpoint.h"
#include "ir/module.h"

namespace headrace {

// Takes a GGUF's `output.weight` out of the index if it is a copy of `token_embd.weight`: of the same type and shape,
// with the same bytes. The model is then a tied one and the matrix is stored once; a warning says so. Matrices that
// differ are told apart by a few places; equal ones cost one reading of both. A matrix with nothing but zeros in those
// places is left alone: it is a hole of a synthetic checkpoint, and reading it all would be the longest part of an
// export without weights. Errors: kFileOpen, kFileRead.
[[nodiscard]] Status drop_copied_head(Checkpoint& checkpoint, Warnings& warnings);

// Frequencies are divided by these: each must be a finite number above 0. Errors: kConfigValue with tensor, index and
// value; kFileOpen, kFileRead.
[[nodiscard]] Status check_rope_factors(const Checkpoint& checkpoint, const Module& module);

}  // namespace headrace
