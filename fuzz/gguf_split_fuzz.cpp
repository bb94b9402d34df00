// A GGUF in parts. The input holds the parts one after the other with a mark between them.
#include "exporter/export.h"
#include "target.h"

namespace {
constexpr std::string_view kMark = "=NEXTPART=";
constexpr size_t kMaxParts = 5;
}  // namespace

HR_FUZZ_TARGET(gguf_split) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  std::vector<std::string_view> parts;
  for (std::string_view rest = fuzz::text_of(input); parts.size() < kMaxParts;) {
    const size_t end = parts.size() + 1 == kMaxParts ? std::string_view::npos : rest.find(kMark);
    parts.push_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + kMark.size());
  }
  std::string first;
  for (size_t i = parts.size(); i > 0; --i)
    first = fuzz::put_file(fmt::format("m-{:05}-of-{:05}.gguf", i, parts.size()), parts[i - 1]);
  const fuzz::MemoryBound bound(input.size());
  static_cast<void>(inspect_model(first));
}
