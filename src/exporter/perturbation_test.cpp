// Every configuration key, changed alone, changes the logits or is refused: none is read and then ignored. The keys
// that a file has are all tried; those a model knows besides are listed.
#include "base/testing.h"
#include "exporter/exporter_testing.h"

namespace headrace {
namespace {

using testing::logits_of;
using testing::perturbed;

struct Key {
  const char* key;
  MetaValue value;
};

// Keys that llama.cpp knows for the architecture, whether or not a file has them.
const std::vector<Key>& known_keys() {
  static const std::vector<Key> kKeys{
      {"attention.scale", {0.3}},
      {"attention.sliding_window_pattern", {uint64_t{4}}},
      {"attention.sliding_window", {uint64_t{6}}},
      {"attention.clamp_kqv", {8.0}},
      {"attention.causal", {false}},
      {"attention.head_count_kv", {uint64_t{4}}},
      {"attention.key_length", {uint64_t{8}}},
      {"attention.value_length", {uint64_t{8}}},
      {"attention.layer_norm_epsilon", {1e-3}},
      {"attn_logit_softcapping", {5.0}},
      {"final_logit_softcapping", {5.0}},
      {"expert_count", {uint64_t{8}}},
      {"expert_used_count", {uint64_t{2}}},
      {"logit_scale", {0.5}},
      {"residual_scale", {0.5}},
      {"embedding_scale", {2.0}},
      {"rope.freq_base", {500000.0}},
      {"rope.freq_base_swa", {20000.0}},
      {"rope.dimension_count", {uint64_t{8}}},
      {"rope.scale_linear", {7.0}},
      {"rope.scaling.type", {std::string("yarn")}},
      {"rope.scaling.factor", {3.0}},
      {"rope.scaling.attn_factor", {0.5}},
      {"rope.scaling.yarn_ext_factor", {0.5}},
      {"use_parallel_residual", {true}},
  };
  return kKeys;
}

// Keys without an effect on the maths: the vocabulary is the rows of the embedding, the context bounds lengths.
constexpr std::string_view kHarmless[] = {"vocab_size", "context_length"};

class PerturbationTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Warnings warnings;
    const std::string path = fmt::format("{}/zoo/{}/{}.f32.gguf", HEADRACE_TESTDATA, GetParam(), GetParam());
    ASSERT_OK_AND_ASSIGN(checkpoint_, open_checkpoint(path, warnings));
    prefix_ = std::get<std::string>(checkpoint_.metadata.at("general.architecture").value) + ".";
    ASSERT_OK_AND_ASSIGN(plain_, logits_of(checkpoint_));
  }

  // How far the logits move when the key has that value; nullopt when it is refused.
  [[nodiscard]] std::optional<double> moved(const std::string& key, const MetaValue& value) const {
    Checkpoint changed = checkpoint_;
    changed.metadata[key] = value;
    const auto got = logits_of(changed);
    if (!got) return std::nullopt;
    return testing::distance(*got, plain_);
  }

  void expect_no_effect_is_ignored(const std::string& key, const MetaValue& value) const {
    const auto distance = moved(key, value);
    if (distance) {
      EXPECT_GT(*distance, 1e-6) << key;
    }
  }

  Checkpoint checkpoint_;
  std::string prefix_;
  std::vector<double> plain_;
};

TEST_P(PerturbationTest, EveryKeyOfTheFileCounts) {
  size_t tried = 0;
  for (const auto& [key, value] : checkpoint_.metadata) {
    if (!key.starts_with(prefix_)) continue;
    if (std::ranges::count(kHarmless, std::string_view(key).substr(prefix_.size())) != 0) {
      EXPECT_EQ(moved(key, perturbed(value)), 0.0) << key;
      continue;
    }
    expect_no_effect_is_ignored(key, perturbed(value));
    ++tried;
  }
  EXPECT_GE(tried, 7U);
}

TEST_P(PerturbationTest, EveryKeyThatAFileMightHaveCounts) {
  for (const Key& row : known_keys()) {
    const std::string key = prefix_ + row.key;
    const auto had = checkpoint_.metadata.find(key);
    if (had != checkpoint_.metadata.end() && had->second == row.value) continue;
    expect_no_effect_is_ignored(key, row.value);
  }
}

TEST_P(PerturbationTest, EveryWeightCounts) {
  // A tensor less is refused by its name: none is optional unless its absence is a configuration of its own.
  for (const TensorEntry& tensor : checkpoint_.tensors) {
    Checkpoint changed = checkpoint_;
    std::erase_if(changed.tensors, [&](const TensorEntry& t) { return t.name == tensor.name; });
    changed.by_name.clear();
    for (size_t i = 0; i < changed.tensors.size(); ++i) changed.by_name[changed.tensors[i].name] = i;
    const auto got = logits_of(changed);
    if (!got) continue;
    // Without a head of its own a model is tied; without factors its RoPE is plain: other models, other logits.
    EXPECT_TRUE(tensor.name == "output.weight" || tensor.name == "rope_freqs.weight") << tensor.name;
    EXPECT_NE(*got, plain_) << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PerturbationTest,
                         ::testing::Values("llama", "llama_bias", "llama_linear", "llama_rope3", "mistral_nosw",
                                           "qwen2", "qwen3", "gemma3", "gemma3_linear"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace headrace
