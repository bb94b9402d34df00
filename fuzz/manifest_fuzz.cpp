// manifest.json: what is accepted can be written and read back.
#include "target.h"
#include "weights/manifest.h"

HR_FUZZ_TARGET(manifest) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  auto manifest = [&] {
    const fuzz::MemoryBound bound(input.size());
    return from_json(fuzz::text_of(input));
  }();
  if (!manifest) return;
  const auto text = to_json(*manifest);
  fuzz::expect(text.has_value(), "a manifest that was read cannot be written");
  const auto again = from_json(*text);
  fuzz::expect(again.has_value(), "a written manifest cannot be read");
  fuzz::expect(to_json(*again) == *text, "a manifest changes when it is written and read");
}
