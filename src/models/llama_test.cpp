// The llama configuration and tensor table on a tiny checkpoint, changed one thing at a time.
#include <functional>
#include <limits>

#include "base/testing.h"
#include "exporter/export.h"
#include "formats/gguf_testing.h"
#include "ir/verify.h"
#include "models/model.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::GgufSpec;
using ::testing::HasSubstr;
using testing::IsError;

using Change = std::function<void(GgufSpec&)>;

struct Outcome {
  Result<Module> module;
  std::vector<ConfigEntry> config;
  Warnings warnings;
};

// Everything up to the trace, which is where an export would refuse.
Outcome outcome(const Change& change, const testing::TinyOptions& options = {}) {
  GgufSpec spec = testing::tiny(options);
  change(spec);
  Outcome out{.module = fail(ErrorCode::kArchitecture, "not reached"), .config = {}, .warnings = {}};
  const auto checkpoint = testing::open_spec(spec);
  if (!checkpoint) {
    out.module = fail(checkpoint.error());
    return out;
  }
  const auto model = make_model(*checkpoint, {}, out.warnings);
  if (!model) {
    out.module = fail(model.error());
    return out;
  }
  out.config = (*model)->config();
  out.module = trace_model(**model, *checkpoint, 16, out.warnings);
  return out;
}

std::string origin(const Outcome& o, std::string_view field) {
  for (const ConfigEntry& e : o.config)
    if (e.name == field) return fmt::format("{} <- {}", e.value, e.origin);
  return "absent";
}

TEST(Llama, TracesASymbolicScoreFunction) {
  const Outcome o = outcome([](GgufSpec&) {});
  ASSERT_OK(o.module);
  EXPECT_OK(verify(*o.module));
  const Function* score = o.module->find("score");
  ASSERT_NE(score, nullptr);
  EXPECT_EQ(to_string(score->graph->input_types()[0]), "i32[1, seq]");
  EXPECT_EQ(to_string(score->graph->result_types()[0]), "f32[1, seq, 48]");
  EXPECT_EQ(o.module->symbols, (std::vector<Symbol>{{.name = "seq", .min = 1, .max = 16}}));
  for (const Node& node : score->graph->nodes()) EXPECT_FALSE(node.results.empty());
}

TEST(Llama, ATiedHeadIsOneParameter) {
  const Outcome o = outcome([](GgufSpec&) {}, {.tied = true});
  ASSERT_OK(o.module);
  EXPECT_EQ(o.module->parameter("output.weight"), nullptr);
  EXPECT_THAT(origin(o, "tied_head"), HasSubstr("yes <- tensor output.weight is absent"));
  const Outcome untied = outcome([](GgufSpec&) {});
  EXPECT_NE(untied.module->parameter("output.weight"), nullptr);
}

TEST(Llama, PlacesNameTheTypedBlocks) {
  const Outcome o = outcome([](GgufSpec&) {});
  ASSERT_OK(o.module);
  const Graph& g = *o.module->find("score")->graph;
  std::vector<std::string> places;
  for (uint32_t i = 0; i < g.nodes().size(); ++i) places.push_back(g.place(i));
  for (const char* place :
       {"token_embd", "rope", "blk.0.attn_norm", "blk.1.attn.q", "blk.1.attn.output", "blk.1.ffn", "output"})
    EXPECT_THAT(places, Contains(std::string(place)));
}

struct Refusal {
  std::string_view name;
  Change change;
  ErrorCode code{};
  std::vector<std::string> says;
};

std::vector<Refusal> refusals() {
  using namespace testing;  // NOLINT(google-build-using-namespace): kv_*
  const auto set = [](GgufKv kv) { return [kv](GgufSpec& s) { s.set(kv); }; };
  const auto drop = [](const char* what) { return [what](GgufSpec& s) { s.drop(what); }; };
  return {
      {"architecture",
       set(kv_string("general.architecture", "phi3")),
       ErrorCode::kArchitecture,
       {"architecture 'phi3' is not supported; supported: llama"}},
      {"no architecture",
       drop("general.architecture"),
       ErrorCode::kArchitecture,
       {"key 'general.architecture' is missing"}},
      {"no eps (D29)",
       drop("llama.attention.layer_norm_rms_epsilon"),
       ErrorCode::kConfigMissing,
       {"key 'llama.attention.layer_norm_rms_epsilon' is missing"}},
      {"eps NaN",
       set(kv_f32("llama.attention.layer_norm_rms_epsilon", std::numeric_limits<float>::quiet_NaN())),
       ErrorCode::kConfigValue,
       {"is nan, expected a finite number above 0"}},
      {"base 0 (D07)", set(kv_f32("llama.rope.freq_base", 0)), ErrorCode::kConfigValue, {"llama.rope.freq_base' is 0"}},
      {"no layers key", drop("llama.block_count"), ErrorCode::kConfigMissing, {"key 'llama.block_count' is missing"}},
      {"layers 0 (A18)", set(kv_u32("llama.block_count", 0)), ErrorCode::kConfigValue, {"'llama.block_count' is 0"}},
      {"layers 3 (A18)",
       set(kv_u32("llama.block_count", 3)),
       ErrorCode::kTensorLink,
       {"'llama.block_count' is 3, but tensor 'blk.2.attn_norm.weight' is missing"}},
      {"layers 2^32+2 (A18)",
       set(kv_u64("llama.block_count", (uint64_t{1} << 32) + 2)),
       ErrorCode::kConfigValue,
       {"'llama.block_count' is 4294967298"}},
      {"layers as text", set(kv_string("llama.block_count", "2")), ErrorCode::kConfigValue, {"llama.block_count"}},
      {"heads 0", set(kv_u32("llama.attention.head_count", 0)), ErrorCode::kConfigValue, {"head_count' is 0"}},
      {"heads do not divide",
       set(kv_u32("llama.attention.head_count", 3)),
       ErrorCode::kConfigValue,
       {"3 query heads do not divide into 2 key heads"}},
      {"kv heads per layer differ (A17)",
       set(kv_array("llama.attention.head_count_kv", Gv::kU32, {2, 4})),
       ErrorCode::kConfigUnsupported,
       {"differs between layers"}},
      {"kv heads negative (A17)", set(kv_i32("llama.attention.head_count_kv", -1)), ErrorCode::kConfigValue, {"is -1"}},
      {"kv heads of wrong count (A17)",
       set(kv_array("llama.attention.head_count_kv", Gv::kU32, {2, 2, 2})),
       ErrorCode::kConfigValue,
       {"head_count_kv"}},
      {"value width (D05)",
       set(kv_u32("llama.attention.value_length", 4)),
       ErrorCode::kConfigUnsupported,
       {"value heads are 4 wide and key heads 8"}},
      {"rope width odd",
       set(kv_u32("llama.rope.dimension_count", 7)),
       ErrorCode::kConfigValue,
       {"is 7, expected an even number up to 8"}},
      {"rope scaling (D09)",
       set(kv_string("llama.rope.scaling.type", "yarn")),
       ErrorCode::kConfigUnsupported,
       {"'llama.rope.scaling.type' is 'yarn'"}},
      {"linear factor 0 (D09)",
       [](GgufSpec& s) {
         s.set(kv_string("llama.rope.scaling.type", "linear"));
         s.set(kv_f32("llama.rope.scaling.factor", 0));
       },
       ErrorCode::kConfigValue,
       {"'llama.rope.scaling.factor' is 0"}},
      {"factor without linear",
       [](GgufSpec& s) {
         s.set(kv_string("llama.rope.scaling.type", "none"));
         s.set(kv_f32("llama.rope.scaling.factor", 4));
       },
       ErrorCode::kConfigUnsupported,
       {"'llama.rope.scaling.factor' is 4"}},
      {"experts", set(kv_u32("llama.expert_count", 8)), ErrorCode::kConfigUnsupported, {"'llama.expert_count' is 8"}},
      {"clamp (D30)",
       set(kv_f32("llama.attention.clamp_kqv", 2)),
       ErrorCode::kConfigUnsupported,
       {"key 'llama.attention.clamp_kqv' (2) may change the result"}},
      {"softcap (D30)",
       set(kv_f32("llama.attn_logit_softcapping", 50)),
       ErrorCode::kConfigUnsupported,
       {"attn_logit_softcapping"}},
      {"a partial set of biases (D04)",
       [](GgufSpec& s) {
         s.tensors.push_back({"blk.0.attn_q.bias", {32}, 0, std::string(128, '\0')});
       },
       ErrorCode::kTensorLink,
       {"'blk.0.attn_k.bias' [16] (bias) is missing", "'blk.0.attn_v.bias'", "'blk.1.attn_q.bias'"}},
      {"a norm's bias",
       [](GgufSpec& s) {
         s.tensors.push_back({"blk.0.attn_norm.bias", {32}, 0, std::string(128, '\0')});
       },
       ErrorCode::kTensorLink,
       {"tensor 'blk.0.attn_norm.bias' [32] has no place"}},
      {"rope factors of a wrong length (D08)",
       [](GgufSpec& s) {
         s.tensors.push_back({"rope_freqs.weight", {3}, 0, std::string(12, '\0')});
       },
       ErrorCode::kTensorLink,
       {"tensor 'rope_freqs.weight' has shape [3], expected [4]"}},
      {"undecodable type (A22)",
       [](GgufSpec& s) {
         s.tensor("blk.0.ffn_gate.weight").ne = {256, 8};
         s.tensor("blk.0.ffn_gate.weight").type = 16;  // IQ2_XXS
         s.tensor("blk.0.ffn_gate.weight").bytes = std::string(8 * 66, '\0');
       },
       ErrorCode::kTensorLink,
       {"'blk.0.ffn_gate.weight' has shape [8, 256], expected [64, 32]"}},
      {"several missing",
       [](GgufSpec& s) {
         s.drop("blk.0.attn_k.weight");
         s.drop("blk.1.ffn_down.weight");
         s.drop("output_norm.weight");
       },
       ErrorCode::kTensorLink,
       {"tensor 'blk.0.attn_k.weight' [16, 32] (matmul) is missing", "'blk.1.ffn_down.weight'",
        "'output_norm.weight'"}},
      {"head rows (D21)",
       [](GgufSpec& s) {
         s.tensor("output.weight").ne = {32, 46};
         s.tensor("output.weight").bytes.resize(size_t{32} * 46 * 4);
       },
       ErrorCode::kTensorLink,
       {"tensor 'output.weight' has shape [46, 32], expected [48, 32]"}},
  };
}

TEST(Llama, RefusesByKeyOrTensor) {
  for (const Refusal& r : refusals()) {
    const Outcome o = outcome(r.change);
    for (const std::string& text : r.says) EXPECT_THAT(o.module, IsError(r.code, HasSubstr(text))) << r.name;
  }
}

TEST(Llama, DefaultsAreDocumentedAndWarned) {
  const Outcome base = outcome([](GgufSpec& s) { s.drop("llama.rope.freq_base"); });
  ASSERT_OK(base.module);
  EXPECT_THAT(base.warnings.lines, Contains(HasSubstr("'llama.rope.freq_base' is absent: 10000 is used")));
  EXPECT_THAT(origin(base, "rope_base"), AllOf(HasSubstr("10000 <- default"), HasSubstr("llama.cpp")));

  const Outcome kv = outcome([](GgufSpec& s) { s.drop("llama.attention.head_count_kv"); }, {.kv_heads = 4});
  ASSERT_OK(kv.module);
  EXPECT_THAT(origin(kv, "kv_heads"), HasSubstr("4 <- default"));
  EXPECT_THAT(origin(kv, "head_width"), HasSubstr("8 <- key llama.attention.key_length"));
}

TEST(Llama, EqualFormsOfAKeyGiveTheSameModule) {
  using namespace testing;  // NOLINT(google-build-using-namespace): kv_*
  const Outcome plain = outcome([](GgufSpec&) {});
  ASSERT_OK(plain.module);
  const std::string key = "llama.attention.head_count_kv";
  for (const GgufKv& kv :
       {kv_i32(key, 2), kv_u64(key, 2), kv_array(key, Gv::kU32, {2, 2}), kv_array(key, Gv::kI32, {2, 2})}) {
    const Outcome other = outcome([&](GgufSpec& s) { s.set(kv); });
    ASSERT_OK(other.module);
    EXPECT_EQ(*other.module->find("score")->graph, *plain.module->find("score")->graph);
  }
}

TEST(Llama, TensorsOutsideTheTextModelAreNamedAndLeftOut) {
  const Outcome o = outcome([](GgufSpec& s) {
    s.tensors.push_back({"v.blk.0.attn_q.weight", {4}, 0, std::string(16, '\0')});
    s.tensors.push_back({"mm.0.weight", {4}, 0, std::string(16, '\0')});
  });
  ASSERT_OK(o.module);
  EXPECT_THAT(o.warnings.lines, Contains(AllOf(HasSubstr("2 tensors"), HasSubstr("v.blk.0.attn_q.weight"))));
}

TEST(Llama, TheOldKeyOfLinearScalingStillCounts) {
  using namespace testing;  // NOLINT(google-build-using-namespace): kv_*
  const Outcome now = outcome([](GgufSpec& s) {
    s.set(kv_string("llama.rope.scaling.type", "linear"));
    s.set(kv_f32("llama.rope.scaling.factor", 4));
  });
  const Outcome old = outcome([](GgufSpec& s) { s.set(kv_f32("llama.rope.scale_linear", 4)); });
  const Outcome none = outcome([](GgufSpec&) {});
  ASSERT_OK(now.module);
  ASSERT_OK(old.module);
  EXPECT_EQ(*now.module->find("score")->graph, *old.module->find("score")->graph);
  EXPECT_FALSE(*now.module->find("score")->graph == *none.module->find("score")->graph);
}

TEST(Llama, TheFirstLayersAreTheWholeModelsOfThatDepth) {
  const auto checkpoint = testing::open_spec(testing::tiny());
  ASSERT_OK(checkpoint);
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto one, make_model(*checkpoint, {.layers = 1}, warnings));
  ASSERT_OK_AND_ASSIGN(const Module module, trace_model(*one, *checkpoint, 16, warnings));
  EXPECT_NE(module.parameter("blk.0.ffn_down.weight"), nullptr);
  EXPECT_EQ(module.parameter("blk.1.ffn_down.weight"), nullptr);
  for (const int64_t layers : {0, 3})
    EXPECT_THAT(
        make_model(*checkpoint, {.layers = layers}, warnings),
        IsError(ErrorCode::kOptions, HasSubstr(fmt::format("{} layers are asked for, and the model has 2", layers))));
}

TEST(Llama, LengthsOutsideTheContextAreRefused) {
  const auto checkpoint = testing::open_spec(testing::tiny());
  ASSERT_OK(checkpoint);
  Warnings warnings;
  const auto model = make_model(*checkpoint, {}, warnings);
  ASSERT_OK(model);
  for (const int64_t seq : {int64_t{0}, (*model)->context_length() + 1})
    EXPECT_THAT(trace_model(**model, *checkpoint, seq, warnings),
                IsError(ErrorCode::kOptions, HasSubstr("is outside 1 to")));
  EXPECT_OK(trace_model(**model, *checkpoint, 1, warnings));
  EXPECT_OK(trace_model(**model, *checkpoint, (*model)->context_length(), warnings));
}

}  // namespace
}  // namespace headrace
