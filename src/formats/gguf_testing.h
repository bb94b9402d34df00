// Test kit: writes GGUF files, good or bad on purpose. Counts, offsets, sizes, version and magic can be made to lie.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/checkpoint.h"

namespace headrace::testing {

// GGUF metadata value types, by their number in the file.
enum class Gv : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

// One key with its value already in file form. `type` is the raw number, so that it can be wrong.
struct GgufKv {
  std::string key;
  uint32_t type{};
  std::string bytes;
};

[[nodiscard]] GgufKv kv_u32(std::string key, uint32_t value);
[[nodiscard]] GgufKv kv_i32(std::string key, int32_t value);
[[nodiscard]] GgufKv kv_u64(std::string key, uint64_t value);
[[nodiscard]] GgufKv kv_f32(std::string key, float value);
[[nodiscard]] GgufKv kv_f64(std::string key, double value);
[[nodiscard]] GgufKv kv_bool(std::string key, bool value);
[[nodiscard]] GgufKv kv_string(std::string key, std::string_view value);
[[nodiscard]] GgufKv kv_strings(std::string key, const std::vector<std::string>& items);
// An array of numbers: each item is converted to `item_type`.
[[nodiscard]] GgufKv kv_array(std::string key, Gv item_type, const std::vector<double>& items);
[[nodiscard]] GgufKv kv_raw(std::string key, uint32_t type, std::string bytes);

// Little-endian bytes, for values and for lies.
[[nodiscard]] std::string le32(uint32_t value);
[[nodiscard]] std::string le64(uint64_t value);
[[nodiscard]] std::string gguf_string(std::string_view text);  // u64 length, bytes
[[nodiscard]] std::string f32_bytes(const std::vector<float>& values);

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> ne;  // file order: innermost first
  uint32_t type{};           // ggml type id; 0 = F32
  std::string bytes;
  std::optional<uint32_t> n_dims = std::nullopt;  // a lie about ne.size()
};

struct GgufSpec {
  std::vector<GgufKv> kvs = {};
  std::vector<GgufTensor> tensors = {};
  uint64_t align = 32;  // used for padding; give general.alignment in kvs too
  uint32_t version = 3;
  std::string magic = "GGUF";
  std::optional<uint64_t> n_kv = std::nullopt;
  std::optional<uint64_t> n_tensors = std::nullopt;
  std::vector<uint64_t> offsets = {};  // empty = the true ones
  std::string tail = {};

  // Replaces the key if it is there, else appends.
  void set(GgufKv kv);
  void drop(std::string_view key_or_tensor);
  [[nodiscard]] GgufTensor& tensor(std::string_view name);
};

[[nodiscard]] std::string build_gguf(const GgufSpec& spec);
// Length of everything before the padding that precedes the data.
[[nodiscard]] size_t gguf_header_size(const GgufSpec& spec);

// A toy decoder in F32, about 80 KB; head_dim * heads need not equal width. Weights come from a 32-bit xorshift.
struct TinyOptions {
  std::string arch = "llama";
  int layers = 2;
  uint64_t width = 32;
  uint64_t ffn = 64;
  uint64_t heads = 4;
  uint64_t kv_heads = 2;
  uint64_t head_dim = 8;
  uint64_t vocab = 48;
  uint32_t seed = 1;
  bool tied = false;
};
[[nodiscard]] GgufSpec tiny(const TinyOptions& options = {});

// A directory that is removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  // Writes a file into it and returns its path.
  [[nodiscard]] std::string write(std::string_view file_name, std::string_view bytes) const;

 private:
  std::string path_;
};

// The file of a spec in a directory, opened.
[[nodiscard]] Result<Checkpoint> open_spec(const GgufSpec& spec);
[[nodiscard]] Result<Checkpoint> open_bytes(std::string_view bytes);

}  // namespace headrace::testing
