// Test kit: writes safetensors files and Hugging Face directories, good or bad on purpose.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/checkpoint.h"
#include "formats/gguf_testing.h"
#include "formats/safetensors.h"

namespace headrace::testing {

struct SafetensorsTensor {
  std::string name;
  std::string dtype = "F32";
  std::vector<int64_t> shape;
  std::string bytes;
};

// A length word, this text, this data.
[[nodiscard]] std::string safetensors_file(std::string_view header, std::string_view data = {});
// An honest file. `metadata` is JSON, or empty for none.
[[nodiscard]] std::string build_safetensors(const std::vector<SafetensorsTensor>& tensors,
                                            std::string_view metadata = {});
// One member of a header: `"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}` with the values as JSON.
[[nodiscard]] std::string header_member(std::string_view name, std::string_view dtype, std::string_view shape,
                                        std::string_view offsets);

[[nodiscard]] Result<SafetensorsFile> read_safetensors_bytes(std::string_view bytes);

// A directory with config.json and two shards: `a` and `b` are in the first, `c` in the second.
class ShardedDir {
 public:
  ShardedDir();
  [[nodiscard]] const std::string& path() const { return dir_.path(); }
  [[nodiscard]] std::string file(std::string_view name) const { return dir_.path() + "/" + std::string(name); }
  // Replaces or adds a file.
  void write(std::string_view name, std::string_view bytes) const { static_cast<void>(dir_.write(name, bytes)); }
  void write_index(std::string_view weight_map, std::string_view metadata = R"({"total_size":20})") const;
  void remove(std::string_view name) const;

  static constexpr std::string_view kIndexName = "model.safetensors.index.json";
  static constexpr std::string_view kFirst = "model-00001-of-00002.safetensors";
  static constexpr std::string_view kSecond = "model-00002-of-00002.safetensors";
  static constexpr std::string_view kMap = R"({"a":"model-00001-of-00002.safetensors",)"
                                           R"("b":"model-00001-of-00002.safetensors",)"
                                           R"("c":"model-00002-of-00002.safetensors"})";

 private:
  TempDir dir_;
};

}  // namespace headrace::testing
