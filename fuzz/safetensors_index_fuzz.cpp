// A set of shards. The input holds config.json, the index, and up to three shards s1.safetensors, s2.safetensors,
// s3.safetensors, one after the other with a mark between them.
#include <filesystem>

#include "exporter/export.h"
#include "link.h"
#include "target.h"

namespace {
constexpr std::string_view kMark = "=NEXTPART=";
constexpr const char* kNames[] = {"config.json", "set.safetensors.index.json", "s1.safetensors", "s2.safetensors",
                                  "s3.safetensors"};
}  // namespace

HR_FUZZ_TARGET(safetensors_index) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  std::string_view rest = fuzz::text_of(input);
  bool more = true;
  for (const char* name : kNames) {
    if (!more) {
      std::filesystem::remove(fuzz::folder() + "/" + name);
      continue;
    }
    const size_t end = rest.find(kMark);
    static_cast<void>(fuzz::put_file(name, rest.substr(0, end)));
    more = end != std::string_view::npos;
    if (more) rest.remove_prefix(end + kMark.size());
  }
  static_cast<void>(fuzz::put_file("generation_config.json", "{}"));
  static_cast<void>(fuzz::put_file("tokenizer_config.json", "{}"));
  const std::string path = fuzz::folder() + "/" + kNames[1];
  {
    const fuzz::MemoryBound bound(input.size());
    Warnings warnings;
    const auto checkpoint = open_checkpoint(path, warnings);
    if (!checkpoint) return;
    for (const TensorEntry& tensor : checkpoint->tensors) {
      const uint64_t file_bytes = checkpoint->files.at(tensor.file).size_bytes;
      fuzz::expect(tensor.offset_bytes <= file_bytes && tensor.length_bytes <= file_bytes - tensor.offset_bytes,
                   "a tensor lies outside its file");
      fuzz::expect(&checkpoint->tensors.at(checkpoint->by_name.at(tensor.name)) == &tensor,
                   "a name finds another tensor");
    }
    fuzz::link_model(*checkpoint);
  }
  const fuzz::MemoryBound bound(input.size(), 4, fuzz::kTracedBytes);
  static_cast<void>(inspect_model(path));
}
