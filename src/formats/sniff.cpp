#include "formats/sniff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "formats/gguf_part.h"
#include "formats/safetensors.h"

namespace headrace {

namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  std::string_view what;
};

// Compared at offset 0, as written.
constexpr Magic kMagics[] = {
    {"version https://git-lfs"sv, "a git-LFS pointer, not the weights (fetch them with git lfs pull)"sv},
    {"FUGG"sv, "a big-endian GGUF; only little-endian is read"sv},
    {"lmgg"sv, "a GGML file from before GGUF; convert the model again"sv},
    {"GGML"sv, "a GGML file from before GGUF; convert the model again"sv},
    {"fmgg"sv, "a GGMF file from before GGUF; convert the model again"sv},
    {"tjgg"sv, "a GGJT file from before GGUF; convert the model again"sv},
    {"GGJT"sv, "a GGJT file from before GGUF; convert the model again"sv},
    {"algg"sv, "a GGLA adapter from before GGUF"sv},
    {"IRPA"sv, "an IREE parameter archive, which holds no configuration"sv},
    {"PK\x03\x04"sv, "a zip archive (PyTorch checkpoints are); convert the model to safetensors or GGUF"sv},
    {"\x80\x02"sv, "a Python pickle (old PyTorch checkpoints are); convert the model to safetensors or GGUF"sv},
    {"\x80\x03"sv, "a Python pickle; convert the model to safetensors or GGUF"sv},
    {"\x80\x04"sv, "a Python pickle; convert the model to safetensors or GGUF"sv},
    {"\x80\x05"sv, "a Python pickle; convert the model to safetensors or GGUF"sv},
    {"\x1F\x8B"sv, "gzip data; unpack it first"sv},
    {"\x28\xB5\x2F\xFD"sv, "zstandard data; unpack it first"sv},
    {"\xFD"
     "7zXZ"sv,
     "xz data; unpack it first"sv},
    {"\x89HDF"sv, "an HDF5 file"sv},
    {"\x7F"
     "ELF"sv,
     "a program"sv},
    {"{"sv, "JSON text; of a Hugging Face checkpoint, give the directory"sv},
    {"<?xml"sv, "XML text: a failed download?"sv},
};

bool is_html(std::string_view bytes) {
  std::string lower;
  for (const char c : bytes.substr(0, 128)) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const size_t start = lower.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return false;
  return lower.compare(start, 14, "<!doctype html") == 0 || lower.compare(start, 5, "<html") == 0;
}

// No magic: a length that the format allows, then JSON. A truncated file is one, too.
bool is_safetensors(std::string_view bytes) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length) + 1) return false;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return length <= kMaxSafetensorsHeaderBytes && bytes[sizeof(length)] == '{';
}

}  // namespace

// Safetensors before the magics: a header of 640 bytes starts as a pickle does.
std::optional<ContainerKind> sniff_container(std::string_view first_bytes) {
  if (first_bytes.starts_with(kGgufMagic)) return ContainerKind::kGguf;
  if (is_safetensors(first_bytes)) return ContainerKind::kSafetensors;
  return std::nullopt;
}

std::optional<std::string> foreign_file(std::string_view first_bytes, uint64_t file_bytes) {
  if (file_bytes == 0) return "empty";
  for (const Magic& magic : kMagics)
    if (first_bytes.starts_with(magic.bytes)) return std::string(magic.what);
  if (is_html(first_bytes)) return "an HTML page: a failed download?";
  return std::nullopt;
}

std::optional<std::string> foreign_json(std::string_view text) {
  if (text.starts_with('{')) return std::nullopt;
  return foreign_file(text.substr(0, kSniffBytes), text.size());
}

std::string describe_file(std::string_view first_bytes, uint64_t file_bytes) {
  if (auto what = foreign_file(first_bytes, file_bytes)) return *std::move(what);
  if (file_bytes < kGgufMagic.size()) return fmt::format("too short to be a checkpoint: {} bytes", file_bytes);
  return "of no known format";
}

}  // namespace headrace
