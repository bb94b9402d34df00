// What costs a reader most memory for each byte of input: large inputs, made here, that mutation of small ones does not
// reach. A target ends the program at the allocation that breaks its bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "dense_models.h"
#include "target.h"

namespace headrace::fuzz {
namespace {

constexpr size_t kBytes = 6'000'000;  // so large that the 16 MB that any input may cost do not hide four times of it

// Items of zero bytes: zeros, false, empty strings.
std::string array(const std::string& key, uint32_t item_type, size_t item_bytes, size_t count) {
  return gguf_string(key) + le(9, 4) + le(item_type, 4) + le(count) + std::string(count * item_bytes, '\0');
}

std::string gguf_arrays(uint32_t item_type, size_t item_bytes) {
  return gguf(0, 1) + array("tokenizer.ggml.token_type", item_type, item_bytes, kBytes / item_bytes);
}

std::string vocabulary(const std::string& kind, uint32_t types, size_t type_bytes, size_t pieces) {
  std::string out = gguf(0, 3) + gguf_string("tokenizer.ggml.model") + le(8, 4) + gguf_string(kind);
  out += array("tokenizer.ggml.tokens", 8, 8, pieces);
  out += array("tokenizer.ggml.token_type", types, type_bytes, pieces);
  return out;
}

// Counts as high as accepted.
std::string gguf_keys() {
  constexpr size_t kCount = 65536;
  std::string out = gguf(0, kCount);
  for (size_t i = 0; i < kCount; ++i) out += gguf_string(name_of(i)) + le(0, 4) + "1";
  return out;
}

std::string gguf_tensors() {
  constexpr size_t kCount = 131072;
  std::string out = gguf(kCount, 1) + gguf_string("general.alignment") + le(4, 4) + le(8, 4);
  for (size_t i = 0; i < kCount; ++i)
    out += gguf_string(name_of(i)) + le(1, 4) + le(1) + le(24, 4) + le(8 * i);  // one i8 each
  return out + std::string(8 * kCount + 8, '\0');
}

std::string repeated(const std::string& before, const std::string& item, const std::string& after) {
  std::string out = before;
  while (out.size() < kBytes) out += item;
  return out + after;
}

std::string numbered(const std::string& before, const std::function<std::string(size_t)>& item,
                     const std::string& after) {
  std::string out = before;
  for (size_t i = 0; out.size() < kBytes; ++i) out += item(i);
  return out + after;
}

const std::string kFormat = R"({"format":"headrace.manifest","version":1,"requires":[)";
const std::string kFunction = "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[]) -> (\"y\": f32[]) {\n";

std::string tensor(const std::string& name, const std::string& shape = "0") {
  return fmt::format(R"("{}":{{"dtype":"I8","shape":[{}],"data_offsets":[0,0]}})", name, shape);
}

// As many tensors as are accepted, without data.
std::string tensors(size_t count, const std::string& shape) {
  std::string out = "{";
  for (size_t i = 0; i < count; ++i) out += tensor(name_of(i), shape) + ",";
  out.back() = '}';
  return archive(out);
}

// An index of so many tensors over so many shards, of which none is there, or the first only.
std::string index_of(size_t count, size_t shards, const std::string& first_shard = "") {
  std::string out = R"({}=NEXTPART={"weight_map":{)";
  for (size_t i = 0; i < count; ++i) out += fmt::format(R"("{:x}":"s{}.safetensors",)", i, 1 + i % shards);
  out.back() = '}';
  return out + "}=NEXTPART=" + first_shard;
}

// A JSON object of so many members of this value.
std::string members(size_t count, const std::string& value) {
  std::string out = "{";
  for (size_t i = 0; i < count; ++i) out += fmt::format(R"("{:x}":{},)", i, value);
  out.back() = '}';
  return out;
}

struct Dense {
  const char* target;
  const char* name;
  std::function<std::string()> input;
};

void PrintTo(const Dense& d, std::ostream* os) { *os << d.target << "_" << d.name; }

const Dense kCases[] = {
    {"gguf", "array_u8", [] { return gguf_arrays(0, 1); }},
    {"gguf", "array_i8", [] { return gguf_arrays(1, 1); }},
    {"gguf", "array_u16", [] { return gguf_arrays(2, 2); }},
    {"gguf", "array_i32", [] { return gguf_arrays(5, 4); }},
    {"gguf", "array_f32", [] { return gguf_arrays(6, 4); }},
    {"gguf", "array_bool", [] { return gguf_arrays(7, 1); }},
    {"gguf", "array_string", [] { return gguf_arrays(8, 8); }},
    {"gguf", "array_f64", [] { return gguf_arrays(12, 8); }},
    {"gguf", "vocabulary", [] { return vocabulary("llama", 5, 4, 400'000); }},
    {"gguf", "vocabulary_types_u8", [] { return vocabulary("gpt2", 0, 1, 400'000); }},
    {"gguf", "vocabulary_too_large", [] { return vocabulary("gpt2", 0, 1, 1'000'000); }},
    {"gguf", "keys", gguf_keys},
    {"gguf", "tensors", gguf_tensors},
    {"manifest", "numbers", [] { return repeated(kFormat + "],\"x\":[0", ",0", "]}"); }},
    {"manifest", "strings", [] { return repeated(kFormat + "\"\"", ",\"\"", "]}"); }},
    {"manifest", "objects", [] { return repeated(kFormat + "],\"parameters\":[{}", ",{}", "]}"); }},
    {"manifest", "arrays", [] { return repeated(kFormat + "],\"texts\":[[]", ",[]", "]}"); }},
    {"manifest", "keys",
     [] {
       return numbered(
           kFormat + "]", [](size_t i) { return ",\"" + name_of(i) + "\":0"; }, "}");
     }},
    {"vocabulary", "pieces",
     [] {
       return repeated(
           "{\n"
           R"("format":"headrace.tokenizer","version":1,"model":"gpt2","pieces":["")",
           ",\"\"", R"(],"types":[1]})");
     }},
    {"vocabulary", "bytes",
     [] {
       return repeated(
           "{\n"
           R"("format":"headrace.tokenizer","version":1,"model":"gpt2","types":[1],"pieces":[[0)",
           ",0", "]]}");
     }},
    {"manifest", "long_string", [] { return kFormat + "\"" + std::string(kBytes, 'a') + "\"]}"; }},
    {"archive", "keys",
     [] {
       return archive(numbered(
           "{\"a\":0", [](size_t i) { return ",\"" + name_of(i) + "x\":0"; }, "}"));
     }},
    {"archive", "numbers", [] { return archive(repeated("{\"a\":[0", ",0", "]}")); }},
    {"safetensors", "tensors", [] { return tensors(131072, "0"); }},
    {"safetensors", "dims", [] { return tensors(131072, "0,0,0,0,0,0,0,0"); }},
    {"safetensors", "too_many", [] { return tensors(200'000, "0"); }},
    {"safetensors", "twice",
     [] {
       return archive(repeated("{", tensor("a") + ",", R"("b":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}})"));
     }},
    {"safetensors", "a_million", [] { return tensors(1'000'000, "0"); }},
    {"safetensors", "foreign",
     [] { return with_embedding([](size_t i) { return i == 0 ? kFirstNorm : fmt::format("v{:x}", i); }, 131'000); }},
    {"safetensors", "long_foreign_names",
     [] {
       return with_embedding([](size_t i) { return i == 0 ? kFirstNorm : std::string(1000, 'n') + name_of(i); },
                             10'000);
     }},
    {"safetensors", "without_a_place",
     [] {
       return with_embedding([](size_t i) { return i == 0 ? kFirstNorm : fmt::format("model.{:x}", i); }, 131'000);
     }},
    {"safetensors", "names",
     [] {
       return archive(numbered(
           "{", [](size_t i) { return tensor(std::string(1000, 'n') + name_of(i)) + ","; }, tensor("last") + "}"));
     }},
    {"safetensors", "long_name", [] { return archive(repeated("{\"", "n", "\":{}}")); }},
    {"safetensors", "long_dtype", [] { return archive(repeated(R"({"a":{"dtype":")", "F", "\"}}")); }},
    {"safetensors", "shape", [] { return archive(repeated(R"({"a":{"shape":[0)", ",0", "]}}")); }},
    {"safetensors", "offsets", [] { return archive(repeated(R"({"a":{"data_offsets":[0)", ",0", "]}}")); }},
    {"safetensors", "metadata_keys", [] { return archive(R"({"__metadata__":)" + members(16384, "\"\"") + "}"); }},
    {"safetensors", "metadata_long_keys",
     [] {
       return archive(numbered(R"({"__metadata__":{)",
                               [](size_t i) { return fmt::format(R"("{:x}{}":"",)", i, std::string(1000, 'k')); },
                               R"("":""}})"));
     }},
    {"safetensors", "metadata_value", [] { return archive(repeated(R"({"__metadata__":{"a":")", "v", "\"}}")); }},
    {"safetensors", "blanks", [] { return archive(repeated("{}", " ", "")); }},
    {"safetensors", "nesting", [] { return archive(repeated(R"({"a":)", "[", "")); }},
    {"safetensors_index", "tensors", [] { return index_of(70'000, 3); }},
    {"safetensors_index", "too_many", [] { return index_of(300'000, 3); }},
    {"safetensors_index", "shards", [] { return index_of(10'000, 10'000); }},
    {"safetensors_index", "with_shard", [] { return index_of(60'000, 1, tensors(60'000, "0")); }},
    {"safetensors_index", "names",
     [] {
       return numbered(R"({}=NEXTPART={"weight_map":{)",
                       [](size_t i) { return fmt::format(R"("{}{:x}":"s1.safetensors",)", std::string(500, 'n'), i); },
                       R"("z":"s1.safetensors"}})");
     }},
    {"safetensors_index", "long_shard",
     [] { return repeated(R"({}=NEXTPART={"weight_map":{"a":")", "s", ".safetensors\"}}"); }},
    {"safetensors_index", "norms_of_many_layers", [] { return deep_model(65'000, 1); }},
    {"safetensors_index", "most_layers", [] { return deep_model(512, 9); }},
    {"safetensors_index", "many_layers", [] { return deep_model(7'000, 9); }},
    {"gguf", "norms_of_many_layers", [] { return gguf_layers(131'000, 1); }},
    {"gguf", "many_layers", [] { return gguf_layers(14'000, 9); }},
    {"gguf", "most_layers", [] { return gguf_layers(512, 9); }},
    {"config", "layers", [] { return config_of("llama", R"("num_hidden_layers":268435456)"); }},
    {"config", "layer_types",
     [] {
       return config_of("gemma3_text", repeated(R"("layer_types":["full_attention")", R"(,"full_attention")", "]"));
     }},
    {"config", "layer_type",
     [] { return config_of("qwen3", repeated(R"("num_hidden_layers":1,"layer_types":[")", "t", "\"]")); }},
    {"config", "layer_types_of_another_kind",
     [] {
       return config_of("qwen2", R"("num_hidden_layers":8,"layer_types":[)" +
                                     repeated("\"", std::string(700'000, 't') + "\",\"", "\"]"));
     }},
    {"config", "wide_head_of_llama3",
     [] {
       return config_of("llama", R"("num_hidden_layers":1,"head_dim":268435456,"rope_scaling":{"rope_type":"llama3",)"
                                 R"("factor":8,"low_freq_factor":1,"high_freq_factor":4,)"
                                 R"("original_max_position_embeddings":64})");
     }},
    {"config", "model_type", [] { return config_of(std::string(kBytes, 'm'), ""); }},
    {"config", "activation", [] { return config_of("llama", repeated(R"("hidden_act":")", "s", "\"")); }},
    {"config", "rope_type",
     [] { return config_of("llama", repeated(R"("num_hidden_layers":1,"rope_scaling":{"type":")", "r", "\"}")); }},
    {"config", "rope_types",
     [] {
       return config_of("llama", R"("num_hidden_layers":1,"rope_scaling":{"type":")" + std::string(kBytes / 2, 'r') +
                                     R"(","rope_type":")" + std::string(kBytes / 2, 's') + "\"}");
     }},
    {"config", "hidden_sizes",
     [] { return R"({"model_type":"llama",)" + repeated(R"("intermediate_size":[1)", ",1", "]}"); }},
    {"config", "end_tokens",
     [] {
       return numbered(R"({"vocab_size":268435456,"eos_token_id":[0)", [](size_t i) { return "," + std::to_string(i); },
                       "]}");
     }},
    {"config", "end_tokens_as_many_as_fit",
     [] {
       std::string out = R"({"vocab_size":268435456,"eos_token_id":[0)";
       for (size_t i = 1; i < 140'000; ++i) out += "," + std::to_string(i);
       return out + "]}";
     }},
    {"config", "unknown_keys",
     [] {
       const std::string keys = members(25'000, "0");
       return config_of("llama", keys.substr(1, keys.size() - 2));
     }},
    {"config", "unknown_keys_with_values",
     [] {
       const std::string keys = members(10'000, "\"" + std::string(600, 'v') + "\"");
       return config_of("llama", keys.substr(1, keys.size() - 2));
     }},
    {"config", "long_key", [] { return config_of("llama", "\"" + std::string(1'000'000, 'k') + "\":0"); }},
    {"config", "long_keys",
     [] {
       const std::string keys = numbered(
           "", [](size_t i) { return fmt::format(R"("{:x}{}":0,)", i, std::string(2'000, 'k')); }, "\"z\":0");
       return config_of("llama", keys);
     }},
    {"config", "keys", [] { return members(25'000, "0"); }},
    {"config", "too_many_keys", [] { return members(600'000, "0"); }},
    {"config", "objects", [] { return members(25'000, "{}"); }},
    {"config", "nested_keys", [] { return R"({"a":{"b":{"c":)" + members(10'000, R"({"d":[1]})") + "}}}"; }},
    {"config", "long_prefix", [] { return "{\"" + std::string(kBytes, 'k') + "\":" + members(2, "0") + "}"; }},
    {"config", "long_prefix_of_many", [] { return "{\"" + std::string(500, 'k') + "\":" + members(3'000, "0") + "}"; }},
    {"config", "long_value", [] { return repeated(R"({"a":")", "v", "\"}"); }},
    {"config", "ints", [] { return repeated(R"({"a":[0)", ",0", "]}"); }},
    {"config", "strings", [] { return repeated(R"({"a":[")", "\",\"", "\"]}"); }},
    {"config", "lists", [] { return repeated(R"({"a":[[])", ",[]", "]}"); }},
    {"config", "list_of_one_string", [] { return repeated(R"({"a":[[")", "v", "\"]]}"); }},
    {"config", "list_of_wide_characters", [] { return repeated(R"({"a":[[")", "\xC3\xA9", "\"]]}"); }},
    {"config", "left_out",
     [] {
       return "{}=NEXTPART={}=NEXTPART={\"added_tokens_decoder\":" + members(400'000, R"({"content":"x"})") + "}";
     }},
    {"config", "left_out_value", [] { return repeated("{}=NEXTPART={}=NEXTPART={\"chat_template\":\"", "t", "\"}"); }},
    {"config", "nesting", [] { return repeated("", "{\"a\":", ""); }},
    {"hir", "nodes",
     [] {
       return numbered(
           kFunction, [](size_t i) { return fmt::format("%{}=abs(%{}):f32[]\n", i + 1, i); }, "return %1}");
     }},
    {"hir", "operands",
     [] { return repeated(kFunction + "%1 = optimization_barrier(%0", ",%0", "): f32[] return %1}"); }},
    {"hir", "dims", [] { return repeated("headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1", ",1", "]"); }},
    {"hir", "terms", [] { return repeated("headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[a", "+a", "]"); }},
    {"hir", "ints",
     [] {
       return repeated(kFunction + "%1 = broadcast_in_dim(%0) {shape = [], dims = [0", ",0", "]}: f32[] return %1}");
     }},
    {"hir", "literal",
     [] { return repeated(kFunction + "%1 = constant() {value = dense f64[3000000] [0", ",0", "]"); }},
    {"hir", "undefined",
     [] { return repeated(kFunction + "%1 = optimization_barrier(%9", ",%9", "): f32[] return %1}"); }},
    {"hir", "symbols",
     [] {
       return numbered(
           "headrace.module 1 \"m\"", [](size_t i) { return " symbol a" + name_of(i) + "[0,0]"; }, "");
     }},
    {"hir", "twice", [] { return repeated("headrace.module 1 \"m\"", " symbol a[0,0]", ""); }},
    {"hir", "lines", [] { return repeated("headrace.module 1 \"m\"", "\n", ""); }},
    {"hir", "places",
     [] {
       return numbered(
           kFunction, [](size_t i) { return fmt::format("%{}=abs(%0):f32[]@\"{}\"\n", i + 1, i); }, "return %1}");
     }},
    {"hir", "recipes",
     [] {
       return numbered(
           "headrace.module 1 \"m\"", [](size_t i) { return fmt::format(" recipe {}{{}}", i); }, "");
     }},
    {"hir", "functions", [] { return repeated("headrace.module 1 \"m\"", " func public \"\"()->(){return}", ""); }},
};

class DenseInput : public ::testing::TestWithParam<Dense> {};

TEST_P(DenseInput, StaysWithinItsBound) {
  const auto target = std::ranges::find(targets(), std::string_view(GetParam().target), &Target::name);
  ASSERT_NE(target, targets().end());
  const std::string bytes = GetParam().input();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(target->run(std::as_bytes(std::span(bytes))));
  // A few times what the slowest takes under the sanitizers: it is for what grows faster than the input.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

INSTANTIATE_TEST_SUITE_P(Large, DenseInput, ::testing::ValuesIn(kCases), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace headrace::fuzz
