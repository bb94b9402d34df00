// Inputs of `headrace run`: .npy files.
#include "base/npy.h"
#include "target.h"

HR_FUZZ_TARGET(npy) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  const fuzz::MemoryBound bound(input.size());
  static_cast<void>(parse_npy(input));
}
