// What the targets of containers do with a checkpoint once it is open.
#pragma once

#include "models/model.h"

namespace headrace::fuzz {

// As far as export goes before it traces: the configuration is read and the tensor table linked.
inline void link_model(const Checkpoint& checkpoint) {
  Warnings warnings;
  if (const auto model = make_model(checkpoint, {}, warnings))
    static_cast<void>(link_weights(**model, checkpoint, warnings));
}

}  // namespace headrace::fuzz
