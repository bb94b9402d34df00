// Whether two tensors of a checkpoint are one: the question of a head stored beside the embedding that it equals.
#pragma once

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

enum class Sameness : uint8_t {
  kDifferent,  // in type, shape or bytes
  kSame,
  kHoles,  // of one type and shape, with nothing but zeros in the places that are looked at: most likely holes of a
           // synthetic checkpoint, to read which would be the longest part of an export without weights
};

// Tensors that differ are told apart by a few places; equal ones cost one reading of both. Errors: kFileOpen,
// kFileRead.
[[nodiscard]] Result<Sameness> compare_tensors(const Checkpoint& checkpoint, const TensorEntry& a,
                                               const TensorEntry& b);

}  // namespace headrace
