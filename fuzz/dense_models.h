// Parts of the inputs of dense_test.cpp: words of the formats, and models that are larger than any.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::fuzz {

inline std::string le(uint64_t value, size_t bytes = 8) {
  std::string out(bytes, '\0');
  std::memcpy(out.data(), &value, bytes);
  return out;
}

inline std::string name_of(size_t number) { return fmt::format("{:x}", number); }
inline std::string gguf_string(const std::string& text) { return le(text.size()) + text; }
inline std::string gguf(uint64_t tensors, uint64_t keys) { return "GGUF" + le(3, 4) + le(tensors) + le(keys); }

inline std::string archive(const std::string& header) { return le(header.size()) + header; }

// config.json of a tiny model of this type, with more members.
inline std::string config_of(const std::string& type, const std::string& more) {
  return fmt::format(R"({{"model_type":"{}","hidden_size":4,"intermediate_size":4,"num_attention_heads":2,)"
                     R"("num_key_value_heads":1,"vocab_size":6,"max_position_embeddings":8{}}})",
                     type, more.empty() ? "" : "," + more);
}

inline const std::string kFirstNorm = "model.layers.0.input_layernorm.weight";

// The embedding of the seeds' model, and tensors of one i8 each and of these names.
inline std::string with_embedding(const std::function<std::string(size_t)>& name, size_t count) {
  std::string out = R"({"model.embed_tokens.weight":{"dtype":"I8","shape":[6,4],"data_offsets":[0,24]},)";
  for (size_t i = 0; i < count; ++i)
    out += fmt::format(R"("{}":{{"dtype":"I8","shape":[1],"data_offsets":[{},{}]}},)", name(i), 24 + i, 25 + i);
  out.back() = '}';
  return archive(out) + std::string(count + 24, '\0');
}

// So many layers, each with the first `parts` tensors of a llama's.
inline std::vector<std::string> layer_names(size_t layers, size_t parts) {
  const char* const kParts[] = {"input_layernorm",          "self_attn.q_proj", "self_attn.k_proj",
                                "self_attn.v_proj",         "self_attn.o_proj", "mlp.gate_proj",
                                "post_attention_layernorm", "mlp.up_proj",      "mlp.down_proj"};
  std::vector<std::string> names{"embed_tokens.weight", "norm.weight"};
  for (size_t i = 0; i < layers; ++i)
    for (size_t k = 0; k < parts; ++k) names.push_back(fmt::format("layers.{}.{}.weight", i, kParts[k]));
  return names;
}

// A whole model one wide of so many layers: config.json, index, shard.
inline std::string deep_model(size_t layers, size_t parts) {
  const auto names = layer_names(layers, parts);
  std::string index = R"({"weight_map":{)";
  for (const std::string& name : names) index += fmt::format(R"("{}":"s1.safetensors",)", name);
  index.back() = '}';
  std::string header = "{";
  size_t at = 0;
  for (const std::string& name : names) {
    // Norms are vectors, the rest matrices; rotated pairs want heads two wide.
    const bool norm = name.ends_with("norm.weight");
    const size_t rows =
        name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight") || name.ends_with("v_proj.weight") ? 2 : 1;
    const size_t columns = name.ends_with("o_proj.weight") ? 2 : 1;
    header += fmt::format(R"("{}":{{"dtype":"F16","shape":[{}],"data_offsets":[{},{}]}},)", name,
                          norm ? "1" : fmt::format("{},{}", rows, columns), at, at + 2 * rows * columns);
    at += 2 * rows * columns;
  }
  header.back() = '}';
  return fmt::format(R"({{"model_type":"llama","hidden_size":1,"intermediate_size":1,"num_hidden_layers":{},)"
                     R"("num_attention_heads":1,"num_key_value_heads":1,"head_dim":2,"vocab_size":1,)"
                     R"("tie_word_embeddings":true}}=NEXTPART={}}}=NEXTPART=)",
                     layers, index) +
         archive(header) + std::string(at, '\0');
}

// A GGUF of a llama one wide of so many layers, of each the first `parts` tensors.
inline std::string gguf_layers(size_t layers, size_t parts) {
  const std::pair<const char*, std::vector<uint64_t>> kParts[] = {
      {"attn_norm", {1}},   {"attn_q", {1, 2}}, {"attn_k", {1, 2}}, {"attn_v", {1, 2}},  {"attn_output", {2, 1}},
      {"ffn_gate", {1, 1}}, {"ffn_norm", {1}},  {"ffn_up", {1, 1}}, {"ffn_down", {1, 1}}};
  const auto count = [](const char* key, uint64_t value) { return gguf_string(key) + le(4, 4) + le(value, 4); };
  std::string out =
      gguf(layers * parts + 2, 10) + gguf_string("general.architecture") + le(8, 4) + gguf_string("llama");
  out += count("general.alignment", 8) + count("llama.block_count", layers) + count("llama.context_length", 8);
  for (const char* key : {"embedding_length", "feed_forward_length", "attention.head_count"})
    out += count(("llama." + std::string(key)).c_str(), 1);
  out += count("llama.attention.key_length", 2) + count("llama.rope.dimension_count", 2);
  out += gguf_string("llama.attention.layer_norm_rms_epsilon") + le(6, 4) + le(0x3f800000, 4);
  size_t tensors = 0;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& dims) {
    out += gguf_string(name) + le(dims.size(), 4);
    for (const uint64_t dim : dims) out += le(dim);
    out += le(1, 4) + le(8 * tensors++);
  };
  add("token_embd.weight", {1, 1});
  add("output_norm.weight", {1});
  for (size_t i = 0; i < layers; ++i)
    for (size_t k = 0; k < parts; ++k) add(fmt::format("blk.{}.{}.weight", i, kParts[k].first), kParts[k].second);
  return out + std::string(8 * tensors + 8, '\0');
}

}  // namespace headrace::fuzz
