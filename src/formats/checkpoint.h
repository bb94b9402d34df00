// What every container format yields: an index. Names, block types, shapes and byte ranges are known; no weight byte
// has been read. Data is read later, by position (pread), so nothing of weight size is ever mapped or held.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.h"
#include "quant/block_type.h"

namespace headrace {

// A metadata array, one typed vector: a vocabulary of 262,144 pieces, scores and kinds must not cost a variant per
// item. Integers lose their width but for those of 8 bits: a file of them may cost four times its size, not eight.
// Arrays of arrays are not representable; a GGUF that holds one is refused by key.
using MetaArray = std::variant<std::vector<bool>, std::vector<int64_t>, std::vector<uint64_t>, std::vector<double>,
                               std::vector<std::string>, std::vector<int8_t>, std::vector<uint8_t>>;

// A metadata value as the container gives it. Integers keep their signedness and lose their width; formats/meta.h reads
// them with lossless conversion.
struct MetaValue {
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, MetaArray> value;
  friend bool operator==(const MetaValue&, const MetaValue&) = default;
};

// One file of the checkpoint. Size, device, inode and modification time are those seen when the header was read; the
// weights executor compares them again, so that a source replaced during an export is an error.
struct SourceFile {
  std::string path;
  uint64_t size_bytes{};
  uint64_t device{};
  uint64_t inode{};
  int64_t modified_ns{};
};

struct TensorEntry {
  std::string name;
  BlockType type{};  // how its bytes encode numbers (quant/quant.def)
  // Row-major, outermost first: a GGUF ne = [in, out] is {out, in}. Never empty: a scalar is {1}.
  std::vector<int64_t> shape;
  uint32_t file{};          // index into Checkpoint::files
  uint64_t offset_bytes{};  // from the start of that file
  uint64_t length_bytes{};
};

enum class ContainerKind : uint8_t { kGguf, kSafetensors };

struct Checkpoint {
  ContainerKind kind{};
  std::vector<SourceFile> files;
  std::map<std::string, MetaValue, std::less<>> metadata;  // a GGUF's keys; config.json flattened (config_json.h)
  std::vector<TensorEntry> tensors;                        // in file order
  std::unordered_map<std::string, size_t> by_name;         // tensor name -> index into tensors
  // XXH3-128 (32 hex digits) of all header and tensor table bytes, in file order; for safetensors after those of
  // config.json, generation_config.json, tokenizer_config.json and the index, as far as they are there.
  std::string header_xxh3;

  [[nodiscard]] const TensorEntry* find(const std::string& name) const {
    const auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : &tensors[it->second];
  }
};

// Opens a checkpoint of any known format: a GGUF, of a split one any part; a directory with config.json and
// safetensors, or a safetensors file, an index or a shard of such a directory (formats/hf_directory.h). Errors:
// kFileOpen, kFileRead, kNotACheckpoint (says what the file is instead: LFS pointer, HTML, zip...), kGguf*,
// kSafetensors*, kConfigFile, kBlockType (a tensor's type is retired or unknown).
[[nodiscard]] Result<Checkpoint> open_checkpoint(const std::string& path, Warnings& warnings);

}  // namespace headrace
