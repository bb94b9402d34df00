#include "formats/safetensors_testing.h"

#include <fmt/format.h>

#include <filesystem>

namespace headrace::testing {

std::string safetensors_file(std::string_view header, std::string_view data) {
  return le64(header.size()) + std::string(header) + std::string(data);
}

std::string header_member(std::string_view name, std::string_view dtype, std::string_view shape,
                          std::string_view offsets) {
  return fmt::format(R"("{}":{{"dtype":{},"shape":{},"data_offsets":{}}})", name, dtype, shape, offsets);
}

std::string build_safetensors(const std::vector<SafetensorsTensor>& tensors, std::string_view metadata) {
  std::string header;
  std::string data;
  if (!metadata.empty()) header += fmt::format(R"("__metadata__":{},)", metadata);
  for (const SafetensorsTensor& t : tensors) {
    header += header_member(t.name, fmt::format(R"("{}")", t.dtype), fmt::format("[{}]", fmt::join(t.shape, ",")),
                            fmt::format("[{},{}]", data.size(), data.size() + t.bytes.size())) +
              ",";
    data += t.bytes;
  }
  if (!header.empty()) header.pop_back();
  return safetensors_file("{" + header + "}", data);
}

Result<SafetensorsFile> read_safetensors_bytes(std::string_view bytes) {
  const TempDir dir;
  HR_TRY(const InputFile file, InputFile::open(dir.write("t.safetensors", bytes)));
  HeaderHash hash;
  return read_safetensors(file, hash);
}

ShardedDir::ShardedDir() {
  write("config.json", R"({"model_type":"none"})");
  write(kFirst, build_safetensors(
                    {{.name = "a", .shape = {2}, .bytes = "aaaaAAAA"}, {.name = "b", .shape = {1}, .bytes = "bbbb"}}));
  write(kSecond, build_safetensors({{.name = "c", .shape = {2, 1}, .bytes = "ccccCCCC"}}));
  write_index(kMap);
}

void ShardedDir::write_index(std::string_view weight_map, std::string_view metadata) const {
  write(kIndexName, fmt::format(R"({{"metadata":{},"weight_map":{}}})", metadata, weight_map));
}

void ShardedDir::remove(std::string_view name) const { std::filesystem::remove(file(name)); }

}  // namespace headrace::testing
