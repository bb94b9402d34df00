// What libFuzzer calls: the one target of this program.
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headrace::fuzz;  // NOLINT(google-build-using-namespace): the whole file is one call
  expect(targets().size() == 1, "a fuzz program has one target");
  targets().front().run(std::as_bytes(std::span(data, size)));
  return 0;
}
