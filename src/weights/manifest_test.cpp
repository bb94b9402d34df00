#include "weights/manifest.h"

#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using Json = nlohmann::ordered_json;

const std::string kHash(32, 'a');

Manifest example() {
  Manifest m;
  m.tool.version = "0.1.0";
  m.options = {{"seq", int64_t{8}}, {"target", std::vector<std::string>{"iree", "xla"}}};
  m.source = {.container = "gguf", .files = {{"tiny.gguf", 4096}}, .header_xxh3 = kHash};
  m.model = {.name = "tiny",
             .architecture = "llama",
             .configuration = {{"rope.base", 10000.5, "documented default"},
                               {"layers", int64_t{2}, "key llama.block_count"},
                               {"tied", true, "tensor output.weight"},
                               {"kinds", std::vector<bool>{true, false}, "key k"},
                               {"scales", std::vector<double>{1.0, 2.5}, "key s"},
                               {"empty", std::vector<int64_t>{}, "key e"},
                               {"act", std::string("silu"), "documented default"}}};
  m.tokenizer = ManifestTokenizer{.kind = "gpt2", .vocabulary = 48, .bos = 1, .eos = {2, 7}, .add_bos = std::nullopt};
  m.module_file = "module-0123456789abcdef.hir";
  m.texts = {{m.module_file, "module.hir", 100, kHash},
             {"iree/model-0123456789abcdef.mlir", "iree/model.mlir", 200, kHash},
             {"xla/score-0123456789abcdef.mlir", "xla/score.mlir", 300, kHash}};
  m.archives = {{.file = "weights-0123456789abcdef.safetensors", .format = "safetensors", .size_bytes = 1024}};
  m.parameters = {
      {.name = "token_embd.weight",
       .dtype = DType::kF32,
       .shape = {4, 8},
       .role = Role::kEmbedding,
       .file = m.archives[0].file,
       .offset_bytes = 256,
       .length_bytes = 128,
       .xxh3 = kHash,
       .recipe = "Q8_0 'token_embd.weight' -> decode -> f32[4, 8]",
       .rounding = RoundingLoss{.inexact = 30, .overflowed = 1, .largest_error = 0.125}},
      {.name = "output_norm.weight", .dtype = DType::kF32, .shape = {8}, .role = Role::kNorm, .recipe = "not written"}};
  const Dim seq = Dim::symbol("seq");
  const Dim past = Dim::symbol("past");
  m.functions = {{.name = "score",
                  .symbols = {{"past", 0, 32}, {"seq", 1, 8}},
                  .arguments = {{"tokens", ValueKind::kData, DType::kI32, {1, seq}},
                                {"cache", ValueKind::kCache, DType::kF32, {1, past}}},
                  .results = {{"logits", ValueKind::kData, DType::kF32, {1, seq, 48}},
                              {"cache", ValueKind::kCache, DType::kF32, {1, past + seq}}},
                  .state = {{1, 1}},
                  .targets = {.xla = {{.file = m.texts[2].file,
                                       .symbols = {{"seq", 8}},
                                       .arguments = {"tokens", "cache"},
                                       .parameters = {"token_embd.weight", "output_norm.weight"},
                                       .donations = {{1, 1}}}},
                              .iree = {{m.texts[1].file, "llama.score", {{"seq", 8}}}}}}};
  m.commands = {{"compile", "iree-compile iree/model.mlir"}};
  return m;
}

std::string example_text() { return to_json(example()).value(); }

TEST(Manifest, RoundTrips) {
  ASSERT_OK_AND_ASSIGN(const std::string text, to_json(example()));
  ASSERT_OK_AND_ASSIGN(const Manifest back, from_json(text));
  EXPECT_EQ(back, example());
  EXPECT_EQ(to_json(back).value(), text);
  EXPECT_EQ(back.find("score")->results[1].shape[1], Dim::symbol("past") + Dim::symbol("seq"));
  EXPECT_EQ(back.find("nothing"), nullptr);
  EXPECT_NE(back.parameter("output_norm.weight"), nullptr);
  EXPECT_THAT(manifest_files(back), ::testing::SizeIs(4));
}

TEST(Manifest, WholeFloatsStayFloats) {
  Manifest m = example();
  m.model.configuration = {{"rope.base", 10000.0, "documented default"}};
  ASSERT_OK_AND_ASSIGN(const Manifest back, from_json(to_json(m).value()));
  EXPECT_EQ(back.model.configuration[0].value, ManifestValue(10000.0));
}

TEST(Manifest, UnknownFieldsAreSkipped) {
  Json json = Json::parse(example_text());
  json["comment"] = "later versions may say more";
  EXPECT_OK(from_json(json.dump()));
}

struct BadManifest {
  const char* name;
  std::function<void(Json&)> spoil;
  const char* message;
};
void PrintTo(const BadManifest& bad, std::ostream* os) { *os << bad.name; }

class BadManifestTest : public ::testing::TestWithParam<BadManifest> {};

TEST_P(BadManifestTest, IsRefused) {
  Json json = Json::parse(example_text());
  GetParam().spoil(json);
  EXPECT_THAT(from_json(json.dump()), IsError(ErrorCode::kManifest, HasSubstr(GetParam().message)));
}

// Those that the function's first program for a target is for.
Json& symbols_of(Json& j, const char* target) { return j["functions"][0]["targets"][target][0]["symbols"]; }

// A function with static caches for 64 tokens, as kv says; its kv.
Json& with_kv(Json& j) {
  Manifest m = example();
  m.kv = ManifestKv{.extent = "static",
                    .capacity = 64,
                    .local = "same",
                    .storage = "args",
                    .dtype = DType::kF32,
                    .batch = 1,
                    .layers = {{.layer = 0, .heads = 1, .key_width = 4, .value_width = 4, .slots = 64}}};
  m.functions[0].arguments[1] = {"cache.0.k", ValueKind::kCache, DType::kF32, {1, 1, 64, 4}};
  m.functions[0].targets.xla[0].arguments[1] = "cache.0.k";
  j = Json::parse(to_json(m).value());
  return j["kv"];
}

TEST(Manifest, CachesAreWhatKvSays) {
  Json json;
  with_kv(json);
  EXPECT_OK(from_json(json.dump()));
}

const BadManifest kBadManifests[] = {
    {"format", [](Json& j) { j["format"] = "other"; }, "format is not \"headrace.manifest\""},
    {"version", [](Json& j) { j["version"] = 2; }, "version 2, this build reads version 1"},
    {"version_type", [](Json& j) { j["version"] = "1"; }, "version is missing or not a whole number"},
    {"requires", [](Json& j) { j["requires"] = {"time-travel"}; }, "requires 'time-travel'"},
    {"requires_missing", [](Json& j) { j.erase("requires"); }, "requires: missing"},
    {"requires_type", [](Json& j) { j["requires"] = "x"; }, "requires: not an array"},
    {"missing", [](Json& j) { j["functions"][0]["arguments"][0].erase("dtype"); },
     "functions[0].arguments[0].dtype: missing"},
    {"dtype", [](Json& j) { j["functions"][0]["arguments"][0]["dtype"] = "f33"; },
     "functions[0].arguments[0].dtype: 'f33' is not a dtype"},
    {"kind", [](Json& j) { j["functions"][0]["arguments"][0]["kind"] = "weight"; }, "'weight' is not data or cache"},
    {"dim", [](Json& j) { j["functions"][0]["arguments"][0]["shape"][0] = "+"; }, "functions[0].arguments[0].shape[0]"},
    {"dim_type", [](Json& j) { j["functions"][0]["arguments"][0]["shape"][0] = 1.5; }, "not a dimension"},
    {"symbol", [](Json& j) { j["functions"][0]["symbols"].erase(1); }, "'tokens' uses unknown symbol 'seq'"},
    {"symbol_range", [](Json& j) { j["functions"][0]["symbols"][0]["min"] = 99; }, "min 99 above max 32"},
    {"state", [](Json& j) { j["functions"][0]["state"][0]["argument"] = 2; }, "pair (2, 1) is out of range"},
    {"kv_extent", [](Json& j) { with_kv(j)["extent"] = "../x"; }, "kv.extent: '../x', expected concat or static"},
    {"kv_local", [](Json& j) { with_kv(j)["local"] = ""; }, "kv.local: '', expected same or ring"},
    {"kv_storage", [](Json& j) { with_kv(j)["storage"] = "disk"; }, "kv.storage: 'disk', expected args or globals"},
    {"kv_capacity", [](Json& j) { with_kv(j)["capacity"] = 200; }, "kv.layers[0].slots: 64, and the capacity is 200"},
    {"kv_capacity_range", [](Json& j) { with_kv(j)["capacity"] = int64_t{1} << 62; },
     "kv.capacity: 4611686018427387904"},
    {"kv_batch", [](Json& j) { with_kv(j)["batch"] = -1; }, "kv.batch: -1"},
    {"kv_layers", [](Json& j) { with_kv(j)["layers"] = Json::array(); }, "kv has no layer for 'cache.0.k'"},
    {"kv_heads", [](Json& j) { with_kv(j)["layers"][0]["heads"] = 2; }, "'cache.0.k' is f32[1, 1, 64, 4], and kv says"},
    {"kv_width", [](Json& j) { with_kv(j)["layers"][0]["key_width"] = -1; }, "kv.layers[0]: heads 1, widths -1 and 4"},
    {"kv_slots", [](Json& j) { with_kv(j)["layers"][0]["slots"] = nullptr; }, "kv.layers[0].slots: null"},
    {"state_twice",
     [](Json& j) {
       j["functions"][0]["state"] = {{{"argument", 1}, {"result", 1}}, {{"argument", 0}, {"result", 1}}};
     },
     "state: pair (0, 1) shares a side with another"},
    {"donated_twice",
     [](Json& j) {
       j["functions"][0]["targets"]["xla"][0]["donations"] = {{{"argument", 1}, {"result", 1}},
                                                              {{"argument", 1}, {"result", 0}}};
     },
     "donations: pair (1, 0) shares a side with another"},
    {"xla_symbol",
     [](Json& j) {
       symbols_of(j, "xla") = {{"sq", 8}};
     },
     "targets.xla[0].symbols: 'sq' is not one of the function's"},
    {"iree_symbol",
     [](Json& j) {
       symbols_of(j, "iree") = {{"sq", 8}};
     },
     "targets.iree[0].symbols: 'sq' is not one of the function's"},
    {"symbol_zero",
     [](Json& j) {
       symbols_of(j, "xla") = {{"past", 0}};
     },
     "symbols: 'past' is 0, expected 1 to 32"},
    {"symbol_beyond",
     [](Json& j) {
       symbols_of(j, "xla") = {{"seq", 9}};
     },
     "symbols: 'seq' is 9, expected 1 to 8"},
    {"xla_arguments", [](Json& j) { j["functions"][0]["targets"]["xla"][0]["arguments"] = {"tokens"}; },
     "not the function's arguments"},
    {"xla_parameter", [](Json& j) { j["functions"][0]["targets"]["xla"][0]["parameters"][0] = "x"; },
     "'x' is not one of parameters"},
    {"xla_file", [](Json& j) { j["functions"][0]["targets"]["xla"][0]["file"] = "x"; }, "'x' is not one of texts"},
    {"iree_file", [](Json& j) { j["functions"][0]["targets"]["iree"][0]["file"] = "x"; }, "'x' is not one of texts"},
    {"role", [](Json& j) { j["parameters"][0]["role"] = "hero"; }, "parameters[0].role: 'hero' is not a role"},
    {"negative", [](Json& j) { j["parameters"][0]["offset_bytes"] = -1; }, "offset_bytes: not a whole number"},
    {"partial", [](Json& j) { j["parameters"][0]["xxh3"] = nullptr; }, "must all be set or all be null"},
    {"length", [](Json& j) { j["parameters"][0]["length_bytes"] = 127; }, "32 elements of f32 are 128 bytes"},
    {"past_end", [](Json& j) { j["parameters"][0]["offset_bytes"] = 1000; }, "ends past the 1024 bytes"},
    {"overflow", [](Json& j) { j["parameters"][0]["offset_bytes"] = UINT64_MAX; }, "ends past the 1024 bytes"},
    {"shape",
     [](Json& j) {
       j["parameters"][0]["shape"] = {INT64_MAX, 4};
     },
     "parameters[0].shape: not the shape"},
    {"shape_negative",
     [](Json& j) {
       j["parameters"][0]["shape"] = {-4, -8};
     },
     "parameters[0].shape: not the shape"},
    {"no_archive", [](Json& j) { j["archives"] = Json::array(); }, "parameters[0].file"},
    {"repeated", [](Json& j) { j["parameters"].push_back(j["parameters"][0]); }, "'token_embd.weight' is repeated"},
    {"hash", [](Json& j) { j["texts"][0]["xxh3"] = "abc"; }, "texts[0].xxh3: not 32"},
    {"absolute", [](Json& j) { j["texts"][0]["file"] = "/etc/passwd"; }, "is not a path inside the export"},
    {"dotdot", [](Json& j) { j["texts"][0]["link"] = "iree/../../x"; }, "is not a path inside the export"},
    {"archive_path", [](Json& j) { j["archives"][0]["file"] = "../w"; }, "is not a path inside the export"},
    {"module", [](Json& j) { j["module"] = "x.hir"; }, "module: 'x.hir' is not one of texts"},
    {"config", [](Json& j) { j["model"]["configuration"][0]["value"] = Json::object(); }, "not a value"},
    {"config_mixed",
     [](Json& j) {
       j["model"]["configuration"][0]["value"] = {1, "a"};
     },
     "value[1]: not a whole number"},
    {"not_object", [](Json& j) { j = Json::array(); }, "not a JSON object"},
};
INSTANTIATE_TEST_SUITE_P(All, BadManifestTest, ::testing::ValuesIn(kBadManifests),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Manifest, SeveralFaultsAreReportedTogether) {
  Json json = Json::parse(example_text());
  json["module"] = 1;
  json["tool"].erase("version");
  const auto result = from_json(json.dump());
  EXPECT_THAT(result, IsError(ErrorCode::kManifest, HasSubstr("manifest: module: not a string")));
  EXPECT_THAT(result, IsError(ErrorCode::kManifest, HasSubstr("manifest: tool.version: missing")));
}

TEST(Manifest, RepeatedKeysAreRefused) {
  std::string text = example_text();
  text.insert(text.find("\"version\": 1"), "\"version\": 1, ");
  EXPECT_THAT(from_json(text), IsError(ErrorCode::kManifest, HasSubstr("key 'version' is repeated")));
}

TEST(Manifest, HostileTextIsBounded) {
  EXPECT_THAT(from_json(""), IsError(ErrorCode::kManifest, HasSubstr("not JSON")));
  EXPECT_THAT(from_json(std::string(1 << 20, '[')), IsError(ErrorCode::kManifest, HasSubstr("nested deeper")));
  std::string zeros = "{\"a\": [0";
  while (zeros.size() < size_t{8} << 20) zeros += ",0";
  EXPECT_THAT(from_json(zeros + "]}"),
              IsError(ErrorCode::kManifest, HasSubstr("more values than a text of this size")));
  EXPECT_THAT(from_json(std::string((size_t{64} << 20) + 1, ' ')), IsError(ErrorCode::kManifest, HasSubstr("allowed")));
  EXPECT_THAT(from_json("{\"version\": 1e999}"), IsError(ErrorCode::kManifest, HasSubstr("")));
  EXPECT_THAT(from_json("{\"\xff\": 1}"), IsError(ErrorCode::kManifest, HasSubstr("not JSON")));
}

// Each object costs the parser the same, however many there are. Quadratic time would take minutes here.
TEST(Manifest, ManyObjectsTakeNoTime) {
  std::string objects = "{\"format\": \"headrace.manifest\", \"version\": 1, \"requires\": [], \"parameters\": [{}";
  while (objects.size() < size_t{200'000}) objects += ",{}";
  const auto result = from_json(objects + "]}");
  EXPECT_THAT(result, IsError(ErrorCode::kManifest, HasSubstr("parameters[0].name: missing")));
}

TEST(Manifest, AnArrayOfValuesIsReadOnce) {
  Manifest m = example();
  m.model.configuration = {{"layers", std::vector<int64_t>{1, 2, 3}, "key"}};
  ASSERT_OK_AND_ASSIGN(const Manifest back, from_json(to_json(m).value()));
  EXPECT_EQ(back.model.configuration[0].value, m.model.configuration[0].value);
}

TEST(Manifest, EveryCutIsRefused) {
  const std::string text = example_text();
  for (size_t n = 0; n + 1 < text.size(); n += 7) EXPECT_FALSE(from_json(text.substr(0, n)).has_value()) << n;
}

TEST(Manifest, WriterRefusesWhatItCannotSay) {
  Manifest m = example();
  m.model.configuration[0].value = std::numeric_limits<double>::infinity();
  EXPECT_THAT(to_json(m), IsError(ErrorCode::kManifest, HasSubstr("not a finite number")));
  m = example();
  m.model.name = "\xff";
  EXPECT_THAT(to_json(m), IsError(ErrorCode::kManifest, HasSubstr("cannot be written")));
  m = example();
  m.parameters[0].file = "elsewhere";
  EXPECT_THAT(to_json(m), IsError(ErrorCode::kManifest, HasSubstr("is not one of archives")));
}

TEST(Manifest, TheDocumentedExampleIsReadable) {
  std::ifstream file(std::string(HEADRACE_TESTDATA) + "/../docs/manifest.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  const size_t begin = text.find("```json\n") + 8;
  ASSERT_GT(begin, 8U);
  const std::string json = text.substr(begin, text.find("```", begin) - begin);
  ASSERT_OK_AND_ASSIGN(const Manifest manifest, from_json(json));
  EXPECT_EQ(to_json(manifest).value(), json);
}

}  // namespace
}  // namespace headrace
