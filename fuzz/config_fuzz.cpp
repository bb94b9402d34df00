// The configuration beside safetensors, flattened, and what it says of the tokenizer. The input holds config.json,
// generation_config.json and tokenizer_config.json, one after the other with a mark between them.
#include "formats/config_json.h"
#include "formats/meta.h"
#include "target.h"
#include "tokenizer/pieces.h"

namespace {
constexpr std::string_view kMark = "=NEXTPART=";
constexpr const char* kNames[] = {"config.json", "generation_config.json", "tokenizer_config.json"};
}  // namespace

HR_FUZZ_TARGET(config) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  std::string_view rest = fuzz::text_of(input);
  for (const char* name : kNames) {
    const size_t end = rest.find(kMark);
    static_cast<void>(fuzz::put_file(name, rest.substr(0, end)));
    rest = end == std::string_view::npos ? "{}" : rest.substr(end + kMark.size());
  }
  const fuzz::MemoryBound bound(input.size());
  HeaderHash hash;
  auto metadata = read_configs(fuzz::folder(), hash);
  if (!metadata) return;
  Checkpoint checkpoint;
  checkpoint.kind = ContainerKind::kSafetensors;
  checkpoint.metadata = *std::move(metadata);
  for (const auto& [key, value] : checkpoint.metadata) {
    fuzz::expect(key.find("..") == std::string::npos && key.front() != '.' && key.back() != '.', "a key has a gap");
    static_cast<void>(describe(value));
  }
  static_cast<void>(tokenizer_facts(checkpoint));
}
