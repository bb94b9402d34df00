// A GGUF file, as far as `headrace inspect` goes: container, configuration, linking, tracing, vocabulary.
#include "exporter/export.h"
#include "link.h"
#include "target.h"

HR_FUZZ_TARGET(gguf) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  const std::string path = fuzz::put_file("one.gguf", fuzz::text_of(input));
  {
    const fuzz::MemoryBound bound(input.size());
    Warnings warnings;
    const auto checkpoint = open_checkpoint(path, warnings);
    if (!checkpoint) return;
    for (const TensorEntry& tensor : checkpoint->tensors)
      fuzz::expect(tensor.offset_bytes <= input.size() && tensor.length_bytes <= input.size() - tensor.offset_bytes,
                   "a tensor lies outside the file");
    fuzz::link_model(*checkpoint);
  }
  const fuzz::MemoryBound bound(input.size(), 4, fuzz::kTracedBytes);
  static_cast<void>(inspect_model(path));
}
