#include "formats/gguf_testing.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace headrace::testing {

namespace {

template <class T>
std::string raw(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

std::string item_bytes(Gv type, double value) {
  switch (type) {
    case Gv::kU8:
      return raw(static_cast<uint8_t>(value));
    case Gv::kI8:
      return raw(static_cast<int8_t>(value));
    case Gv::kU16:
      return raw(static_cast<uint16_t>(value));
    case Gv::kI16:
      return raw(static_cast<int16_t>(value));
    case Gv::kU32:
      return raw(static_cast<uint32_t>(value));
    case Gv::kI32:
      return raw(static_cast<int32_t>(value));
    case Gv::kF32:
      return raw(static_cast<float>(value));
    case Gv::kBool:
      return raw(static_cast<uint8_t>(value));
    case Gv::kU64:
      return raw(static_cast<uint64_t>(value));
    case Gv::kI64:
      return raw(static_cast<int64_t>(value));
    case Gv::kF64:
      return raw(value);
    case Gv::kString:
    case Gv::kArray:
      break;
  }
  throw std::invalid_argument("not a number type");
}

GgufKv kv(std::string key, Gv type, std::string bytes) {
  return {std::move(key), static_cast<uint32_t>(type), std::move(bytes)};
}

size_t padding(size_t size, uint64_t align) {
  return align == 0 ? 0 : static_cast<size_t>((align - size % align) % align);
}

// The same numbers as the Python kit's generator.
class Xorshift {
 public:
  explicit Xorshift(uint32_t seed) : x_(seed == 0 ? 1 : seed) {}
  float operator()() {
    x_ ^= x_ << 13;
    x_ ^= x_ >> 17;
    x_ ^= x_ << 5;
    return static_cast<float>(static_cast<double>(x_ >> 8) / 16777216.0 - 0.5);
  }

 private:
  uint32_t x_;
};

std::string header_bytes(const GgufSpec& spec) {
  std::string out = spec.magic + le32(spec.version) + le64(spec.n_tensors.value_or(spec.tensors.size())) +
                    le64(spec.n_kv.value_or(spec.kvs.size()));
  for (const GgufKv& entry : spec.kvs) out += gguf_string(entry.key) + le32(entry.type) + entry.bytes;
  uint64_t position = 0;
  for (size_t i = 0; i < spec.tensors.size(); ++i) {
    const GgufTensor& t = spec.tensors[i];
    out += gguf_string(t.name) + le32(t.n_dims.value_or(static_cast<uint32_t>(t.ne.size())));
    for (const uint64_t dim : t.ne) out += le64(dim);
    out += le32(t.type) + le64(spec.offsets.empty() ? position : spec.offsets[i]);
    position += t.bytes.size() + padding(t.bytes.size(), spec.align);
  }
  return out;
}

}  // namespace

std::string le32(uint32_t value) { return raw(value); }
std::string le64(uint64_t value) { return raw(value); }
std::string gguf_string(std::string_view text) { return le64(text.size()) + std::string(text); }

std::string f32_bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

GgufKv kv_u32(std::string key, uint32_t value) { return kv(std::move(key), Gv::kU32, raw(value)); }
GgufKv kv_i32(std::string key, int32_t value) { return kv(std::move(key), Gv::kI32, raw(value)); }
GgufKv kv_u64(std::string key, uint64_t value) { return kv(std::move(key), Gv::kU64, raw(value)); }
GgufKv kv_f32(std::string key, float value) { return kv(std::move(key), Gv::kF32, raw(value)); }
GgufKv kv_f64(std::string key, double value) { return kv(std::move(key), Gv::kF64, raw(value)); }
GgufKv kv_bool(std::string key, bool value) { return kv(std::move(key), Gv::kBool, raw(static_cast<uint8_t>(value))); }
GgufKv kv_string(std::string key, std::string_view value) {
  return kv(std::move(key), Gv::kString, gguf_string(value));
}

GgufKv kv_strings(std::string key, const std::vector<std::string>& items) {
  std::string bytes = le32(static_cast<uint32_t>(Gv::kString)) + le64(items.size());
  for (const std::string& item : items) bytes += gguf_string(item);
  return kv(std::move(key), Gv::kArray, std::move(bytes));
}

GgufKv kv_array(std::string key, Gv item_type, const std::vector<double>& items) {
  std::string bytes = le32(static_cast<uint32_t>(item_type)) + le64(items.size());
  for (const double item : items) bytes += item_bytes(item_type, item);
  return kv(std::move(key), Gv::kArray, std::move(bytes));
}

GgufKv kv_raw(std::string key, uint32_t type, std::string bytes) { return {std::move(key), type, std::move(bytes)}; }

void GgufSpec::set(GgufKv entry) {
  const auto it = std::ranges::find(kvs, entry.key, &GgufKv::key);
  if (it == kvs.end()) {
    kvs.push_back(std::move(entry));
  } else {
    *it = std::move(entry);
  }
}

void GgufSpec::drop(std::string_view key_or_tensor) {
  const size_t erased = std::erase_if(kvs, [&](const GgufKv& entry) { return entry.key == key_or_tensor; }) +
                        std::erase_if(tensors, [&](const GgufTensor& t) { return t.name == key_or_tensor; });
  if (erased == 0) throw std::invalid_argument("nothing to drop: " + std::string(key_or_tensor));
}

GgufTensor& GgufSpec::tensor(std::string_view name) {
  const auto it = std::ranges::find(tensors, name, &GgufTensor::name);
  if (it == tensors.end()) throw std::invalid_argument("no tensor " + std::string(name));
  return *it;
}

std::string build_gguf(const GgufSpec& spec) {
  std::string out = header_bytes(spec);
  out.append(padding(out.size(), spec.align), '\0');
  for (const GgufTensor& t : spec.tensors) {
    out += t.bytes;
    out.append(padding(t.bytes.size(), spec.align), '\0');
  }
  return out + spec.tail;
}

size_t gguf_header_size(const GgufSpec& spec) { return header_bytes(spec).size(); }

GgufSpec tiny(const TinyOptions& o) {
  GgufSpec spec;
  const auto key = [&](std::string_view suffix) { return o.arch + "." + std::string(suffix); };
  const auto head_dim = static_cast<uint32_t>(o.head_dim);
  spec.kvs = {kv_string("general.architecture", o.arch),
              kv_u32(key("block_count"), static_cast<uint32_t>(o.layers)),
              kv_u32(key("context_length"), 64),
              kv_u32(key("embedding_length"), static_cast<uint32_t>(o.width)),
              kv_u32(key("feed_forward_length"), static_cast<uint32_t>(o.ffn)),
              kv_u32(key("attention.head_count"), static_cast<uint32_t>(o.heads)),
              kv_u32(key("attention.head_count_kv"), static_cast<uint32_t>(o.kv_heads)),
              kv_u32(key("attention.key_length"), head_dim),
              kv_u32(key("attention.value_length"), head_dim),
              kv_u32(key("rope.dimension_count"), head_dim),
              kv_f32(key("rope.freq_base"), 10000.F),
              kv_f32(key("attention.layer_norm_rms_epsilon"), 1e-6F)};
  Xorshift random(o.seed);
  const auto add = [&](std::string name, std::vector<uint64_t> ne, float offset = 0.F) {
    uint64_t count = 1;
    for (const uint64_t dim : ne) count *= dim;
    std::vector<float> values(count);
    for (float& v : values) v = offset + 0.5F * random();
    spec.tensors.push_back({.name = std::move(name), .ne = std::move(ne), .bytes = f32_bytes(values)});
  };
  add("token_embd.weight", {o.width, o.vocab});
  for (int layer = 0; layer < o.layers; ++layer) {
    const std::string p = "blk." + std::to_string(layer) + ".";
    add(p + "attn_norm.weight", {o.width}, 1.F);
    add(p + "attn_q.weight", {o.width, o.heads * o.head_dim});
    add(p + "attn_k.weight", {o.width, o.kv_heads * o.head_dim});
    add(p + "attn_v.weight", {o.width, o.kv_heads * o.head_dim});
    add(p + "attn_output.weight", {o.heads * o.head_dim, o.width});
    add(p + "ffn_norm.weight", {o.width}, 1.F);
    add(p + "ffn_gate.weight", {o.width, o.ffn});
    add(p + "ffn_up.weight", {o.width, o.ffn});
    add(p + "ffn_down.weight", {o.ffn, o.width});
  }
  add("output_norm.weight", {o.width}, 1.F);
  if (!o.tied) add("output.weight", {o.width, o.vocab});
  return spec;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::write(std::string_view file_name, std::string_view bytes) const {
  std::string path = path_ + "/" + std::string(file_name);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

Result<Checkpoint> open_spec(const GgufSpec& spec) { return open_bytes(build_gguf(spec)); }

Result<Checkpoint> open_bytes(std::string_view bytes) {
  const TempDir dir;
  Warnings warnings;
  return open_checkpoint(dir.write("t.gguf", bytes), warnings);
}

}  // namespace headrace::testing
