// Whether two tensors of a checkpoint are one: the question of a head stored beside the embedding that it equals.
#pragma once

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

// What to make of tensors with nothing but zeros in the places that are looked at first.
enum class Zeros : uint8_t {
  kRead,    // as of others: they are read on
  kUnread,  // they are not told to be one: holes of a synthetic checkpoint, and to read them all would be the longest
            // part of an export without weights
};

// Of the same type and shape, with the same bytes. Tensors that differ are told apart by a few places; equal ones cost
// one reading of both. Errors: kFileOpen, kFileRead.
[[nodiscard]] Result<bool> same_tensor(const Checkpoint& checkpoint, const TensorEntry& a, const TensorEntry& b,
                                       Zeros zeros);

}  // namespace headrace
