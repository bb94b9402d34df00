// Gemma 3's own configuration, changed one key at a time on a checkpoint of the zoo.
#include <functional>

#include "base/testing.h"
#include "exporter/export.h"
#include "models/model.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

using Change = std::function<void(Checkpoint&)>;

Result<Module> traced(const Change& change, std::vector<ConfigEntry>* config = nullptr) {
  Warnings warnings;
  HR_TRY(Checkpoint checkpoint,
         open_checkpoint(std::string(HEADRACE_TESTDATA) + "/zoo/gemma3/gemma3.f32.gguf", warnings));
  change(checkpoint);
  HR_TRY(const auto model, make_model(checkpoint, {}, warnings));
  if (config != nullptr) *config = model->config();
  return trace_model(*model, checkpoint, 16, warnings);
}

Change set(const char* key, MetaValue value) {
  return [=](Checkpoint& c) { c.metadata[key] = value; };
}
Change drop(const char* key) {
  return [=](Checkpoint& c) { c.metadata.erase(key); };
}

// Key k alone, set to another value: the graph changes.
TEST(Gemma3, EachKeyChangesTheGraph) {
  ASSERT_OK_AND_ASSIGN(const Module plain, traced([](Checkpoint&) {}));
  const std::pair<const char*, MetaValue> changes[] = {
      {"gemma3.attention.layer_norm_rms_epsilon", {1e-5}},
      {"gemma3.attention.sliding_window", {uint64_t{9}}},
      {"gemma3.attention.sliding_window_pattern", {uint64_t{4}}},
      {"gemma3.attention.scale", {0.5}},
      {"gemma3.attn_logit_softcapping", {50.0}},
      {"gemma3.final_logit_softcapping", {30.0}},
      {"gemma3.rope.freq_base", {1e5}},
      {"gemma3.rope.freq_base_swa", {2e4}},
      {"gemma3.rope.dimension_count", {uint64_t{8}}},
  };
  for (const auto& [key, value] : changes) {
    ASSERT_OK_AND_ASSIGN(const Module other, traced(set(key, value)));
    EXPECT_FALSE(*other.find("score")->graph == *plain.find("score")->graph) << key;
  }
  ASSERT_OK_AND_ASSIGN(const Module scaled, traced([](Checkpoint& c) {
                         c.metadata["gemma3.rope.scaling.type"].value = std::string("linear");
                         c.metadata["gemma3.rope.scaling.factor"].value = 8.0;
                       }));
  EXPECT_FALSE(*scaled.find("score")->graph == *plain.find("score")->graph);
}

// A16, D14: a period, a flag for each layer, or neither.
TEST(Gemma3, FormsOfTheLayerPatternAgree) {
  ASSERT_OK_AND_ASSIGN(const Module absent, traced([](Checkpoint&) {}));
  constexpr const char* kKey = "gemma3.attention.sliding_window_pattern";
  ASSERT_OK_AND_ASSIGN(const Module period, traced(set(kKey, {uint64_t{6}})));
  const MetaValue flags{MetaArray{std::vector<bool>{true, true, true, true, true, false, true, true}}};
  ASSERT_OK_AND_ASSIGN(const Module by_layer, traced(set(kKey, flags)));
  EXPECT_EQ(*period.find("score")->graph, *absent.find("score")->graph);
  EXPECT_EQ(*by_layer.find("score")->graph, *absent.find("score")->graph);
}

// A16, D14 among them.
TEST(Gemma3, RefusesByKey) {
  EXPECT_THAT(traced(drop("gemma3.attention.sliding_window")),
              IsError(ErrorCode::kConfigMissing, HasSubstr("'gemma3.attention.sliding_window' is missing")));
  EXPECT_THAT(traced(set("gemma3.attention.sliding_window_pattern", {uint64_t{0}})),
              IsError(ErrorCode::kConfigValue, HasSubstr("sliding_window_pattern' is 0")));
  EXPECT_THAT(traced(set("gemma3.attention.sliding_window_pattern", {MetaArray{std::vector<bool>(7, true)}})),
              IsError(ErrorCode::kConfigValue, HasSubstr("has 7 items, expected one a layer, 8")));
  EXPECT_THAT(traced(set("gemma3.rope.scaling.type", {std::string("yarn")})),
              IsError(ErrorCode::kConfigUnsupported, HasSubstr("'yarn'")));
  EXPECT_THAT(traced(set("gemma3.altup.num_inputs", {uint64_t{4}})),
              IsError(ErrorCode::kConfigUnsupported, HasSubstr("gemma3.altup.num_inputs")));
}

// query_pre_attn_scalar is in no GGUF. Of the released sizes only the 27B model's is not the width of a head: 5376
// / 32.
TEST(Gemma3, TheScaleOfThe27BModelIsKnownByItsShape) {
  const auto scale_of = [](int64_t layers, uint64_t width, uint64_t heads) {
    std::vector<ConfigEntry> config;
    const auto reshape = [&](Checkpoint& c) {
      c.metadata["gemma3.block_count"].value = static_cast<uint64_t>(layers);
      c.metadata["gemma3.embedding_length"].value = width;
      c.metadata["gemma3.attention.head_count"].value = heads;
      c.metadata["gemma3.attention.head_count_kv"].value = heads / 2;
      c.metadata["gemma3.attention.key_length"].value = uint64_t{128};
      c.metadata["gemma3.attention.value_length"].value = uint64_t{128};
      for (int64_t i = 8; i < layers; ++i) {
        const std::string name = fmt::format("blk.{}.attn_norm.weight", i);
        c.by_name[name] = c.tensors.size();
        c.tensors.push_back(c.tensors[c.by_name.at("blk.0.attn_norm.weight")]);
        c.tensors.back().name = name;
      }
    };
    // The weights are of another shape; the configuration is read before that is found.
    EXPECT_THAT(traced(reshape, &config), IsError(ErrorCode::kTensorLink, HasSubstr("blk.0.attn")));
    for (const ConfigEntry& e : config)
      if (e.name == "attention_scale") return e.value;
    return std::string("absent");
  };
  EXPECT_EQ(scale_of(62, 5376, 32), "168^-0.5");
  EXPECT_EQ(scale_of(48, 3840, 16), "128^-0.5");
}

TEST(Gemma3, ValuesNameTheirOrigin) {
  std::vector<ConfigEntry> config;
  ASSERT_OK(traced([](Checkpoint&) {}, &config));
  const auto origin = [&](std::string_view name) {
    for (const ConfigEntry& e : config)
      if (e.name == name) return fmt::format("{} <- {}", e.value, e.origin);
    return std::string("absent");
  };
  EXPECT_EQ(origin("attention_scale"), "16^-0.5 <- width of a head");
  EXPECT_EQ(origin("rope_base_local"), "10000 <- key gemma3.rope.freq_base_swa");
  EXPECT_THAT(origin("global_layer_period"), HasSubstr("6 <- default: that of every Gemma 3"));
}

}  // namespace
}  // namespace headrace
