// Synthetic checkpoints: any supported architecture at any size, for tests and benchmarks of what cannot be downloaded.
// The tensors are the model's own tensor table, so a new architecture needs a preset and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/gguf_writer.h"

namespace headrace {

struct SynthShape {
  std::string_view preset, architecture;
  int64_t layers{}, width{}, hidden{}, heads{}, kv_heads{}, head_width{}, vocabulary{}, context{}, tied{};
  double rope_base{};
  int64_t window{};
  double linear_factor{};
  double eps{};
};

[[nodiscard]] std::span<const SynthShape> synth_presets();

// A field of SynthShape that may be changed, by name.
struct SynthField {
  std::string_view name;
  int64_t SynthShape::*field{};
};
[[nodiscard]] std::span<const SynthField> synth_fields();

// How tensors are quantised: one block type, or llama.cpp's mix of that name.
[[nodiscard]] std::vector<std::string_view> synth_types();

enum class SynthFill : uint8_t {
  kZeros,   // nothing is written: files are holes but for their headers, and take no space
  kRandom,  // seeded; blocks hold random codes and scales such that weights are of a model's size
};

struct SynthOptions {
  SynthShape shape;
  std::string types = "Q4_K_M";
  SynthFill fill{SynthFill::kZeros};
  uint64_t seed = 1;
  uint64_t split_bytes = 0;  // starts another file before one would hold more data; 0: one file
};

// A file of the checkpoint before it is written.
struct SynthFile {
  std::string suffix;  // "" or "-00001-of-00003", before ".gguf"
  GgufLayout layout;
  std::vector<OutGgufTensor> tensors;
};

// Errors: kOptions (no such types, a shape that does not fit together), those of the model and of layout_gguf.
[[nodiscard]] Result<std::vector<SynthFile>> plan_synth(const SynthOptions& options);

// Whether synth_bytes knows how to fill tensors of the type.
[[nodiscard]] bool can_fill(BlockType type);

// The bytes of a tensor from `offset_bytes` on, a multiple of its block's size; `out` holds whole blocks. Depends on
// the seed, the tensor's name and the place alone, not on how a tensor is cut. Zeros for SynthFill::kZeros.
void synth_bytes(const SynthOptions& options, const OutGgufTensor& tensor, uint64_t offset_bytes,
                 std::span<std::byte> out);

struct SynthReport {
  std::vector<std::string> files;
  uint64_t total_bytes{};  // as files say; holes take no space
  uint64_t parameters{};
  uint64_t tensors{};
};

// Writes `<stem>[-00001-of-0000N].gguf`; `path` ends in .gguf. Files that are there are replaced only once all are
// written. `progress` hears of bytes done and in all. Errors: those of plan_synth; kFileWrite, kNoSpace, kInterrupted.
[[nodiscard]] Result<SynthReport> write_synth(const SynthOptions& options, const std::string& path,
                                              const std::function<bool(uint64_t done, uint64_t total)>& progress);

}  // namespace headrace
