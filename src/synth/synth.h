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
#include "quant/block_type.h"

namespace headrace {

struct SynthShape {
  std::string_view preset, architecture, model_type;
  int64_t layers{}, width{}, hidden{}, heads{}, kv_heads{}, head_width{}, vocabulary{}, context{}, tied{};
  double rope_base{};
  int64_t window{};
  double linear_factor{};
  double eps{};
  int64_t attention_scalar{};  // attention is scaled by its root; 0: the width of a head
};

[[nodiscard]] std::span<const SynthShape> synth_presets();

// A field of SynthShape that may be changed, by name.
struct SynthField {
  std::string_view name;
  int64_t SynthShape::*field{};
};
[[nodiscard]] std::span<const SynthField> synth_fields();

enum class SynthFormat : uint8_t {
  kGguf,         // `m.gguf`, or parts `m-00001-of-00003.gguf`
  kSafetensors,  // a directory as transformers writes it
};

// How tensors are stored: of a GGUF one block type for matrices, or llama.cpp's mix of that name, and norms in F32; of
// safetensors one plain type for all. The first is the default.
[[nodiscard]] std::vector<std::string_view> synth_types(SynthFormat format);

enum class SynthFill : uint8_t {
  kZeros,   // nothing is written: files are holes but for their headers, and take no space
  kRandom,  // seeded; blocks hold random codes and scales such that weights are of a model's size
};

struct SynthOptions {
  SynthShape shape;
  SynthFormat format{SynthFormat::kGguf};
  std::string types{};  // empty: the format's default
  SynthFill fill{SynthFill::kZeros};
  uint64_t seed = 1;
  uint64_t split_bytes = 0;  // starts another file before one would hold more data; 0: one file
};

struct SynthTensor {
  std::string name;
  std::string source;  // Headrace's name, which the weights are drawn by: plain types hold one model in both formats
  BlockType type{};
  std::vector<int64_t> shape;  // row-major, outermost first; the innermost holds whole blocks
  bool is_norm{};
  float norm_offset{};    // what the container's norms lack
  int64_t half_paired{};  // width of a head whose rows lie in halves, where those of the source interleave; 0: as there
  uint64_t offset_bytes{};
  uint64_t length_bytes{};
};

// A file of the checkpoint before it is written: its first bytes, then tensors; or a text.
struct SynthFile {
  std::string name;  // "model.safetensors"; of a GGUF what follows the stem: "-00001-of-00003.gguf"
  std::string head_bytes;
  std::vector<SynthTensor> tensors;
  uint64_t total_bytes{};
};

// In the order in which they are to appear. Errors: kOptions (no such types, a shape that does not fit together), those
// of the model, of layout_gguf and layout_safetensors.
[[nodiscard]] Result<std::vector<SynthFile>> plan_synth(const SynthOptions& options);

// Whether synth_bytes knows how to fill tensors of the type.
[[nodiscard]] bool can_fill(BlockType type);

// The bytes of a tensor from `offset_bytes` on, a multiple of its block's size; `out` holds whole blocks. Depends on
// the seed, the tensor's source and the place alone, not on how a tensor is cut. Zeros for SynthFill::kZeros.
void synth_bytes(const SynthOptions& options, const SynthTensor& tensor, uint64_t offset_bytes,
                 std::span<std::byte> out);

struct SynthReport {
  std::vector<std::string> files;
  uint64_t total_bytes{};  // as files say; holes take no space
  uint64_t parameters{};
  uint64_t tensors{};
};

// Writes `<stem>[-00001-of-0000N].gguf`, where `path` ends in .gguf; or config.json, model.safetensors or its shards
// and their index into the directory `path`, which is made if need be. Files that are there are replaced only once all
// are written; what was made is gone if that fails. `progress` hears of bytes done and in all. Errors: those of
// plan_synth; kForeignFiles (the directory holds other safetensors files), kFileOpen, kFileWrite, kNoSpace,
// kInterrupted.
[[nodiscard]] Result<SynthReport> write_synth(const SynthOptions& options, const std::string& path,
                                              const std::function<bool(uint64_t done, uint64_t total)>& progress);

}  // namespace headrace
